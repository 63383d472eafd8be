package index

import "math/bits"

// bindNewest sets w.predicates to what the filters need, as predicates does, but for tests of
// numbers, which it returns: mostly few rows of a stretch have to be tested.
func (x *Index) bindNewest(w *scratch) (lazy []*predicate, err error) {
	if !x.bind(w) {
		return nil, nil
	}
	rest := w.predicates[:0]
	for _, o := range w.predicates {
		if o.set == nil && o.cost >= cheapCost && len(o.parts) == 1 && o.parts[0].numbers != nil {
			lazy = append(lazy, o)
		} else {
			rest = append(rest, o)
		}
	}
	w.predicates = rest
	return lazy, x.materializeAll(w, false)
}

// findNewest finds the newest rows of each series among those that pass w.predicates and lazy.
func (x *Index) findNewest(w *scratch, lazy []*predicate) *set {
	t := x.series.stretches()
	b := &w.builder
	b.reset(x.rows)
	// From the last row to the first: of each stretch stays the first row met.
	met := uint64(0) // 1 if one was met in the stretch of the row at hand
	misses, wait := 0, 0
	for k := chunkCount(x.rows) - 1; k >= 0; k-- {
		ends := &t.ends.chunks[k]
		if x.chunk(&w.rows, w.predicates, k, false) == 0 {
			if ends.shape != empty {
				met = 0
			}
			continue
		}
		base := uint32(k) << chunkBits
		if wait--; len(lazy) > 0 && wait < 0 {
			still, few := lastThatPass(b.bitmap(k), w.rows.bitmap(), t.ends.bits(ends, &w.words), met, base, lazy)
			if few {
				met = still
				continue
			}
			misses++
			wait = 1 << misses
		}
		for _, o := range lazy {
			w.rows.test(o, base)
		}
		met = lastOfEach(b.bitmap(k), w.rows.bitmap(), t.ends.bits(ends, &w.words), met)
	}
	t.keepNewest(b, &w.words)
	return b.build()
}

// fewTests is how many rows of a chunk are tested alone at most. If more have to, all are tested in
// sequence, which is faster, and so are those of the next chunks, twice as many after each time.
const fewTests = chunkRows / 24

// lastThatPass is lastOfEach for rows that must also pass lazy predicates. base is the first row of
// the chunk. It tests the rows of a stretch from the last one on until one passes. It stops halfway
// and returns false when it has tested fewTests.
func lastThatPass(
	kept, passing, ends *words, met uint64, base uint32, lazy []*predicate,
) (stillMet uint64, few bool) {
	tested := 0
	for i := chunkWords - 1; i >= 0; i-- {
		e, found := ends[i], uint64(0)
		rest := passing[i]
		if met > 0 {
			rest &= upTo(e) // those above the last end are of the stretch that was met
		}
		for rest != 0 {
			top := bits.Len64(rest) - 1
			if tested++; tested > fewTests {
				return 0, false
			}
			if !passesAll(lazy, base+uint32(i<<6+top)) {
				rest &^= 1 << top
				continue
			}
			found |= 1 << top
			rest &= upTo(e & (1<<top - 1)) // no others of its stretch
		}
		kept[i] = found
		if e != 0 {
			met = 0
			found &= e ^ (e - 1) // the first end and all rows before it
		}
		if found != 0 {
			met = 1
		}
	}
	return met, true
}

// upTo has the highest one of a word and all bits below it.
func upTo(word uint64) uint64 { return 1<<bits.Len64(word) - 1 }

func passesAll(predicates []*predicate, row uint32) bool {
	for _, o := range predicates {
		if !o.passes(row) {
			return false
		}
	}
	return true
}

// lastOfEach sets kept to the last row of passing in each stretch; ends has the last row of each.
// met is 1 if a row after these passes and is of the stretch of the last of these. It returns the
// same for the first.
func lastOfEach(kept, passing, ends *words, met uint64) uint64 {
	for i := chunkWords - 1; i >= 0; i-- {
		p, e := passing[i], ends[i]
		if p == 0 {
			kept[i] = 0
			if e != 0 {
				met = 0
			}
			continue
		}
		// some has the rows that pass or are followed by one that does, in their stretch. Each step
		// looks twice as far ahead; free has the rows from which that is still the same stretch.
		free := ^e
		above := met << 63 & free
		some := p | above
		some |= some >> 1 & free
		free &= free >> 1
		some |= some >> 2 & free
		free &= free >> 2
		some |= some >> 4 & free
		free &= free >> 4
		some |= some >> 8 & free
		free &= free >> 8
		some |= some >> 16 & free
		free &= free >> 16
		some |= some >> 32 & free
		kept[i] = p &^ (some>>1&^e | above)
		met = some & 1
	}
	return met
}

// keepNewest keeps, of the scattered rows that b has, the newest of each series. It compares the
// rows of a block (findScattered) at a time.
func (t *stretches) keepNewest(b *builder, buf *words) {
	var c comparison
	reach := uint32(0)
	for k, kept := range b.bitmaps {
		scattered := &t.scattered.chunks[k]
		if kept == nil || scattered.shape == empty {
			continue
		}
		for i, word := range t.scattered.bits(scattered, buf) {
			word &= kept[i]
			kept[i] &^= word
			for ; word != 0; word &= word - 1 {
				row := uint32(k<<chunkBits + i<<6 + bits.TrailingZeros64(word))
				if row > reach {
					c.keep(b)
				}
				c.add(t.keys.of(row), t.moment(row), row)
				reach = max(reach, t.reach(row))
			}
		}
	}
	c.keep(b)
}

// comparison finds the newest rows of series among some rows.
type comparison struct {
	series map[rowKey]int32
	newest []moment // of each series
	rows   []compared
}

type compared struct {
	row    uint32
	series int32
	moment moment
}

func (c *comparison) add(key rowKey, m moment, row uint32) {
	if c.series == nil {
		c.series = make(map[rowKey]int32)
	}
	number, has := c.series[key]
	if !has {
		number = int32(len(c.newest))
		c.series[key] = number
		c.newest = append(c.newest, m)
	}
	c.newest[number] = max(c.newest[number], m)
	c.rows = append(c.rows, compared{row, number, m})
}

// keep adds the newest rows to b and forgets all.
func (c *comparison) keep(b *builder) {
	for _, one := range c.rows {
		if one.moment == c.newest[one.series] {
			b.addRow(one.row)
		}
	}
	c.rows, c.newest = c.rows[:0], c.newest[:0]
	clearMap(&c.series)
}
