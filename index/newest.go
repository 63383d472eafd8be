package index

import "math/bits"

// newestRows is a cached answer: of the rows that pass the filters of a query, the newest of each
// series. rows is nil in an entry that only says that they were asked for before.
type newestRows struct{ rows *set }

// newest returns, of the rows that pass the filters of w, the newest of each series. The error is
// that of Select.
func (x *Index) newest(w *scratch) (*set, error) {
	// No key of a filter, of a query or of merged filters starts with 254.
	key := append(append(w.newestKey[:0], 254), w.key...)
	w.newestKey = key
	entry, asked := x.cache.get(key).(*newestRows)
	if asked && entry.rows != nil {
		return entry.rows, nil
	}
	if err := x.predicates(w, false); err != nil {
		return nil, err
	}
	found := x.findNewest(w)
	// As with predicates, a large set is not cached at its first use.
	if size := found.size(); asked || size <= int(x.cache.limit.Load())/largeShare {
		x.cache.put(key, &newestRows{found}, size)
	} else {
		x.cache.put(key, &newestRows{}, 0)
	}
	return found, nil
}

// findNewest finds the newest rows of each series among those that pass w.predicates.
func (x *Index) findNewest(w *scratch) *set {
	t := x.series.stretches()
	b := &w.builder
	b.reset(x.rows)
	var scattered []uint32
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
		passing, kept := w.rows.bitmap(), b.bitmap(k)
		met = lastOfEach(kept, passing, t.ends.bits(ends, &w.words), met)
		if c := &t.scattered.chunks[k]; c.shape != empty {
			base := uint32(k) << chunkBits
			for i, word := range t.scattered.bits(c, &w.words) {
				word &= kept[i]
				kept[i] &^= word
				for ; word != 0; word &= word - 1 {
					scattered = append(scattered, base+uint32(i<<6+bits.TrailingZeros64(word)))
				}
			}
		}
	}
	t.newestOf(scattered, func(row uint32) {
		at := row & (chunkRows - 1)
		b.bitmap(int(row >> chunkBits))[at>>6] |= 1 << (at & 63)
	})
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

// newestOf calls keep with the rows that are the newest of their series among rows.
func (t *stretches) newestOf(rows []uint32, keep func(row uint32)) {
	newest := make(map[seriesKey]moment)
	for _, row := range rows {
		key, m := t.key(row), t.moment(row)
		if have, has := newest[key]; !has || m > have {
			newest[key] = m
		}
	}
	for _, row := range rows {
		if newest[t.key(row)] == t.moment(row) {
			keep(row)
		}
	}
}

// page passes the rows of a set to out.
func (x *Index) page(w *scratch, rows *set, out *emitter) {
	for k := range rows.chunks {
		c := &rows.chunks[k]
		switch {
		case out.left == 0:
			return
		case out.skip >= uint64(c.rows):
			out.skip -= uint64(c.rows)
		default:
			w.rows.load(rows, c, chunkSize(x.rows, k))
			out.addRows(&w.rows, uint32(k)<<chunkBits)
		}
	}
}
