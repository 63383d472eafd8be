package files_test

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/files"
	"hdqs/api/render"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

var sheetEscape = regexp.MustCompile("_x[0-9A-F]{4}_")

const exportedPath = "/api/v2/coordination-context/conflict-events"

// TestExportRules checks limits, errors and header fields of exports.
func TestExportRules(t *testing.T) {
	t.Parallel()
	s := apitest.SampleOf(t, state.Options{ExportRows: 50}, exportedPath, 60)
	const list, identifier = exportedPath, "&app_identifier=" + apitest.Identifier
	apitest.Shapes(t, s, exportedPath, "testdata/rules.txt", func(string, api.Answer) {})
	first := s.Answer("GET", list+"/export?limit=5&location_code=A%25"+identifier, nil)
	tag, _ := apitest.Field(first, "ETag")
	same := s.Answer("GET", list+"/export?location_code=A%25&limit=05"+identifier,
		apitest.Fields("If-None-Match", tag))
	other := s.Answer("GET", list+"?location_code=A%25&limit=5"+identifier, nil)
	if otherTag, _ := apitest.Field(other, "ETag"); same.Status != 304 || tag == "" || otherTag == tag {
		t.Errorf("tag %s: %d; the list has %s", tag, same.Status, otherTag)
	}
	if head := s.Answer("HEAD", list+"/export?limit=5"+identifier, nil); head.Status != 200 || len(head.Body) > 0 {
		t.Errorf("HEAD: %d, %d bytes", head.Status, len(head.Body))
	} else if rows, _ := apitest.Field(head, "X-Result-Count"); rows != "5" {
		t.Errorf("HEAD: %s rows", rows)
	}
	testkit.Equal(t, s.Files.Exports.Running(), 0, "exports run after the last answer")
}

// TestFormulasAreText checks that spreadsheet programs get no text as a formula.
func TestFormulasAreText(t *testing.T) {
	t.Parallel()
	texts := []string{
		"=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", "=HYPERLINK(\"http://a.example\",\"x\")",
		`=cmd|' /C calc'!A0`, "a=1", " =1", "'x", "_x0041_", "<b>&amp;</b>", "a\x01b", "", "-", "ا=1",
	}
	table := apitest.SampleTable(apitest.Plan(exportedPath).Endpoint, len(texts), rand.New(rand.NewPCG(1, 2)))
	for i, row := range table.Rows {
		row["location_name"] = texts[i]
	}
	s := apitest.Server(t, state.Options{}, []*apitest.Table{table})
	target := exportedPath + "/export?fields=location_name,fatalities&output_format="
	want := apitest.Cells(t, exportAnswer(t, s, target+"csv").Body)
	body := exportAnswer(t, s, target+"csv-excel").Body
	compareCells(t, "csv-excel", cellsOfExcel(t, body), want)
	for i, line := range apitest.Cells(t, body[len("\ufeff"):])[1:] {
		if text := line[0]; text != "" && strings.ContainsAny(text[:1], "=+-@\t\r\n") || strings.HasPrefix(text, "＝") {
			t.Errorf("text %d is %q, which may be a formula", i, text)
		}
	}
	compareCells(t, "xlsx", cellsOfSheet(t, exportAnswer(t, s, target+"xlsx").Body), want)
}

// TestLongTextsOfSheets checks that a text is never cut: a workbook with one that is too long for a
// cell is refused, one with other rows or fields is not.
func TestLongTextsOfSheets(t *testing.T) {
	t.Parallel()
	texts := []string{strings.Repeat("é", 32767), strings.Repeat("😀", 16384), strings.Repeat("a", 40000)}
	table := apitest.SampleTable(apitest.Plan(exportedPath).Endpoint, len(texts), rand.New(rand.NewPCG(1, 2)))
	for i, row := range table.Rows {
		row["location_name"], row["location_code"] = texts[i], string(rune('A'+i))
	}
	s := apitest.Server(t, state.Options{}, []*apitest.Table{table})
	target := exportedPath + "/export?app_identifier=" + url.QueryEscape(apitest.Identifier) + "&output_format="
	counts := map[string]int{"": 32768, "&location_code=A": 0, "&location_code=B": 32768, "&location_code=C": 40000}
	for filter, length := range counts {
		want := 200
		if length > 0 {
			want = 422
		}
		got := s.Answer("GET", target+"xlsx"+filter, nil)
		text := fmt.Sprintf("at most 32767 characters, and a record has %d in location_name", length)
		if got.Status != want || want == 422 && !strings.Contains(string(got.Body), text) {
			t.Errorf("%q: %d %.300s, want %d", filter, got.Status, got.Body, want)
		}
		exportAnswer(t, s, exportedPath+"/export?fields=location_code&output_format=xlsx"+filter)
	}
	want := apitest.Cells(t, exportAnswer(t, s, exportedPath+"/export?location_code=A&output_format=csv").Body)
	compareCells(t, "xlsx", cellsOfSheet(t,
		exportAnswer(t, s, exportedPath+"/export?location_code=A&output_format=xlsx").Body), want)
}

// TestExportSlots checks that exports beyond the limit get 503, and that a client that goes away
// gives its slot and its snapshot back.
func TestExportSlots(t *testing.T) {
	t.Parallel()
	s := apitest.SampleOf(t, state.Options{Exports: 1}, exportedPath, 30_000)
	address := apitest.Listen(t, s)
	target := exportedPath + "/export?output_format=json&app_identifier=" + url.QueryEscape(apitest.Identifier)
	conn := silentClient(t, address, target)
	testkit.WaitFor(t, "the export to run", func() bool { return s.Files.Exports.Running() == 1 })
	got := s.Answer("GET", target, nil)
	after, _ := apitest.Field(got, "Retry-After")
	if got.Status != 503 || after == "" || !strings.Contains(string(got.Body), reply.RuleExports) {
		t.Errorf("a second export: %d %s, Retry-After %q", got.Status, got.Body, after)
	}
	if list := s.Answer("GET", exportedPath+"?limit=1&app_identifier="+apitest.Identifier, nil); list.Status != 200 {
		t.Errorf("a list beside it: %d", list.Status)
	}
	conn.Close()
	testkit.WaitFor(t, "the slot to be free", func() bool { return s.Files.Exports.Running() == 0 })
	exportAnswer(t, s, target)
	checkEnded(t, s, map[files.ExportOutcome]int64{files.ExportGone: 1, files.ExportSent: 1})
}

// checkEnded checks how the exports of a server ended.
func checkEnded(t *testing.T, s *api.Server, want map[files.ExportOutcome]int64) {
	t.Helper()
	for outcome := files.ExportSent; int(outcome) < len(files.ExportOutcomes); outcome++ {
		if got := s.Files.Exports.Ended[outcome].Load(); got != want[outcome] {
			t.Errorf("%d exports ended as %s, want %d", got, files.ExportOutcomes[outcome], want[outcome])
		}
	}
}

// cutExport checks that a client notices that its export, of which it has the first part, was cut.
// It returns the server, and the length that was announced. A busy machine may need longer than a
// limit for that part.
func cutExport(t *testing.T, target string, rows int) (s *api.Server, length int64) {
	t.Helper()
	for limit := 500 * time.Millisecond; ; limit *= 2 {
		s = apitest.SampleOf(t, state.Options{ExportTimeout: limit}, exportedPath, rows)
		conn := silentClient(t, apitest.ListenSmall(t, s, 64<<10), target) // less than the export
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil && limit < time.Minute {
			continue
		}
		if err != nil || response.StatusCode != 200 {
			t.Fatal(response, err)
		}
		time.Sleep(2 * limit)
		if body, err := io.ReadAll(response.Body); err == nil {
			t.Errorf("after the time was over: %d bytes without an error, of %s rows", len(body),
				response.Header.Get("X-Result-Count"))
		}
		return s, response.ContentLength
	}
}

// TestExportCutShort checks that a client notices that an export was not completed, since it took
// too long: after the first part was sent, or before.
func TestExportCutShort(t *testing.T) {
	t.Parallel()
	target := func(format string) string {
		return exportedPath + "/export?output_format=" + format + "&app_identifier=" + apitest.Identifier
	}
	s, _ := cutExport(t, target("json"), 30_000)
	testkit.WaitFor(t, "the slot to be free", func() bool { return s.Files.Exports.Running() == 0 })
	checkEnded(t, s, map[files.ExportOutcome]int64{files.ExportTimedOut: 1})

	s = apitest.SampleOf(t, state.Options{ExportTimeout: time.Nanosecond}, exportedPath, 100)
	address := apitest.Listen(t, s)
	for _, format := range []string{"csv", "json", "xlsx", "arrow"} {
		answer, err := io.ReadAll(silentClient(t, address, target(format)))
		if err != nil || strings.Contains(string(answer), "\r\n0\r\n") {
			t.Errorf("%s after the time was over: %q %v", format, answer, err)
		}
	}
	testkit.WaitFor(t, "the slots to be free", func() bool { return s.Files.Exports.Running() == 0 })
	checkEnded(t, s, map[files.ExportOutcome]int64{files.ExportTimedOut: 4})
	request := "GET " + target("csv") + " HTTP/1.0\r\nHost: a\r\n\r\n"
	got := apitest.Exchange(t, address, "GET", request)
	if hint := apitest.Header(got, "X-Hint"); got.Status != 505 || !strings.Contains(hint, "proxy_http_version") {
		t.Errorf("HTTP/1.0: %d with the hint %q", got.Status, hint)
	}
}

// TestExportSizes checks which exports have a Content-Length, that it is right, and that a client
// notices that such a body is cut.
func TestExportSizes(t *testing.T) {
	t.Parallel()
	s := apitest.SampleOf(t, state.Options{}, exportedPath, 16_000)
	address := apitest.Listen(t, s)
	ask := func(method, more string) (*http.Response, []byte, error) {
		t.Helper()
		target := exportedPath + "/export?output_format=" + more + "&app_identifier=" + apitest.Identifier
		request, err := http.NewRequestWithContext(t.Context(), method, "http://"+address+target, http.NoBody)
		testkit.Must(t, err)
		response := testkit.Value(http.DefaultClient.Do(request))(t)
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		return response, body, err
	}
	for more, sized := range map[string]bool{
		"arrow": true, "arrow&limit=100": true, "arrow&offset=7&limit=15000": true,
		"arrow&limit=1&offset=40000": false, "arrow&compression=zstd": false, "parquet": false, "csv": false,
	} {
		response, body, err := ask("GET", more)
		length := response.ContentLength
		if err != nil || response.StatusCode != 200 || sized && length != int64(len(body)) || !sized && length != -1 {
			t.Errorf("%s: %d, %d bytes, Content-Length %d: %v", more, response.StatusCode, len(body), length, err)
		}
	}
	if response, body, err := ask("HEAD", "arrow"); err != nil || response.StatusCode != 200 || len(body) > 0 ||
		response.Header.Get("X-Result-Count") != "16000" {
		t.Errorf("HEAD: %d %v, %d bytes, %v", response.StatusCode, response.Header, len(body), err)
	}
	arrow := exportedPath + "/export?output_format=arrow&app_identifier=" + apitest.Identifier
	if _, length := cutExport(t, arrow, 16_000); length <= 0 {
		t.Errorf("a cut export has the length %d", length)
	}
}

// TestExportPanics checks that an export that panics before it begins gives back its slot and the
// snapshot.
func TestExportPanics(t *testing.T) {
	t.Parallel()
	s := apitest.SampleOf(t, state.Options{}, exportedPath, 60)
	served := s.State.Snapshots.Current.Load()
	s.Lists.Admission.Gate = nil // so that finding the rows panics
	const target = exportedPath + "/export?output_format=arrow&app_identifier=" + apitest.Identifier
	response, err := http.Get("http://" + apitest.Listen(t, s) + target)
	if err != nil || response.StatusCode != 500 {
		t.Fatal(response, err)
	}
	defer response.Body.Close()
	if n := s.Files.Exports.Running(); n != 0 || served.Refs.Load() != 1 {
		t.Errorf("%d slots are taken, and the snapshot has %d references", n, served.Refs.Load())
	}
}

// TestExportFails: an export whose rendering panics is cut short, and counts as failed.
func TestExportFails(t *testing.T) {
	t.Parallel()
	s := apitest.SampleOf(t, state.Options{Logger: slog.New(slog.DiscardHandler)}, exportedPath, 60)
	served := s.State.Snapshots.Current.Load()
	served.Bound.Lists[exportedPath].Named[contract.ContractNames].Renderer = new(render.Renderer)
	const target = exportedPath + "/export?output_format=json&app_identifier=" + apitest.Identifier
	if response, err := http.Get("http://" + apitest.Listen(t, s) + target); err == nil {
		defer response.Body.Close()
		if body, err := io.ReadAll(response.Body); err == nil {
			t.Errorf("%d, %d bytes without an error", response.StatusCode, len(body))
		}
	}
	testkit.WaitFor(t, "the slot to be free", func() bool { return s.Files.Exports.Running() == 0 })
	checkEnded(t, s, map[files.ExportOutcome]int64{files.ExportFailed: 1})
}

// silentClient sends a request and reads nothing by itself.
func silentClient(t *testing.T, address, target string) net.Conn {
	t.Helper()
	conn := testkit.Value(net.Dial("tcp", address))(t)
	t.Cleanup(func() { conn.Close() })
	testkit.Must(t, conn.(*net.TCPConn).SetReadBuffer(64<<10))
	testkit.Value(io.WriteString(conn, "GET "+target+" HTTP/1.1\r\nHost: a\r\n\r\n"))(t)
	return conn
}

// appIdentifier is that of one of several apps.
func appIdentifier(n int) string {
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "app%d:a@b.example", n))
}

// slowExport begins an export of an app by a client of a proxy, and reads no more of it by itself.
func slowExport(t *testing.T, address, from string, app int) *http.Response {
	t.Helper()
	target := exportedPath + "/export?output_format=json&app_identifier=" + url.QueryEscape(appIdentifier(app))
	conn := silentClient(t, address, target+" HTTP/1.1\r\nX-Forwarded-For: "+from+"\r\nIgnored: ")
	return testkit.Value(http.ReadResponse(bufio.NewReaderSize(conn, 16), nil))(t)
}

// TestExportsOfOneClient checks that one address or app identifier gets at most half of the slots,
// so that another client still gets an export beside slow ones.
func TestExportsOfOneClient(t *testing.T) {
	t.Parallel()
	s := apitest.SampleOf(t, state.Options{Exports: 9}, exportedPath, 30_000)
	address := apitest.ListenSmall(t, s, 4<<10)
	refused := func(from string, app int, rule string) {
		t.Helper()
		response := slowExport(t, address, from, app)
		body, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != 503 || !strings.Contains(string(body), rule) {
			t.Errorf("%s, app %d: %d %.300s %v, want 503 for %q", from, app, response.StatusCode, body, err, rule)
		}
	}
	for app := range 4 {
		slowExport(t, address, "192.0.2.1", app)
	}
	refused("192.0.2.1", 9, reply.RuleClient) // another app, the same address
	for n := range 4 {
		slowExport(t, address, fmt.Sprint("192.0.2.", 10+n), 20)
	}
	refused("192.0.2.30", 20, reply.RuleClient) // another address, the same app
	other := slowExport(t, address, "192.0.2.99", 99)
	if body, err := io.ReadAll(other.Body); err != nil || other.StatusCode != 200 || len(body) < 1<<20 {
		t.Errorf("a client beside them: %d, %d bytes, %v", other.StatusCode, len(body), err)
	}
	testkit.WaitFor(t, "its slot to be free", func() bool { return s.Files.Exports.Running() == 8 })
	slowExport(t, address, "192.0.2.99", 99)
	refused("192.0.2.30", 30, reply.RuleExports)
	refusals := [2]int64{apitest.ShedBy(s, reply.RuleClient), apitest.ShedBy(s, reply.RuleExports)}
	testkit.Equal(t, refusals, [2]int64{2, 1}, "refusals were counted")
}

// TestSlowExports checks that a client that takes less than a mebibyte in the time for one loses
// its slot, though it takes a piece in that time.
func TestSlowExports(t *testing.T) {
	t.Parallel()
	s := apitest.SampleOf(t, state.Options{Exports: 2, WriteTimeout: 2 * time.Second}, exportedPath, 30_000)
	address := apitest.ListenSmall(t, s, 4<<10)
	slow := slowExport(t, address, "192.0.2.1", 1)
	testkit.WaitFor(t, "the end of a slow export", func() bool {
		time.Sleep(100 * time.Millisecond)
		_, _ = io.CopyN(io.Discard, slow.Body, 10<<10) // fails at the end
		return s.Files.Exports.Running() == 0
	})
	checkEnded(t, s, map[files.ExportOutcome]int64{files.ExportTimedOut: 1})
	s.Files.Exports.Mu.Lock()
	defer s.Files.Exports.Mu.Unlock()
	if len(s.Files.Exports.Held) > 0 {
		t.Errorf("%v are held", s.Files.Exports.Held)
	}
}
