package files_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math/rand/v2"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/index"
	"hdqs/internal/testkit"
)

// exportAnswer asks for an export and requires 200.
func exportAnswer(t *testing.T, s *api.Server, target string, header ...reply.HeaderField) api.Answer {
	t.Helper()
	got := s.Answer("GET", target, append(header, reply.HeaderField{
		Name:  "X-CATALOG-API-APP-IDENTIFIER",
		Value: apitest.Identifier,
	}))
	if got.Status != 200 {
		t.Fatalf("%s: %d %.300s", target, got.Status, got.Body)
	}
	return got
}

// pagesOfList is the slow twin of an export: all pages of the list, put together.
func pagesOfList(t *testing.T, s *api.Server, path, query, format string, offset, rows int) []byte {
	t.Helper()
	var whole []byte
	const size = 7000
	for done := 0; done == 0 || done < rows; done += size {
		target := fmt.Sprintf("%s?%s&output_format=%s&limit=%d&offset=%d", path, query, format, min(size, rows-done),
			offset+done)
		page := exportAnswer(t, s, target).Body
		switch {
		case done == 0:
			whole = page
		case format == "ndjson":
			whole = append(whole, page...)
		case format == "csv":
			_, lines, _ := bytes.Cut(page, []byte("\r\n"))
			whole = append(whole, lines...)
		default:
			at := bytes.IndexByte(page, '[') + 1
			whole = append(append(whole[:len(whole)-len("]}")], ','), page[at:]...)
		}
	}
	return whole
}

// randomExport returns a query of an endpoint with random filters and fields.
func randomExport(e *contract.Endpoint, random *rand.Rand) string {
	values := url.Values{}
	plan := contract.NewPlan(e, contract.Export)
	for range random.IntN(3) {
		p := plan.Params[random.IntN(len(plan.Params))]
		switch {
		case p.Type == contract.Choice && len(p.Columns) > 0 && !p.List:
			values.Set(p.Name, p.Enum.Values[random.IntN(len(p.Enum.Values))])
		case p.Type == contract.Boolean:
			values.Set(p.Name, strconv.FormatBool(random.IntN(2) == 0))
		case p.Op == index.Contains:
			values.Set(p.Name, "a")
		case p.Name == "start_date":
			values.Set(p.Name, "2024-02")
		}
	}
	if random.IntN(3) == 0 {
		names := contract.FieldNames(e.Fields)
		random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		values.Set("fields", strings.Join(names[:min(len(names), 2+random.IntN(len(names)))], ","))
	}
	return values.Encode()
}

// checkExport compares the exports of a query with its pages.
func checkExport(t *testing.T, s *api.Server, path string, e *contract.Endpoint, query string, random *rand.Rand) {
	t.Helper()
	first := exportAnswer(t, s, path+"?"+query+"&limit=1")
	total, _ := apitest.Field(first, "X-Total-Count")
	n := testkit.Value(strconv.Atoi(total))(t)
	offset, limit, rows := 0, "", n
	if random.IntN(2) == 0 {
		offset = random.IntN(n + 2)
		size := random.IntN(n + 2)
		limit, rows = fmt.Sprintf("&limit=%d", size), min(size, max(0, n-offset))
	}
	if n > 9000 { // the end of the table is beyond the first chunk of the index
		offset, limit, rows = n*9/10, fmt.Sprintf("&limit=%d", n/10), n/10
	}
	ask := fmt.Sprintf("%s/export?%s%s&offset=%d&output_format=", path, query, limit, offset)
	lines := pagesOfList(t, s, path, query, "csv", offset, rows)
	records := recordsOf(t, pagesOfList(t, s, path, query, "json", offset, rows))
	for _, format := range e.ExportFormats() {
		switch name := format.Name; name {
		case "csv", "json", "ndjson", "geojson": // lists have them too
			want := pagesOfList(t, s, path, query, name, offset, rows)
			for _, coding := range []string{"", "gzip", "zstd"} {
				if coding != "" && random.IntN(3) > 0 {
					continue
				}
				got := exportAnswer(t, s, ask+name, reply.HeaderField{Name: "Accept-Encoding", Value: coding})
				counted, _ := apitest.Field(got, "X-Result-Count")
				all, _ := apitest.Field(got, "X-Total-Count")
				body := apitest.Body(t, got)
				if !bytes.Equal(body, want) || counted != strconv.Itoa(rows) || all != total {
					t.Fatalf("%s, %s: %s rows of %s, %d bytes:\n%.300s\nwant %d of %s, %d bytes:\n%.300s",
						ask+name, coding, counted, all, len(body), body, rows, total, len(want), want)
				}
				if name == "csv" && coding == "" {
					checkDisposition(t, got, e)
				}
			}
		case "arrow", "parquet":
			more := []string{name}
			if name == "arrow" {
				more = append(more, name+"&compression=zstd")
			}
			for _, form := range more {
				names, values := columnValues(t, form, exportAnswer(t, s, ask+form).Body)
				compareValues(t, ask+form, names, values, records)
			}
		case "csv-excel":
			checkCells(t, ask+name, cellsOfExcel(t, exportAnswer(t, s, ask+name).Body), lines)
		case "xlsx":
			checkCells(t, ask+name, cellsOfSheet(t, exportAnswer(t, s, ask+name).Body), lines)
		default:
			t.Fatalf("nothing here compares exports as %s with pages", name)
		}
	}
}

// checkCells compares cells with those of CSV, which below /hapi is empty without rows, while
// sheets keep their header.
func checkCells(t *testing.T, what string, got [][]string, lines []byte) {
	t.Helper()
	if want := apitest.Cells(t, lines); len(want) > 0 {
		compareCells(t, what, got, want)
	} else if len(got) != 1 {
		t.Errorf("%s: %d lines, want the header alone", what, len(got))
	}
}

// TestExportFormatsAreCounted: the metric of requests names each format of exports.
func TestExportFormatsAreCounted(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 30)
	address, admin := apitest.Listen(t, s), apitest.ListenAdmin(t, s)
	const path = "/api/v2/food-security-nutrition-poverty/food-prices-market-monitor"
	formats := apitest.Plan(path).Endpoint.ExportFormats()
	if len(formats) != len(contract.ExportFormatNames()) {
		t.Fatalf("the list has %d formats of %d", len(formats), len(contract.ExportFormatNames()))
	}
	for _, format := range formats {
		got := apitest.Ask(t, address, "GET",
			path+"/export?output_format="+format.Name+"&app_identifier="+apitest.Identifier, nil)
		testkit.Equal(t, got.Status, 200, "%s %.200s", format.Name, got.Body)
		const series = "hdqs_http_requests_total{code=\"200\",endpoint=\"food-prices-market-monitor/export\","
		want := fmt.Sprintf("%sformat=%q}", series, format.Name)
		got = apitest.Ask(t, admin, "GET", "/metrics", nil) // a request is counted before its answer is sent
		if !strings.Contains(string(got.Body), want+" 1\n") {
			t.Errorf("no %s in\n%q", want, regexp.MustCompile(`hdqs_http_requests_total.*`).FindAll(got.Body, -1))
		}
	}
}

func checkDisposition(t *testing.T, got api.Answer, e *contract.Endpoint) {
	t.Helper()
	value, _ := apitest.Field(got, "Content-Disposition")
	if !strings.HasPrefix(value, `attachment; filename="`+e.Name()) || !strings.Contains(value, `.csv"`) {
		t.Errorf("Content-Disposition %q", value)
	}
}

// cellsOfExcel are those of CSV for spreadsheet programs, without what makes them harmless.
func cellsOfExcel(t *testing.T, body []byte) [][]string {
	t.Helper()
	text, marked := bytes.CutPrefix(body, []byte("\ufeff"))
	if !marked {
		t.Fatalf("no byte order mark: %.50q", body)
	}
	cells := apitest.Cells(t, text)
	for _, line := range cells {
		for i, cell := range line {
			rest, is := strings.CutPrefix(cell, "'")
			if is && rest != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠", []rune(rest)[0]) {
				line[i] = rest
			}
		}
	}
	return cells
}

// cellsOfSheet are the cells of a workbook as CSV has them.
func cellsOfSheet(t *testing.T, body []byte) [][]string {
	t.Helper()
	var sheet struct {
		Rows []struct {
			Cells []struct {
				At    string `xml:"r,attr"`
				Type  string `xml:"t,attr"`
				Style string `xml:"s,attr"`
				Value string `xml:"v"`
				Text  string `xml:"is>t"`
			} `xml:"c"`
		} `xml:"sheetData>row"`
	}
	for _, part := range testkit.Unzip(t, body) {
		var into any = &sheet
		if part.Name != "xl/worksheets/sheet1.xml" {
			into = new(struct{})
		}
		if err := xml.Unmarshal([]byte(part.Text), into); err != nil {
			t.Fatalf("%s: %v", part.Name, err)
		}
	}
	var cells [][]string
	for i, row := range sheet.Rows {
		line := make([]string, len(sheet.Rows[0].Cells))
		for _, c := range row.Cells {
			letters := strings.TrimRight(c.At, "0123456789")
			if c.At[len(letters):] != strconv.Itoa(i+1) {
				t.Fatalf("cell %s in row %d", c.At, i+1)
			}
			line[columnNumber(letters)] = sheetCell(t, c.Type, c.Style, c.Value, c.Text)
		}
		cells = append(cells, line)
	}
	return cells
}

func columnNumber(letters string) int {
	n := 0
	for _, c := range letters {
		n = n*26 + int(c-'A') + 1
	}
	return n - 1
}

func sheetCell(t *testing.T, kind, style, value, text string) string {
	t.Helper()
	switch {
	case kind == "inlineStr":
		return sheetEscape.ReplaceAllStringFunc(text, func(hex string) string {
			return string(rune(testkit.Value(strconv.ParseUint(hex[2:6], 16, 16))(t)))
		})
	case kind == "b" && value == "1":
		return "True"
	case kind == "b":
		return "False"
	case style == "":
		return value
	}
	days := testkit.Value(strconv.ParseFloat(value, 64))(t)
	since := time.Duration(days * 24 * float64(time.Hour)).Round(10 * time.Microsecond)
	at := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC).Add(since)
	if at.Nanosecond() != 0 {
		return at.Format("2006-01-02 15:04:05.000000")
	}
	return at.Format(time.DateTime)
}

func compareCells(t *testing.T, what string, got, want [][]string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d lines, want %d", what, len(got), len(want))
	}
	for i := range want {
		for k := range want[i] {
			want[i][k] = strings.ReplaceAll(want[i][k], "\r\n", "\n")
			got[i][k] = strings.ReplaceAll(got[i][k], "\r\n", "\n")
		}
		testkit.EqualLists(t, got[i], want[i], "%s: line %d", what, i)
	}
}
