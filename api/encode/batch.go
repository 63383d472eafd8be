package encode

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// The rows of a batch are encoded in three sweeps: vary compares each lane with itself a row
// earlier, list and lookUp collect the pieces that changed and fetch their cached edits, and the
// last sweep encodes these pieces. Only the last one branches on data: a mispredicted branch takes
// as long as fifty instructions.

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

// encodeVaried encodes the rows of a batch from the second one up to rows.
func (d *matcher) encodeVaried(rows int) {
	after := d.vary(rows)
	same := d.list(rows, after)
	d.fetched += d.lookUp()
	for i := range d.items {
		it := &d.items[i]
		v, k := &d.varying[it.lane], int(it.row)
		switch {
		case d.distance == d.back:
			d.length += int(it.same)
			d.at += int(it.same)
		case it.same > 0:
			d.extend(int(it.same))
		case d.prolong(v, k):
			continue
		}
		if d.leaveOut && it.same-1 < shortMatch-1 { // from 1 to shortMatch-1
			d.putBefore(v.slot, k, int(it.same))
		}
		switch {
		case v.Fragments == nil:
			d.value(v, k)
		case v.short && d.back+4*Slack <= d.window && len(v.Texts[k])+len(v.Texts[k-1]) <= 4*Slack:
			d.number(v, k)
		case d.follows(v, k, it.kept):
			d.follow(v, k, it.kept)
		case d.refers(v, k, it.kept):
			d.recur(v, k)
		default:
			d.put(v.Texts[k])
			d.fragment(v.slot, v.First+v.Fragments[k], v.Texts[k], 0)
		}
	}
	d.extend(same)
	if d.leaveOut {
		d.putBefore(len(d.lanes), rows-1, shortMatch)
	}
	for i := range d.varying {
		if v := &d.varying[i]; v.Fragments == nil {
			d.slots[v.slot].text = v.Texts[rows-1]
		}
	}
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

// list collects the pieces that differ from the previous row's and returns the number of unchanged
// bytes after the last one. Which pieces change is unpredictable, so the inner loop has no branch.
func (d *matcher) list(rows, after int) int {
	if need := rows*len(d.varying) + 1; cap(d.items) < need {
		d.items = make([]item, 0, need)
	}
	items, n, same := d.items[:cap(d.items)], 0, 0
	for k := 1; k < rows; k++ {
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
	d.put(text)
	n := len(text) - v.After
	x := d.op(n)
	if x.size = tooMany; d.literalCode != nil {
		x.bits, x.size = d.literalCode.number(text, n, v.longest)
	}
	d.back += len(text) - len(v.Texts[k-1])
	if d.back > d.window {
		d.literal(v.After)
		return
	}
	d.length, d.distance = v.After, d.back
	d.at += v.After
}

// number encodes a short fragment that replaces another: literals from the first difference on.
func (d *matcher) number(v *varying, k int) {
	text, old := v.Texts[k], v.Texts[k-1]
	d.put(text)
	slot := &d.slots[v.slot]
	slot.fragment, slot.text = v.First+v.Fragments[k], text
	same := min(samePrefix(text, old), len(text), len(old))
	if d.distance != d.back {
		d.settle()
	}
	d.length += same
	d.at += same
	d.distance = d.back
	n := len(text) - same
	x := d.op(n)
	if x.size = tooMany; d.literalCode != nil {
		x.bits, x.size = d.literalCode.number(text[same:], n, max(n, 8))
	}
	d.back += len(text) - len(old)
	d.distance = d.back
}

// prolong extends the current match by a fragment if the fragment's last occurrence directly
// follows what the match refers to.
func (d *matcher) prolong(v *varying, k int) bool {
	if v.Fragments == nil || d.length == 0 {
		return false
	}
	slot := &d.slots[v.slot]
	fragment, here, text := v.First+v.Fragments[k], d.base+uint32(d.at), v.Texts[k]
	if len(text) <= shortFragment || here-d.last[fragment] != uint32(d.distance) {
		return false
	}
	d.last[slot.fragment] = here - uint32(d.back)
	d.back += len(text) - len(slot.text)
	slot.fragment, slot.text = fragment, text
	d.length += len(text)
	d.at += len(text)
	return true
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

// distanceTo returns the distance to a fragment's last occurrence.
func (d *matcher) distanceTo(fragment uint32) int {
	return int(d.base + uint32(d.at) - d.last[fragment])
}

// follows reports whether cached edits encode the fragment of row k. Within the window a match with
// its last occurrence is as good, unless the edits are cheap.
func (d *matcher) follows(v *varying, k int, e *keptEdits) bool {
	n := len(v.Texts[k])
	return e.n > 0 && e.leads(v, k) && d.back+n <= d.window &&
		(e.cheap && n <= longFragment || d.distanceTo(e.to) > d.window)
}

// refers reports whether the fragment of row k is known to be a match with its last occurrence: it
// is too long to be compared with the previous row's, or the edits are known and not cheap.
func (d *matcher) refers(v *varying, k int, e *keptEdits) bool {
	n := len(v.Texts[k])
	return (n > longFragment || n > shortFragment && e.leads(v, k) && !e.cheap) &&
		d.distanceTo(v.First+v.Fragments[k]) <= d.window
}

// recur encodes a fragment as a match with its last occurrence, as the method fragment would.
func (d *matcher) recur(v *varying, k int) {
	slot, fragment, text := &d.slots[v.slot], v.First+v.Fragments[k], v.Texts[k]
	here := d.base + uint32(d.at)
	distance := int(here - d.last[fragment])
	if len(slot.text) > shortFragment {
		d.last[slot.fragment] = here - uint32(d.back)
	}
	d.back += len(text) - len(slot.text)
	slot.fragment, slot.text = fragment, text
	if d.distance != distance {
		d.settle()
		d.distance = distance
	}
	d.length += len(text)
	d.at += len(text)
}

// leads reports whether the edits turn the fragment of row k-1 into that of row k.
func (e *keptEdits) leads(v *varying, k int) bool {
	return e.from == v.First+v.Fragments[k-1] && e.to == v.First+v.Fragments[k]
}

// follow encodes a fragment by cached edits.
func (d *matcher) follow(v *varying, k int, e *keptEdits) {
	d.put(v.Texts[k])
	if d.literalCode != nil && e.code != d.generation {
		encodeEdits(e.list[:e.n], v.Texts[k], d.literalCode)
		e.code = d.generation
	}
	if d.distance != d.back {
		d.settle()
	}
	d.last[e.from] = d.base + uint32(d.at) - uint32(d.back)
	slot := &d.slots[v.slot]
	slot.fragment, slot.text = e.to, v.Texts[k]
	// Whether there are one or two edits is unpredictable, so two are always written.
	at := len(d.ops)
	ops := slices.Grow(d.ops, maxKept)[:at+maxKept]
	back := e.list[0].set(&ops[at], d.length, d.back)
	back = e.list[1].set(&ops[at+1], 0, back)
	d.ops = ops[:at+int(e.n)]
	d.distance, d.back = back, back
	d.length = int(e.rest)
	d.at += len(slot.text)
}
