package files

import (
	"bytes"
	"io"
	"time"

	"hdqs/api/contract"
	"hdqs/api/encode"
	"hdqs/api/list"
	"hdqs/api/render"
	"hdqs/api/reply"
	"hdqs/api/state"
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

// ExportSource answers with all rows that pass. Its body is made while it is sent
// (export_stream.go), so it is neither cached nor shared.
func (s *Files) ExportSource() *list.RecordSource {
	return &list.RecordSource{Kind: contract.Export, Version: '1', Answer: s.export}
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
func (s *Files) export(a *list.Reply) error {
	if !a.Ctx.Request.Header.IsHTTP11() { // has no chunks, so the end of a body could be missing unnoticed
		return reply.ErrVersionNotSupported.WithHint(hintExportVersion)
	}
	st, err := s.newExportStream(a)
	if err != nil {
		return err
	}
	started := false
	defer func() { // also after a panic
		if !started {
			_ = st.Close()
		}
	}()
	body, err := s.prepareExport(a, st)
	if err != nil {
		return err
	}
	h := s.Lists.Heads.Begin(a)
	h.SetContentType(a.Request.Question.ExportFormat().Type)
	if (a.InParts || a.Ctx.IsHead()) && a.Coding == encode.Identity && a.CanBeInParts() && body.write != nil {
		return s.exportAtOnce(a, st, body)
	}
	started = true
	st.start(a, body)
	return nil
}

// prepareExport finds the rows of an export, and returns what writes them.
func (s *Files) prepareExport(a *list.Reply, st *exportStream) (body exportBody, err error) {
	found, err := s.findExport(a)
	if err != nil {
		return body, err
	}
	r := &a.Request
	most := s.State.Options.ExportRows
	if r.Question.Format == contract.FormatXLSX {
		most = min(most, contract.MaxSheetRows)
	}
	if found.rows > most {
		return body, &contract.Invalid{Issues: []contract.Issue{contract.TooManyRows(r, found.rows, most)}}
	}
	a.Page.Rows, a.Page.Total = found.rows, found.total
	list.LogOf(a.Ctx).NoteRows(&a.Page, "")
	if r.Question.Format == contract.FormatArrow && a.List.Segment != nil {
		return arrowBody(a, st, found)
	}
	body.size = -1
	body.write, err = exportWriter(a, found)
	return body, err
}

func (s *Files) findExport(a *list.Reply) (found exported, err error) {
	if a.List.Index == nil {
		return found, nil
	}
	err = s.Lists.Admission.Pass(func() (err error) {
		found, err = s.countExport(a)
		return err
	}, s.Lists.Admission.Gate)
	return found, err
}

func (s *Files) countExport(a *list.Reply) (found exported, err error) {
	a.SetQuery(a.List)
	a.Query.Limit, a.Query.Offset = 0, 0
	if err := a.List.Index.Select(&a.Query, &a.Page); err != nil { // counts, and keeps the counts by chunk
		return found, s.Lists.Failed(a, err)
	}
	found.total = a.Page.Total
	if a.Request.Question.Offset < uint64(found.total) {
		found.rows = min(a.Request.Question.Limit, found.total-int(a.Request.Question.Offset))
	}
	if found.passing, err = a.List.Index.Passing(&a.Query); err != nil {
		return found, s.Lists.Failed(a, err)
	}
	return found, nil
}

// exportWriter returns what writes the rows of an export in the format of the request. It does not
// refer to the memory of the request.
func exportWriter(a *list.Reply, found exported) (func(io.Writer) error, error) {
	r, rows := &a.Request, exportRows(a, found)
	if a.IsEmptyFile() {
		return func(io.Writer) error { return nil }, nil
	}
	if a.List.Segment == nil {
		if !r.Question.ExportFormat().Text {
			return nil, &contract.Invalid{Issues: []contract.Issue{contract.NoTable(r)}}
		}
		body := a.Scratch.Append(nil, a.List)
		return func(w io.Writer) error {
			_, err := w.Write(body)
			return err
		}, nil
	}
	fields := r.Question.AnswerFields()
	form := a.Form(a.List)
	switch r.Question.Format {
	case contract.FormatParquet:
		columns, err := exportColumns(a, fields)
		return func(w io.Writer) error {
			_, err := columnar.WriteParquet(w, columns, rows, columnar.ParquetOptions{})
			return err
		}, err
	case contract.FormatXLSX:
		sheet, err := render.NewSheet(a.List.Segment, state.RenderFields(fields))
		if err != nil {
			return nil, err
		}
		if field, n := sheet.LongText(rows); n > 0 {
			return nil, &contract.Invalid{Issues: []contract.Issue{contract.LongText(r, field, n, render.MaxSheetText)}}
		}
		return func(w io.Writer) error { return sheet.Write(w, rows) }, nil
	case contract.FormatExcelCSV:
		var err error
		if form, err = a.List.Named[r.Scanned.Names()].Renderer.ExcelCSV(state.RenderFields(fields)); err != nil {
			return nil, err
		}
	}
	return func(w io.Writer) error { return form.Write(w, rows) }, nil
}

// exportRows are the rows of an export. They do not refer to the memory of the request.
func exportRows(a *list.Reply, found exported) columnar.Rows {
	offset, limit := a.Request.Question.Offset, a.Request.Question.Limit
	return func(yield func(index.Range) bool) {
		if found.passing != nil {
			found.passing.Rows(offset, limit)(yield)
		}
	}
}

// arrowBody returns an Arrow stream. It reads the rows once to know the size, since clients receive
// a body of known size with half the work. For many rows, the reading waits for a slot of exports.
func arrowBody(a *list.Reply, st *exportStream, found exported) (exportBody, error) {
	columns, err := exportColumns(a, a.Request.Question.AnswerFields())
	if err != nil || a.Ctx.IsHead() {
		return exportBody{size: -1}, err
	}
	rows, o := exportRows(a, found), columnar.ArrowOptions{Zstd: a.Request.Question.Compressed}
	var stream *columnar.ArrowStream
	read := func() (err error) {
		stream, err = columnar.NewArrowStream(columns, rows, o)
		return err
	}
	if found.rows <= inlineRows && a.List.Rows <= inlineTable {
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
func exportColumns(a *list.Reply, fields []contract.Field) ([]columnar.Field, error) {
	columns, texts := make([]columnar.Field, len(fields)), a.Request.Scanned.Plan().Endpoint.Texts()
	for i := range fields {
		f := &fields[i]
		c, err := a.List.Segment.Column(f.Column())
		if err != nil {
			return nil, err
		}
		columns[i] = columnar.Field{Name: f.Name, Column: c, Meaning: texts.Meaning(f.Name)}
	}
	return columns, nil
}

// exportAtOnce answers with an export that is made before it is sent, so that its length is known.
func (s *Files) exportAtOnce(a *list.Reply, st *exportStream, body exportBody) (err error) {
	var whole bytes.Buffer
	background.Run(func() { err = st.inTurn(func() error { return body.write(&whole) }) })
	if err != nil {
		return s.Lists.Failed(a, err)
	}
	wire.ChargeOther(a.Ctx, whole.Cap()+body.kept)
	a.Ctx.Response.SetBodyRaw(whole.Bytes())
	return nil
}
