package contract

import (
	"strconv"
	"strings"
)

// FileName is the name under which a CSV, NDJSON or GeoJSON answer is saved: endpoint, the codes
// that were asked for, and a date. Only letters, digits, '.' and '-' of a code get into it, so that
// no value can end the header field early.
func (r *Request) FileName(date string) string {
	var b strings.Builder
	b.WriteString(r.plan.Endpoint.Name())
	if kind := r.Kind(); kind != Rows && kind != Export {
		b.WriteString("-" + kind.String())
	}
	for position := range r.plan.Params {
		param := &r.plan.Params[position]
		if param.Type != String || !isCodeName(param.single()) || !r.isGiven(position) {
			continue
		}
		if param.List {
			appendCodes(&b, r.Filters[r.raw[position].filter-1].Values)
		} else if code := r.text(position); isCode(code) {
			b.WriteByte('_')
			b.WriteString(code)
		}
	}
	b.WriteByte('_')
	b.WriteString(date)
	switch {
	case r.Kind() == Export:
		b.WriteString(formatOf(r.Format).extension)
	case r.GeoJSON:
		b.WriteString(".geojson")
	case r.NDJSON:
		b.WriteString(".ndjson")
	default:
		b.WriteString(".csv")
	}
	return b.String()
}

// maxFileCodes is how many values of a list a file name repeats.
const maxFileCodes = 8

// appendCodes appends the values of a list, or their number if there are many.
func appendCodes(b *strings.Builder, values []Value) {
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
	for position := range r.plan.Params {
		param := &r.plan.Params[position]
		name := param.single()
		isLocation := name == "location_code" || name == "code" && r.plan.Endpoint.Table == "location"
		if !isLocation || param.Op != Like {
			continue
		}
		if filter := r.raw[position].filter; filter > 0 {
			f := &r.Filters[filter-1]
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
