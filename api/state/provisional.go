package state

import (
	"cmp"
	"crypto/sha256"
	"iter"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"hdqs/api/contract"
	"hdqs/index"
	"hdqs/snapshot"
)

// Provisional is which rows of a list are provisional, by the month in which their period starts.
type Provisional struct {
	Tag    []byte   // of the rows; nil without any
	months []string // the newest ones, after one for all before
	codes  []uint8  // by row: the month and 1, 0 of other rows; nil without any
	blocks []uint16 // by blockRows rows: the set of their codes
	last   atomic.Pointer[monthsText]
}

// monthsText is a set of months, as bits, in words.
type monthsText struct {
	set  uint64
	text []byte
}

// Limits of the months that are told apart: one has a bit in a set, beside that of other rows.
const (
	mostMonths    = 15 // a set of them and of 0 has 16 bits
	earlierMonths = "earlier"
	blockRows     = 32
)

// Any reports whether any row is provisional.
func (p *Provisional) Any() bool { return p != nil && p.codes != nil }

// Add adds the months of the provisional rows of a range to a set.
func (p *Provisional) Add(set uint64, r index.Range) uint64 {
	first, end := (r.From+blockRows-1)/blockRows, r.To/blockRows // the whole blocks
	if first >= end {
		return set | p.codesOf(r.From, r.To)
	}
	for _, block := range p.blocks[first:end] {
		set |= uint64(block)
	}
	return set | p.codesOf(r.From, first*blockRows) | p.codesOf(end*blockRows, r.To)
}

// codesOf is the set of the codes of some rows.
func (p *Provisional) codesOf(from, to uint32) (set uint64) {
	for _, code := range p.codes[from:to] {
		set |= 1 << (code & mostMonths)
	}
	return set
}

// Months are the months of a set, joined by commas, nil for none.
func (p *Provisional) Months(set uint64) []byte {
	if set &^= 1; set == 0 { // the bit of other rows
		return nil
	}
	if last := p.last.Load(); last != nil && last.set == set {
		return last.text
	}
	text := []byte(strings.Join(p.Names(set), ", "))
	p.last.Store(&monthsText{set, text})
	return text
}

// Names are the months of a set.
func (p *Provisional) Names(set uint64) (names []string) {
	for i, name := range p.months {
		if set&(2<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// ProvisionalOf finds the provisional rows of a list, at the first request for it. It is nil for
// lists that have none by their declaration.
func (s *State) ProvisionalOf(b *Bound, e *contract.Endpoint, l *BoundList) (*Provisional, error) {
	if e.Provisional == contract.Never || l.Segment == nil {
		return nil, nil
	}
	kept := &b.provisional[l.position]
	if known := kept.Load(); known != nil {
		return known, nil
	}
	b.finding.Lock() // requests and the warm-up come at once after a start
	defer b.finding.Unlock()
	if known := kept.Load(); known != nil {
		return known, nil
	}
	var rows iter.Seq[index.Range]
	var err error
	if e.Provisional == contract.Unfinished {
		rows, err = unfinished(b, l)
	} else {
		rows, err = notFinal(e, l)
	}
	if err != nil {
		return nil, err
	}
	found, err := l.provisional(rows)
	if err == nil {
		kept.Store(found)
	}
	return found, err
}

// unfinished are the rows whose period ends after their resource was last changed.
func unfinished(b *Bound, l *BoundList) (iter.Seq[index.Range], error) {
	const resource = "resource_catalog_id"
	times, err := resourceTimes(b)
	if err != nil {
		return nil, err
	}
	ids, err := l.Segment.Column(resource)
	if err != nil {
		return nil, err
	}
	lasts, err := l.Segment.Column(contract.PeriodEnd)
	if err != nil {
		return nil, err
	}
	// By code of the rows, which is quick to read: when the resource was changed, which is never
	// where that is not known, and the end of the period.
	idSpace, lastSpace := l.Index.Space(resource), l.Index.Space(contract.PeriodEnd)
	changed, ends := make([]int64, idSpace.Size()), make([]int64, lastSpace.Size())
	for code := range changed {
		if at, known := times[textOf(ids, uint32(code))]; known {
			changed[code] = at
		} else {
			changed[code] = math.MaxInt64
		}
	}
	for code := range ends {
		ends[code] = intOf(lasts, uint32(code))
	}
	return func(yield func(index.Range) bool) {
		row, found := uint32(0), index.Range{}
		for rows := range index.Batches(slices.Values([]index.Range{{To: uint32(l.Rows)}}), 1<<12) {
			endCodes := rows.Unpacked(lastSpace.Codes())
			for k, code := range rows.Unpacked(idSpace.Codes()) {
				switch {
				case ends[endCodes[k]] <= changed[code]:
				case row == found.To:
					found.To++
				case found.To > 0 && !yield(found):
					return
				default:
					found = index.Range{From: row, To: row + 1}
				}
				row++
			}
		}
		if found.To > 0 {
			yield(found)
		}
	}, nil
}

// textOf is the text of a code of a column's space, empty for null.
func textOf(c *snapshot.Column, code uint32) string {
	switch {
	case c.Group == nil && int(code) < c.Cardinality():
		return c.TextOf(code)
	case c.Group == nil || c.IsNull(code):
		return ""
	}
	return c.Text(code)
}

// intOf is the number of a code of a column's space, snapshot.NullInt for null.
func intOf(c *snapshot.Column, code uint32) int64 {
	switch {
	case c.Group != nil:
		return c.Int(code)
	case int(code) < c.Cardinality():
		return c.IntOf(code)
	}
	return snapshot.NullInt
}

// notFinal are the rows whose version is not final.
func notFinal(e *contract.Endpoint, l *BoundList) (iter.Seq[index.Range], error) {
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
	passing, err := l.Index.Passing(&index.Query{Filters: []index.Filter{f}})
	if err != nil {
		return nil, err
	}
	return passing.Rows(0, math.MaxInt), nil
}

// provisional notes provisional rows by month.
func (l *BoundList) provisional(rows iter.Seq[index.Range]) (*Provisional, error) {
	starts, err := l.Segment.Column(contract.PeriodStart)
	if err != nil {
		return nil, err
	}
	startOf := func(row uint32) uint64 { return starts.Codes().At(starts.Position(row)) }
	ranges := slices.Collect(rows)
	passes := make([]bool, starts.Cardinality()+1) // by code of a start; the last is null
	for _, r := range ranges {
		for row := r.From; row < r.To; row++ {
			passes[startOf(row)] = true
		}
	}
	monthOf := make([]int, len(passes)) // by code, from 1 on; codes ascend like times
	var all []string
	for code := range starts.Cardinality() {
		if !passes[code] {
			continue
		}
		month := time.UnixMicro(starts.IntOf(uint32(code))).UTC().Format("2006-01")
		if len(all) == 0 || all[len(all)-1] != month {
			all = append(all, month)
		}
		monthOf[code] = len(all)
	}
	p := new(Provisional)
	if len(all) == 0 {
		return p, nil
	}
	earlier := max(1, len(all)-mostMonths+1) // so many months have the first code
	p.months = slices.Clone(all[earlier-1:])
	if earlier > 1 {
		p.months[0] = earlierMonths
	}
	p.codes = make([]uint8, l.Rows)
	for _, r := range ranges {
		for row := r.From; row < r.To; row++ {
			if month := monthOf[startOf(row)]; month > 0 {
				p.codes[row] = uint8(max(1, month-earlier+1))
			}
		}
	}
	p.blocks = make([]uint16, 1+l.Rows/blockRows)
	for row, code := range p.codes {
		p.blocks[row/blockRows] |= 1 << code
	}
	sum := sha256.New()
	sum.Write([]byte(strings.Join(all, ",")))
	sum.Write(p.codes)
	p.Tag = sum.Sum(nil)[:8]
	return p, nil
}

// resourceTimes are when the resources of a snapshot were last changed, in microseconds.
func resourceTimes(b *Bound) (changed map[string]int64, err error) {
	l := b.Lists["/api/v2/metadata/resource"]
	changed = map[string]int64{}
	ids, err := l.Values("resource_catalog_id")
	times, err2 := l.Values("update_date")
	if err != nil || err2 != nil {
		return nil, cmp.Or(err, err2)
	}
	for row := range uint32(l.Rows) {
		at, err := time.Parse(time.DateTime, string(times.AppendRow(nil, row, true)))
		if err == nil {
			changed[string(ids.AppendRow(nil, row, true))] = at.UnixMicro()
		}
	}
	return changed, nil
}
