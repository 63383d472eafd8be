package api

import (
	"sort"
	"sync"

	"hdqs/api/encode"
	"hdqs/api/render"
	"hdqs/api/wire"
	"hdqs/index"
	"hdqs/rowdiff"
)

// pageDelta writes a page as what differs from an earlier page, its dictionary. It goes through the
// rows of both. Rows that the two tables have in common are not rendered: they are copies of what
// the dictionary has, whose position is the sum of the lengths of all rows before. Other rows are
// rendered, and compared with those that stood in their place.
//
// The last row of either page counts as no such row, since its text is shorter.
type pageDelta struct {
	encode.Delta
	form, old *render.Form
	page      index.Page // of the dictionary
	last      uint32     // row of the page

	rest   []index.Range // of the dictionary's rows, without its last one
	offset int           // in the dictionary, of the first row in dropped, or else of the first in rest
	before uint32        // the row before that; counts if offset is behind the head

	// The rows of both pages since the last equal ones.
	added, dropped []index.Range
	left           int // how many rows may still be rendered

	text, oldText []byte
	was           []encode.Similar
	one           [1]index.Range
}

var pageDeltas = sync.Pool{New: func() any { return new(pageDelta) }}

// mostChanged is how much of a page may be rows that were rendered, as a divisor: beyond that, the
// other codings are as good.
const mostChanged = 2

// writeDelta answers with a page in dcz. It returns the memory of the body. ok is false if the page
// must be written in another coding.
func (s *Server) writeDelta(a *reply) (memory int, ok bool) {
	d := a.dictionary
	if d == nil || a.page.Rows < manyRows {
		return 0, false
	}
	p := pageDeltas.Get().(*pageDelta)
	buffer := a.buffer
	if buffer == nil {
		buffer = wire.Buffer(a.ctx, true)
	}
	ok = s.guarded(d.list, func() bool {
		if d.list.pageOf(a.scratch, &p.page) != nil || p.page.Rows == 0 {
			return false
		}
		p.form, p.old = a.list.form(a.scratch), d.list.form(a.scratch)
		buffer.Bytes, ok = p.append(buffer.Bytes[:0], d, &a.page)
		return ok
	})
	p.form, p.old = nil, nil
	pageDeltas.Put(p)
	if !ok {
		return 0, false
	}
	a.ctx.Response.Header.SetContentEncoding(encode.Dcz.String())
	a.ctx.Response.SetBodyRaw(buffer.Bytes)
	return cap(buffer.Bytes), true
}

// append appends a page. ok is false if it has too little in common with the dictionary.
func (p *pageDelta) append(dst []byte, d *dictionary, page *index.Page) (_ []byte, ok bool) {
	ranges := p.page.Ranges
	oldLast := &ranges[len(ranges)-1]
	oldLast.To--
	head := p.form.Head()
	p.rest, p.offset, p.left = ranges, len(head), page.Rows/mostChanged
	p.added, p.dropped = p.added[:0], p.dropped[:0]
	p.last = page.Ranges[len(page.Ranges)-1].To - 1
	p.Begin(dst, &d.sum, d.length)
	p.Copy(len(head), 0)
	equal := d.equal
	for _, r := range page.Ranges {
		r.To = min(r.To, p.last)
		for r.From < r.To && p.left >= 0 {
			if len(equal) > 0 && equal[0].New+equal[0].Rows <= r.From {
				equal = equal[sort.Search(len(equal), func(i int) bool { return equal[i].New+equal[i].Rows > r.From }):]
			}
			if len(equal) == 0 || equal[0].New >= r.To {
				p.add(r)
				break
			}
			if at := equal[0].New; at > r.From {
				p.add(index.Range{From: r.From, To: at})
				r.From = at
			}
			end := min(r.To, equal[0].New+equal[0].Rows)
			p.equal(rowdiff.EqualRows{
				Old: equal[0].Old + r.From - equal[0].New, New: r.From, Rows: end - r.From,
			})
			r.From = end
		}
	}
	p.add(index.Range{From: p.last, To: p.last + 1})
	for _, r := range p.rest {
		p.drop(r)
	}
	p.drop(index.Range{From: oldLast.To, To: oldLast.To + 1})
	oldLast.To++
	p.changed(oldLast.To - 1)
	p.Text(p.form.Tail())
	dst, ok = p.End()
	return dst, ok && p.left >= 0
}

// add adds rows that the dictionary does not have at this place.
func (p *pageDelta) add(r index.Range) {
	p.added = append(p.added, r)
	p.left -= int(r.To - r.From)
}

// drop passes over rows of the dictionary that the page does not have at this place.
func (p *pageDelta) drop(r index.Range) {
	if r.From < r.To {
		p.dropped = append(p.dropped, r)
	}
}

// equal adds rows that both tables have, if the dictionary has them, too, and further on.
func (p *pageDelta) equal(e rowdiff.EqualRows) {
	for e.Rows > 0 {
		for len(p.rest) > 0 && p.rest[0].To <= e.Old {
			p.drop(p.rest[0])
			p.rest = p.rest[1:]
		}
		n := e.Rows
		switch {
		case len(p.rest) == 0:
			p.add(index.Range{From: e.New, To: e.New + n})
		case p.rest[0].From > e.Old:
			n = min(n, p.rest[0].From-e.Old)
			p.add(index.Range{From: e.New, To: e.New + n})
		default:
			r := &p.rest[0]
			p.drop(index.Range{From: r.From, To: e.Old})
			p.changed(noRow)
			n = min(n, r.To-e.Old)
			length := p.form.SpanLength(e.New, e.New+n)
			p.Copy(length, p.offset)
			p.offset += length
			p.before = e.Old + n - 1
			r.From = e.Old + n
		}
		e.Old, e.New, e.Rows = e.Old+n, e.New+n, e.Rows-n
	}
}

// noRow is no row.
const noRow = 1<<32 - 1

// changed writes the rows that were added, each as an edit of a dropped one. Where there is none,
// it is an edit of the row before or the one after. oldLast is the last row of the dictionary, if
// it is reached.
func (p *pageDelta) changed(oldLast uint32) {
	dropped := p.dropped
	if len(p.added) > 0 && p.left >= 0 {
		was := p.around()
		for _, r := range p.added {
			for row := r.From; row < r.To; row++ {
				if len(dropped) > 0 {
					p.before = dropped[0].From
					p.oldText = p.row(p.oldText[:0], p.old, p.before)
					if p.before == oldLast {
						p.oldText = p.oldText[:len(p.oldText)-p.old.Cut()]
					}
					was = append(was[:0], encode.Similar{Text: p.oldText, At: p.offset})
					p.offset += len(p.oldText)
					if dropped[0].From++; dropped[0].From == dropped[0].To {
						dropped = dropped[1:]
					}
				}
				p.text = p.row(p.text[:0], p.form, row)
				if row == p.last {
					p.text = p.text[:len(p.text)-p.form.Cut()]
				}
				p.Edit(p.text, was...)
			}
		}
		p.was = was
	}
	for _, r := range dropped {
		p.offset += p.old.SpanLength(r.From, r.To)
		p.before = r.To - 1
	}
	p.added, p.dropped = p.added[:0], p.dropped[:0]
}

// around are the rows of the dictionary before and after those that were added, unless some were
// dropped there.
func (p *pageDelta) around() []encode.Similar {
	was := p.was[:0]
	if len(p.dropped) > 0 {
		return was
	}
	p.oldText = p.oldText[:0]
	if p.offset > len(p.form.Head()) {
		p.oldText = p.row(p.oldText, p.old, p.before)
		was = append(was, encode.Similar{Text: p.oldText, At: p.offset - len(p.oldText)})
	}
	if len(p.rest) > 0 && p.rest[0].From < p.rest[0].To {
		n := len(p.oldText)
		p.oldText = p.row(p.oldText, p.old, p.rest[0].From)
		was = append(was, encode.Similar{Text: p.oldText[n:], At: p.offset})
	}
	if len(was) == 0 {
		was = append(was, encode.Similar{})
	}
	return was
}

// row renders one row.
func (p *pageDelta) row(dst []byte, form *render.Form, row uint32) []byte {
	p.one[0] = index.Range{From: row, To: row + 1}
	return form.AppendRows(dst, p.one[:])
}
