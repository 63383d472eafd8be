package index

import (
	"fmt"
	"sync/atomic"
)

// The rows of one predicate on an indexed code space need not be written down to answer with a
// page: each row has one code, so the total is the sum of the lengths of the postings, and the rows
// of the page are found by reading codes, from the first row of these postings on. That is what a
// list of many values needs, whose postings take long to unite.

// scanBlock is how many rows are tested at a time.
const scanBlock = 1024

// extent is the number of rows of one or more codes, in the upper half, and the first of them. It
// is 0 while it is not known: each code has a row.
type extent uint64

func extentOf(rows, first uint32) extent { return extent(uint64(rows)<<32 | uint64(first)) }

func (e extent) rows() uint32  { return uint32(e >> 32) }
func (e extent) first() uint32 { return uint32(e) }

// pageByScan answers from a single predicate without materializing it, if that is estimated to take
// less. ok is false if it did not; nothing was passed to out then. The error is ErrPosting.
func (x *Index) pageByScan(w *scratch, out *emitter) (total int, ok bool, err error) {
	if len(w.predicates) != 1 {
		return 0, false, nil
	}
	o := w.predicates[0]
	if o.set != nil || o.all || len(o.parts) != 1 || o.cost < cheapCost {
		return 0, false, nil
	}
	p := &o.parts[0]
	if p.numbers != nil || !p.space.indexed || p.space.postings.Sorted() || p.count == 1 {
		return 0, false, nil
	}
	e, err := x.extent(w, o)
	if err != nil {
		return 0, false, err
	}
	total = int(e.rows())
	if out.left == 0 || out.skip >= uint64(total) {
		return total, true, nil
	}
	wanted := int(min(out.skip+uint64(out.left), uint64(total)))
	most := (o.cost - int(o.spent.Load())) / rowCost // rows that may be tested
	if span := x.rows - int(e.first()); float64(wanted)/float64(total)*float64(span) > float64(most) {
		return 0, false, nil
	}
	began := *out
	scanned := p.scanPage(x.rows, w, out, int(e.first()), most)
	o.spent.Add(int64(scanned) * rowCost)
	if missing := wanted - int(began.skip) - out.rows; missing > 0 {
		if int(e.first())+scanned >= x.rows {
			return 0, false, fmt.Errorf("%w: %d rows in the postings of %d codes, %d fewer with these codes",
				ErrPosting, total, p.count, missing)
		}
		*out = began // the rows are further apart than they are on average
		return 0, false, nil
	}
	return total, true, nil
}

// scanPage tests the rows of a part from a row on, and passes them to out until the page is full or
// about most rows were tested. It returns how many were.
func (p *part) scanPage(rows int, w *scratch, out *emitter, from, most int) (scanned int) {
	r := &w.rows
	start := from &^ 63
	for at := start; at < rows && at-start < most && out.left > 0; {
		n := min(scanBlock, rows-at)
		r.shape, r.words, r.lo, r.hi, r.known = bitmap, &w.words, 0, (n+63)/64, -1
		clear(w.words[:r.hi])
		p.testRange(uint32(at), n, w.words[:r.hi])
		out.addRows(r, uint32(at))
		at += n
		scanned = at - from
	}
	return scanned
}

// extent is the extent of the codes of a predicate with one part. The error is ErrPosting.
func (x *Index) extent(w *scratch, o *predicate) (extent, error) {
	if e := extent(o.extent.Load()); e != 0 {
		return e, nil
	}
	s := o.parts[0].space
	extents := s.extentsIn(x)
	rows, first := uint32(0), uint32(x.rows)
	for code := range o.parts[0].codes.all() {
		e := extent(extents[code].Load())
		if e == 0 {
			if err := s.open(&w.view, code, x.rows); err != nil {
				return 0, err
			}
			out := emitter{left: 1}
			out.addSet(&w.view, &w.rows, x.rows)
			e = extentOf(uint32(w.view.rows), out.ranges[0].From)
			extents[code].Store(uint64(e))
		}
		rows, first = rows+e.rows(), min(first, e.first())
	}
	e := extentOf(rows, first)
	o.extent.Store(uint64(e))
	return e, nil
}

// extentsIn are the extents of all codes, of which not all are known.
func (s *Space) extentsIn(x *Index) []atomic.Uint64 {
	return *s.extents.get(func() *[]atomic.Uint64 {
		x.searchBytes.Add(8 * int64(s.size))
		made := make([]atomic.Uint64, s.size)
		return &made
	})
}
