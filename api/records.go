package api

import (
	"errors"

	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/encode"
	"hdqs/api/render"
	"hdqs/api/wire"
)

// records is a computed answer: one page of records that are not rows of the table.
type records interface {
	render.Records
	Fields() []contract.Field // of each record, in order
	Total() int               // of all pages
	Header() []HeaderField    // fields of the answer's own, with canonical names
}

// computation is how requests of a kind are answered.
type computation struct {
	kind contract.Kind

	// version is part of the entity tags. Increment it when answers change that depend on the same
	// rows and query, so that caches drop old ones.
	version byte

	// compute finds the records of a request. An error that is *contract.Invalid is the caller's.
	// The table may be missing (a.list.segment is nil). It is nil for exports (export.go).
	compute func(s *Server, a *reply) (records, error)
}

// computations are the kinds of requests besides those for rows. Each has paths below those of the
// endpoints.
var computations = []*computation{aggregateComputation, facetsComputation, changesComputation, exportComputation}

// servedKinds returns the kinds of all computations.
func servedKinds() []contract.Kind {
	kinds := make([]contract.Kind, len(computations))
	for i, c := range computations {
		kinds[i] = c.kind
	}
	return kinds
}

// computedKinds returns the last parts of the paths of computations.
func (s *Server) computedKinds() []string {
	kinds := make([]string, len(s.computations))
	for i, c := range s.computations {
		kinds[i] = c.kind.String()
	}
	return kinds
}

// answerRecords computes the records of a request and answers with them.
func (s *Server) answerRecords(a *reply) (result finished, err error) {
	computed := *a // a itself stays on the stack, also where this function is not called
	if a.request.Since != "" {
		if err := s.openSince(&computed); err != nil {
			return finished{}, err
		}
		defer s.endSince(&computed, &result, &err)
	}
	found, err := a.computation.compute(s, &computed)
	if err != nil {
		return finished{}, s.failed(a, err)
	}
	a.page.Rows, a.page.Total = found.Len(), found.Total()
	recordOf(a.ctx).noteRows(&a.page, "miss")
	result = finished{rows: a.page.Rows, total: a.page.Total, header: found.Header()}
	h := s.beginList(a)
	result.setHeader(h)
	buffer := wire.Buffer(a.ctx, a.page.Rows >= manyRows)
	dst := buffer.Bytes[:0]
	if a.coding == encode.Identity {
		dst = appendRecords(dst, found, a.request.CSV)
	} else {
		a.body = appendRecords(a.body[:0], found, a.request.CSV)
		dst = encoded(h, dst, a.body, a.coding, a.refusesIdentity)
	}
	buffer.Bytes = dst
	a.ctx.Response.SetBodyRaw(dst)
	wire.Charge(a.ctx, cap(dst))
	result.body, result.coding = dst, a.codingSent()
	return result, nil
}

// requested is the path of the request.
func (a *reply) requested() string {
	if a.ctx == nil {
		return a.path
	}
	return string(a.ctx.Path())
}

// appendRecords renders computed records.
func appendRecords(dst []byte, found records, csv bool) []byte {
	return render.AppendRecords(dst, contract.FieldNames(found.Fields()), found, csv)
}

// setHeader sets the header fields of the answer's own.
func (f *finished) setHeader(h *fasthttp.ResponseHeader) {
	for _, own := range f.header {
		// There may be hints already, at what the request may have meant.
		if others := h.Peek(own.Name); own.Name == contract.HeaderHint && len(others) > 0 {
			own.Value = string(others) + " " + own.Value
		}
		h.Set(own.Name, own.Value)
	}
}

// isInvalid reports whether an error is the caller's.
func isInvalid(err error) bool {
	_, is := errors.AsType[*contract.Invalid](err)
	return is
}
