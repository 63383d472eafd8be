package api

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
)

// TestFaultHeaders is the header of each fault that testdata/http cannot bring about: all its
// fields' names, and the values that caches and callers go by.
func TestFaultHeaders(t *testing.T) {
	t.Parallel()
	const usual = "Access-Control-Allow-Origin Access-Control-Expose-Headers Cache-Control Content-Length " +
		"Content-Security-Policy Content-Type Date " +
		"Referrer-Policy X-Content-Type-Options X-Request-Id"
	quiet := slog.New(slog.DiscardHandler)
	s := sampleServer(t, Options{Logger: quiet, Queries: 1, QueueWait: time.Millisecond}, 3)
	s.add("/panic", route{handler: func(*fasthttp.RequestCtx) { panic("x") }})
	busy, unready := listen(t, s), listen(t, New(Options{Logger: quiet}))
	hasty := listen(t, sampleServer(t, Options{ReadTimeout: 300 * time.Millisecond}, 3)) // for what never comes
	if !s.gate.Enter(false) {
		t.Fatal("no slot")
	}
	defer s.gate.Leave()
	get := func(target, more string) string { return "GET " + target + " HTTP/1.1\r\nHost: a\r\n" + more + "\r\n" }
	for _, c := range []struct {
		address, request string
		status           int
		more             string // beside the usual fields
		body             string
	}{
		{unready, get(listTarget, ""), 503, "Retry-After", bodyUnavailable},
		{
			busy, get(listTarget, ""), 503, "Retry-After X-Snapshot-Id",
			`{"detail":"Too much is asked at once; try again after Retry-After","rule":"queries at once"}`,
		},
		{busy, get("/panic", ""), 500, "X-Snapshot-Id", bodyInternal},
		{busy, get(listTarget+"&x="+strings.Repeat("y", maxURI), ""), 414, "X-Snapshot-Id", bodyURITooLong},
		{busy, get(listTarget+"&x="+strings.Repeat("y", 2*readBuffer), ""), 414, "X-Snapshot-Id", bodyURITooLong},
		{
			busy, get(listTarget, "X: "+strings.Repeat("y", 2*readBuffer)+"\r\n"), 431, "X-Snapshot-Id",
			bodyHeadersTooLarge,
		},
		{busy, "POST " + listTarget + " HTTP/1.1\r\nHost: a\r\nContent-Length: 2000\r\n\r\n" + strings.Repeat("x",
			2000), 413, "X-Snapshot-Id", bodyTooLarge},
		{busy, "GET /docs HTTP/1.1\r\n\r\n", 400, "X-Snapshot-Id", bodyBadRequest},
		{hasty, "GET /docs HTTP/1.1\r\nHost: a", 408, "X-Snapshot-Id", bodyTimeout},
		{busy, "GET /docs HTTP/2.0\r\nHost: a\r\n\r\n", 505, "X-Snapshot-Id", bodyVersionNotSupported},
	} {
		got := exchange(t, c.address, "GET", c.request)
		var names []string
		for _, f := range got.Header {
			names = append(names, f.Name)
		}
		slices.Sort(names)
		want := strings.Fields(usual + " " + c.more)
		slices.Sort(want)
		if got.Status != c.status || !slices.Equal(names, want) || string(got.Body) != c.body {
			t.Errorf("%.60q: %d %s\nfields %q,\nwant   %q", c.request, got.Status, got.Body, names, want)
		}
		for name, want := range map[string]string{
			"Cache-Control": noStore, "Retry-After": "1",
			"Access-Control-Allow-Origin": "*", "Content-Type": contract.JSONType,
		} {
			if value, ok := got.field(name); ok && value != want {
				t.Errorf("%.60q: %s: %s", c.request, name, value)
			}
		}
	}
}

// TestUnreadHead: a HEAD that could not be read is answered as a GET is, without the body; so is
// one that is the second of its connection.
func TestUnreadHead(t *testing.T) {
	t.Parallel()
	for _, keep := range []bool{false, true} {
		t.Run(fmt.Sprintf("keep=%v", keep), func(t *testing.T) {
			t.Parallel()
			patient := listen(t, sampleServer(t, Options{KeepBuffers: keep}, 3))
			hasty := listen(t, sampleServer(t, Options{KeepBuffers: keep, ReadTimeout: 250 * time.Millisecond}, 3))
			const half = " /docs HTTP/1.1\r\nHost: a"
			for _, rest := range []string{
				" /docs HTTP/1.1\r\n\r\n",
				" /docs HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
				half,
				" /docs HTTP/1.1\r\nHost: a\r\nContent-Length: 2000\r\n\r\n",
				" /docs?" + strings.Repeat("y", 2*readBuffer) + " HTTP/1.1\r\nHost: a\r\n\r\n",
			} {
				address := patient
				if rest == half { // the end of which is waited for
					address = hasty
				}
				for _, before := range []string{"", "GET " + listTarget + " HTTP/1.1\r\nHost: a\r\n\r\n"} {
					full, bare := unreadAnswer(t, address, before, "GET"+rest), unreadAnswer(t, address, before,
						"HEAD"+rest)
					if bare.Status != full.Status || full.Status < 400 || len(bare.Body) > 0 || len(full.Body) == 0 {
						t.Errorf("HEAD%.60q: %d with %d bytes, GET %d with %d", rest, bare.Status, len(bare.Body),
							full.Status, len(full.Body))
					}
					length, _ := bare.field("Content-Length")
					if want, _ := full.field("Content-Length"); length != want {
						t.Errorf("HEAD%.60q: Content-Length %s, GET %s", rest, length, want)
					}
				}
			}
		})
	}
}

// unreadAnswer is the answer to a request that cannot be read, after a good one has been answered.
// The body is all that comes before the connection ends.
func unreadAnswer(t *testing.T, address, before, request string) Answer {
	t.Helper()
	conn := dial(t, address)
	if before != "" {
		if answer, _ := conn.raw(t, "GET", before); !strings.HasPrefix(answer, "HTTP/1.1 200 ") {
			t.Fatalf("%.40q", answer)
		}
	}
	go io.WriteString(conn, request) //nolint:errcheck // the server may answer before it has read all
	response, err := http.ReadResponse(conn.reader, &http.Request{Method: "HEAD"})
	if err != nil {
		t.Fatalf("%.60q: %v", request, err)
	}
	a := Answer{Status: response.StatusCode}
	a.Header = append(a.Header, HeaderField{"Content-Length", response.Header.Get("Content-Length")})
	a.Body, _ = io.ReadAll(conn.reader) // a request that was not read to its end may reset the connection
	return a
}

// logPause is the least time between two messages of the HTTP library in the log.
const logPause = time.Second

// TestFaultLog: many connections of nonsense make a line in the log, which says how many there
// were, and are counted.
func TestFaultLog(t *testing.T) {
	t.Parallel()
	var log lockedLog
	s := sampleServer(t, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}, 3)
	address, admin := listen(t, s), listenAdmin(t, s)
	nonsense := func(n int) {
		for range n {
			exchange(t, address, "GET", "nonsense\r\n\r\n")
		}
	}
	began := time.Now()
	nonsense(200)
	waitFor(t, "all to be counted, and a line", func() bool {
		return readMetrics(t, admin)["hdqs_connection_faults_total"] == 200 && log.lines() > 0 // counted first
	})
	if lines := log.lines(); lines > 1+int(time.Since(began)/logPause) {
		t.Errorf("%d lines in %s", lines, time.Since(began))
	}
	time.Sleep(logPause)
	nonsense(1)
	waitFor(t, "the number of those that were left out", func() bool {
		told := log.lines()
		for _, m := range regexp.MustCompile(`suppressed=([0-9]+)`).FindAllStringSubmatch(log.String(), -1) {
			n, _ := strconv.Atoi(m[1])
			told += n
		}
		return told == 201
	})
}

// lockedLog collects what is logged.
type lockedLog struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lockedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lockedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *lockedLog) lines() int { return strings.Count(l.String(), "\n") }
