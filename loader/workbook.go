package loader

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"
)

// The national risk index is published as a workbook, by year: its sheet "INFORM Risk YYYY (a-z)"
// has a row of names, a row of ranges, and a row for each country. It is converted to the CSV form
// that other themes have.

var riskSheet = regexp.MustCompile(`^INFORM Risk (\d{4}) \(a-z\)$`)

// riskHeaders are the columns of the CSV form and their names in the sheet.
var riskHeaders = []struct{ column, header string }{
	{"location_code", "ISO3"},
	{"risk_class", "RISK CLASS"},
	{"global_rank", "Rank"},
	{"overall_risk", "INFORM RISK"},
	{"hazard_exposure_risk", "HAZARD & EXPOSURE"},
	{"vulnerability_risk", "VULNERABILITY"},
	{"coping_capacity_risk", "LACK OF COPING CAPACITY"},
	{"meta_missing_indicators_pct", "% of Missing Indicators"},
	{"meta_avg_recentness_years", "Recentness data (average years)"},
}

// riskClasses are the texts of the classes 1 to 5.
var riskClasses = []string{"Very Low", "Low", "Medium", "High", "Very High"}

// Bounds of a workbook. It is a zip archive: its parts are bounded whatever sizes it claims.
const (
	maxWorkbookBytes = 16 << 20 // the published one has 2 MB
	maxUnpackedBytes = 64 << 20 // of all parts; the published one has 15 MB
	maxWorkbookParts = 10_000
	maxRiskRows      = 10_000 // more than there will ever be countries
)

// riskTable reads a workbook and returns the rows of its index as CSV. Lines have the numbers of
// the sheet's rows.
func riskTable(r io.Reader) (out io.Reader, err error) {
	defer func() { // the library is not written for hostile files
		if fault := recover(); fault != nil {
			out, err = nil, fmt.Errorf("workbook: cannot be read: %v", fault)
		}
	}()
	w, err := openWorkbook(r)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	name, year, err := riskSheetOf(w)
	if err != nil {
		return nil, err
	}
	t := &riskRows{year: year}
	if err := t.read(w, name); err != nil {
		return nil, fmt.Errorf("workbook: sheet %q: %w", name, err)
	}
	if t.at == nil {
		return nil, fmt.Errorf("workbook: sheet %q: no row with the name %q", name, riskHeaders[0].header)
	}
	return &t.out, nil
}

func openWorkbook(r io.Reader) (*excelize.File, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxWorkbookBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxWorkbookBytes {
		return nil, fmt.Errorf("workbook of more than %d bytes", maxWorkbookBytes)
	}
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("not a workbook: %w", err)
	}
	if n := len(archive.File); n > maxWorkbookParts {
		return nil, fmt.Errorf("workbook of %d parts, at most %d are read", n, maxWorkbookParts)
	}
	// Raw values: numbers as the file has them, not as their formats show them. With equal limits
	// no part is unpacked to the disk.
	w, err := excelize.OpenReader(bytes.NewReader(data), excelize.Options{
		RawCellValue: true, UnzipSizeLimit: maxUnpackedBytes, UnzipXMLSizeLimit: maxUnpackedBytes,
	})
	if err != nil {
		return nil, fmt.Errorf("workbook: %w", err)
	}
	return w, checkSheets(w)
}

// checkSheets checks that the sheets are whole XML documents with their rows in order: the library
// takes an error in one as its end, and leaves out a row that is not after the one before.
func checkSheets(w *excelize.File) (err error) {
	w.Pkg.Range(func(name, part any) bool {
		data, ok := part.([]byte)
		if !ok || !strings.HasPrefix(name.(string), "xl/worksheets/sheet") {
			return true
		}
		last := 0
		for d := xml.NewDecoder(bytes.NewReader(data)); err == nil; {
			var token xml.Token
			token, err = d.Token()
			row, _ := token.(xml.StartElement)
			at := slices.IndexFunc(row.Attr, func(a xml.Attr) bool { return a.Name.Local == "r" })
			if row.Name.Local != "row" || at < 0 {
				continue
			}
			n, _ := strconv.Atoi(row.Attr[at].Value)
			if n <= last {
				err = fmt.Errorf("row %d comes after row %d", n, last)
			}
			last = n
		}
		if errors.Is(err, io.EOF) {
			err = nil
			return true
		}
		err = fmt.Errorf("workbook: %s: %w", name, err)
		return false
	})
	return err
}

// riskSheetOf finds the newest sheet of the index. A hidden one may be a draft.
func riskSheetOf(w *excelize.File) (name, year string, err error) {
	for _, sheet := range w.GetSheetList() {
		m := riskSheet.FindStringSubmatch(strings.TrimSpace(sheet))
		shown, _ := w.GetSheetVisible(sheet)
		switch {
		case m == nil || !shown:
		case m[1] == year:
			return "", "", fmt.Errorf("workbook: two sheets of %s: %q and %q", year, name, sheet)
		case m[1] > year:
			name, year = sheet, m[1]
		}
	}
	if year == "" {
		err = fmt.Errorf(`workbook: no sheet "INFORM Risk YYYY (a-z)" is shown among %d`, w.SheetCount)
	}
	return name, year, err
}

// riskRows writes the rows of the sheet as lines.
type riskRows struct {
	year   string
	at     []int // position of each of riskHeaders, nil before the row of names
	header int   // number of that row
	out    bytes.Buffer
}

func (t *riskRows) read(w *excelize.File, sheet string) error {
	rows, err := w.Rows(sheet)
	if err != nil {
		return err
	}
	defer rows.Close()
	left := 0 // rows that give no line, so far
	for number := 1; rows.Next(); number++ {
		cells, err := rows.Columns()
		switch {
		case err != nil:
			return err
		case len(cells) > maxColumns:
			return fmt.Errorf("row %d has %d columns, at most %d are read", number, len(cells), maxColumns)
		case number > maxRiskRows:
			return fmt.Errorf("more than %d rows", maxRiskRows)
		}
		for _, at := range t.at { // as raw values, true and false are 1 and 0, a formula without a value is empty
			cells = append(cells, make([]string, max(0, at+1-len(cells)))...)
			axis, _ := excelize.CoordinatesToCellName(at+1, number)
			if cells[at] == "0" || cells[at] == "1" {
				if kind, _ := w.GetCellType(sheet, axis); kind == excelize.CellTypeBool {
					cells[at] = "a flag: " + cells[at]
				}
			} else if cells[at] == "" && cells[t.at[0]] != "" { // spare rows have formulas too
				if formula, _ := w.GetCellFormula(sheet, axis); formula != "" {
					cells[at] = "not computed: " + formula
				}
			}
		}
		record, err := t.row(number, cells)
		if err != nil {
			return err
		}
		if record == nil {
			left++
			continue
		}
		t.out.WriteString(strings.Repeat("\n", left)) // each line has the number of its row
		line := csv.NewWriter(&t.out)
		_ = line.Write(record)
		line.Flush()
		left = 0
	}
	return rows.Error()
}

// row is the record of a row, nil for one that is not of the index.
func (t *riskRows) row(number int, cells []string) (record []string, err error) {
	if t.at == nil {
		return t.names(number, cells)
	}
	for i, at := range t.at {
		var cell string
		if at < len(cells) {
			cell = cells[at]
		}
		record = append(record, riskValue(riskHeaders[i].column, cell))
	}
	isValue := func(cell string) bool { return riskNumber.MatchString(cell) }
	if code := record[0]; code == "" && !slices.ContainsFunc(record, isValue) ||
		number == t.header+1 && strings.HasPrefix(code, "(") {
		return nil, nil // remarks below the table; the row of ranges
	}
	return append(record, t.year+"-01-01", t.year+"-12-31"), nil
}

// names looks for the row of names.
func (t *riskRows) names(number int, cells []string) (record []string, err error) {
	find := func(cells []string, name string) int {
		return slices.IndexFunc(cells, func(c string) bool { return strings.Join(strings.Fields(c), " ") == name })
	}
	if find(cells, riskHeaders[0].header) < 0 {
		return nil, nil
	}
	var missing []string
	for _, h := range riskHeaders {
		at := find(cells, h.header)
		switch {
		case at < 0:
			missing = append(missing, strconv.Quote(h.header))
		case find(cells[at+1:], h.header) >= 0:
			return nil, fmt.Errorf("row %d has the name %q twice", number, h.header)
		}
		t.at = append(t.at, at)
		record = append(record, h.column)
	}
	if missing != nil {
		return nil, fmt.Errorf("row %d lacks the names %s", number, strings.Join(missing, ", "))
	}
	t.header = number
	return append(record, "reference_period_start", "reference_period_end"), nil
}

// riskNumber is a number as workbooks store it.
var riskNumber = regexp.MustCompile(`^-?[0-9.]+(E[-+]?[0-9]+)?$`)

// riskValue is a cell in the CSV form: classes as digits, numbers in the shortest form that means
// the same (the sheet has 8.6999999999999993 for 8.7).
func riskValue(name, cell string) string {
	text := strings.TrimSpace(cell)
	if i := slices.IndexFunc(riskClasses, func(class string) bool { return strings.EqualFold(class, text) }); i >= 0 &&
		name == "risk_class" {
		return strconv.Itoa(i + 1)
	}
	if riskNumber.MatchString(text) {
		if v, err := strconv.ParseFloat(text, 64); err == nil {
			return strconv.FormatFloat(v, 'f', -1, 64)
		}
	}
	return strings.NewReplacer("\r", " ", "\n", " ").Replace(text)
}
