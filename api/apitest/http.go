package apitest

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"hdqs/api"
	"hdqs/api/accesslog"
	"hdqs/api/reply"
	"hdqs/internal/testkit"
)

// PlainNumber is a number of a page, or of an answer, in one form.
func PlainNumber(text string) string {
	text = strings.NewReplacer("\u202f", "", "\u2212", "-").Replace(html.UnescapeString(text))
	if f, err := strconv.ParseFloat(text, 64); err == nil {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return text
}

// Cells are the cells of CSV.
func Cells(t *testing.T, body []byte) [][]string {
	t.Helper()
	// The reader of the standard library turns CR LF within a cell into LF.
	r := csv.NewReader(strings.NewReader(strings.ReplaceAll(string(body), "\r\n", "\n")))
	r.FieldsPerRecord = -1
	return testkit.Value(r.ReadAll())(t)
}

// Records asks for records.
func Records(t *testing.T, s *api.Server, target string) (records []map[string]any, a api.Answer) {
	t.Helper()
	a = s.Answer("GET", target, nil)
	var body struct{ Data []map[string]any }
	decoder := json.NewDecoder(strings.NewReader(string(a.Body)))
	decoder.UseNumber()
	if err := decoder.Decode(&body); err != nil || a.Status != 200 {
		t.Fatalf("%s: %d %v %.500s", target, a.Status, err, a.Body)
	}
	return body.Data, a
}

// BrowserAccept is what browsers accept.
var BrowserAccept = []reply.HeaderField{{Name: "Accept", Value: "text/html,application/xhtml+xml,*/*;q=0.8"}}

// ErrorBody is the body of an error.
func ErrorBody(err error) string {
	_, body := reply.ErrorAnswer(err)
	return string(body)
}

// Field returns a header field of an answer.
func Field(a api.Answer, name string) (value string, is bool) {
	for _, f := range a.Header {
		if strings.EqualFold(f.Name, name) {
			return f.Value, true
		}
	}
	return "", false
}

// Header is a header field of an answer, empty without it.
func Header(a api.Answer, name string) string {
	value, _ := Field(a, name)
	return value
}

// SortedHeader normalizes the header fields of TCP and of Answer, without those that belong to the
// connection.
func SortedHeader(fields []reply.HeaderField) []string {
	var out []string
	for _, f := range fields {
		switch name := strings.ToLower(f.Name); name {
		case "date", "connection":
		case "x-request-id":
			out = append(out, name) // differs for each request
		default:
			out = append(out, name+": "+f.Value)
		}
	}
	slices.Sort(out)
	return out
}

// Listen serves on a free port of this machine and returns its address.
func Listen(tb testing.TB, s *api.Server) string { return ListenFor(tb, s.Serve) }

// ListenStalled is like listen, but when a client has sent all that it will send, its connection
// reaches the read timeout. So a request that stays incomplete is cut by an event: any time that
// is short enough to wait for would also cut complete requests on a busy machine.
func ListenStalled(tb testing.TB, s *api.Server) string {
	return ListenFor(tb, func(l net.Listener) error { return s.Serve(stalledListener{l}) })
}

type stalledListener struct{ net.Listener }

func (l stalledListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return stalledConn{c}, err
}

type stalledConn struct{ net.Conn }

func (c stalledConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err == io.EOF {
		err = os.ErrDeadlineExceeded
	}
	return n, err
}

// Send sends a request. Nothing follows one that has no end, which ListenStalled waits for.
func Send(conn net.Conn, request string) {
	_, err := io.WriteString(conn, request) // fails if the server answers before it has read all
	if c, ok := conn.(*net.TCPConn); ok && err == nil && request != "" && !strings.Contains(request, "\r\n\r\n") {
		_ = c.CloseWrite()
	}
}

// ListenAdmin starts the admin listener.
func ListenAdmin(tb testing.TB, s *api.Server) string { return ListenFor(tb, s.ServeAdmin) }

// ListenFor is Listen for a listener of another kind.
func ListenFor(tb testing.TB, serve func(net.Listener) error) string {
	tb.Helper()
	l := testkit.Value(net.Listen("tcp", "127.0.0.1:0"))(tb)
	go serve(l) //nolint:errcheck // returns when the listener is closed
	tb.Cleanup(func() { l.Close() })
	return l.Addr().String()
}

// Ask sends a request exactly as given; an HTTP client library would normalize it.
func Ask(tb testing.TB, address, method, target string, header []reply.HeaderField) api.Answer {
	tb.Helper()
	request := method + " " + target + " HTTP/1.1\r\nHost: test.example\r\nConnection: close\r\n"
	for _, f := range header {
		request += f.Name + ": " + f.Value + "\r\n"
	}
	return Exchange(tb, address, method, request+"\r\n")
}

// Exchange sends the bytes of a request and reads the answer.
func Exchange(tb testing.TB, address, method, request string) api.Answer {
	tb.Helper()
	conn := testkit.Value(net.Dial("tcp", address))(tb)
	defer conn.Close()
	testkit.Must(tb, conn.SetDeadline(time.Now().Add(testkit.Patience)))
	go Send(conn, request)
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		tb.Fatalf("%.80q: %v", request, err)
	}
	defer response.Body.Close()
	a := api.Answer{Status: response.StatusCode}
	for name, values := range response.Header {
		for _, v := range values {
			a.Header = append(a.Header, reply.HeaderField{Name: name, Value: v})
		}
	}
	a.Body = testkit.Value(io.ReadAll(response.Body))(tb)
	return a
}

// Body returns the decoded body of an answer.
func Body(t *testing.T, a api.Answer) []byte {
	t.Helper()
	return testkit.Value(Decode(Header(a, "Content-Encoding"), a.Body))(t)
}

var sampleLine = regexp.MustCompile(`(?m)^([a-z_]+(?:\{[^{}]+\})?) (\S+)$`)

// Metrics reads the series of /metrics, which the library writes.
func Metrics(t *testing.T, address string) map[string]float64 {
	t.Helper()
	got := Ask(t, address, "GET", "/metrics", nil)
	kind := Header(got, "Content-Type")
	if got.Status != 200 || !strings.HasPrefix(kind, "text/plain; version=0.0.4") {
		t.Fatalf("%d %q", got.Status, kind)
	}
	if faults, err := promlint.New(bytes.NewReader(got.Body)).Lint(); err != nil || len(faults) > 0 {
		t.Errorf("promtool check metrics would say: %v %v", faults, err)
	}
	series := map[string]float64{}
	for _, m := range sampleLine.FindAllStringSubmatch(string(got.Body), -1) {
		n, err := strconv.ParseFloat(m[2], 64)
		if err != nil || n < 0 {
			t.Errorf("%s: %v", m[0], err)
		}
		series[m[1]] = n
	}
	return series
}

// RequestsWith adds up the counts of requests whose labels have a text.
func RequestsWith(series map[string]float64, label string) (n float64) {
	for name, count := range series {
		if strings.HasPrefix(name, "hdqs_http_requests_total{") && strings.Contains(name, label) {
			n += count
		}
	}
	return n
}

// Fields is a header: name, value, name, value.
func Fields(pairs ...string) (header []reply.HeaderField) {
	for i := 0; i < len(pairs); i += 2 {
		header = append(header, reply.HeaderField{Name: pairs[i], Value: pairs[i+1]})
	}
	return header
}

// ODataBase is an address of a server, which OData writes into answers.
const ODataBase = "https://odata.example"

// ReadJSON reads an answer that must be good.
func ReadJSON(t *testing.T, s *api.Server, target string, into any) api.Answer {
	t.Helper()
	a := s.Answer("GET", strings.TrimPrefix(target, ODataBase), nil)
	d := json.NewDecoder(bytes.NewReader(a.Body))
	d.UseNumber()
	if err := d.Decode(into); err != nil || a.Status != 200 {
		t.Fatalf("%s: %d %v %.500s", target, a.Status, err, a.Body)
	}
	return a
}

// Shapes asks for what a text file lists, in each coding, and checks the answers. A line is an
// address below a path, a header field after a bar if there is one, the status, and what header and
// body must have, with && between. $ID is an identifier.
func Shapes(t *testing.T, s *api.Server, root, file string, check func(request string, a api.Answer)) {
	t.Helper()
	for _, c := range testkit.Cases(t, file, " -> ", 2) {
		request, want := c[0], c[1]
		target, field, _ := strings.Cut(request, " | ")
		status, has, _ := strings.Cut(want, " ")
		var header []reply.HeaderField
		if name, v, found := strings.Cut(field, ": "); found {
			header = Fields(name, v)
		}
		encode := strings.NewReplacer(" ", "%20", "+", "%2B", "$ID", Identifier)
		target = root + encode.Replace(strings.TrimSpace(target))
		a := s.Answer("GET", target, header)
		var all strings.Builder
		for _, f := range a.Header {
			fmt.Fprintf(&all, "%s: %s\n", f.Name, f.Value)
		}
		all.Write(a.Body)
		testkit.Equal(t, strconv.Itoa(a.Status), status, "%s: %d: %.300s", request, a.Status, a.Body)
		for part := range strings.SplitSeq(has, " && ") {
			if part, without := strings.CutPrefix(part, "not "); strings.Contains(all.String(), part) == without {
				t.Errorf("%s: %q is not as wanted in %.600s", request, part, all.String())
			}
		}
		isPage, isJSON := bytes.HasPrefix(a.Body, []byte("<!DOCTYPE html>")), json.Valid(a.Body)
		if a.Status >= 400 && !isPage && !isJSON || !utf8.Valid(a.Body) {
			t.Errorf("%s: no JSON: %q", request, a.Body)
		}
		for _, coding := range []string{"gzip", "zstd"} {
			coded := s.Answer("GET", target, append(header, Fields("Accept-Encoding", coding)...))
			got, plain := noTime(Body(t, coded)), noTime(a.Body)
			if coded.Status != a.Status || a.Status == 200 && !bytes.Equal(got, plain) {
				t.Errorf("%s, %s: another answer: %d %.300s", request, coding, coded.Status, got)
			}
		}
		check(request, a)
	}
}

// answerTime is the second of an answer of OGC API, which the next answer need not have.
var answerTime = regexp.MustCompile(`"timeStamp":"[^"]*"`)

func noTime(body []byte) []byte { return answerTime.ReplaceAll(body, nil) }

// Target is a request for the list of sectors.
const Target = "/api/v2/metadata/sector?app_identifier=" + Identifier

// Decode decodes a body with the standard library where possible. It reads one gzip member
// only, as browsers do.
func Decode(coding string, body []byte) ([]byte, error) {
	switch coding {
	case "gzip":
		r, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		r.Multistream(false)
		return io.ReadAll(r)
	case "zstd":
		r, err := zstd.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		defer r.Close()
		return io.ReadAll(r)
	}
	return body, nil
}

// Logged is a line of the access log.
type Logged struct {
	At                                              time.Time `json:"ts"`
	ID, Method, Endpoint, Query, Coding, Cache, App string
	Status                                          int
	Bytes, Rows, Total                              *int64
	Took                                            *int64 `json:"dur_us"`
}

// OpenAccessLog opens a log that has every request, and returns what reads its lines.
func OpenAccessLog(t *testing.T) (l *accesslog.Log, read func() []Logged) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "access.log")
	l, err := accesslog.Open(accesslog.Options{
		Path: path, Share: 1, Key: []byte("a key for this test"), Logger: slog.New(slog.DiscardHandler),
	})
	testkit.Must(t, err)
	t.Cleanup(l.Close)
	return l, func() (lines []Logged) {
		text := string(testkit.ReadFile(t, path))
		for line := range strings.Lines(text) {
			if !strings.HasSuffix(line, "\n") {
				break // the rest is still being written
			}
			var got Logged
			strict := json.NewDecoder(strings.NewReader(line))
			strict.DisallowUnknownFields() // each field has a test, and a word in docs/metrics.md
			if err := strict.Decode(&got); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			if strings.Contains(line, Identifier) || strings.Contains(line, "example.org") ||
				strings.Contains(line, "my-app") {
				t.Errorf("the line has the identifier or what is in it: %s", line)
			}
			lines = append(lines, got)
		}
		return lines
	}
}
