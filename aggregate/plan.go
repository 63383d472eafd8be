package aggregate

import (
	"math"
	"slices"

	"hdqs/index"
)

type plan struct {
	t         *Table
	fields    []*field
	inputs    []*input
	measures  []Measure
	states    []state
	uses      []int // the state of each measure
	maxGroups int
	natural   bool // groups are in order if their keys are

	runs  bool   // the codes of all inputs have long runs
	dense bool   // keys are ids of groups
	size  uint64 // number of keys, if dense
}

func (t *Table) plan(q *Question) (*plan, error) {
	p := &plan{t: t, measures: q.Measures, maxGroups: q.MaxGroups}
	if p.maxGroups <= 0 {
		p.maxGroups = DefaultMaxGroups
	}
	for _, g := range q.Groups {
		c, err := t.column(g.Column)
		if err != nil {
			return nil, err
		}
		if err := g.check(c.col); err != nil {
			return nil, err
		}
		p.fields = append(p.fields, newField(c, g))
	}
	p.makeInputs()
	made := map[stateKey]int{}
	for _, m := range q.Measures {
		if err := p.addMeasure(m, made); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// makeInputs finds the inputs in the order of their first fields.
func (p *plan) makeInputs() {
	var bySpace [][]*field
	p.natural = true
	for i, f := range p.fields {
		at := slices.IndexFunc(bySpace, func(of []*field) bool {
			return f.c.space != nil && of[0].c.space == f.c.space
		})
		if at < 0 {
			at = len(bySpace)
			bySpace = append(bySpace, nil)
		} else if at != p.fields[i-1].input {
			p.natural = false
		}
		f.input, f.at = at, len(bySpace[at])
		bySpace[at] = append(bySpace[at], f)
	}
	product := uint64(1)
	for _, fields := range bySpace {
		var in *input
		if s := fields[0].c.space; s != nil {
			in = p.t.input(s, fields)
		} else {
			in = &input{raw: fields[0], radix: uint64(p.maxGroups) + 1, ranks: make([][]uint32, 1)}
			p.natural = false
		}
		// Rehash the keys so far; at most maxGroups remain.
		if product > math.MaxUint64/in.radix {
			in.rehash = true
			p.natural = false
			product = uint64(p.maxGroups) + 1
		}
		product *= in.radix
		p.inputs = append(p.inputs, in)
	}
	p.size = product
	p.runs = !slices.ContainsFunc(p.inputs, func(in *input) bool {
		return in.raw != nil || in.rehash || !hasLongRuns(in.space)
	})
	stride := uint64(1)
	for i := len(p.inputs) - 1; i >= 0; i-- {
		p.inputs[i].stride = stride
		stride *= p.inputs[i].radix
	}
}

// minRun is the least average length of runs whose rows are added together.
const minRun = 32

func hasLongRuns(s *index.Space) bool {
	runs := s.Runs()
	return runs != nil && minRun*runs.Len() <= s.Codes().Len()
}

// Keys up to alwaysDense are always used as ids, up to maxDense if there are enough rows.
const (
	alwaysDense = 1 << 12
	maxDense    = 1 << 19
)

// chooseDense decides whether keys are used as ids of groups, which takes memory for each key, or
// numbered by a hash table, which takes time for each row.
func (p *plan) chooseDense(passing *index.Passing, rows *index.ChunkRows) {
	hasRaw := slices.ContainsFunc(p.inputs, func(in *input) bool { return in.raw != nil || in.rehash })
	p.dense = !hasRaw && p.size <= alwaysDense
	if hasRaw || p.dense || p.size > maxDense {
		return
	}
	n := 0
	for k := range passing.Chunks() {
		n += passing.Count(k, rows)
	}
	p.dense = uint64(n)*4 >= p.size
}

// stateKey identifies a state: measures that need the same share it.
type stateKey struct {
	kind Func
	c    *column
}

func (p *plan) addMeasure(m Measure, made map[stateKey]int) error {
	if m.Func == Count {
		if m.Column != "" {
			return questionf("count has no column, but %q is given", m.Column)
		}
		p.uses = append(p.uses, -1)
		return nil
	}
	c, err := p.t.column(m.Column)
	if err != nil {
		return err
	}
	if err := m.check(c.col); err != nil {
		return err
	}
	key := stateKey{m.Func, c}
	if m.Func == Mean {
		key.kind = Sum
	}
	at, is := made[key]
	if !is {
		at = len(p.states)
		made[key] = at
		s, err := p.newState(key)
		if err != nil {
			return err
		}
		p.states = append(p.states, s)
	}
	p.uses = append(p.uses, at)
	return nil
}

func (p *plan) newState(key stateKey) (state, error) {
	c := key.c
	switch key.kind {
	case Sum:
		return newSumState(c.numbers()), nil
	case Min, Max:
		largest := key.kind == Max
		if c.space != nil {
			return newCodedExtreme(c, largest), nil
		}
		return newRawExtreme(c, largest), nil
	case Distinct:
		return newDistinct(c), nil
	}
	if p.t.end == nil && p.t.start == nil {
		return nil, questionf("latest of column %q: the table has no period", c.col.Name)
	}
	return &latest{c: c, p: p.t.periodRanks(), ranks: make([]uint64, blockRows)}, nil
}
