package index

import "math/bits"

// numbering gives keys the numbers 0, 1, ... in the order in which they come. It is a map for keys
// that come by the million: linear probing in slots that are at most half full. Rows are sorted, so
// that a key mostly is the one before, or the one that has come after that before: these are tried
// first, which reads memory in order.
type numbering struct {
	keys  []rowKey // by number
	slots []uint32 // at the hash of a key, or after it: its number plus 1; 0 in free ones
	last  uint32   // number that was asked for last
}

// add returns the number of a key, a new one if it has none.
func (n *numbering) add(key rowKey) uint32 {
	if number, has := n.find(key); has {
		return number
	}
	if 2*len(n.keys) >= len(n.slots) {
		n.slots = make([]uint32, max(16, 4*len(n.keys)))
		n.keys = append(make([]rowKey, 0, 2*len(n.keys)), n.keys...) // append alone copies them more often
		for i, old := range n.keys {
			n.slots[n.slotOf(old)] = uint32(i + 1)
		}
	}
	n.last = uint32(len(n.keys))
	n.keys = append(n.keys, key)
	n.slots[n.slotOf(key)] = n.last + 1
	return n.last
}

// clear forgets all keys, in the time that they take and not in that of the most there ever were.
func (n *numbering) clear() {
	if 16*len(n.keys) < len(n.slots) {
		n.slots = nil
	}
	n.keys = n.keys[:0]
	clear(n.slots)
}

// find returns the number of a key, if it has one.
func (n *numbering) find(key rowKey) (number uint32, has bool) {
	for next := n.last; next < min(n.last+2, uint32(len(n.keys))); next++ {
		if n.keys[next] == key {
			n.last = next
			return next, true
		}
	}
	if len(n.slots) == 0 {
		return 0, false
	}
	slot := n.slots[n.slotOf(key)]
	if slot > 0 {
		n.last = slot - 1
	}
	return slot - 1, slot > 0
}

// slotOf is the slot that has the number of a key, or is free for it.
func (n *numbering) slotOf(key rowKey) int {
	high, low := bits.Mul64(key[0]^0x9e3779b97f4a7c15, key[1]^0xd6e8feb86659fd93)
	mask := len(n.slots) - 1 // they are a power of two
	slot := int(high^low) & mask
	for n.slots[slot] != 0 && n.keys[n.slots[slot]-1] != key {
		slot = (slot + 1) & mask
	}
	return slot
}
