package index

import "math/bits"

// numbering gives keys the numbers 0, 1, ... in the order in which they come. It is a map for keys
// that come by the million: linear probing in slots that are at most half full.
type numbering struct {
	keys  []rowKey // by number
	slots []uint32 // at the hash of a key, or after it: its number plus 1; 0 in free ones
}

// newSlots returns room for some keys.
func newSlots(keys int) []uint32 { return make([]uint32, 1<<bits.Len(uint(2*keys))) }

// add returns the number of a key, a new one if it has none.
func (n *numbering) add(key rowKey) uint32 {
	if 2*len(n.keys) >= len(n.slots) {
		n.slots = newSlots(2 * len(n.keys))
		for i, old := range n.keys {
			n.slots[n.slotOf(n.slots, old)] = uint32(i + 1)
		}
	}
	return n.addTo(n.slots, key)
}

// addTo is add with slots that have room for the key. Keys of several slots may share the numbers.
func (n *numbering) addTo(slots []uint32, key rowKey) uint32 {
	slot := n.slotOf(slots, key)
	if slots[slot] == 0 {
		n.keys = append(n.keys, key)
		slots[slot] = uint32(len(n.keys))
	}
	return slots[slot] - 1
}

// find returns the number of a key in slots, if it has one.
func (n *numbering) find(slots []uint32, key rowKey) (number uint32, has bool) {
	if len(slots) == 0 {
		return 0, false
	}
	slot := slots[n.slotOf(slots, key)]
	return slot - 1, slot > 0
}

// slotOf is the slot that has the number of a key, or is free for it.
func (n *numbering) slotOf(slots []uint32, key rowKey) int {
	high, low := bits.Mul64(key[0]^0x9e3779b97f4a7c15, key[1]^0xd6e8feb86659fd93)
	mask := len(slots) - 1
	slot := int(high^low) & mask
	for slots[slot] != 0 && n.keys[slots[slot]-1] != key {
		slot = (slot + 1) & mask
	}
	return slot
}
