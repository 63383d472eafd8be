package render

import "strings"

// csvDialect writes lines as Python's csv.writer does by default: CR LF, quotes only where needed.
type csvDialect struct{}

func (d csvDialect) head(fields []boundField) []byte {
	var line []byte
	for i, f := range fields {
		line = append(line, d.before(i, f.name)...)
		line = d.appendText(line, f.name)
	}
	return append(line, d.end()...)
}

func (csvDialect) tail() []byte { return nil }
func (csvDialect) cut() int     { return 0 }
func (csvDialect) end() []byte  { return []byte("\r\n") }
func (csvDialect) null() []byte { return nil }

func (csvDialect) before(i int, _ string) []byte {
	if i == 0 {
		return nil
	}
	return []byte{','}
}

func (csvDialect) appendText(dst []byte, s string) []byte {
	if !needsQuotes(s) {
		return append(dst, s...)
	}
	dst = append(append(dst, '"'), strings.ReplaceAll(s, `"`, `""`)...)
	return append(dst, '"')
}

// needsQuotes does what strings.ContainsAny does, which looks up each character in a list.
func needsQuotes(s string) bool {
	for i := range len(s) {
		switch s[i] {
		case ',', '"', '\r', '\n':
			return true
		}
	}
	return false
}

func (csvDialect) appendBool(dst []byte, b bool) []byte {
	if b {
		return append(dst, "True"...)
	}
	return append(dst, "False"...)
}

func (csvDialect) appendTime(dst []byte, micros int64) []byte { return appendTime(dst, micros, ' ') }

// aloneDialect is CSV whose lines have one field. An empty field is quoted, as csv.writer does too:
// many readers skip empty lines, so records would be missing.
type aloneDialect struct{ dialect }

// quotedEmpty has memory after it, as all texts of rows.
var quotedEmpty = append(make([]byte, 0, len(`""`)+overshoot), `""`...)

func (aloneDialect) null() []byte { return quotedEmpty }

func (d aloneDialect) appendText(dst []byte, s string) []byte {
	if s == "" {
		return append(dst, quotedEmpty...)
	}
	return d.dialect.appendText(dst, s)
}

// appendCell appends a value of records, whose fields are so many.
func appendCell(dst []byte, records Records, record, field, fields int, csv bool) []byte {
	from := len(dst)
	if dst = records.AppendCell(dst, record, field, csv); csv && fields == 1 && len(dst) == from {
		dst = append(dst, quotedEmpty...)
	}
	return dst
}
