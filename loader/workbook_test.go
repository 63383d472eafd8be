//go:build !race

package loader

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"hdqs/internal/testkit"
)

const riskNames = "ISO3|INFORM RISK|RISK CLASS|Rank|HAZARD & EXPOSURE|VULNERABILITY|" +
	"LACK OF COPING CAPACITY|% of Missing Indicators|Recentness data (average years)"

// makeWorkbook writes a small workbook. A row is cells separated by bars; a cell that begins with =
// is a number, and true is a flag. parts are added, or replace those of the same name.
func makeWorkbook(t testing.TB, sheetName string, rows []string, parts map[string]string) []byte {
	t.Helper()
	var body strings.Builder
	var shared []string
	for i, row := range rows {
		fmt.Fprintf(&body, `<row r="%d">`, i+1)
		for c, text := range strings.Split(row, "|") {
			at := fmt.Sprintf("%c%d", 'A'+c, i+1)
			switch number, ok := strings.CutPrefix(text, "="); {
			case ok:
				fmt.Fprintf(&body, `<c r="%s" s="4"><f>A1*2</f><v>%s</v></c>`, at, number)
			case text == "":
				fmt.Fprintf(&body, `<c r="%s" s="4"/>`, at)
			case text == "true":
				fmt.Fprintf(&body, `<c r="%s" t="b"><v>1</v></c>`, at)
			case c%3 == 0:
				fmt.Fprintf(&body, `<c r="%s" t="s"><v>%d</v></c>`, at, len(shared))
				shared = append(shared, text)
			case c%3 == 1:
				fmt.Fprintf(&body, `<c r="%s" t="str"><v>%s</v></c>`, at, escaped(text))
			default:
				fmt.Fprintf(&body, `<c r="%s" t="inlineStr"><is><t>%s</t></is></c>`, at, escaped(text))
			}
		}
		body.WriteString(`</row>`)
	}
	var texts strings.Builder
	for i, text := range shared {
		if i%2 == 0 {
			fmt.Fprintf(&texts, `<si><t xml:space="preserve">%s</t></si>`, escaped(text))
		} else {
			fmt.Fprintf(&texts, `<si><r><t>%s</t></r><r><t>%s</t></r><rPh sb="0" eb="1"><t>hint</t></rPh></si>`,
				escaped(text[:1]), escaped(text[1:]))
		}
	}
	all := map[string]string{
		"[Content_Types].xml": `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`,
		"_rels/.rels": `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" ` +
			`Target="xl/workbook.xml"/></Relationships>`,
		"xl/workbook.xml": `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="About" sheetId="73" r:id="rId1"/><sheet name="` +
			escaped(sheetName) + `" sheetId="85" r:id="rId2"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId2" Target="worksheets/sheet2.xml"/><Relationship Id="rId1" Target="/xl/worksheets/sheet1.xml"/></Relationships>`,
		"xl/worksheets/sheet1.xml":   `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData/></worksheet>`,
		"xl/worksheets/sheet2.xml": `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><cols><col min="1"/></cols><sheetData>` + body.String() +
			`</sheetData></worksheet>`,
		"xl/sharedStrings.xml": `<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">` + texts.String() + `</sst>`,
	}
	maps.Copy(all, parts)
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		f, err := w.Create(name)
		if err == nil {
			_, err = io.WriteString(f, all[name])
		}
		testkit.Must(t, err)
	}
	testkit.Must(t, w.Close())
	return out.Bytes()
}

func escaped(s string) string { return strings.NewReplacer("&", "&amp;", "<", "&lt;").Replace(s) }

var riskSheetRows = []string{
	"",
	riskNames,
	"(a-z)|(0-10)|(Very Low-Very High)|(1-191)|(0-10)|(0-10)|(0-10)|(0-100%)|()",
	"AFG|=7.3|Very High|=6|=8.9000000000000004|=6.6|=7.7|=3.6999999999999998E-2|=0.42999999999999999",
	"ALB|=2.9|low|=98|=3.8|=2.6|=4.4|=0|",
	"|=2.8|low|=99|=3.8|=2.6|=4.4|=0|", // the second row of a merged cell, or a formula without a value
	"AGO|=2.8|low|true|=3.8|=2.6|=4.4|=1|",
	"BOL|=2.8|low|=9|=3.8|=2.6|=4.4|=|=",
	"=|=|=|=|=|=|=|=|=",
	"",
	"|||||||source: made up|",
}

const riskCSV = `
location_code,risk_class,global_rank,overall_risk,hazard_exposure_risk,vulnerability_risk,coping_capacity_risk,meta_missing_indicators_pct,meta_avg_recentness_years,reference_period_start,reference_period_end

AFG,5,6,7.3,8.9,6.6,7.7,0.037,0.43,2024-01-01,2024-12-31
ALB,2,98,2.9,3.8,2.6,4.4,0,,2024-01-01,2024-12-31
,2,99,2.8,3.8,2.6,4.4,0,,2024-01-01,2024-12-31
AGO,2,a flag: 1,2.8,3.8,2.6,4.4,1,,2024-01-01,2024-12-31
BOL,2,9,2.8,3.8,2.6,4.4,not computed: A1*2,not computed: A1*2,2024-01-01,2024-12-31
`

func TestRiskWorkbook(t *testing.T) {
	t.Parallel()
	r := testkit.Value(riskTable(bytes.NewReader(makeWorkbook(t, "INFORM Risk 2024 (a-z)", riskSheetRows, nil))))(t)
	if got, _ := io.ReadAll(r); string(got) != riskCSV {
		t.Errorf("got\n%s\nwant\n%s", got, riskCSV)
	}
}

// TestRiskWorkbookAsSource loads one index in both forms: the rows must be the same, and the
// workbook must not be read where the CSV is.
func TestRiskWorkbookAsSource(t *testing.T) {
	t.Parallel()
	files := smallWorld(t)
	const asCSV, asBook = "national-risk/hdx_hapi_national_risk_global.csv", "national-risk/inform_risk_2024_v067.xlsx"
	code := firstLocation(t, files)
	book := makeWorkbook(t, "INFORM Risk 2024 (a-z)",
		[]string{riskNames, strings.Replace(riskSheetRows[3], "AFG", code, 1)}, nil)
	text := strings.Split(strings.TrimSpace(riskCSV), "\n")
	for path := range files {
		if strings.HasPrefix(path, "national-risk/") {
			delete(files, path)
		}
	}
	files[asCSV] = &fstest.MapFile{Data: []byte(text[0] + "\n" + strings.Replace(text[2], "AFG", code, 1) + "\n")}
	want := build(t, openStore(t), files, someDay)
	files[asBook] = &fstest.MapFile{Data: book}
	if both := build(t, openStore(t), files,
		someDay); segmentsOf(both)["national_risk"] != segmentsOf(want)["national_risk"] ||
		!strings.Contains(strings.Join(both.Notes, "\n"), asBook) {
		t.Errorf("both forms: notes %q", both.Notes)
	}
	delete(files, asCSV)
	got := build(t, openStore(t), files, someDay)
	if segmentsOf(got)["national_risk"] != segmentsOf(want)["national_risk"] || rowsOf(got, "national_risk") != 1 {
		t.Errorf("the workbook gives %d rows in another table than the CSV; refused %v", rowsOf(got, "national_risk"),
			got.Refused)
	}
	files[asBook] = &fstest.MapFile{Data: []byte("PK\x03\x04 cut")}
	if got := build(t, openStore(t), files, someDay); len(got.Refused) != 1 || got.Refused[0].Path != asBook ||
		!strings.Contains(got.Refused[0].Why, "not a workbook") {
		t.Errorf("refused: %v", got.Refused)
	}
}

func rowsOf(r *Report, table string) int {
	for _, t := range r.Tables {
		if t.Table == table {
			return t.Rows
		}
	}
	return -1
}

// firstLocation is a code of the catalog's list of locations.
func firstLocation(t *testing.T, files fs.FS) string {
	t.Helper()
	data := testkit.Value(fs.ReadFile(files, "reference/location.csv"))(t)
	rows := testkit.Value(csv.NewReader(strings.NewReader(strings.TrimPrefix(string(data), "\ufeff"))).ReadAll())(t)
	at := slices.IndexFunc(rows[0], func(name string) bool { return strings.Contains(name, "Alpha 3") })
	for _, row := range rows[1:] {
		if len(row[at]) == 3 {
			return row[at]
		}
	}
	t.Fatal("no code in location.csv")
	return ""
}

// TestBadWorkbooks checks the errors of files that are no workbooks, are incomplete, or unpack to
// too much.
func TestBadWorkbooks(t *testing.T) {
	t.Parallel()
	const name = "INFORM Risk 2024 (a-z)"
	rows := riskSheetRows
	many := map[string]string{}
	for i := range maxWorkbookParts {
		many[fmt.Sprintf("xl/media/%d", i)] = ""
	}
	wide := `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData><row r="1"><c r="SS1" t="str"><v>x</v></c></row></sheetData></worksheet>`
	good := makeWorkbook(t, name, rows, nil)
	sheets := func(other, state string) map[string]string {
		return map[string]string{"xl/workbook.xml": `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" ` +
			`xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="` + other +
			`" sheetId="73" r:id="rId1"/><sheet name="` + name + `" sheetId="85" state="` + state + `" r:id="rId2"/></sheets></workbook>`}
	}
	for what, c := range map[string]struct {
		data []byte
		says string
	}{
		"text":         {[]byte("location_code,risk_class\n"), "not a workbook"},
		"cut":          {good[:len(good)/2], "not a workbook"},
		"hidden":       {makeWorkbook(t, name, rows, sheets("About", "hidden")), "no sheet"},
		"two alike":    {makeWorkbook(t, name, rows, sheets(name+" ", "visible")), "two sheets of 2024"},
		"other sheets": {makeWorkbook(t, "Risk", rows, nil), "no sheet"},
		"no names":     {makeWorkbook(t, name, rows[3:], nil), `no row with the name "ISO3"`},
		"renamed": {
			makeWorkbook(t, name, []string{strings.Replace(riskNames, "Rank", "RANK 2", 1)}, nil),
			`lacks the names "Rank"`,
		},
		"a name twice": {
			makeWorkbook(t, name, []string{riskNames + "|Rank"}, nil), `the name "Rank" twice`,
		},
		"many parts": {makeWorkbook(t, name, rows, many), "10007 parts, at most 10000"},
		"bomb": {makeWorkbook(t, name, rows,
			map[string]string{"xl/sharedStrings.xml": `<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">` + strings.Repeat(" ", maxUnpackedBytes) +
				"</sst>"}), "unzip size exceeds the 67108864 bytes limit"},
		"no such text": {
			makeWorkbook(t, name, rows, map[string]string{"xl/sharedStrings.xml": `<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"/>`}),
			`no row with the name "ISO3"`,
		},
		"missing part": {
			makeWorkbook(t, name, rows, map[string]string{"xl/_rels/workbook.xml.rels": "<x/>"}),
			"expected element type <Relationships>",
		},
		"not XML": {
			makeWorkbook(t, name, rows, map[string]string{"xl/worksheets/sheet2.xml": "<a><b"}),
			"sheet2.xml",
		},
		"a far column": {
			makeWorkbook(t, name, rows, map[string]string{"xl/worksheets/sheet2.xml": wide}),
			"at most 512",
		},
		"unsorted rows": {makeWorkbook(t, name, rows,
			map[string]string{"xl/worksheets/sheet2.xml": `<w><row r="5"/><row r="2"/></w>`}), "row 2 comes after row 5"},
	} {
		if _, err := riskTable(bytes.NewReader(c.data)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", what, err, c.says)
		}
	}
}

// TestFixtureRiskWorkbook compares the rows of a real workbook with those of the CSV file that was
// derived from it, column by column.
func TestFixtureRiskWorkbook(t *testing.T) {
	t.Parallel()
	const fixtures = "../../shared/fixtures/"
	book, err := os.Open(fixtures + "other/sources/source_inform_risk_2024_v067.xlsx")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("no real workbook beside the repository")
	}
	testkit.Must(t, err)
	defer book.Close()
	r := testkit.Value(riskTable(book))(t)
	derived := testkit.ReadFile(t, fixtures+"catalog/national-risk/hdx_hapi_national_risk_global.csv")
	got, want := byName(t, r), byName(t, strings.NewReader(strings.TrimPrefix(string(derived), "\ufeff")))
	if len(got) != 191 || len(got) != len(want) {
		t.Fatalf("%d rows, the CSV has %d, want 191", len(got), len(want))
	}
	for i, row := range got {
		for name, value := range row {
			if want[i][name] != value {
				t.Errorf("row %d, %s: %q, the CSV has %q", i+1, name, value, want[i][name])
			}
		}
	}
}

func byName(t *testing.T, r io.Reader) []map[string]string {
	t.Helper()
	rows := testkit.Value(csv.NewReader(r).ReadAll())(t)
	var out []map[string]string
	for _, row := range rows[1:] {
		m := map[string]string{}
		for i, name := range rows[0] {
			m[name] = row[i]
		}
		out = append(out, m)
	}
	return out
}

// FuzzWorkbook checks that any bytes give a table or an error.
func FuzzWorkbook(f *testing.F) {
	f.Add(makeWorkbook(f, "INFORM Risk 2024 (a-z)", riskSheetRows, nil))
	f.Add([]byte("PK\x05\x06" + strings.Repeat("\x00", 18)))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := riskTable(bytes.NewReader(data))
		if err != nil {
			return
		}
		if _, err := newCSV("fuzz.xlsx", r, []string{"location_code"}, nil); err != nil {
			t.Errorf("a table that is no CSV: %v", err)
		}
	})
}
