package aggregate

import (
	"errors"
	"math"
	"slices"
	"sort"

	"hdqs/index"
	"hdqs/snapshot"
)

// MaxNumbers is the most different values of an Int or Decimal column that Count counts.
const MaxNumbers = 10_000

// Count counts the rows that pass a query by each of some fields, in a Result each, as a Question
// for that group and the measure Count does. It reads the codes of a column or a group once for all
// fields, or none where postings or runs of rows have the answer. The error is ErrQuestion, that of
// index.Passing, or *TooManyValues for a column of more than MaxNumbers numbers.
func (t *Table) Count(q *index.Query, by ...Group) ([]*Result, error) {
	plans := make([]*plan, len(by))
	for i := range by {
		var err error
		if plans[i], err = t.countPlan(by[i : i+1]); err != nil {
			return nil, err
		}
	}
	counter, err := t.x.Counter(q)
	if err != nil {
		return nil, err
	}
	defer counter.Close()
	all := make([]*Result, len(by))
	for i, g := range by {
		if all[i] != nil {
			continue // counted with another field of its space
		}
		space := plans[i].fields[0].c.space
		if space == nil {
			all[i], err = t.Answer(&Question{
				Query: q, Groups: by[i : i+1], Measures: plans[i].measures, MaxGroups: MaxNumbers,
			})
			if err := tooManyValues(g, err); err != nil {
				return nil, err
			}
			continue
		}
		counts, err := counter.ByCode(g.Column)
		if err != nil {
			return nil, err
		}
		for k := i; k < len(by); k++ {
			if p := plans[k]; p.fields[0].c.space == space {
				all[k], err = p.ofCounts(counts)
				if err := tooManyValues(by[k], err); err != nil {
					return nil, err
				}
			}
		}
	}
	return all, nil
}

// tooManyValues names the column of which a Result would have too many groups.
func tooManyValues(g Group, err error) error {
	if many, ok := errors.AsType[*TooManyGroups](err); ok {
		return &TooManyValues{Column: g.Column, Max: many.Max}
	}
	return err
}

// countPlan is the plan of a field that is counted by.
func (t *Table) countPlan(by []Group) (*plan, error) {
	q := &Question{Groups: by, Measures: []Measure{{Func: Count}}, MaxGroups: math.MaxInt}
	if c := t.columns[by[0].Column]; c != nil && (c.col.Kind == snapshot.Int || c.col.Kind == snapshot.Decimal) {
		q.MaxGroups = MaxNumbers
	}
	p, err := t.plan(q)
	if err == nil {
		p.dense = p.fields[0].c.space != nil
	}
	return p, err
}

// ofCounts is the answer to a count by one field, whose codes have these counts.
func (p *plan) ofCounts(counts []uint32) (*Result, error) {
	rows := make([]uint32, p.size)
	for code, n := range counts {
		rows[p.inputs[0].digits[code]] += n
	}
	return newResult(&worker{p: p, rows: rows, keys: newKeys(p)})
}

// Top returns the n groups with the most rows, from the most on; of those with as many rows, the
// first groups first.
func (r *Result) Top(n int) []int {
	top := make([]int, 0, n+1)
	for group := range r.ids {
		if len(top) == n && (n == 0 || r.Rows(group) <= r.Rows(top[n-1])) {
			continue
		}
		at := sort.Search(len(top), func(i int) bool { return r.Rows(top[i]) < r.Rows(group) })
		top = slices.Insert(top, at, group)
		top = top[:min(len(top), n)]
	}
	return top
}
