package main_test

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	endian "encoding/binary" // the program under test is called binary
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"hdqs/internal/generator"
	"hdqs/internal/testkit"
)

// clientPage is a page for real clients to fetch.
type clientPage struct {
	name, path string
	rows       int
	stitched   int  // the least number of rows from stored blocks
	short      bool // too short to be compressed, unless the client refuses the plain body
}

const (
	conflictPath = "/api/v2/coordination-context/conflict-events"
	pricesPath   = "/api/v2/food-security-nutrition-poverty/food-prices-market-monitor"
	rainfallPath = "/api/v2/climate/rainfall"
	refugeesPath = "/api/v2/affected-people/refugees-persons-of-concern"
)

// clientPages has one page of each kind: adjacent rows, which are stitched from stored blocks;
// three runs of rows; scattered rows, which are encoded from pieces; and answers too short for
// both.
var clientPages = []clientPage{
	{"neighbours", conflictPath + "?limit=10000&offset=137", 10000, 9900, false},
	{"neighbours-prices", pricesPath + "?limit=10000&offset=1001", 10000, 9900, false},
	{"neighbours-rainfall", rainfallPath + "?limit=10000", 10000, 9900, false},
	{"neighbours-csv", conflictPath + "?limit=10000&offset=3333&output_format=csv", 10000, 9900, false},
	{"neighbours-refugees-csv", refugeesPath + "?limit=10000&offset=50&output_format=csv", 10000, 9900, false},
	{threeCountries, conflictPath + "?limit=7000&location_name=ia", 7000, 6700, false},
	{threeCountries + "-csv", conflictPath + "?limit=7000&location_name=ia&output_format=csv", 7000, 6700, false},
	{"scattered", conflictPath + "?limit=10000&event_type=political_violence", 10000, 0, false},
	{
		"scattered-csv", pricesPath + "?limit=5000&commodity_category=cereals%20and%20tubers&output_format=csv",
		5000, 0, false,
	},
	{"one", conflictPath + "?limit=1", 1, 0, true},
	{"one-csv", conflictPath + "?limit=1&output_format=csv", 1, 0, true},
	{"none", conflictPath + "?location_code=ZZZ", 0, 0, true},
	{"none-csv", conflictPath + "?location_code=ZZZ&output_format=csv", 0, 0, true},
}

// threeCountries is a page of three runs of adjacent rows.
const threeCountries = "three-countries"

// storedBlockRows is the number of rows in a large stored block. The ends of a run have smaller
// blocks, which only add to the number of blocks.
const storedBlockRows = 128

// httpClient is a widely used client.
type httpClient struct {
	name, coding string
	chooses      bool // the client chooses the coding
	fetch        func(t *testing.T, plan string) (output string)
}

// TestClients has real clients fetch bodies that the server stitches from stored blocks in gzip,
// and bodies in zstd. Each must return the complete plain body.
func TestClients(t *testing.T) {
	parallel(t)
	python := filepath.Join(clientsDir(t), "clients", "bin", "python")
	s := serve(t, "--store", storeOfScale(t, 0.02), "--body-cache", "0")
	plain := map[string]answer{}
	for _, p := range clientPages {
		plain[p.name] = s.settle(t, p)
		s.checkCodings(t, p, plain[p.name].body)
	}
	script := func(name string) string { return filepath.Join("testdata", "clients", name) }
	for _, c := range []httpClient{
		{"curl", "gzip", false, fetchCurl},
		{"curl", "zstd", false, fetchCurl},
		{"requests", "gzip", false, fetchProgram(python, script("fetch.py"), "requests")},
		{"httpx", "gzip", false, fetchProgram(python, script("fetch.py"), "httpx")},
		{"httpx", "zstd", false, fetchProgram(python, script("fetch.py"), "httpx")},
		{"node", "gzip", false, fetchProgram("node", script("fetch.mjs"))},
		{"go", "gzip", true, fetchGo},
		{"chromium", "gzip", true, fetchChromium}, // which accepts gzip, deflate, br and zstd from this machine
	} {
		t.Run(c.name+"/"+c.coding, func(t *testing.T) { c.check(t, s, plain) })
	}
}

// storeOfScale builds a generated catalog with tables that are longer than a page.
func storeOfScale(t *testing.T, scale float64) string {
	t.Helper()
	return newStoreOf(t, generator.Options{Seed: 1, Scale: scale})
}

// settle asks for a page until all its stored blocks exist, since each request makes only a few. It
// returns the plain answer.
func (s *server) settle(t *testing.T, p clientPage) answer {
	t.Helper()
	url := s.base + with(p.path)
	plain := ask(t, "GET", url)
	if plain.status != 200 || rowsOf(t, p, plain.body) != p.rows {
		t.Fatalf("%s: %d with %d rows, want %d", p.name, plain.status, rowsOf(t, p, plain.body), p.rows)
	}
	if p.name == threeCountries {
		var countries []string
		for _, r := range decode[struct {
			Data []struct {
				Code string `json:"location_code"`
			}
		}](t, plain.body).Data {
			countries = append(countries, r.Code)
		}
		if countries = slices.Compact(countries); len(countries) != 3 {
			t.Fatalf("%s: %q", p.name, countries)
		}
	}
	for range 25 {
		ask(t, "GET", url, "Accept-Encoding", "gzip")
	}
	return plain
}

// rowsOf counts the rows of a body.
func rowsOf(t *testing.T, p clientPage, body []byte) int {
	t.Helper()
	if strings.Contains(p.path, "csv") {
		return bytes.Count(body, []byte("\r\n")) - 1
	}
	return len(decode[struct{ Data []json.RawMessage }](t, body).Data)
}

// checkCodings checks the coding and the structure of what a client that asks for a coding gets.
func (s *server) checkCodings(t *testing.T, p clientPage, plain []byte) {
	t.Helper()
	for _, coding := range []string{"gzip", "zstd"} {
		want := coding
		if p.short {
			want = ""
		}
		a := ask(t, "GET", s.base+with(p.path), "Accept-Encoding", coding)
		if got := a.header.Get("Content-Encoding"); got != want {
			t.Errorf("%s: Content-Encoding %q, want %q", p.name, got, want)
			continue
		}
		if want != "gzip" {
			continue
		}
		least := p.stitched / storedBlockRows
		text, blocks, err := gzipBlocks(a.body)
		if err != nil || blocks < least || !bytes.Equal(text, plain) {
			t.Errorf("%s: gzip: %v, %d stored blocks, want %d or more", p.name, err, blocks, least)
		}
	}
}

// check has one client fetch all pages.
func (c *httpClient) check(t *testing.T, s *server, plain map[string]answer) {
	var plan strings.Builder
	lines := 0
	add := func(p clientPage, accept string) {
		if c.chooses {
			accept = "-"
		}
		fmt.Fprintf(&plan, "%s\t%s%s\t%s\n", p.name, s.base, with(p.path), accept)
		lines++
	}
	for _, p := range clientPages {
		add(p, c.coding)
		if p.short && !c.chooses {
			p.name += "-coded"
			add(p, c.coding+", identity;q=0")
		}
	}
	fetched := map[string]bool{}
	for line := range strings.Lines(c.fetch(t, plan.String())) {
		field := strings.Split(strings.TrimSpace(line), "\t")
		want, known := plain[strings.TrimSuffix(field[0], "-coded")]
		if len(field) != 4 || !known {
			t.Fatalf("the client printed %q", line)
		}
		fetched[field[0]] = true
		sum := sha256.Sum256(want.body)
		if field[1] != "200" || field[2] != strconv.Itoa(len(want.body)) || field[3] != hex.EncodeToString(sum[:]) {
			t.Errorf("%s: status %s, %s bytes, SHA-256 %s; want 200, %d, %x",
				field[0], field[1], field[2], field[3], len(want.body), sum)
		}
	}
	if len(fetched) != lines {
		t.Errorf("%d pages fetched, want %d", len(fetched), lines)
	}
}

// syncMarker ends a stored block: the length fields of an empty uncompressed DEFLATE block. One in
// four billion positions looks the same by chance.
const syncMarker = "\x00\x00\xff\xff"

// gzipBlocks checks that a body is exactly one gzip member, and returns its text and its number of
// stored blocks.
func gzipBlocks(body []byte) (text []byte, blocks int, err error) {
	const header, trailer = 10, 8
	if len(body) < header+trailer || !bytes.HasPrefix(body, []byte("\x1f\x8b\x08\x00")) {
		return nil, 0, fmt.Errorf("no plain gzip header in %d bytes", len(body))
	}
	in := bytes.NewReader(body[header:])
	if text, err = io.ReadAll(flate.NewReader(in)); err != nil {
		return nil, 0, err
	}
	if in.Len() != trailer {
		return nil, 0, fmt.Errorf("%d bytes after the DEFLATE stream, want %d", in.Len(), trailer)
	}
	end := body[len(body)-trailer:]
	sum, size := endian.LittleEndian.Uint32(end), endian.LittleEndian.Uint32(end[4:])
	if sum != crc32.ChecksumIEEE(text) || size != uint32(len(text)) {
		return nil, 0, fmt.Errorf("trailer: CRC %08x and %d bytes; text: %08x and %d",
			sum, size, crc32.ChecksumIEEE(text), len(text))
	}
	return text, bytes.Count(body, []byte(syncMarker)), nil
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
		body := curl(t, "")
		out.WriteString(clientLine(field[0], 200, []byte(body)))
	}
	return out.String()
}

// fetchGo uses Go's client with its default settings.
func fetchGo(t *testing.T, plan string) string {
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	var out strings.Builder
	for line := range strings.Lines(plan) {
		field := strings.Split(strings.TrimSpace(line), "\t")
		response, err := (&http.Client{Transport: transport}).Get(field[1])
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil {
			t.Fatalf("%s: %v", field[0], err)
		}
		out.WriteString(clientLine(field[0], response.StatusCode, body))
	}
	return out.String()
}

// fetchChromium opens a page that fetches the others.
func fetchChromium(t *testing.T, plan string) string { return openChromium(t, "fetch.html", plan) }

// openChromium opens a page of testdata, which reads /plan and posts what it got to /done.
func openChromium(t *testing.T, page, plan string) string {
	text := testkit.ReadFile(t, filepath.Join("testdata", "clients", page))
	done := make(chan string, 1)
	pages := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = w.Write(text)
		case "/plan":
			_, _ = io.WriteString(w, plan)
		case "/done":
			said, _ := io.ReadAll(r.Body)
			done <- string(said)
		default:
			http.NotFound(w, r)
		}
	}))
	defer pages.Close()
	cmd := exec.Command("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
		"--user-data-dir="+t.TempDir(),
		"--no-proxy-server", pages.URL)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var messages testkit.Log
	cmd.Stderr = &messages
	testkit.Must(t, cmd.Start())
	defer func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it has children
		_ = cmd.Wait()
	}()
	select {
	case said := <-done:
		return said
	case <-time.After(testkit.Patience):
		t.Fatalf("the page has not ended after %s\n%s", testkit.Patience, messages.String())
	}
	return ""
}
