package api

import (
	"io"
	"time"

	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/encode"
	"hdqs/api/render"
	"hdqs/api/wire"
	"hdqs/columnar"
	"hdqs/index"
	"hdqs/internal/background"
)

// The defaults of Options.Exports, ExportRows and ExportTimeout.
const (
	DefaultExports       = 8
	DefaultExportRows    = 20_000_000
	DefaultExportTimeout = 30 * time.Minute
)

// exportComputation answers with all rows that pass. Its body is made while it is sent
// (export_stream.go), so it is neither cached nor shared.
var exportComputation = &computation{kind: contract.Export, version: '1'}

// exportMemory is about the memory of a body in each format: what is read and not yet sent.
var exportMemory = map[string]int{
	contract.FormatCSV: 1 << 20, contract.FormatExcelCSV: 1 << 20, contract.FormatJSON: 1 << 20,
	contract.FormatGeoJSON: 1 << 20, contract.FormatXLSX: 2 << 20, contract.FormatArrow: 24 << 20,
	contract.FormatParquet: 24 << 20,
}

// hintExportVersion names the usual cause: a proxy that speaks HTTP/1.0 to the service.
const hintExportVersion = "exports need HTTP/1.1; with nginx in front, set proxy_http_version 1.1"

// exportBody writes a body.
type exportBody struct {
	write func(io.Writer) error
	size  int // -1 if it is not known before
	kept  int // bytes of dictionaries, which are kept until the end
}

// exported are the rows of an export.
type exported struct {
	passing *index.Passing // nil without a table
	rows    int
	total   int
}

// export answers with all rows that pass a request's filters. It takes one of the slots of exports,
// and the slot of a query while it finds the rows.
func (s *Server) export(a *reply) error {
	if s.budget.IsFull() {
		return &Busy{Rule: ruleBytes}
	}
	if !a.ctx.Request.Header.IsHTTP11() { // has no chunks, so the end of a body could be missing unnoticed
		s.answerFault(a.ctx, fasthttp.StatusHTTPVersionNotSupported, bodyVersionNotSupported)
		a.ctx.Response.Header.SetCanonical(nameHint, []byte(hintExportVersion))
		return nil
	}
	st, ok := s.newExportStream(a)
	if !ok {
		return &Busy{Rule: ruleExports}
	}
	started := false
	defer func() { // also after a panic
		if !started {
			st.abandon()
		}
	}()
	body, err := s.prepareExport(a, st)
	if err != nil {
		return err
	}
	h := s.beginList(a)
	h.SetContentType(a.request.ExportType())
	if !isText(a.request.Format) && !a.refusesIdentity {
		a.coding = encode.Identity // compressed already, or sent faster as it is
	}
	if a.coding != encode.Identity {
		h.SetContentEncoding(a.coding.String())
	}
	wire.ChargeOther(a.ctx, exportMemory[a.request.Format]+body.kept)
	started = true
	st.start(a, body)
	return nil
}

// isText reports whether a format is of texts, which are worth compressing.
func isText(format string) bool {
	switch format {
	case contract.FormatCSV, contract.FormatExcelCSV, contract.FormatJSON, contract.FormatGeoJSON:
		return true
	}
	return false
}

// prepareExport finds the rows of an export, and returns what writes them.
func (s *Server) prepareExport(a *reply, st *exportStream) (body exportBody, err error) {
	found, err := s.findExport(a)
	if err == nil && a.list.isSuspect() {
		return body, s.refusal(a)
	}
	if err != nil {
		return body, err
	}
	r := &a.request
	most := s.options.ExportRows
	if r.Format == contract.FormatXLSX {
		most = min(most, contract.MaxSheetRows)
	}
	if found.rows > most {
		return body, &contract.Invalid{Issues: []contract.Issue{contract.TooManyRows(r, found.rows, most)}}
	}
	a.page.Rows, a.page.Total = found.rows, found.total
	recordOf(a.ctx).noteRows(&a.page, "")
	if r.Format == contract.FormatArrow && a.list.segment != nil {
		return arrowBody(a, st, found)
	}
	body.size = -1
	body.write, err = exportWriter(a, found)
	return body, err
}

// findExport finds the rows of an export.
func (s *Server) findExport(a *reply) (found exported, err error) {
	if a.list.index == nil {
		return found, nil
	}
	if !s.gate.Enter(true) {
		return found, &Busy{Rule: ruleQueries}
	}
	defer s.gate.Leave()
	a.list.setQuery(a.scratch)
	a.query.Limit, a.query.Offset = 0, 0
	if err := a.list.index.Select(&a.query, &a.page); err != nil { // counts, and keeps the counts by chunk
		return found, s.failed(a, err)
	}
	found.total = a.page.Total
	if a.request.Offset < uint64(found.total) {
		found.rows = min(a.request.Limit, found.total-int(a.request.Offset))
	}
	if found.passing, err = a.list.index.Passing(&a.query); err != nil {
		return found, s.failed(a, err)
	}
	return found, nil
}

// exportWriter returns what writes the rows of an export in the format of the request. It does not
// refer to the memory of the request.
func exportWriter(a *reply, found exported) (func(io.Writer) error, error) {
	r, rows := &a.request, exportRows(a, found)
	if a.list.segment == nil {
		if !isText(r.Format) {
			return nil, &contract.Invalid{Issues: []contract.Issue{contract.NoTable(r)}}
		}
		body := a.list.append(nil, a.scratch)
		return func(w io.Writer) error {
			_, err := w.Write(body)
			return err
		}, nil
	}
	fields := r.AnswerFields()
	form := a.list.form(a.scratch)
	switch r.Format {
	case contract.FormatParquet:
		columns, err := exportColumns(a, fields)
		return func(w io.Writer) error {
			_, err := columnar.WriteParquet(w, columns, rows, columnar.ParquetOptions{})
			return err
		}, err
	case contract.FormatXLSX:
		sheet, err := render.NewSheet(a.list.segment, renderFields(fields))
		if err != nil {
			return nil, err
		}
		if field, n := sheet.LongText(rows); n > 0 {
			return nil, &contract.Invalid{Issues: []contract.Issue{contract.LongText(r, field, n, render.MaxSheetText)}}
		}
		return func(w io.Writer) error { return sheet.Write(w, rows) }, nil
	case contract.FormatExcelCSV:
		var err error
		if form, err = a.list.named[r.Names()].renderer.ExcelCSV(renderFields(fields)); err != nil {
			return nil, err
		}
	}
	return func(w io.Writer) error { return form.Write(w, rows) }, nil
}

// exportRows are the rows of an export. They do not refer to the memory of the request.
func exportRows(a *reply, found exported) columnar.Rows {
	offset, limit := a.request.Offset, a.request.Limit
	return func(yield func(index.Range) bool) {
		if found.passing != nil {
			found.passing.Rows(offset, limit)(yield)
		}
	}
}

// arrowBody returns an Arrow stream. It reads the rows once to know the size, since clients receive
// a body of known size with half the work. For many rows, the reading waits for a slot of exports.
func arrowBody(a *reply, st *exportStream, found exported) (exportBody, error) {
	columns, err := exportColumns(a, a.request.AnswerFields())
	if err != nil || a.ctx.IsHead() {
		return exportBody{size: -1}, err
	}
	rows, o := exportRows(a, found), columnar.ArrowOptions{Zstd: a.request.Compressed}
	var stream *columnar.ArrowStream
	read := func() (err error) {
		stream, err = columnar.NewArrowStream(columns, rows, o)
		return err
	}
	if found.rows <= inlineRows && a.list.rows <= inlineTable {
		err = read()
	} else {
		background.Run(func() { err = st.inTurn(read) })
	}
	if err != nil {
		return exportBody{}, err
	}
	size := -1
	if n, ok := stream.Size(); ok {
		size = n
	}
	return exportBody{stream.Write, size, stream.Kept()}, nil
}

// inlineRows is how many rows of a table of at most inlineTable rows are read without a slot: that
// takes a fraction of a millisecond. In larger tables, looking through the dictionaries may take
// longer than that.
const (
	inlineRows  = 10_000
	inlineTable = 100_000
)

// exportColumns are the columns of a file of columns, with what its fields mean.
func exportColumns(a *reply, fields []contract.Field) ([]columnar.Field, error) {
	columns := make([]columnar.Field, len(fields))
	for i := range fields {
		f := &fields[i]
		c, err := a.list.segment.Column(f.Column())
		if err != nil {
			return nil, err
		}
		columns[i] = columnar.Field{Name: f.Name, Column: c, Meaning: a.request.Plan().Endpoint.Meaning(f.Name)}
	}
	return columns, nil
}
