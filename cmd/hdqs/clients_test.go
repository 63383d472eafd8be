package main_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"hdqs/internal/browser"
	"hdqs/internal/generator"
	"hdqs/internal/testkit"
)

const (
	conflictPath = "/api/v2/coordination-context/conflict-events"
	pricesPath   = "/api/v2/food-security-nutrition-poverty/food-prices-market-monitor"
	rainfallPath = "/api/v2/climate/rainfall"
	refugeesPath = "/api/v2/affected-people/refugees-persons-of-concern"
)

// clientPages has one page of each kind: adjacent rows, which are stitched from stored blocks;
// three runs of rows; scattered rows, which are encoded from pieces; and answers too short for
// both, which clients also ask for without accepting the plain body.
var clientPages = []struct {
	path  string
	rows  int
	short bool
}{
	{conflictPath + "?limit=10000&offset=137", 10000, false},
	{pricesPath + "?limit=10000&offset=1001", 10000, false},
	{rainfallPath + "?limit=10000", 10000, false},
	{conflictPath + "?limit=10000&offset=3333&output_format=csv", 10000, false},
	{refugeesPath + "?limit=10000&offset=50&output_format=csv", 10000, false},
	{conflictPath + "?limit=7000&location_name=ia", 7000, false},
	{conflictPath + "?limit=10000&event_type=political_violence", 10000, false},
	{pricesPath + "?limit=5000&commodity_category=cereals%20and%20tubers&output_format=csv", 5000, false},
	{conflictPath + "?limit=1", 1, true},
	{conflictPath + "?limit=1&output_format=csv", 1, true},
	{conflictPath + "?location_code=ZZZ", 0, true},
}

// TestCurl has curl fetch bodies in gzip, which the server stitches from stored blocks, and in
// zstd.
func TestCurl(t *testing.T) {
	parallel(t)
	checkFetched(t, map[string]func(*testing.T, string) string{"gzip": fetchCurl, "zstd": fetchCurl})
}

// TestClients is TestCurl with requests and with Chromium, which chooses the coding itself.
func TestClients(t *testing.T) {
	parallel(t)
	python := filepath.Join(clientsDir(t), "clients", "bin", "python")
	checkFetched(t, map[string]func(*testing.T, string) string{
		"gzip": fetchProgram(python, filepath.Join("testdata", "clients", "fetch.py")),
		"-":    func(t *testing.T, plan string) string { return openChromium(t, "fetch.html", plan) },
	})
}

// checkFetched has clients fetch all pages in a coding each. They must return the plain bodies.
func checkFetched(t *testing.T, clients map[string]func(t *testing.T, plan string) string) {
	t.Helper()
	s := serve(t, "--store", storeOfScale(t, 0.02), "--body-cache", "0")
	plans := map[string]string{}
	want := ""
	for i, p := range clientPages {
		url := s.base + with(p.path)
		plain := ask(t, "GET", url)
		rows := bytes.Count(plain.body, []byte("\r\n")) - 1
		if !strings.Contains(p.path, "csv") {
			rows = len(decode[struct{ Data []json.RawMessage }](t, plain.body).Data)
		}
		if plain.status != 200 || rows != p.rows {
			t.Fatalf("%s: %d with %d rows, want %d", p.path, plain.status, rows, p.rows)
		}
		for n := range 25 { // each makes only a few stored blocks
			zipped := ask(t, "GET", url, "Accept-Encoding", "gzip")
			if got := zipped.header.Get("Content-Encoding"); n == 0 && (got == "") != p.short {
				t.Errorf("%s: Content-Encoding %q", p.path, got)
			}
		}
		want += clientLine(fmt.Sprint(i), 200, plain.body)
		for coding := range clients {
			accept := coding
			if p.short && coding != "-" {
				accept += ", identity;q=0"
			}
			plans[coding] += fmt.Sprintf("%d\t%s\t%s\n", i, url, accept)
		}
	}
	for coding, fetch := range clients {
		t.Run(coding, func(t *testing.T) {
			if got := strings.ReplaceAll(fetch(t, plans[coding]), "\r\n", "\n"); got != want {
				t.Errorf("fetched\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// storeOfScale builds a generated catalog with tables that are longer than a page.
func storeOfScale(t *testing.T, scale float64) string {
	t.Helper()
	return newStoreOf(t, generator.Options{Seed: 1, Scale: scale})
}

// clientLine returns a line as the client programs print it.
func clientLine(name string, status int, body []byte) string {
	return fmt.Sprintf("%s\t%d\t%d\t%x\n", name, status, len(body), sha256.Sum256(body))
}

// fetchProgram runs a program that reads a plan.
func fetchProgram(name string, args ...string) func(*testing.T, string) string {
	return func(t *testing.T, plan string) string {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Stdin = strings.NewReader(plan)
		cmd.Env = environment("NO_PROXY=*", "no_proxy=*")
		var messages bytes.Buffer
		cmd.Stderr = &messages
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, messages.String())
		}
		return string(out)
	}
}

// fetchCurl runs curl once a page.
func fetchCurl(t *testing.T, plan string) string {
	var out strings.Builder
	for line := range strings.Lines(plan) {
		field := strings.Split(strings.TrimSpace(line), "\t")
		curl := fetchProgram("curl", "--silent", "--show-error", "--fail", "--compressed",
			"--header", "Accept-Encoding: "+field[2], field[1])
		out.WriteString(clientLine(field[0], 200, []byte(curl(t, ""))))
	}
	return out.String()
}

// openChromium opens a page of testdata, which reads /plan and posts what it got.
func openChromium(t *testing.T, page, plan string) string {
	t.Helper()
	text := testkit.ReadFile(t, filepath.Join("testdata", "clients", page))
	return browser.Posted(t, "/", func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = w.Write(text)
		case "/plan":
			_, _ = io.WriteString(w, plan)
		default:
			http.NotFound(w, r)
		}
	})
}

// TestClientsAgents asks with the clients of Python and TypeScript, of three revisions, and has the
// definitions of the tools checked.
func TestClientsAgents(t *testing.T) {
	parallel(t)
	packages := filepath.Join(clientsDir(t), "agents")
	program := t.TempDir()
	testkit.Must(t, os.CopyFS(program, os.DirFS(filepath.Join("testdata", "clients", "agents"))))
	testkit.Must(t, os.Symlink(filepath.Join(packages, "node_modules"), filepath.Join(program, "node_modules")))
	address := serve(t, "--store", sampleStore(t), "--mcp").base + "/mcp"
	for _, c := range []struct{ program, argument, want string }{
		{filepath.Join(packages, "bin", "python"), filepath.Join(program, "agents.py"), "2025-11-25\n2026-07-28\n"},
		{"node", filepath.Join(program, "agents.mjs"), "2025-06-18\n2025-11-25\n2026-07-28\n"},
	} {
		output, err := exec.Command(c.program, c.argument, address).CombinedOutput()
		if err != nil || string(output) != c.want {
			t.Errorf("%s: %v\n%s", c.argument, err, output)
		}
	}
	lint := exec.Command(filepath.Join(packages, "bin", "tdqs"), "lint", "--url", address, "--fail-on", "warning")
	if output, err := lint.CombinedOutput(); err != nil || !strings.Contains(string(output), "0 errors, 0 warnings") {
		t.Errorf("tdqs lint: %v\n%s", err, output)
	}
}

// TestClientsStrict has OpenAI's strict form of the tools made, with which a model must be able to
// ask for one country and to leave the rest open, and has Gemini's SDK read them.
func TestClientsStrict(t *testing.T) {
	parallel(t)
	address := serve(t, "--store", fixtureStore(t), "--mcp").base + "/mcp"
	output, err := exec.Command(filepath.Join(clientsDir(t), "strict", "bin", "python"),
		filepath.Join("testdata", "clients", "strict.py"), address, "TCD").CombinedOutput()
	const want = "6 strict tools, 145 rows of TCD\n6 declarations of functions for Gemini\n"
	if err != nil || string(output) != want {
		t.Errorf("%v\n%s", err, output)
	}
}

// TestClientsMCPPage: a page on another port of this machine can be a client.
func TestClientsMCPPage(t *testing.T) {
	parallel(t)
	clientsDir(t)
	got := openChromium(t, "mcp.html", serve(t, "--store", sampleStore(t), "--mcp").base+"/mcp")
	if want := "2025-11-25\n202\n6 tools\n3 rows\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestClientsCatalogs has readers of catalogs read bulk files: pystac the STAC documents,
// frictionless and mlcroissant their packages, and DuckDB what OCHA's explorer of its own Parquet
// files asks for, with only the base of the addresses changed. See testdata/clients/catalogs.py.
func TestClientsCatalogs(t *testing.T) {
	parallel(t)
	testCatalogs(t, "../../loader/sample/catalog")
}

// TestClientsCatalogsFixtures is the same with the real input.
func TestClientsCatalogsFixtures(t *testing.T) {
	parallel(t)
	testCatalogs(t, filepath.Join(testkit.Fixtures(t), "catalog"))
}

func testCatalogs(t *testing.T, catalog string) {
	t.Helper()
	python := filepath.Join(clientsDir(t), "catalogs", "bin", "python")
	folder, tree := filepath.Join(t.TempDir(), "store"), filepath.Join(t.TempDir(), "tree")
	const formats = "parquet,csv.gz,hapi-parquet"
	mustExit(t, 0, "build", "--catalog", catalog, "--store", folder, "--snapshot-time", buildTime, "--bulk",
		"--bulk-formats", formats)
	mustExit(t, 0, "export", tree, "--store", folder, "--formats", formats)
	latest := testkit.Value(filepath.EvalSymlinks(filepath.Join(tree, "latest")))(t)
	s := serve(t, "--store", folder, "--bulk")
	script := filepath.Join("testdata", "clients", "catalogs.py")
	out, err := exec.CommandContext(t.Context(), python, "-W", "ignore", script, s.base, latest).CombinedOutput()
	t.Logf("%s", out)
	testkit.Must(t, err)
}

// TestClientsReadExports has pyarrow and openpyxl read exports. Each must see all rows, every null
// and the sum that the test computes from the list in JSON. openpyxl takes a second for a thousand
// rows, so its exports are longer than that only in `make soak`.
func TestClientsReadExports(t *testing.T) {
	parallel(t)
	python := filepath.Join(clientsDir(t), "engines", "bin", "python")
	s := serve(t, "--store", storeOfScale(t, 0.01))
	var plan strings.Builder
	var wants []string
	for _, list := range []struct {
		path, query, field string
		rows               int
	}{
		{conflictPath, "", "fatalities", 10000},
		{"/hapi" + pricesPath, "&offset=300", "price", 10000},
		{rainfallPath, "&fields=reference_period_start,rainfall,version", "rainfall", 7000},
		{"/hapi" + refugeesPath, "", "min_age", 5000},
	} {
		for _, of := range []struct {
			rows    int
			formats []string
		}{
			{list.rows, []string{"arrow", "arrow&compression=zstd", "parquet"}},
			{testkit.Trials(list.rows, 1500), []string{"xlsx"}},
		} {
			query := fmt.Sprintf("?limit=%d%s", of.rows, list.query)
			want := summary(t, ask(t, "GET", s.base+with(list.path+query)).body, list.field)
			for _, format := range of.formats {
				name, _, _ := strings.Cut(format, "&")
				url := s.base + with(list.path+"/export"+query+"&output_format="+format)
				fmt.Fprintf(&plan, "%s\t%s\t%s\n", name, url, list.field)
				wants = append(wants, want)
			}
		}
	}
	script := filepath.Join("testdata", "clients", "export.py")
	checkSummaries(t, fetchProgram(python, script)(t, plan.String()), wants)
}

// TestClientsPages has a separate program recompute what pages show, with DuckDB over the CSV of
// whole lists: figures, tiles and marks of random views of the 13 lists of data and of pages of
// countries, all headline figures, and sums at the coarsest level. A page that refuses a figure has
// a button to one with a figure, and none refuses a right sum.
func TestClientsPages(t *testing.T) {
	parallel(t)
	python := filepath.Join(clientsDir(t), "engines", "bin", "python")
	check := func(name, views string, store func(t *testing.T) string) {
		t.Run(name, func(t *testing.T) {
			s := serve(t, "--store", store(t))
			command := exec.CommandContext(t.Context(), python, filepath.Join("testdata", "clients", "views.py"),
				s.base, views, strconv.Itoa(testkit.Trials(60, 9)), "30", t.TempDir())
			output, err := command.CombinedOutput()
			if t.Logf("%.20000s", output); err != nil || !bytes.HasPrefix(output, []byte("0 faults;")) {
				t.Errorf("pages differ: %v", err)
			}
		})
	}
	check("made up", strconv.Itoa(testkit.Trials(200, 3)), sampleStore)
	if testkit.Long() {
		check("real", "200", fixtureStore)
		check("edited", "200", func(t *testing.T) string {
			return newStoreOf(t, generator.Options{Seed: 7, Scale: 0.01, Edited: 9})
		})
	}
}
