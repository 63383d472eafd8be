package aggregate

import (
	"cmp"
	"slices"
)

// Result is the answer to a question: its groups in the order of their fields. It must not be used
// after the segment is closed, nor by several goroutines at once.
type Result struct {
	w      *worker
	ids    []uint32 // of the groups, in order
	digits []uint64
	group  int       // whose digits these are, -1 at first
	parts  [][]Value // of fields that are parts of times, by rank, once they were needed
}

func newResult(w *worker) (*Result, error) {
	r := &Result{w: w, digits: make([]uint64, len(w.p.inputs)), group: -1}
	for _, f := range w.p.fields {
		var values []Value
		if f.numbers != nil {
			values = make([]Value, len(f.numbers))
		}
		r.parts = append(r.parts, values)
	}
	if len(w.p.inputs) == 0 {
		r.ids = []uint32{0}
		return r, nil
	}
	groups := 0
	for _, n := range w.rows {
		if n > 0 {
			groups++
		}
	}
	r.ids = make([]uint32, 0, groups)
	for id, n := range w.rows {
		if n > 0 {
			r.ids = append(r.ids, uint32(id))
		}
	}
	if len(r.ids) > w.p.maxGroups {
		return nil, &TooManyGroups{Max: w.p.maxGroups}
	}
	switch {
	case w.p.natural && w.p.dense:
	case w.p.natural:
		keys := w.keys.groups.keys
		slices.SortFunc(r.ids, func(a, b uint32) int { return cmp.Compare(keys[a], keys[b]) })
	default:
		r.sort()
	}
	return r, nil
}

func (r *Result) sort() {
	fields := r.w.p.fields
	ranks := make([]uint64, len(r.w.rows)*len(fields))
	for _, id := range r.ids {
		r.ranks(id, ranks[int(id)*len(fields):])
	}
	slices.SortFunc(r.ids, func(a, b uint32) int {
		for i, f := range fields {
			if c := f.compare(ranks[int(a)*len(fields)+i], ranks[int(b)*len(fields)+i]); c != 0 {
				return c
			}
		}
		return 0
	})
}

func (r *Result) ranks(id uint32, dst []uint64) {
	r.w.keys.digits(id, r.digits)
	for i, f := range r.w.p.fields {
		dst[i] = r.w.p.inputs[f.input].rank(f.at, r.digits[f.input])
	}
}

// Len is the number of groups.
func (r *Result) Len() int { return len(r.ids) }

// Rows is the number of rows of a group.
func (r *Result) Rows(group int) int {
	return int(r.w.rows[r.ids[group]])
}

// Group is a field of a group.
func (r *Result) Group(group, field int) Value {
	if group != r.group {
		r.w.keys.digits(r.ids[group], r.digits)
		r.group = group
	}
	f := r.w.p.fields[field]
	rank := r.w.p.inputs[f.input].rank(f.at, r.digits[f.input])
	if parts := r.parts[field]; rank < uint64(len(parts)) {
		if parts[rank].Kind == Null {
			parts[rank] = f.value(rank)
		}
		return parts[rank]
	}
	return f.value(rank)
}

// Measure is a measure of a group.
func (r *Result) Measure(group, measure int) Value {
	m, id := r.w.p.measures[measure], r.ids[group]
	if m.Func == Count {
		return Value{Kind: Int, Int: int64(r.w.rows[id])}
	}
	return r.w.p.states[r.w.p.uses[measure]].value(id, m.Func, r.w.rows[id])
}
