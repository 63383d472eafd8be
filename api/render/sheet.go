package render

import (
	"embed"
	"fmt"
	"io"
	"iter"
	"strconv"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"hdqs/index"
	"hdqs/snapshot"
)

// Sheet writes rows as a workbook (Office Open XML, ECMA-376) of one sheet: numbers as numbers,
// times as dates, and texts as texts, never as formulas. It is written from the first byte to the
// last, with the memory of a few rows. Libraries for workbooks keep a sheet in memory or in a
// temporary file, since a cell may still change; here none does.
type Sheet struct {
	fields  []boundField
	columns []string // letters of the columns
}

// NewSheet binds the fields of a record to a segment's columns.
func NewSheet(seg *snapshot.Segment, fields []Field) (*Sheet, error) {
	bound, err := bind(seg, fields)
	if err != nil {
		return nil, err
	}
	s := &Sheet{fields: bound}
	for i := range bound {
		s.columns = append(s.columns, sheetColumn(i))
	}
	return s, nil
}

// sheetColumn is the name of a column: A to Z, AA to ZZ.
func sheetColumn(i int) string {
	const letters = 26
	if i < letters {
		return string(rune('A' + i))
	}
	return sheetColumn(i/letters-1) + sheetColumn(i%letters)
}

// Styles of cells, by position in xl/styles.xml.
const (
	styleHead  = "1"
	styleDay   = "2"
	styleTime  = "3"
	styleMonth = "4"
)

// workbook has the files of a workbook besides its sheets, as templates.
//
//go:embed all:workbook
var workbook embed.FS

const (
	sheetHead = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n" +
		`<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetViews>` +
		`<sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>` +
		`</sheetView></sheetViews><cols>`
	sheetTail = `</sheetData></worksheet>`
)

// sheetLevel is the compression of workbooks: others take longer than making them.
const sheetLevel = 1

// Write writes a workbook of rows, which are ascending ranges.
func (s *Sheet) Write(w io.Writer, rows iter.Seq[index.Range]) error {
	return writeWorkbook(w, sheetPart{"Records", 1, func(w io.Writer) error { return s.writeRows(w, rows) }})
}

// MaxSheetText is the longest text of a cell, in units of UTF-16.
const MaxSheetText = 32767

// LongText finds a text in some rows that is too long for a cell: the name of its field and the
// length of the text, which is 0 if there is none. It reads rows only if a column has such a text.
func (s *Sheet) LongText(rows iter.Seq[index.Range]) (field string, length int) {
	for i := range s.fields {
		c := s.fields[i].column
		lengths := longTexts(c)
		if lengths == nil {
			continue
		}
		for r := range rows {
			for row := r.From; row < r.To; row++ {
				if n := lengths[uint32(c.Codes().At(c.Position(row)))]; n > 0 {
					return s.fields[i].name, n
				}
			}
		}
	}
	return "", 0
}

// longTexts returns the lengths of the texts of a column that are too long for a cell, by code.
func longTexts(c *snapshot.Column) (lengths map[uint32]int) {
	if c.Kind != snapshot.Text {
		return nil
	}
	for code := range uint32(c.Cardinality()) {
		text := c.TextOf(code)
		if len(text) <= MaxSheetText {
			continue
		}
		if n := units(text); n > MaxSheetText {
			if lengths == nil {
				lengths = map[uint32]int{}
			}
			lengths[code] = n
		}
	}
	return lengths
}

// sheetFlush is from how many bytes on the text of rows is written.
const sheetFlush = 32 << 10

func (s *Sheet) writeRows(w io.Writer, rows iter.Seq[index.Range]) error {
	names := make([]string, len(s.fields))
	for i := range s.fields {
		names[i] = s.fields[i].name
	}
	out := appendSheetHead(nil, names)
	number := 1
	for r := range rows {
		for row := r.From; row < r.To; row++ {
			number++
			if out = s.appendRow(out, row, number); len(out) < sheetFlush {
				continue
			}
			if _, err := w.Write(out); err != nil {
				return err
			}
			out = out[:0]
		}
	}
	_, err := w.Write(append(out, sheetTail...))
	return err
}

// appendSheetHead appends what is before the rows, with a row of names.
func appendSheetHead(dst []byte, names []string) []byte {
	dst = append(dst, sheetHead...)
	for i, name := range names {
		width := max(12, min(len(name)+2, 40))
		at := strconv.Itoa(i + 1)
		dst = append(dst, `<col min="`+at+`" max="`+at+`" width="`+strconv.Itoa(width)+`" customWidth="1"/>`...)
	}
	dst = append(dst, `</cols><sheetData><row r="1">`...)
	for i, name := range names {
		dst = append(dst, `<c r="`+sheetColumn(i)+`1" s="`+styleHead+`" t="inlineStr"><is><t>`...)
		dst = append(appendXML(dst, name), `</t></is></c>`...)
	}
	return append(dst, `</row>`...)
}

func (s *Sheet) appendRow(dst []byte, row uint32, number int) []byte {
	dst = append(dst, `<row r="`...)
	dst = strconv.AppendInt(dst, int64(number), 10)
	dst = append(dst, `">`...)
	for i := range s.fields {
		c := s.fields[i].column
		at := c.Position(row)
		if c.IsNull(at) {
			continue
		}
		dst = append(append(dst, `<c r="`...), s.columns[i]...)
		dst = strconv.AppendInt(dst, int64(number), 10)
		dst = append(appendSheetValue(append(dst, '"'), c, at), `</c>`...)
	}
	return append(dst, `</row>`...)
}

// appendSheetValue appends the rest of a cell's tag, and its value.
func appendSheetValue(dst []byte, c *snapshot.Column, at uint32) []byte {
	switch c.Kind {
	case snapshot.Text, snapshot.Enum:
		return appendSheetText(dst, c.Text(at))
	case snapshot.Bool:
		dst = strconv.AppendInt(append(dst, ` t="b"><v>`...), c.Int(at), 10)
	case snapshot.Int:
		dst = strconv.AppendInt(append(dst, `><v>`...), c.Int(at), 10)
	case snapshot.Time:
		return appendSheetTime(dst, c.Int(at))
	default:
		dst = append(dst, `><v>`...)
		if d := c.Dec(at); d.Scale == snapshot.DecText {
			dst = appendExact(dst, c.DecString(d))
		} else {
			dst = appendDec(dst, d.Mantissa, d.Scale)
		}
	}
	return append(dst, `</v>`...)
}

func appendSheetText(dst []byte, text string) []byte {
	dst = append(dst, ` t="inlineStr"><is><t xml:space="preserve">`...)
	return append(appendXML(dst, text), `</t></is>`...)
}

// Programs count days from 1900 as if that had been a leap year, so earlier days, which they cannot
// show, and those up to its end of February are texts.
var firstSheetDay = time.Date(1900, 3, 1, 0, 0, 0, 0, time.UTC).UnixMicro()

const (
	dayMicros  = 24 * 60 * 60 * 1_000_000
	sheetEpoch = 25569 // 1970-01-01
)

// appendSheetTime appends a time as the number of days, with the digits of a microsecond.
func appendSheetTime(dst []byte, micros int64) []byte {
	switch {
	case micros < firstSheetDay || time.UnixMicro(micros).UTC().Year() > 9999:
		return appendSheetText(dst, string(appendTime(nil, micros, ' ')))
	case micros%dayMicros == 0:
		dst = append(dst, ` s="`+styleDay+`"><v>`...)
		dst = strconv.AppendInt(dst, micros/dayMicros+sheetEpoch, 10)
	default:
		dst = append(dst, ` s="`+styleTime+`"><v>`...)
		dst = strconv.AppendFloat(dst, float64(micros)/dayMicros+sheetEpoch, 'f', -1, 64)
	}
	return append(dst, `</v>`...)
}

// appendXML appends a text as XML. Characters that XML does not have are written as _xHHHH_, as is
// an underscore that would begin such a form.
func appendXML(dst []byte, text string) []byte {
	for i, r := range text {
		switch {
		case r == '&':
			dst = append(dst, "&amp;"...)
		case r == '<':
			dst = append(dst, "&lt;"...)
		case r == '>':
			dst = append(dst, "&gt;"...)
		case r == '_' && isSheetEscape(text[i:]):
			dst = append(dst, "_x005F_"...)
		case r < ' ' && r != '\t' && r != '\n' || r == 0xFFFE || r == 0xFFFF:
			dst = fmt.Appendf(dst, "_x%04X_", r)
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return dst
}

// isSheetEscape reports whether a text begins as _xHHHH_ does.
func isSheetEscape(text string) bool {
	if len(text) < len("_x0000_") || text[1] != 'x' || text[6] != '_' {
		return false
	}
	_, err := strconv.ParseUint(text[2:6], 16, 16)
	return err == nil
}

// units is the length of a text in units of UTF-16.
func units(text string) (n int) {
	for _, r := range text {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}
