package contract

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"hdqs/api/say"
	"hdqs/index"
)

// A request of kind Export asks for all rows that pass, in one answer that is sent while it is
// made: PATH/export?output_format=arrow. A list has at most MaxLimit rows, and its limit refuses
// more: that is the contract's answer, so rows without that bound have a path of their own, as have
// exports of other services.

// NoLimit is the limit of an export without one.
const NoLimit = math.MaxInt

// Formats of exports.
const (
	FormatCSV      = "csv"
	FormatExcelCSV = "csv-excel"
	FormatXLSX     = "xlsx"
	FormatJSON     = "json"
	FormatNDJSON   = "ndjson"
	FormatGeoJSON  = "geojson"
	FormatArrow    = "arrow"
	FormatParquet  = "parquet"
)

// ExportFormat is a format of exports.
type ExportFormat struct {
	Name, Type string // Type is the content type
	extension  string // of files
	Title      string // as people call it
	Text       bool   // is worth compressing
	Memory     int    // of a body, about: what is read and not yet sent
}

const formatParam = "output_format"

// exportFormats are all formats.
var exportFormats = []ExportFormat{
	{FormatCSV, "text/csv; charset=utf-8", ".csv", "CSV", true, 1 << 20},
	{FormatExcelCSV, "text/csv; charset=utf-8", ".csv", "CSV for Excel", true, 1 << 20},
	{FormatXLSX, "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", ".xlsx", "XLSX", false, 2 << 20},
	{FormatJSON, JSONType, ".json", "JSON", true, 1 << 20},
	{FormatNDJSON, "application/x-ndjson", ".ndjson", "NDJSON", true, 1 << 20},
	{FormatGeoJSON, "application/geo+json", ".geojson", "GeoJSON", true, 1 << 20},
	{FormatArrow, "application/vnd.apache.arrow.stream", ".arrows", "Arrow", false, 24 << 20},
	{FormatParquet, "application/vnd.apache.parquet", ".parquet", "Parquet", false, 24 << 20},
}

// MaxSheetRows is the most records of a workbook: its sheet has one line more.
const MaxSheetRows = 1<<20 - 1

// compressionParam chooses how the buffers of an Arrow stream are compressed.
const compressionParam = "compression"

var compressions = newEnum(compressionParam, "none", "zstd")

var compressionKind = &ParamKind{
	read: func(r *Request, p *Param) {
		switch text := r.Scanned.text(r.position); {
		case !p.Enum.has(text):
			r.fault(notInEnum(p, text))
		case text == "zstd" && r.Question.Format != FormatArrow: // output_format was read before
			r.fault(valueError(compressionParam, "zstd", "only output_format=arrow has buffers to compress; "+
				"other formats are compressed as Accept-Encoding asks"))
		default:
			r.Question.Compressed = text == "zstd"
		}
	},
	write: func(q *Question) string { return ifSet(q.Compressed, "zstd") },
}

// ExportFormatNames are the names of all formats of exports, and so of lists.
func ExportFormatNames() []string {
	names := make([]string, len(exportFormats))
	for i := range exportFormats {
		names[i] = exportFormats[i].Name
	}
	return names
}

// ExportFormats are the formats of an endpoint's exports.
func (e *Endpoint) ExportFormats() []ExportFormat {
	return slices.DeleteFunc(slices.Clone(exportFormats), func(f ExportFormat) bool {
		return f.Name == FormatGeoJSON && !e.HasPoints()
	})
}

// ExportFormat is the format of the answer.
func (q *Question) ExportFormat() ExportFormat {
	at := slices.IndexFunc(exportFormats, func(f ExportFormat) bool { return f.Name == q.Format })
	return exportFormats[max(at, 0)]
}

// describeExportFormats is what the formats of exports are.
func describeExportFormats(p *Param) string {
	var all []string
	for _, name := range p.Enum.Values {
		all = append(all, name+" ("+formatTexts[name]+")")
	}
	return "The format: " + strings.Join(all, ", ") + "."
}

// NoTable is the issue of an export in a format that needs the types of columns, if there are none.
func NoTable(r *Request) Issue {
	return Issue{
		Type: "no_table", Param: formatParam, Input: r.Question.Format,
		Text: say.Of("The snapshot has no table of these records; ask for output_format=csv or json"),
	}
}

// LongText is the issue of an export as xlsx of a text that is too long for a cell, of which most
// is the bound. Programs that read such a file cut the text, or refuse all of it.
func LongText(r *Request, field string, length, most int) Issue {
	return Issue{
		Type: "too_much", Param: formatParam, Input: r.Question.Format,
		Details: &Details{Key: "max_length", Number: most},
		Text: say.Of("A cell of xlsx has at most %s characters, and a record has %s in %s; choose other fields "+
			"with fields=, filter, or ask for output_format=csv-excel", most, length, field),
	}
}

// TooManyRows is the issue of an export of more rows than the server or the format allows.
func TooManyRows(r *Request, rows, most int) Issue {
	text := "An export has at most %s records, and this one would have %s; filter, " +
		"or ask for parts with limit and offset"
	if r.Question.Format == FormatXLSX && most == MaxSheetRows {
		text = "A sheet of xlsx has at most %s records, and this one would have %s; filter, ask for parts with limit " +
			"and offset, or for output_format=csv-excel"
	}
	return Issue{
		Type: "too_much", Param: "limit", Text: say.Of(text, most, rows), NullInput: true,
		Details: &Details{Key: "max_rows", Number: most},
	}
}

// FileName is the name under which a CSV, NDJSON or GeoJSON answer is saved: endpoint, the codes
// that were asked for, and a date. Only letters, digits, '.' and '-' of a code get into it, so that
// no value can end the header field early.
func (r *Request) FileName(date string) string {
	var b strings.Builder
	b.WriteString(r.Scanned.plan.Endpoint.Name())
	if kind := r.Scanned.Kind(); kind != Rows && kind != Export {
		b.WriteString("-" + kind.String())
	}
	for position := range r.Scanned.plan.Params {
		param := &r.Scanned.plan.Params[position]
		if param.Type != String || !isCodeName(param.single()) || !r.Scanned.isGiven(position) {
			continue
		}
		if param.List {
			appendCodes(&b, r.Question.filterAt(position).Values)
		} else if code := r.Scanned.text(position); isCode(code) {
			b.WriteByte('_')
			b.WriteString(code)
		}
	}
	b.WriteByte('_')
	b.WriteString(date)
	b.WriteString(r.Question.ExportFormat().extension)
	return b.String()
}

// maxFileCodes is how many values of a list a file name repeats.
const maxFileCodes = 8

// appendCodes appends the values of a list, or their number if there are many.
func appendCodes(b *strings.Builder, values []index.Value) {
	if len(values) > maxFileCodes {
		b.WriteString("_" + strconv.Itoa(len(values)) + "-codes")
		return
	}
	for i := range values {
		if isCode(values[i].Text) {
			b.WriteString("_" + values[i].Text)
		}
	}
}

func isCodeName(param string) bool { return param == "code" || strings.HasSuffix(param, "_code") }

// maxCode is the longest code that file names and purge keys repeat.
const maxCode = 32

// isCode accepts codes without wildcards, which are safe in file names and purge keys. A code has
// at least one letter or digit.
func isCode(value string) bool {
	if len(value) > maxCode {
		return false
	}
	alphanumeric := false
	for i := range len(value) {
		switch c := value[i]; {
		case isLetterOrDigit(c):
			alphanumeric = true
		case c != '.' && c != '-':
			return false
		}
	}
	return alphanumeric
}

// Location is the code of the only location that a request asks for, in capitals. It is empty when
// the request asks for several.
func (r *Request) Location() string {
	for position := range r.Scanned.plan.Params {
		param := &r.Scanned.plan.Params[position]
		name := param.single()
		isLocation := name == "location_code" || name == "code" && r.Scanned.plan.Endpoint.Table == "location"
		if !isLocation || param.Op != index.Like {
			continue
		}
		if f := r.Question.filterAt(position); f != nil {
			code := f.Value.Text
			if len(f.Values) == 1 {
				code = f.Values[0].Text
			}
			if isCode(code) {
				return strings.ToUpper(code)
			}
		}
	}
	return ""
}
