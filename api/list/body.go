package list

import (
	"strings"

	"hdqs/api/contract"
	"hdqs/api/encode"
	"hdqs/api/render"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/api/wire"
)

// sendBody answers with a body that write makes, directly in the answer's buffer unless it must be
// complete before it is compressed. isCoded: write compresses it. own becomes what others may send.
func (a *Reply) sendBody(own *Finished, isLong, isCoded bool, write func(dst []byte) []byte) {
	h, buffer := &a.Ctx.Response.Header, a.buffer
	if buffer == nil {
		buffer = wire.Buffer(a.Ctx, isLong)
	}
	dst := buffer.Bytes[:0]
	if isCoded || a.Coding == encode.Identity {
		dst = write(dst)
	} else {
		a.Body = write(a.Body[:0])
		dst = reply.Encoded(h, dst, a.Body, a.Coding, a.refusesIdentity)
	}
	buffer.Bytes = dst
	a.Ctx.Response.SetBodyRaw(dst)
	wire.Charge(a.Ctx, cap(dst)) // which may be more than the length
	own.Body, own.Rows, own.Total = dst, a.Page.Rows, a.Page.Total
	if len(h.ContentEncoding()) > 0 { // short ones are sent as they are
		own.coding = a.Coding
	}
}

// inPieces reports whether the encoder makes the body from its pieces: one that is longer than
// MinEncoded, of more rows than it takes at a time. For fewer rows the library is about as fast.
func (a *Reply) inPieces() bool {
	if a.Coding == encode.Identity || a.List.Segment == nil || a.Page.Rows <= encode.BatchRows || a.isWritten() {
		return false
	}
	many := manyRows
	if a.Request.Question.Fields != nil {
		many = reply.MinEncoded / 2 // a line of CSV with one field can be only its end
	}
	return a.Page.Rows >= many || a.Form(a.List).Length(a.Page.Ranges) > reply.MinEncoded
}

// IsEmptyFile reports whether the body is empty: that of NDJSON without records, and in HAPI names
// that of CSV, which then has no header line either, as in the public service. Its clients would
// take a header line for a record.
func (sc *Scratch) IsEmptyFile() bool {
	format, names := sc.Request.Question.Format, sc.Request.Scanned.Names()
	return sc.Page.Rows == 0 &&
		(format == contract.FormatNDJSON || format == contract.FormatCSV && names == contract.HAPINames)
}

// Append renders the page.
func (sc *Scratch) Append(dst []byte, l *state.BoundList) []byte {
	switch {
	case sc.isWritten():
		return sc.view.Write(dst, sc, l)
	case sc.view != nil && l.Segment == nil:
		head, tail := sc.view.Around(sc, l)
		return append(append(dst, head...), tail...)
	case sc.IsEmptyFile():
		return dst
	case l.Segment == nil && sc.Request.Question.InCSV():
		names := contract.FieldNames(sc.Request.Question.AnswerFields())
		return append(append(dst, strings.Join(names, ",")...), "\r\n"...)
	case l.Segment == nil && sc.Request.Question.Format == contract.FormatGeoJSON:
		return append(dst, state.EmptyPoints...)
	case l.Segment == nil:
		return append(dst, state.EmptyJSON...)
	}
	return sc.Form(l).Append(dst, sc.Page.Ranges)
}

// Form returns the renderer of the requested format, in the names of the request's path.
func (sc *Scratch) Form(l *state.BoundList) *render.Form {
	r := l.Named[sc.Request.Scanned.Names()].Renderer
	if sc.view != nil {
		return sc.viewForm(r, l)
	}
	form := r.JSON()
	switch sc.Request.Question.Format {
	case contract.FormatCSV, contract.FormatExcelCSV, contract.FormatXLSX:
		form = r.CSV()
	case contract.FormatNDJSON:
		form = r.Lines()
	case contract.FormatGeoJSON:
		form = r.Points()
	}
	if sc.Request.Question.Fields != nil {
		return r.Subset(form, sc.Request.Question.Fields)
	}
	return form
}
