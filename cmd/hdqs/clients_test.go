package main_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
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
