package render

import (
	"strings"
	"unicode/utf8"
)

// excelDialect writes CSV for spreadsheet programs. Without a byte order mark they read the texts
// as an old single-byte coding. They run a text that begins like a formula, also one that somebody
// has written into a name, so such a text gets an apostrophe: then it is text.
type excelDialect struct{ csvDialect }

const byteOrderMark = "\ufeff"

func (d excelDialect) head(fields []boundField) []byte {
	return append([]byte(byteOrderMark), d.csvDialect.head(fields)...)
}

func (d excelDialect) appendText(dst []byte, s string) []byte {
	return d.csvDialect.appendText(dst, Harmless(s))
}

// Harmless is a text that no spreadsheet program runs.
func Harmless(s string) string {
	if isFormula(s) {
		return "'" + s
	}
	return s
}

// isFormula reports whether spreadsheet programs may take a text for a formula. They skip line ends
// and tabs before it, and some read the wide forms of the signs as well.
func isFormula(s string) bool {
	first, _ := utf8.DecodeRuneInString(s)
	return strings.ContainsRune("=+-@\t\r\n＝＋－＠", first)
}

// ExcelCSV returns a form of CSV lines for spreadsheet programs. It has fragments of its own, which
// go with it, so it is for one long body.
func (r *Renderer) ExcelCSV(fields []Field) (*Form, error) {
	bound, err := bind(r.seg, fields)
	if err != nil {
		return nil, err
	}
	var d dialect = excelDialect{}
	if len(fields) == 1 {
		d = aloneDialect{d}
	}
	return newForm(r.seg.Rows(), bound, d, sharedFragments{}, r.options), nil
}
