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
	for i, g := range by {
		var err error
		if plans[i], err = t.countPlan(g); err != nil {
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
				all[k], err = p.countResult(counts)
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

// countPlan is the plan of a field that is counted by. Its ranks are the ids of groups.
func (t *Table) countPlan(g Group) (*plan, error) {
	c, err := t.column(g.Column)
	if err != nil {
		return nil, err
	}
	if err := g.check(c.col); err != nil {
		return nil, err
	}
	p := &plan{t: t, fields: []*field{{c: c}}, measures: []Measure{{Func: Count}}, maxGroups: math.MaxInt}
	if c.col.Kind == snapshot.Int || c.col.Kind == snapshot.Decimal {
		p.maxGroups = MaxNumbers
	}
	if c.space != nil {
		f := newField(c, g.Part)
		p.fields[0], p.dense, p.natural, p.size = f, true, true, uint64(f.n)+1
		p.inputs = []*input{{space: c.space, radix: p.size, ranks: make([][]uint32, 1)}}
	}
	return p, nil
}

// countResult adds up counts by code to those by rank of the field.
func (p *plan) countResult(counts []uint32) (*Result, error) {
	f := p.fields[0]
	rows := make([]uint32, p.size)
	if f.ranks == nil {
		copy(rows, counts)
	} else {
		for code, n := range counts {
			rows[f.ranks[code]] += n
		}
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
