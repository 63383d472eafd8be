package render

import (
	"archive/zip"
	"io"
	"maps"
	"slices"
	"strconv"
	"sync"
	"text/template"
	"time"

	"github.com/klauspost/compress/flate"
)

// sheetPart is a sheet of a workbook.
type sheetPart struct {
	Name   string
	Number int // from 1
	write  func(w io.Writer) error
}

// sheetParts are the templates of the files of a workbook besides its sheets.
var sheetParts = sync.OnceValue(func() map[string]*template.Template {
	all := map[string]*template.Template{}
	for _, name := range []string{
		"[Content_Types].xml", "_rels/.rels", "xl/workbook.xml", "xl/_rels/workbook.xml.rels", "xl/styles.xml",
	} {
		text, err := workbook.ReadFile("workbook/" + name)
		if err != nil {
			panic(err) // it is part of the program
		}
		all[name] = template.Must(template.New(name).Parse(string(text)))
	}
	return all
})

// writeWorkbook writes a workbook of sheets.
func writeWorkbook(w io.Writer, sheets ...sheetPart) error {
	z := zip.NewWriter(w)
	z.RegisterCompressor(zip.Deflate, func(to io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(to, sheetLevel)
	})
	parts := sheetParts()
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		to, err := z.Create(name)
		if err != nil {
			return err
		}
		if err := parts[name].Execute(to, sheets); err != nil {
			return err
		}
	}
	for _, s := range sheets {
		to, err := z.Create("xl/worksheets/sheet" + strconv.Itoa(s.Number) + ".xml")
		if err != nil {
			return err
		}
		if err := s.write(to); err != nil {
			return err
		}
	}
	return z.Close()
}

// Table is a sheet of a workbook with a row of names. A cell is a string, a Number, a bool, a
// time.Time, a Month, or nil for an empty one.
type Table struct {
	Name string // of letters
	Head []string
	Rows [][]any
}

// Number is a number as JSON has it.
type Number string

// Month is a month, by its first day.
type Month time.Time

// TimeCell is a cell with a day, a month or a year, as which programs take it. Other texts stay.
func TimeCell(text string) any {
	if at, err := time.Parse(time.DateOnly, text); err == nil {
		return at
	}
	if at, err := time.Parse("2006-01", text); err == nil {
		return Month(at)
	}
	if _, err := time.Parse("2006", text); err == nil {
		return Number(text)
	}
	return text
}

// WriteTables writes a workbook of small tables.
func WriteTables(w io.Writer, tables ...*Table) error {
	var sheets []sheetPart
	for i, t := range tables {
		sheets = append(sheets, sheetPart{t.Name, i + 1, func(w io.Writer) error {
			_, err := w.Write(t.append(nil))
			return err
		}})
	}
	return writeWorkbook(w, sheets...)
}

func (t *Table) append(dst []byte) []byte {
	dst = appendSheetHead(dst, t.Head)
	for i, row := range t.Rows {
		number := strconv.Itoa(i + 2)
		dst = append(dst, `<row r="`+number+`">`...)
		for k, cell := range row {
			if cell == nil {
				continue
			}
			dst = append(dst, `<c r="`+sheetColumn(k)+number+`"`...)
			switch v := cell.(type) {
			case Number:
				dst = append(dst, `><v>`+string(v)+`</v>`...)
			case bool:
				dst = append(dst, ` t="b"><v>`+map[bool]string{false: "0", true: "1"}[v]+`</v>`...)
			case time.Time:
				dst = appendSheetTime(dst, v.UnixMicro())
			case Month:
				dst = append(dst, ` s="`+styleMonth+`"><v>`...)
				dst = strconv.AppendInt(dst, time.Time(v).UnixMicro()/dayMicros+sheetEpoch, 10)
				dst = append(dst, `</v>`...)
			case string:
				if text := []rune(v); len(text) > maxTableText {
					v = string(text[:maxTableText]) + "…"
				}
				dst = appendSheetText(dst, v)
			}
			dst = append(dst, `</c>`...)
		}
		dst = append(dst, `</row>`...)
	}
	return append(dst, sheetTail...)
}

// maxTableText is the longest text of a cell of a table: at most MaxSheetText in any script.
const maxTableText = MaxSheetText/2 - 1
