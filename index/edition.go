package index

import (
	"math/bits"
	"slices"
	"sync"
	"time"

	"hdqs/snapshot"
)

// Edition says which rows are published together, and which edition of them is the newest. Its rows
// have one period: of the rows that pass and have the same values in Columns and Level, those of
// the newest period are kept. Periods are compared as for Query.Latest.
type Edition struct {
	Columns []string
	Level   string // does not count with Query.Coarsest; may be empty

	// Whole takes the newest period of all rows that pass the filters of the period, whatever the
	// other filters are.
	Whole bool

	// Having, if not empty, makes an edition of all rows whose period starts in one year: the
	// newest one in which a row that passes has a value in this column.
	Having string
}

// edition is Options.Edition with columns.
type edition struct {
	rules          *keyRules
	columns, level []*column
	having         *column
	whole          bool
	end, start     *column

	once    sync.Once  // finds the following
	keys    [2]rowKeys // with level, and without
	periods []periodColumn
}

// newEdition returns the edition of Options, nil if there is none.
func (x *Index) newEdition(o *Options, rules *keyRules) (e *edition, err error) {
	if o.Edition == nil {
		return nil, nil
	}
	e = &edition{rules: rules, whole: o.Edition.Whole, end: x.columns[o.PeriodEnd], start: x.columns[o.PeriodStart]}
	if e.end == nil || e.start == nil || e.end.col.Kind != snapshot.Time || e.start.col.Kind != snapshot.Time {
		return nil, filterf("an edition has the period %q to %q: the table has no times of these names",
			o.PeriodStart, o.PeriodEnd)
	}
	if e.columns, err = x.keyColumnsOf(o.Edition.Columns); err != nil {
		return nil, err
	}
	if o.Edition.Level != "" {
		if e.level, err = x.keyColumnsOf([]string{o.Edition.Level}); err != nil {
			return nil, err
		}
	}
	if name := o.Edition.Having; name != "" {
		if e.having = x.columns[name]; e.having == nil {
			return nil, filterf("the newest edition has values of %q: the table has no column of that name", name)
		}
	}
	return e, nil
}

// prepare numbers the values of columns.
func (e *edition) prepare() {
	e.once.Do(func() {
		e.keys[0] = e.rules.rowKeys(append(e.columns[:len(e.columns):len(e.columns)], e.level...))
		e.keys[1] = e.rules.rowKeys(e.columns)
		if e.having == nil {
			e.periods = periodColumnsOf(e.end, e.start)
			return
		}
		years := periodColumnOf(e.start.col, func(code, null uint64) moment {
			if code == null {
				return 0
			}
			return moment(1<<32 + time.UnixMicro(e.start.col.IntOf(uint32(code))).UTC().Year())
		})
		e.periods = []periodColumn{years}
	})
}

// findEdition finds the rows of the newest editions among those that pass w.predicates.
func (x *Index) findEdition(w *scratch, coarsest bool) *set {
	e := x.edition
	e.prepare()
	keys := e.keys[0]
	if coarsest {
		keys = e.keys[1]
	}
	newest := map[rowKey]moment{}
	x.eachPassing(w, func(row uint32) {
		if m := momentOf(e.periods, row); e.having == nil || !e.having.col.IsNull(position(e.having.col, row)) {
			key := keys.of(row)
			newest[key] = max(newest[key], m)
		}
	})
	b := &w.builder
	b.reset(x.rows)
	x.eachPassing(w, func(row uint32) {
		if m, has := newest[keys.of(row)]; has && m == momentOf(e.periods, row) {
			b.bitmap(int(row >> chunkBits))[row&(chunkRows-1)>>6] |= 1 << (row & 63)
		}
	})
	return b.build()
}

// eachPassing calls do for the rows that pass w.predicates.
func (x *Index) eachPassing(w *scratch, do func(row uint32)) {
	for k := range chunkCount(x.rows) {
		if x.chunk(&w.rows, w.predicates, k, false) == 0 {
			continue
		}
		for i, word := range w.rows.bitmap() {
			for ; word != 0; word &= word - 1 {
				do(uint32(k<<chunkBits + i<<6 + bits.TrailingZeros64(word)))
			}
		}
	}
}

// bindWhole sets w.predicates to what the filters of a query need, and to the rows of the newest
// editions of all rows that pass its filters of the period.
func (x *Index) bindWhole(w *scratch, q *Query) error {
	e := x.edition
	var dates []Filter
	for _, f := range q.Filters {
		if len(f.Columns) == 1 && (f.Columns[0] == e.end.col.Name || f.Columns[0] == e.start.col.Name) {
			dates = append(dates, f)
		}
	}
	inner := x.pool.Get().(*scratch)
	defer x.pool.Put(inner)
	defer inner.release()
	inner.makeKeys(x, dates)
	newest, err := x.cachedRows(inner, wholeEdition, func() (*set, error) {
		if err := x.predicates(inner, false); err != nil {
			return nil, err
		}
		return x.findEdition(inner, false), nil
	})
	if err != nil {
		return err
	}
	if err := x.predicates(w, false); err != nil {
		return err
	}
	w.predicates = slices.Insert(w.predicates, 0, &predicate{set: newest})
	return nil
}
