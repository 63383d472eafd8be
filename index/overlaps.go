package index

import (
	"cmp"
	"errors"
	"iter"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
)

// Overlaps finds rows of one series whose periods have a moment in common. Two rows with the same
// period are not looked for: rows of a series differ in their period.
type Overlaps struct {
	x        *Index
	crossing []bool // by tuple of periods; nil if no two periods of the table have a moment in common

	once  sync.Once
	found []uint32 // see rows
	bytes atomic.Int64

	nestedOnce sync.Once
	keys       []rowKeys // by level but the last: of a place and its fields, without the period
	named      []rowKeys // the same with the names of the place
	mixed      lazy[set] // rows of places of level 0 with rows of several levels
	crossed    lazy[set] // those of them that cross
}

// NewOverlaps prepares the search in the rows of the series of Options.
func (x *Index) NewOverlaps() (*Overlaps, error) {
	if x.series == nil {
		return nil, filterf("rows that overlap are asked for, but the table has no series")
	}
	o := &Overlaps{x: x, crossing: x.period.crossing()}
	o.bytes.Store(int64(len(o.crossing)))
	return o, nil
}

// Bytes is the memory of what was found so far.
func (o *Overlaps) Bytes() int64 { return o.bytes.Load() }

// Search says which rows that overlap are looked for.
type Search struct {
	GroupOf   func(row uint32) uint32 // both rows are of one group
	AnyPeriod bool                    // Nested: whatever their periods
	Most      int                     // passing rows that overlap others of the table
}

// Period is the period of a row.
func (o *Overlaps) Period(row uint32) Period { return o.x.period.of(o.x.period.tuple(row)) }

// rows are the rows of the table that overlap another one, or have the same period as another one
// of their series, in ascending order. They are found at the first call.
func (o *Overlaps) rows() []uint32 {
	o.once.Do(func() {
		o.found = o.findRows()
		o.bytes.Add(4 * int64(cap(o.found)))
	})
	return o.found
}

// eachCrossing yields the rows whose periods meet another period of the table, or all rows.
func (o *Overlaps) eachCrossing(all bool) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		if o.crossing == nil && !all {
			return
		}
		for from, tuples := range blocksOf(o.x.period.group, o.x.rows) {
			for i, tuple := range tuples {
				if (all || o.crossing[tuple]) && !yield(from+uint32(i)) {
					return
				}
			}
		}
	}
}

// findRows compares the rows of each block (seriesOrder.reach), which takes memory for one of them.
func (o *Overlaps) findRows() (found []uint32) {
	type seriesRow struct {
		key    rowKey
		row    uint32
		period Period
	}
	var block []seriesRow
	compare := func() {
		slices.SortFunc(block, func(a, b seriesRow) int {
			return cmp.Or(slices.Compare(a.key[:], b.key[:]), cmp.Compare(a.period.From, b.period.From))
		})
		for i, longest := 1, 0; i < len(block); i++ { // as in period.crossing
			at, before := &block[i], &block[longest]
			same := at.key == before.key
			if same && at.period.meets(before.period) {
				found = append(found, at.row, before.row)
			}
			if !same || at.period.To > before.period.To {
				longest = i
			}
		}
		block = block[:0]
	}
	t, reach := o.x.series.inOrder(), uint32(0)
	for row := range o.eachCrossing(false) {
		if row > reach {
			compare()
		}
		block = append(block, seriesRow{t.keys.of(row), row, o.Period(row)})
		reach = max(reach, t.reach(row))
	}
	compare()
	slices.Sort(found)
	return slices.Clone(slices.Compact(found))
}

// Overlap is two rows of one series whose periods have a moment in common.
type Overlap struct{ A, B uint32 }

// ErrManyOverlaps is the error for more passing rows that overlap others of the table than a search
// looks at.
var ErrManyOverlaps = errors.New("index: too many rows have periods that overlap those of others")

// Meeting yields two passing rows of one group and series whose periods differ and have a moment in
// common, until yield returns false. The error is ErrManyOverlaps, or that of Passing.
func (o *Overlaps) Meeting(q *Query, s *Search, yield func(Overlap) bool) error {
	if o.crossing == nil || len(o.rows()) == 0 {
		return nil
	}
	passing, err := o.x.Passing(q)
	if err != nil {
		return err
	}
	type class struct {
		key   rowKey
		group uint32
	}
	var chunk ChunkRows
	keys := o.x.series.inOrder().keys
	seen, n := map[class][]uint32{}, 0
	for i := range passing.among(o.found, &chunk) {
		if n++; n > s.Most {
			return ErrManyOverlaps
		}
		row := o.found[i]
		of, p := class{keys.of(row), s.GroupOf(row)}, o.Period(row)
		for _, earlier := range seen[of] {
			other := o.Period(earlier)
			if other != p && p.meets(other) && !yield(Overlap{earlier, row}) {
				return nil
			}
		}
		seen[of] = append(seen[of], row)
	}
	return nil
}

// among yields the positions of those of some ascending rows that pass, and reads chunks into one.
func (p *Passing) among(rows []uint32, into *ChunkRows) iter.Seq[int] {
	return func(yield func(int) bool) {
		for from := 0; from < len(rows); {
			k := int(rows[from] >> chunkBits)
			n := sort.Search(len(rows)-from, func(i int) bool { return int(rows[from+i]>>chunkBits) > k })
			if p.Read(k, into) > 0 {
				words := into.Words()
				for i, row := range rows[from : from+n] {
					at := row & (chunkRows - 1)
					if words[at>>6]>>(at&63)&1 != 0 && !yield(from+i) {
						return
					}
				}
			}
			from += n
		}
	}
}
