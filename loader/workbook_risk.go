package loader

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
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

// maxRiskRows is more rows than there will ever be countries.
const maxRiskRows = 10_000

// riskTable reads a workbook and returns the rows of its index as CSV. Lines have the numbers of
// the sheet's rows.
func riskTable(r io.Reader) (io.Reader, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxWorkbookBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxWorkbookBytes {
		return nil, fmt.Errorf("workbook of more than %d bytes", maxWorkbookBytes)
	}
	w, err := openWorkbook(data)
	if err != nil {
		return nil, err
	}
	s, year := w.riskSheet()
	if year == "" {
		return nil, fmt.Errorf(`workbook: no sheet "INFORM Risk YYYY (a-z)" among %d`, len(w.sheets))
	}
	t := &riskRows{year: year}
	if err := w.rows(s, t.row); err != nil {
		return nil, err
	}
	if t.at == nil {
		return nil, fmt.Errorf("workbook: sheet %q: no row with the name %q", s.name, riskHeaders[0].header)
	}
	return &t.out, nil
}

// riskSheet finds the newest sheet of the index.
func (w *workbook) riskSheet() (found sheet, year string) {
	for _, s := range w.sheets {
		if m := riskSheet.FindStringSubmatch(strings.TrimSpace(s.name)); m != nil && m[1] > year {
			found, year = s, m[1]
		}
	}
	return found, year
}

// riskRows writes the rows of the sheet as lines.
type riskRows struct {
	year   string
	at     []int // position of each of riskHeaders, nil before the row of names
	header int   // number of that row
	line   int   // of out, the last one written
	out    bytes.Buffer
}

func (t *riskRows) row(number int, cells []cell) error {
	if t.at == nil {
		return t.names(number, cells)
	}
	var record []string
	for i, at := range t.at {
		var c cell
		if at < len(cells) {
			c = cells[at]
		}
		record = append(record, riskValue(riskHeaders[i].column, c))
	}
	switch code := record[0]; {
	case code == "", number == t.header+1 && strings.HasPrefix(code, "("):
		return nil // remarks below the table; the row of ranges
	case number > maxRiskRows:
		return fmt.Errorf("more than %d rows", maxRiskRows)
	}
	return t.write(number, append(record, t.year+"-01-01", t.year+"-12-31"))
}

// names looks for the row of names.
func (t *riskRows) names(number int, cells []cell) error {
	find := func(name string) int {
		return slices.IndexFunc(cells, func(c cell) bool { return strings.Join(strings.Fields(c.text), " ") == name })
	}
	if find(riskHeaders[0].header) < 0 {
		return nil
	}
	var missing, record []string
	for _, h := range riskHeaders {
		at := find(h.header)
		if at < 0 {
			missing = append(missing, strconv.Quote(h.header))
		}
		t.at = append(t.at, at)
		record = append(record, h.column)
	}
	if missing != nil {
		return fmt.Errorf("row %d lacks the names %s", number, strings.Join(missing, ", "))
	}
	t.header = number
	return t.write(number, append(record, "reference_period_start", "reference_period_end"))
}

// write puts a record on the line of its row.
func (t *riskRows) write(number int, record []string) error {
	if number > maxRiskRows {
		return fmt.Errorf("more than %d rows", maxRiskRows)
	}
	for ; t.line < number-1; t.line++ {
		t.out.WriteByte('\n')
	}
	w := csv.NewWriter(&t.out)
	err := w.Write(record)
	w.Flush()
	t.line++
	return err
}

// riskValue is a cell in the CSV form: classes as digits, numbers in the shortest form that means
// the same (the sheet has 8.6999999999999993 for 8.7).
func riskValue(name string, c cell) string {
	text := strings.TrimSpace(c.text)
	if i := slices.IndexFunc(riskClasses, func(class string) bool { return strings.EqualFold(class, text) }); i >= 0 &&
		name == "risk_class" {
		return strconv.Itoa(i + 1)
	}
	if c.number {
		if v, err := strconv.ParseFloat(text, 64); err == nil {
			return strconv.FormatFloat(v, 'f', -1, 64)
		}
	}
	return strings.NewReplacer("\r", " ", "\n", " ").Replace(text)
}
