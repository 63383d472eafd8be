package main_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hdqs/bulk"
	"hdqs/bulk/export"
	"hdqs/internal/testkit"
)

// TestClientsReadByURL has libraries for tables read lists by URL with their usual calls. Each must
// see all rows, every null and the sum that the test computes from the list in JSON.
func TestClientsReadByURL(t *testing.T) {
	parallel(t)
	dir := clientsDir(t)
	s := serve(t, "--store", storeOfScale(t, 0.01))
	lists := []struct{ path, field string }{
		{conflictPath + "?limit=10000", "fatalities"},
		{"/hapi" + pricesPath + "?limit=10000&offset=300", "price"},
		{rainfallPath + "?limit=7000", "rainfall"},
		{"/hapi" + refugeesPath + "?limit=5000", "min_age"},
	}
	wants := make([]string, len(lists))
	for i, list := range lists {
		wants[i] = summary(t, ask(t, "GET", s.base+with(list.path)).body, list.field)
	}
	python := filepath.Join(dir, "clients", "bin", "python")
	python2 := filepath.Join(dir, "polars2", "bin", "python")
	script := filepath.Join("testdata", "clients", "read.py")
	for _, reader := range []struct {
		name, format string
		program      []string
	}{
		{"pandas", "csv", []string{python, script, "pandas"}},
		{"polars read_csv", "csv", []string{python, script, "polars_read"}},
		{"polars scan_csv", "csv", []string{python, script, "polars_scan"}},
		{"polars 2", "csv", []string{python2, script, "polars_bytes"}},
		{"polars 2 read_csv", "csv", []string{python2, script, "polars_read"}},
		{"polars 2 scan_csv", "csv", []string{python2, script, "polars_scan"}},
		{"duckdb read_csv", "csv", []string{python, script, "duckdb_csv"}},
		{"duckdb read_json", "json", []string{python, script, "duckdb_json"}},
		{"R", "csv", []string{"Rscript", filepath.Join("testdata", "clients", "read.R")}},
	} {
		t.Run(reader.name, func(t *testing.T) {
			var plan strings.Builder
			for _, list := range lists {
				url := s.base + with(list.path+"&output_format="+reader.format)
				fmt.Fprintf(&plan, "%s\t%s\n", url, list.field)
			}
			checkSummaries(t, fetchProgram(reader.program[0], reader.program[1:]...)(t, plan.String()), wants)
		})
	}
}

// summary is what the programs print about a list: rows, sum and nulls of a field.
func summary(t *testing.T, body []byte, field string) string {
	t.Helper()
	rows, nulls, sum := jsonRows(t, body), 0, 0.0
	for _, row := range rows {
		number, is := row[field].(json.Number)
		if !is {
			nulls++
			continue
		}
		value := testkit.Value(number.Float64())(t)
		sum += value
	}
	if len(rows) == 0 || sum == 0 {
		t.Fatalf("%d rows, the sum of %s is %v", len(rows), field, sum)
	}
	return fmt.Sprintf("%d\t%.6f\t%d", len(rows), sum, nulls)
}

// checkSummaries compares what a program has printed with the summaries of lists.
func checkSummaries(t *testing.T, read string, wants []string) {
	t.Helper()
	got := strings.Split(strings.TrimSpace(read), "\n")
	if len(got) != len(wants) {
		t.Fatalf("%d lists read, want %d:\n%s", len(got), len(wants), read)
	}
	for i, want := range wants {
		if !sameSummary(got[i], want) {
			t.Errorf("list %d: read %.300s\nwant %s and the columns", i, got[i], want)
		}
	}
}

// sameSummary compares summaries. Sums may differ in the last digits, since programs add in another
// order.
func sameSummary(got, want string) bool {
	g, w := strings.Split(got, "\t"), strings.Split(want, "\t")
	if len(g) != 4 || !strings.Contains(g[3], "reference_period_start") {
		return false
	}
	a, errA := strconv.ParseFloat(g[1], 64)
	b, errB := strconv.ParseFloat(w[1], 64)
	near := errA == nil && errB == nil && max(a-b, b-a) <= 1e-9*max(b, -b)+1e-6
	return g[0] == w[0] && near && g[2] == w[2]
}

// TestClientsPoints has GDAL read points by URL in parts, longer than those that it reads at once.
func TestClientsPoints(t *testing.T) {
	parallel(t)
	dir := clientsDir(t)
	s := serve(t, "--store", storeOfScale(t, 0.01))
	var plan strings.Builder
	want := ""
	for _, path := range []string{pricesPath + "?limit=3000", "/hapi" + pricesPath + "/export?limit=3000"} {
		a := ask(t, "GET", s.base+with(path+"&output_format=geojson"))
		var whole struct {
			Features []struct {
				Geometry   struct{ Coordinates []float64 }
				Properties struct{ Price json.Number }
			}
		}
		if err := json.Unmarshal(a.body, &whole); err != nil || len(a.body) < 1<<18 {
			t.Fatalf("%s: %v, %d bytes", path, err, len(a.body))
		}
		placed, sum := 0, 0.0
		for _, f := range whole.Features {
			if len(f.Geometry.Coordinates) == 2 {
				placed++
			}
			price, _ := f.Properties.Price.Float64()
			sum += price
		}
		fmt.Fprintf(&plan, "%s\tprice\n", s.base+with(path+"&output_format=geojson"))
		want += fmt.Sprintf("%d\t%d\t%.3f\n", len(whole.Features), placed, sum)
	}
	read := fetchProgram(filepath.Join(dir, "polars2", "bin", "python"),
		filepath.Join("testdata", "clients", "points.py"))(t, plan.String())
	if read != want {
		t.Errorf("GDAL read\n%swant\n%s", read, want)
	}
}

// documentedLine is code of docs/engines.md.
type documentedLine struct {
	Engine  string `json:"engine"` // empty for a command of no engine
	Code    string `json:"code"`
	version string
}

// enginesOf are the engines of each Python environment.
var enginesOf = map[string][]string{
	"engines": {"", "DuckDB", "Polars", "pandas", "pyarrow", "PyIceberg", "R"},
	"spark":   {"chDB", "Spark"},
}

// TestClientsEnginesAsDocumented runs the lines of docs/engines.md as they are written, but for the
// names in capital letters that stand for something. Each must read all rows of its table. Lines
// that are marked as not run are left out.
func TestClientsEnginesAsDocumented(t *testing.T) {
	parallel(t)
	dir := clientsDir(t)
	environment := strings.Fields(cmp.Or(os.Getenv("HDQS_ENGINES"), usualEngines))[0]
	o := newObjectStore(t, s3Servers[1])
	folder := filepath.Join(t.TempDir(), "store")
	m := documentedStore(t, o, folder)
	funding := m.Tables[slices.IndexFunc(m.Tables, func(b bulkTable) bool { return b.Table == "funding" })]
	parquet, download := funding.Files[0], funding.Files[1]
	s := serve(t, "--store", folder, "--bulk")

	work := t.TempDir()
	exportParts(t, folder, filepath.Join(work, "out"))

	// What curl continues.
	begun := filepath.Join(work, filepath.Base(download.Path))
	whole := ask(t, "GET", s.base+"/bulk/"+m.Snapshot+"/"+download.Path).body
	testkit.WriteFile(t, begun, whole[:len(whole)/2])

	_, endpoint, _ := strings.Cut(o.env[0], "=")
	address := testkit.Value(url.Parse(endpoint))(t)
	fill := strings.NewReplacer("https://HOST", s.base, "STORE", folder, "s3://BUCKET/PREFIX", storeAddress,
		"IDENTIFIER", identifier, "https://ENDPOINT", endpoint, "/BUCKET/PREFIX/", "/"+bucketName+"/store/", "SHA256", parquet.SHA256,
		"'KEY'", "'"+bucketKey+"'", "'SECRET'", "'"+bucketKey+"'", "REGION 'REGION'", "REGION '"+bucketRegion+
			"', ENDPOINT '"+address.Host+"', URL_STYLE 'path', USE_SSL false")
	id := regexp.MustCompile(`\bID\b`)
	lines := documentedLines(t, environment)
	var plan strings.Builder
	for i := range lines {
		lines[i].Code = id.ReplaceAllString(fill.Replace(lines[i].Code), m.Snapshot)
		text := testkit.Value(json.Marshal(lines[i]))(t)
		plan.Write(append(text, '\n'))
	}
	script := testkit.Value(filepath.Abs(filepath.Join("testdata", "clients", "documented.py")))(t)
	command := append(slices.Clone(o.env), "AWS_ALLOW_HTTP=true", "STORE="+folder,
		filepath.Join(dir, environment, "bin", "python"), script, work)
	answers := strings.Split(strings.TrimSpace(fetchProgram("env", command...)(t, plan.String())), "\n")
	if len(answers) != len(lines) {
		t.Fatalf("%d lines ran, want %d:\n%s", len(answers), len(lines), answers)
	}
	const list = "/api/v2/coordination-context/funding"
	all := totalOf(t, s, list+"?limit=0")
	ofAFG := totalOf(t, s, list+"?location_code=AFG&limit=0")
	prices := totalOf(t, s, pricesPath+"?location_code=AFG&start_date=2024-01-01&limit=0")
	for i, line := range lines {
		want := all
		switch {
		case strings.Contains(line.Code, "food_price"):
			want = prices
		case strings.Contains(line.Code, "AFG"):
			want = ofAFG
		}
		checkDocumented(t, line, answers[i], want)
	}
	if sum := sha256.Sum256(testkit.ReadFile(t, begun)); environment == "engines" &&
		hex.EncodeToString(sum[:]) != download.SHA256 {
		t.Errorf("%s is another file after it was continued", download.Path)
	}
}

// documentedStore makes a store with bulk files, and one in a bucket with those of a table. It
// returns the manifest of the first.
func documentedStore(t *testing.T, o *objectStore, folder string) bulkManifest {
	t.Helper()
	build := []string{"build", "--catalog", "../../loader/sample/catalog", "--snapshot-time", buildTime, "--store"}
	mustExit(t, 0, append(build, folder)...)
	addBulk(t, folder, 500, bulk.Parquet, bulk.CSVGzip)
	o.run(t, 0, append(build, storeAddress, "--data-dir", t.TempDir(), "--bulk", "--bulk-tables", "funding",
		"--bulk-formats", "parquet")...)
	manifests, err := filepath.Glob(filepath.Join(folder, "bulk", "snapshots", "*.json"))
	if err != nil || len(manifests) != 1 {
		t.Fatalf("manifests %q, %v", manifests, err)
	}
	return readBulkManifest(t, manifests[0])
}

// exportParts exports a table of a store with a file for each country.
func exportParts(t *testing.T, folder, into string) {
	t.Helper()
	_, snap := openShown(t, folder)
	defer snap.Close()
	o := export.Options{Formats: []bulk.Format{bulk.Parquet}, Tables: []string{"funding"}, PartitionRows: 100}
	m, _, err := export.ToTree(t.Context(), into, snap, 0, o)
	if err != nil || len(m.Tables[0].Files) < 5 {
		t.Fatalf("%v in the export, %v", m, err)
	}
}

// totalOf returns how many records a list has, which must be some.
func totalOf(t *testing.T, s *server, path string) int {
	t.Helper()
	answer := ask(t, "GET", s.base+with(path))
	rows, err := strconv.Atoi(answer.header.Get("X-Total-Count"))
	if err != nil || rows == 0 {
		t.Fatalf("%s: %d with %d records, %v", path, answer.status, rows, err)
	}
	return rows
}

// checkDocumented checks what a line returned.
func checkDocumented(t *testing.T, line documentedLine, answer string, rows int) {
	t.Helper()
	got := decode[struct {
		Version, Error string
		Rows           *int
	}](t, []byte(answer))
	command := strings.HasPrefix(line.Code, "curl ")
	switch {
	case got.Error != "":
		t.Errorf("%s: %s\n%s", line.Engine, line.Code, got.Error)
	case line.version != "" && got.Version != line.version:
		t.Errorf("%s %s has the version %s", line.Engine, line.version, got.Version)
	case command != (got.Rows == nil) || !command && *got.Rows != rows:
		t.Errorf("%s: %s\nreturned %s, want %d rows", line.Engine, line.Code, answer, rows)
	}
}

var (
	documentedRow  = regexp.MustCompile(`(?m)^\| (\w+)(?: ([\d.]+))? \| (.*) \|$`)
	documentedCode = regexp.MustCompile("`([^`]+)`")
)

// documentedLines returns the lines of an environment's engines: the code in tables, and the
// paragraphs of code that are SQL of DuckDB or a command of curl.
func documentedLines(t *testing.T, environment string) (lines []documentedLine) {
	t.Helper()
	text := string(testkit.ReadFile(t, filepath.Join("..", "..", "docs", "engines.md")))
	found, run := map[string]int{}, enginesOf[environment]
	add := func(line documentedLine) {
		if found[line.Engine]++; slices.Contains(run, line.Engine) {
			lines = append(lines, line)
		}
	}
	for _, row := range documentedRow.FindAllStringSubmatch(text, -1) {
		if strings.Contains(row[3], "not run") {
			continue
		}
		for _, code := range documentedCode.FindAllStringSubmatch(row[3], -1) {
			add(documentedLine{Engine: row[1], Code: code[1], version: row[2]})
		}
	}
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		code, indented := strings.CutPrefix(paragraph, "    ")
		code = strings.ReplaceAll(code, "\n    ", "\n")
		switch {
		case indented && strings.HasPrefix(code, "SET "):
			add(documentedLine{Engine: "DuckDB", Code: code})
		case indented && strings.HasPrefix(code, "curl "):
			add(documentedLine{Code: code})
		}
	}
	for _, engines := range enginesOf {
		for _, engine := range engines {
			if found[engine] == 0 {
				t.Fatalf("docs/engines.md has no line for %q", engine)
			}
		}
	}
	return lines
}
