package state

import (
	"crypto/sha256"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"hdqs/api/contract"
	"hdqs/index"
)

// Provisional is which rows of a list are provisional, by the month in which their period starts.
type Provisional struct {
	Tag    []byte // of the rows; nil without any
	months []provisionalMonth
}

type provisionalMonth struct {
	name string
	rows []uint64 // a bit for each row of the table
}

// Any reports whether any row is provisional.
func (p *Provisional) Any() bool { return p != nil && len(p.months) > 0 }

// Months are the months of the provisional rows among some, joined by commas. It asks for more
// ranges until all months occur.
func (p *Provisional) Months(ranges func(yield func(index.Range) bool)) string {
	if !p.Any() {
		return ""
	}
	seen := make([]bool, len(p.months))
	left := len(seen)
	for r := range ranges {
		for i := range p.months {
			if !seen[i] && p.months[i].has(r) {
				seen[i] = true
				left--
			}
		}
		if left == 0 {
			break
		}
	}
	var names []string
	for i := range p.months {
		if seen[i] {
			names = append(names, p.months[i].name)
		}
	}
	return strings.Join(names, ", ")
}

// has reports whether a row of a range is provisional.
func (m *provisionalMonth) has(r index.Range) bool {
	for row := r.From; row < r.To; {
		word := m.rows[row/64] >> (row % 64)
		if n := min(64-row%64, r.To-row); word<<(64-n) != 0 {
			return true
		} else {
			row += n
		}
	}
	return false
}

type provisionalKey struct{ *BoundList }

// ProvisionalOf finds the provisional rows of a list, at the first request for it. It is nil for
// lists that have none by their declaration.
func (s *State) ProvisionalOf(v *Served, e *contract.Endpoint, l *BoundList) (*Provisional, error) {
	if e.Provisional == contract.Never || l.Segment == nil {
		return nil, nil
	}
	if known, ok := v.Kept.Load(provisionalKey{l}); ok {
		return known.(*Provisional), nil
	}
	var queries []index.Query
	if e.Provisional == contract.NotFinal {
		queries = []index.Query{{Filters: []index.Filter{notFinal(e)}}}
	} else {
		changed, ok := s.resourceTimes(v)
		if !ok {
			return nil, nil // not kept: the table of resources is damaged, and is healed meanwhile
		}
		for _, id := range slices.Sorted(maps.Keys(changed)) {
			queries = append(queries, index.Query{Filters: []index.Filter{
				{Columns: []string{"resource_catalog_id"}, Op: index.Equal, Value: index.Value{Text: id}},
				{Columns: []string{contract.PeriodEnd}, Op: index.AtLeast, Value: index.Value{Int: changed[id] + 1}},
			}})
		}
	}
	found, err := l.provisional(queries)
	if err == nil {
		v.Kept.Store(provisionalKey{l}, found)
	}
	return found, err
}

// notFinal keeps the rows whose version is not final.
func notFinal(e *contract.Endpoint) index.Filter {
	f := index.Filter{Columns: []string{"version"}, Op: index.Equal}
	for i := range e.Fields {
		if e.Fields[i].Name != "version" {
			continue
		}
		for _, value := range e.Fields[i].Enum.Values {
			if value != "final" {
				f.Values = append(f.Values, index.Value{Text: value})
			}
		}
	}
	return f
}

// provisional finds the rows that pass one of some queries, by month.
func (l *BoundList) provisional(queries []index.Query) (*Provisional, error) {
	starts, err := l.Values(contract.PeriodStart)
	if err != nil {
		return nil, err
	}
	months := map[string][]uint64{}
	var text []byte
	for i := range queries {
		passing, err := l.Index.Passing(&queries[i])
		if err != nil {
			return nil, err
		}
		for r := range passing.Rows(0, math.MaxInt) {
			for row := r.From; row < r.To; row++ {
				text = starts.AppendRow(text[:0], row, true)
				if len(text) < len("2026-08") {
					continue // an open start
				}
				month := text[:len("2026-08")]
				rows := months[string(month)]
				if rows == nil {
					rows = make([]uint64, (l.Rows+63)/64)
					months[string(month)] = rows
				}
				rows[row/64] |= 1 << (row % 64)
			}
		}
		passing.Close()
	}
	p := new(Provisional)
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(months)) {
		p.months = append(p.months, provisionalMonth{name, months[name]})
		sum.Write([]byte(name))
		for _, word := range months[name] {
			var bytes [8]byte
			for k := range bytes {
				bytes[k] = byte(word >> (8 * k))
			}
			sum.Write(bytes[:])
		}
	}
	if p.Any() {
		p.Tag = sum.Sum(nil)
	}
	return p, nil
}

// resourceTimes are when the resources of a snapshot were last changed, in microseconds. It is not
// ok if their table cannot be read.
func (s *State) resourceTimes(v *Served) (changed map[string]int64, ok bool) {
	l := v.Bound.Lists["/api/v2/metadata/resource"]
	if l.IsQuarantined() {
		return nil, false
	}
	defer func() {
		if fault := recover(); fault != nil && !s.MetDamage(l, fault, nil) {
			panic(fault)
		}
	}()
	changed = map[string]int64{}
	ids, err := l.Values("resource_catalog_id")
	times, err2 := l.Values("update_date")
	if err != nil || err2 != nil {
		return nil, false
	}
	for row := range uint32(l.Rows) {
		at, err := time.Parse(time.DateTime, string(times.AppendRow(nil, row, true)))
		if err == nil {
			changed[string(ids.AppendRow(nil, row, true))] = at.UnixMicro()
		}
	}
	return changed, true
}
