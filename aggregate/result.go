package aggregate

import (
	"math/bits"
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

// newResult puts the groups of a worker in order.
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
		sortByKey(r.ids, w.keys.groups.keys)
	default:
		r.sort()
	}
	return r, nil
}

// sortByKey puts ids in the order of the keys that they have.
func sortByKey(ids []uint32, keys []uint64) {
	most := uint64(0)
	for _, key := range keys {
		most = max(most, key)
	}
	shift := bits.Len(uint(len(keys)))
	if bits.Len64(most)+shift > 64 {
		slices.SortFunc(ids, func(a, b uint32) int {
			if keys[a] < keys[b] {
				return -1
			}
			return 1
		})
		return
	}
	// A key and its id fit into one number.
	both, other := make([]uint64, len(ids)), make([]uint64, len(ids))
	for i, id := range ids {
		both[i] = keys[id]<<shift | uint64(id)
	}
	for low := shift; low < bits.Len64(most)+shift; low += 8 {
		var ends [257]int
		for _, v := range both {
			ends[v>>low&255+1]++
		}
		for i := range 256 {
			ends[i+1] += ends[i]
		}
		for _, v := range both {
			at := &ends[v>>low&255]
			other[*at] = v
			*at++
		}
		both, other = other, both
	}
	for i, v := range both {
		ids[i] = uint32(v & (1<<shift - 1))
	}
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
