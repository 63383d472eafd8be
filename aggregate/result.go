package aggregate

import "slices"

// Result is the answer to a question: its groups in the order of their fields. It must not be used
// after the segment is closed.
type Result struct {
	w      *worker
	ids    []uint32 // of the groups, in order
	digits []uint64
}

// newResult puts the groups of a worker in order.
func newResult(w *worker) (*Result, error) {
	r := &Result{w: w, digits: make([]uint64, len(w.p.inputs))}
	if len(w.p.inputs) == 0 {
		r.ids = []uint32{0}
		return r, nil
	}
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
		// Sorted by keys, which a hash table has the ids of.
		for i, key := range slices.Sorted(slices.Values(w.keys.groups.keys)) {
			r.ids[i] = w.keys.groups.id(key)
		}
	default:
		r.sort()
	}
	return r, nil
}

// sort orders the groups by the ranks of their fields.
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

// ranks writes the rank of each field of a group.
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
	f := r.w.p.fields[field]
	var space [8]uint64
	digits := append(space[:0], make([]uint64, len(r.w.p.inputs))...)
	r.w.keys.digits(r.ids[group], digits)
	return f.value(r.w.p.inputs[f.input].rank(f.at, digits[f.input]))
}

// Measure is a measure of a group.
func (r *Result) Measure(group, measure int) Value {
	m, id := r.w.p.measures[measure], r.ids[group]
	if m.Func == Count {
		return Value{Kind: Int, Int: int64(r.w.rows[id])}
	}
	return r.w.states[r.w.p.uses[measure]].value(id, m.Func, r.w.rows[id])
}
