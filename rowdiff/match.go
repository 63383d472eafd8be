package rowdiff

import (
	"cmp"
	"slices"
)

// found is what differs between two blocks: rows of the old one that are removed, and rows of the
// current one that are added or changed, both ascending.
type found [sides][]partner

func (f *found) add(side int, row, old uint32) { f[side] = append(f[side], partner{row, old}) }

// partner is a current row with the old row that it was; none for one that was added or removed.
type partner struct{ row, old uint32 }

// noRow is no row.
const noRow = 1<<32 - 1

// candidate is a row whose key the other side may have with other values.
type candidate struct {
	hash uint64 // of the key
	row  uint32
}

// match finds what differs between two blocks, of which one may be nil. It has three steps. Both
// are read side by side, equal rows are passed over, and the keys of all others are noted, as
// hashes. Where there are any, both are read again, and the rows with these keys collected. They
// are few, and are compared key by key.
//
// So it does not matter how well rows that are side by side go together: a key that differs has at
// least one row that was not passed over, and then all of its rows are compared.
func (c *comparison) match(old, current *block) (f found) {
	pair := [sides]*block{old, current}
	for side, b := range pair {
		if pair[before+after-side] == nil {
			for rows := range c.lists[side].batches(b.from, b.to) {
				for _, row := range rows.IDs() {
					f.add(side, row, noRow)
				}
			}
			return f
		}
	}
	if len(c.noted) > 0 { // clearing takes as long as its largest size ever asks for
		c.noted = map[uint64]bool{}
	}
	c.sideBySide(old, current)
	if len(c.noted) == 0 {
		return f
	}
	c.collect(before, old)
	c.collect(after, current)
	c.compareKeys(&f)
	for _, rows := range f {
		slices.SortFunc(rows, func(a, b partner) int { return cmp.Compare(a.row, b.row) })
	}
	return f
}

// sideBySide reads two blocks and notes the keys of rows that are not equal to the row beside them.
func (c *comparison) sideBySide(old, current *block) {
	a, b := &c.windows[before], &c.windows[after]
	a.open(&c.lists[before], before, c.t.all, old)
	b.open(&c.lists[after], after, c.t.all, current)
	for {
		moreOld, moreNew := a.fill(), b.fill()
		if !moreOld || !moreNew {
			break
		}
		n := equalRows(a, b)
		a.at += n
		b.at += n
		if a.at == len(a.rows) || b.at == len(b.rows) {
			continue
		}
		// Of two rows with different keys, the one that sorts first has nothing beside it.
		order := 0
		if !c.sameKey(a.rows[a.at], b.rows[b.at]) {
			order = c.t.compareOrder(a.rows[a.at], b.rows[b.at], c.shared)
		}
		if order <= 0 {
			c.note(before, a)
		}
		if order >= 0 {
			c.note(after, b)
		}
	}
	for a.fill() {
		c.note(before, a)
	}
	for b.fill() {
		c.note(after, b)
	}
}

// note notes the key of the next row of a window, and goes on to the one after it.
func (c *comparison) note(side int, w *window) {
	h := uint64(0)
	for k := range c.t.keys {
		h = mix(h, c.t.keys[k][side].at(w.rows[w.at]))
	}
	c.noted[h] = true
	w.at++
}

// sameKey reports whether an old and a current row have the same key.
func (c *comparison) sameKey(old, current uint32) bool {
	return same(c.t.keys, before, old, after, current)
}

func same(words []word, side int, row uint32, otherSide int, other uint32) bool {
	for k := range words {
		if words[k][side].at(row) != words[k][otherSide].at(other) {
			return false
		}
	}
	return true
}

// collect finds the rows of a block with keys that were noted, by hash and then by row.
func (c *comparison) collect(side int, b *block) {
	w := &c.windows[side]
	w.open(&c.lists[side], side, c.t.keys, b)
	candidates := c.candidates[side][:0]
	for w.fill() {
		for i, h := range w.hashes(c.hashes[:]) {
			if c.noted[h] {
				candidates = append(candidates, candidate{h, w.rows[i]})
			}
		}
		w.at = len(w.rows)
	}
	slices.SortFunc(candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.row, b.row))
	})
	c.candidates[side] = candidates
}

// compareKeys compares the rows that were collected, key by key.
func (c *comparison) compareKeys(f *found) {
	old, current := c.candidates[before], c.candidates[after]
	for len(old) > 0 || len(current) > 0 {
		hash := uint64(0)
		switch {
		case len(old) == 0:
			hash = current[0].hash
		case len(current) == 0:
			hash = old[0].hash
		default:
			hash = min(old[0].hash, current[0].hash)
		}
		n, m := withHash(old, hash), withHash(current, hash)
		c.compareHash(f, old[:n], current[:m])
		old, current = old[n:], current[m:]
	}
}

// withHash is the number of leading candidates with a hash.
func withHash(of []candidate, hash uint64) int {
	n := 0
	for n < len(of) && of[n].hash == hash {
		n++
	}
	return n
}

// compareHash compares rows whose keys have one hash. Mostly that is one key, with one row at most
// in either state.
func (c *comparison) compareHash(f *found, old, current []candidate) {
	if len(old) == 1 && len(current) == 1 && c.sameKey(old[0].row, current[0].row) {
		if !same(c.t.all, before, old[0].row, after, current[0].row) {
			f.add(after, current[0].row, old[0].row)
		}
		return
	}
	var keys []sameKeys
	for side, candidates := range [sides][]candidate{old, current} {
		for _, s := range candidates {
			at := slices.IndexFunc(keys, func(k sameKeys) bool { return k.has(c.t.keys, side, s.row) })
			if at < 0 {
				at = len(keys)
				keys = append(keys, sameKeys{})
			}
			keys[at].rows[side] = append(keys[at].rows[side], s.row)
		}
	}
	for i := range keys {
		c.compareRows(f, keys[i].rows[before], keys[i].rows[after])
	}
}

// sameKeys are the rows with one key, ascending.
type sameKeys struct{ rows [sides][]uint32 }

func (k *sameKeys) has(words []word, side int, row uint32) bool {
	for of, rows := range k.rows {
		if len(rows) > 0 {
			return same(words, of, rows[0], side, row)
		}
	}
	return false
}

// compareRows compares the rows with one key.
func (c *comparison) compareRows(f *found, old, current []uint32) {
	if len(old) > 0 && len(current) > 0 {
		old, current = c.withoutEqual(old, current)
	}
	n := min(len(old), len(current))
	for i := range n {
		f.add(after, current[i], old[i])
	}
	for _, row := range old[n:] {
		f.add(before, row, noRow)
	}
	for _, row := range current[n:] {
		f.add(after, row, noRow)
	}
}

// withoutEqual leaves out rows that are equal to one of the other state, each with one other row:
// the first ones among equal rows.
func (c *comparison) withoutEqual(old, current []uint32) (oldLeft, left []uint32) {
	equal := map[uint64][]uint32{} // old rows by the hash of their words
	hash := func(side int, row uint32) (h uint64) {
		for k := range c.t.all {
			h = mix(h, c.t.all[k][side].at(row))
		}
		return h
	}
	for _, row := range old {
		h := hash(before, row)
		equal[h] = append(equal[h], row)
	}
	gone := map[uint32]bool{}
	for _, row := range current {
		h := hash(after, row)
		at := slices.IndexFunc(equal[h], func(o uint32) bool { return same(c.t.all, before, o, after, row) })
		if at < 0 {
			left = append(left, row)
			continue
		}
		gone[equal[h][at]] = true
		equal[h] = slices.Delete(equal[h], at, at+1)
	}
	for _, row := range old {
		if !gone[row] {
			oldLeft = append(oldLeft, row)
		}
	}
	return oldLeft, left
}
