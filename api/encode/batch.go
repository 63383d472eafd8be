package encode

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// The rows of a batch are encoded in three sweeps: vary compares each lane with itself a row
// earlier, list and lookUp collect the pieces that changed and fetch their cached edits, and
// encodeItems encodes these pieces. Only the last one branches on data, and as little as it can: a
// mispredicted branch takes as long as fifty instructions.

// varying is a lane of a batch whose text is not the same in all rows.
type varying struct {
	*Lane
	slot    int
	before  int  // bytes of constant lanes between the previous varying lane and this one
	longest int  // longest plain text, without the After bytes
	short   bool // fragments of one field, which is probably a number
	changed [BatchRows]uint8

	// fragments is a copy of the rows' fragments. It is not set for plain texts and short
	// fragments.
	fragments [BatchRows]uint32
}

// item is a piece that differs from the previous row's.
type item struct {
	same uint32 // number of unchanged bytes before it
	row  uint16
	lane uint16
	kept *keptEdits // cache entry for the edits that lead to it
}

// encodeRows encodes the rows from from to to-1 of a batch, given the result of vary.
func (d *matcher) encodeRows(from, to, after int) {
	if from >= to {
		return
	}
	same := d.list(from, to, after)
	d.fetched += d.lookUp()
	d.encodeItems()
	d.extend(same)
}

// keepRow makes row k of a batch the previous row of what follows.
func (d *matcher) keepRow(k int) {
	for i := range d.varying {
		v := &d.varying[i]
		slot := &d.slots[v.slot]
		if slot.text = v.Texts[k]; v.Fragments != nil {
			slot.fragment = v.First + v.Fragments[k]
		}
	}
}

// encodeItems encodes the pieces that differ from the previous row's, and the bytes before each.
// Whether a fragment becomes one edit, two edits or a match with its last occurrence is
// unpredictable, so two ops are written in any case, and those that are not needed are overwritten.
// Fragments above longFragment within the window are not compared with the previous row's.
func (d *matcher) encodeItems() {
	// The state is kept in local variables, and so in registers.
	at, length, back, n := d.returnToRow()
	ops := d.room(len(d.items))
	d.noEdits.code = d.generation
	for i := range d.items {
		it := &d.items[i]
		v, k := &d.varying[it.lane], int(it.row)
		text, old := v.Texts[k&(BatchRows-1)], v.Texts[(k-1)&(BatchRows-1)]
		at += int(it.same)
		length += int(it.same)
		grown, unknown := len(text)-len(old), false
		o := &ops[n]
		switch {
		case max(back, back+grown)+len(text)+2*Slack > maxDistance, v.short && len(text)+len(old) > 4*Slack:
			unknown = true
		case v.Fragments == nil:
			match := back
			if length == 0 && n > 0 && ops[n-1].plain == 0 {
				n-- // the literals follow the match of another piece
				o = &ops[n]
				length, match = int(o.length), int(o.distance)
			}
			d.spell(o, length, match, text, len(text)-v.After, v.longest)
			n++
			length = v.After
		case v.short:
			same := samePrefixShort(text, old)
			d.spell(o, length+same, back, text[same:], len(text)-same, max(len(text)-same, 8))
			n++
			length = 0
		default:
			from, to := v.First+v.fragments[(k-1)&(BatchRows-1)], v.First+v.fragments[k&(BatchRows-1)]
			e, here := it.kept, d.base+uint32(at)
			distance := int(here - d.last[to])
			near, over := bit(distance <= maxDistance), bit(len(text) > shortFragment)
			long := bit(len(text) > longFragment)
			if length == 0 && near&over != 0 && n > 0 && ops[n-1].plain == 0 && int(ops[n-1].distance) == distance {
				ops[n-1].length += uint32(len(text)) // the last occurrence follows what that match refers to
				d.last[from] = here - uint32(back)
				break
			}
			leads := bit((e.from^from)|(e.to^to) == 0)
			edit := leads & bit(e.n != 0) & ((e.cheap &^ long) | (1 &^ near))
			if unknown = edit|(near&(long|(over&leads&^e.cheap))) == 0; unknown {
				break
			}
			d.last[from] = here - uint32(back)
			if edit == 0 {
				e = &d.noEdits
			}
			if e.code != d.generation && d.literalCode != nil {
				encodeEdits(e.list[:e.n], text, d.literalCode)
				e.code = d.generation
			}
			next := e.list[0].set(o, length, back)
			n += int(bit(length|int(e.n) != 0))
			more, length2 := int(e.n>>1), int(e.list[1].same)
			if edit == 0 {
				more, length2, next = 1, len(text), distance
			}
			e.list[1].put(&ops[n], length2, next)
			n += more
			length = int(e.rest)
		}
		if !unknown {
			at += len(text)
			back += grown
			continue
		}
		d.ops, d.at, d.length, d.distance, d.back = ops[:n], at-int(it.same), length-int(it.same), back, back
		at, length, back, n = d.different(it)
		ops = d.room(len(d.items) - i)
	}
	d.ops, d.at, d.length, d.distance, d.back = ops[:n], at, length, back, back
}

// spell sets an op to a match and n literals, which are probably a number.
func (d *matcher) spell(o *op, length, distance int, text []byte, n, longest int) {
	o.length, o.distance, o.plain, o.size = uint32(length), uint32(distance), uint32(n), tooMany
	if d.literalCode != nil {
		o.bits, o.size = d.literalCode.number(text, n, longest)
	}
}

// bit returns 1 for true and 0 for false, without a branch.
func bit(b bool) uint8 {
	x := uint8(0)
	if b {
		x = 1
	}
	return x
}

// returnToRow ends a current match of another distance than that to the previous row.
func (d *matcher) returnToRow() (at, length, back, ops int) {
	if d.distance != d.back {
		d.settle()
		d.distance = d.back
	}
	return d.at, d.length, d.back, len(d.ops)
}

func (d *matcher) room(items int) []op {
	d.ops = slices.Grow(d.ops, maxKept*items+maxKept)
	return d.ops[:cap(d.ops)]
}

// different encodes an item that encodeItems cannot encode: one outside the window, or a fragment
// without cached edits. It encodes the bytes before the item too. Then the current match is again
// one with the previous row.
func (d *matcher) different(it *item) (at, length, back, ops int) {
	v, k := &d.varying[it.lane], int(it.row)
	d.extend(int(it.same))
	if v.Fragments == nil {
		d.value(v, k)
	} else {
		slot := &d.slots[v.slot]
		slot.fragment, slot.text = v.First+v.Fragments[k-1], v.Texts[k-1]
		d.fragment(v.slot, v.First+v.Fragments[k], v.Texts[k], 0)
	}
	return d.returnToRow()
}

// vary lists the varying lanes, marks the rows in which each differs from the previous row, and
// returns the number of bytes after the last of them.
func (d *matcher) vary(rows int) (after int) {
	d.varying = d.varying[:0]
	for s := range d.lanes {
		l := &d.lanes[s]
		if l.Same != nil {
			after += len(l.Same)
			continue
		}
		d.varying = d.varying[:len(d.varying)+1]
		v := &d.varying[len(d.varying)-1]
		v.Lane, v.slot, v.before, v.longest = l, s, after, 0
		after = 0
		if l.Fragments == nil {
			v.short = false
			v.compare(rows)
			continue
		}
		fragments := l.Fragments[:rows]
		if v.short = isNumber(l.Texts[0]) && d.fields(s) == 1; !v.short {
			copy(v.fragments[:], fragments)
		}
		for k := 1; k < len(fragments); k++ {
			changed := uint8(0)
			if fragments[k] != fragments[k-1] {
				changed = 1
			}
			v.changed[k&(BatchRows-1)] = changed
		}
	}
	return after
}

// fields returns the number of fields of a slot's fragments.
func (d *matcher) fields(s int) int {
	slot := &d.slots[s]
	if slot.fields == 0 {
		first := d.lanes[s].First
		cuts, _ := d.rowsOf.Cuts(s, first, first)
		slot.fields = len(cuts)
	}
	return slot.fields
}

// isNumber reports whether a text of one field ends like a number. Most numbers differ from row to
// row.
func isNumber(text []byte) bool {
	return len(text) > 0 && len(text) <= 2*Slack && text[len(text)-1]-'0' < 10
}

// compare marks the plain texts that differ from the previous row's. Most are numbers that fit two
// words.
func (v *varying) compare(rows int) {
	old := v.Texts[0]
	for k := 1; k < rows; k++ {
		text := v.Texts[k]
		n := len(text) - v.After
		v.longest = max(v.longest, n)
		a, b := (*[Slack]byte)(text[:Slack]), (*[Slack]byte)(old[:Slack])
		x := binary.LittleEndian.Uint64(a[:]) ^ binary.LittleEndian.Uint64(b[:])
		y := binary.LittleEndian.Uint64(a[8:]) ^ binary.LittleEndian.Uint64(b[8:])
		changed := uint8(0)
		if x|y|uint64(len(text)^len(old)) != 0 {
			changed = 1
		}
		if n > Slack && !bytes.Equal(text, old) {
			changed = 1
		}
		v.changed[k&(BatchRows-1)] = changed
		old = text
	}
}

// list collects the pieces of the rows from from to to-1 that differ from the previous row's and
// returns the number of unchanged bytes after the last one. Which pieces change is unpredictable,
// so the inner loop has no branch.
func (d *matcher) list(from, to, after int) int {
	if need := (to-from)*len(d.varying) + 1; cap(d.items) < need {
		d.items = make([]item, 0, need)
	}
	items, n, same := d.items[:cap(d.items)], 0, 0
	for k := from; k < to; k++ {
		for i := range d.varying {
			v := &d.varying[i]
			same += v.before
			changed := int(v.changed[k&(BatchRows-1)])
			it := &items[n]
			it.same, it.row, it.lane = uint32(same), uint16(k), uint16(i)
			n += changed
			same = (same + len(v.Texts[k])) & (changed - 1)
		}
		same += after
	}
	d.items = items[:n]
	return same
}

// value encodes a plain text that differs from the previous row's.
func (d *matcher) value(v *varying, k int) {
	text := v.Texts[k]
	n := len(text) - v.After
	x := d.op(n)
	if x.size = tooMany; d.literalCode != nil {
		x.bits, x.size = d.literalCode.number(text, n, v.longest)
	}
	d.back += len(text) - len(v.Texts[k-1])
	if d.back > maxDistance {
		d.literal(v.After)
		return
	}
	d.length, d.distance = v.After, d.back
	d.at += v.After
}

// lookUp finds the cache entries of all items before any of them is used, so that the memory
// accesses overlap. It returns a value that depends on them, to keep the compiler from dropping the
// accesses.
func (d *matcher) lookUp() (fetched uint32) {
	for i := range d.items {
		it := &d.items[i]
		v, k := &d.varying[it.lane], it.row&(BatchRows-1)
		it.kept = d.editor.at(v.First+v.fragments[(k-1)&(BatchRows-1)], v.First+v.fragments[k])
		fetched += it.kept.from
	}
	return fetched
}
