package index

import "math/bits"

// findNewest finds the newest rows of each series among those that pass w.predicates.
func (x *Index) findNewest(w *scratch) *set {
	t := x.series.stretches()
	b := &w.builder
	b.reset(x.rows)
	// From the last row to the first: of each stretch stays the first row met.
	met := uint64(0) // 1 if one was met in the stretch of the row at hand
	for k := chunkCount(x.rows) - 1; k >= 0; k-- {
		ends := &t.ends.chunks[k]
		if x.chunk(&w.rows, w.predicates, k, false) == 0 {
			if ends.shape != empty {
				met = 0
			}
			continue
		}
		met = lastOfEach(b.bitmap(k), w.rows.bitmap(), t.ends.bits(ends, &w.words), met)
	}
	t.keepNewest(b, &w.words)
	return b.build()
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
				c.add(t.order.keys.of(row), t.moment(row), row)
				reach = max(reach, t.order.reach(row))
			}
		}
	}
	c.keep(b)
}

// comparison finds the newest rows of series among some rows.
type comparison struct {
	series numbering
	newest []moment // of each series
	rows   []compared
}

type compared struct {
	row, series uint32
	moment      moment
}

func (c *comparison) add(key rowKey, m moment, row uint32) {
	number := c.series.add(key)
	if int(number) == len(c.newest) {
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
	c.series.clear()
}
