package index

import (
	"iter"
	"slices"
	"sync"
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
	period         *period

	once    sync.Once  // finds the following
	keys    [2]rowKeys // with level, and without
	moments []moment   // by tuple of periods

	// Of whole editions, if periods are a group of columns: a row of each period that each edition
	// has. There are hundreds, of more than a million rows.
	periods map[editionPeriod]uint32
}

// editionPeriod is an edition with a tuple of periods.
type editionPeriod struct {
	key   rowKey
	tuple uint32
}

// newEdition returns the edition of Options, nil if there is none.
func newEdition(x *Index, o *Options, rules *keyRules) (e *edition, err error) {
	if o.Edition == nil {
		return nil, nil
	}
	e = &edition{rules: rules, whole: o.Edition.Whole, period: x.period}
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

// prepare numbers the values of columns, and finds the periods of whole editions.
func (e *edition) prepare(x *Index) {
	e.once.Do(func() {
		e.keys[0] = e.rules.rowKeys(append(e.columns[:len(e.columns):len(e.columns)], e.level...))
		e.keys[1] = e.rules.rowKeys(e.columns)
		if e.having == nil {
			e.moments = e.period.moments()
		} else {
			e.moments = e.period.years()
		}
		if !e.whole || e.having != nil || e.period.group == nil {
			return
		}
		e.periods = map[editionPeriod]uint32{}
		var numbers numbering
		var seen []codeSet // by number, tuples
		for rows, keys := range x.eachPassing(new(scratch), e.keys[0]) {
			for i, row := range rows {
				number, tuple := numbers.add(keys[i]), e.period.tuple(row)
				if int(number) == len(seen) {
					seen = append(seen, newCodeSet(e.period.group.Tuples))
				}
				if !seen[number].has(tuple) {
					seen[number].add(tuple)
					e.periods[editionPeriod{keys[i], tuple}] = row
				}
			}
		}
	})
}

// findWhole is findEdition of whole editions, by the filters of the period in w.predicates. These
// pass all rows of a period or none.
func (e *edition) findWhole(x *Index, w *scratch) (*set, error) {
	if e.prepare(x); e.periods == nil {
		return x.findEdition(w, false), nil
	}
	passes := func(row uint32) bool {
		return !slices.ContainsFunc(w.predicates, func(o *predicate) bool { return !o.passes(row) })
	}
	newest := map[rowKey]moment{}
	for p, row := range e.periods {
		if passes(row) {
			newest[p.key] = max(newest[p.key], e.moments[p.tuple])
		}
	}
	found := new(predicate)
	of := found.partOf(x.columns[e.period.start.Name].space)
	for p, row := range e.periods {
		if passes(row) && e.moments[p.tuple] == newest[p.key] {
			of.codes.add(p.tuple)
		}
	}
	of.count = of.codes.count()
	of.findRun()
	rows, err := found.materialize(x, w)
	if err != nil {
		return nil, err
	}
	for p := range e.periods {
		if of.codes.has(p.tuple) && e.moments[p.tuple] < newest[p.key] {
			// The newest period of one edition is an older one of another.
			w.predicates = append(w.predicates[:0], &predicate{set: rows})
			return x.findEdition(w, false), nil
		}
	}
	return rows, nil
}

// findEdition finds the rows of the newest editions among those that pass w.predicates.
func (x *Index) findEdition(w *scratch, coarsest bool) *set {
	e := x.edition
	e.prepare(x)
	keys := e.keys[0]
	if coarsest {
		keys = e.keys[1]
	}
	var numbers numbering
	var newest []moment // by number
	for rows, of := range x.eachPassing(w, keys) {
		for i, row := range rows {
			if e.having != nil && e.having.col.IsNull(e.having.col.Position(row)) {
				continue
			}
			number, m := numbers.add(of[i]), e.moments[e.period.tuple(row)]
			if int(number) == len(newest) {
				newest = append(newest, m)
			}
			newest[number] = max(newest[number], m)
		}
	}
	b := &w.builder
	b.reset(x.rows)
	for rows, of := range x.eachPassing(w, keys) {
		for i, row := range rows {
			number, has := numbers.find(of[i])
			if has && newest[number] == e.moments[e.period.tuple(row)] {
				b.addRow(row)
			}
		}
	}
	return b.build()
}

// eachPassing yields the rows that pass w.predicates with their keys, some at a time.
func (x *Index) eachPassing(w *scratch, keys rowKeys) iter.Seq2[[]uint32, []rowKey] {
	return func(yield func([]uint32, []rowKey) bool) {
		var of [blockRows]rowKey
		rows := make([]uint32, 0, chunkRows)
		for k := range chunkCount(x.rows) {
			if x.chunk(&w.rows, w.predicates, k, false) == 0 {
				continue
			}
			rows = rows[:0]
			for at := range codeSet(w.rows.bitmap()[:]).all() {
				rows = append(rows, uint32(k)<<chunkBits+at)
			}
			for some := range slices.Chunk(rows, len(of)) {
				keys.readRows(of[:], some)
				if !yield(some, of[:len(some)]) {
					return
				}
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
		if len(f.Columns) == 1 && (f.Columns[0] == e.period.end.Name || f.Columns[0] == e.period.start.Name) {
			dates = append(dates, f)
		}
	}
	inner := x.pool.Get().(*scratch)
	defer x.pool.Put(inner)
	defer inner.release()
	inner.makeKeys(x, dates)
	newest, err := x.cachedRows(inner, wholeEdition, func() (*set, error) {
		if err := x.predicates(inner); err != nil {
			return nil, err
		}
		return e.findWhole(x, inner)
	})
	if err != nil {
		return err
	}
	if err := x.predicates(w); err != nil {
		return err
	}
	w.predicates = slices.Insert(w.predicates, 0, &predicate{set: newest})
	return nil
}
