package api_test

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/mcp"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

const chunkedPost = "POST " + apitest.Target + " HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"

// TestChunkFraming checks that the framing of a chunked body is limited too. Extensions and
// trailers longer than the header limit are refused, but a body within its limit may have the
// longest framing that it needs.
func TestChunkFraming(t *testing.T) {
	t.Parallel()
	address := apitest.Listen(t, apitest.Sample(t, state.Options{}, 3))
	for name, c := range map[string]struct {
		request string
		status  int
	}{
		"a long extension": {
			chunkedPost + "1;" + strings.Repeat("x", 200<<10) + "\r\ny\r\n0\r\n\r\n",
			413,
		},
		"many extensions": {chunkedPost + strings.Repeat("1;"+strings.Repeat("x", 1000)+"\r\ny\r\n",
			500) + "0\r\n\r\n", 413},
		"a long extension of the last chunk": {
			chunkedPost + "1\r\ny\r\n0;" + strings.Repeat("x", 200<<10) + "\r\n\r\n",
			413,
		},
		"a long trailer":     {chunkedPost + "0\r\nX: " + strings.Repeat("y", 200<<10) + "\r\n\r\n", 431},
		"many trailers":      {chunkedPost + "0\r\n" + strings.Repeat("X: y\r\n", 40<<10) + "\r\n", 431},
		"one byte per chunk": {chunkedPost + strings.Repeat("1\r\nx\r\n", api.MaxBody) + "0\r\n\r\n", 405},
		"one byte per chunk, longest sizes": {chunkedPost + strings.Repeat("000000000000001\r\nx\r\n",
			api.MaxBody) + "000000000000000\r\n\r\n", 405},
		"one byte over the limit": {
			chunkedPost + strings.Repeat("1\r\nx\r\n", api.MaxBody+1) + "0\r\n\r\n", 413,
		},
		"one byte per chunk after the longest header": {strings.Replace(chunkedPost, " HTTP",
			"&x="+strings.Repeat("y", api.MaxURI-200)+" HTTP", 1) +
			strings.Repeat("000000000000001\r\nx\r\n", api.MaxBody) + "0\r\n\r\n", 405},
	} {
		if got := apitest.Exchange(t, address, "POST", c.request); got.Status != c.status {
			t.Errorf("%s: %d %s, want %d", name, got.Status, got.Body, c.status)
		}
	}
}

// listenCounted is like listen, and also counts the bytes that the server reads.
func listenCounted(t *testing.T, s *api.Server) (address string, read *atomic.Int64) {
	read = new(atomic.Int64)
	return apitest.ListenFor(t, func(l net.Listener) error { return s.Serve(testkit.CountReads(l, read)) }), read
}

// TestEndlessRequest checks that of an endless request no more is read than the longest valid
// request has, plus a read buffer and the linger limit.
func TestEndlessRequest(t *testing.T) {
	t.Parallel()
	for _, begin := range []string{
		chunkedPost + "1;", chunkedPost + "0\r\nX: ", plainGet[:30],
		plainGet[:len(plainGet)-4],
	} {
		address, read := listenCounted(t, apitest.Sample(t, state.Options{}, 3))
		conn := apitest.Dial(t, address)
		go func() {
			_, err := io.WriteString(conn, begin)
			for more := strings.Repeat("x", 10_000); err == nil; {
				_, err = io.WriteString(conn, more)
			}
		}()
		if response, err := http.ReadResponse(conn.Reader, nil); err != nil || response.StatusCode/100 != 4 {
			t.Errorf("%.20q: %v, %v", begin[len(begin)-20:], response, err)
		}
		if n := read.Load(); n > api.ReadBuffer+32*api.MaxBody+api.ReadBuffer+maxLingerRead {
			t.Errorf("%q: the server read %d bytes", begin[len(begin)-20:], n)
		}
	}
}

// someRequest returns a random legal request, short or long, and the status that it must get.
func someRequest(r *rand.Rand) (request string, status int) {
	x := strings.Repeat("x", []int{0, 10, 1000, 20_000, api.MaxURI - 200}[r.IntN(5)])
	switch r.IntN(4) {
	case 0:
		return "GET " + apitest.Target + "&x=" + x + " HTTP/1.1\r\nHost: a\r\n\r\n", 200
	case 1:
		return "GET /nowhere HTTP/1.1\r\nHost: a\r\nX: " + x + "\r\n\r\n", 404
	case 2:
		body := strings.Repeat("x", r.IntN(api.MaxBody+1))
		return fmt.Sprintf("POST %s&x=%s HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%s", apitest.Target, x,
			len(body), body), 405
	}
	return "POST " + apitest.Target + "&x=" + x + chunkedPost[len("POST "+apitest.Target):] + strings.Repeat(
		"1;a=b\r\nx\r\n", r.IntN(api.MaxBody+1)) + "0\r\n\r\n", 405
}

// TestPipelining checks that a client may pipeline any number of requests, split into pieces
// anywhere: the size of one does not count towards the limits of another.
func TestPipelining(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 9))
	address := apitest.Listen(t, apitest.Sample(t, state.Options{}, 3))
	for round := range 6 {
		conn := apitest.Dial(t, address)
		var all strings.Builder
		var want []int
		for len(want) < 100 {
			request, status := someRequest(r)
			if round == 0 {
				request, status = plainGet, 200 // short, so that all are sent in one segment
			}
			all.WriteString(request)
			want = append(want, status)
		}
		go sendPieces(conn, all.String(), r.IntN(3)*20_000)
		for i, status := range want {
			response, err := http.ReadResponse(conn.Reader, nil)
			if err != nil {
				t.Fatalf("answer %d: %v", i, err)
			}
			testkit.Value(io.Copy(io.Discard, response.Body))(t)
			testkit.Equal(t, response.StatusCode, status, "answer %d", i)
		}
	}
}

// sendPieces writes a text in random pieces of about the given length, or all at once for length 0.
func sendPieces(w io.Writer, text string, about int) {
	for len(text) > 0 {
		n := len(text)
		if about > 0 {
			n = min(n, 1+rand.IntN(2*about))
		}
		if _, err := io.WriteString(w, text[:n]); err != nil {
			return
		}
		text = text[n:]
	}
}

// TestMalformedAdminRequest checks that the admin listener refuses malformed requests as the public
// one does.
func TestMalformedAdminRequest(t *testing.T) {
	t.Parallel()
	address := apitest.ListenAdmin(t, apitest.Sample(t, state.Options{}, 3))
	for _, field := range []string{"Host: a\r\nTransfer-Encoding: identity", "Host: u@a"} {
		conn := apitest.Dial(t, address)
		if _, err := io.WriteString(conn,
			"GET /healthz HTTP/1.1\r\n"+field+"\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if status, err := testkit.ReadWhole(conn.Reader); status != 400 || err != nil {
			t.Errorf("%q: %d %v", field, status, err)
		}
	}
}

// errInternal is an error that is not the caller's.
var errInternal = errors.New("internal")

// TestErrorHeaders checks the header of each error that testdata/http cannot produce: the names of
// all fields, and the values that caches and callers depend on.
func TestErrorHeaders(t *testing.T) {
	t.Parallel()
	const usual = "Access-Control-Allow-Origin Access-Control-Expose-Headers Cache-Control Content-Length " +
		"Content-Security-Policy Content-Type Date Referrer-Policy X-Content-Type-Options X-Request-Id"
	quiet := slog.New(slog.DiscardHandler)
	s := apitest.Sample(t, state.Options{Logger: quiet, Queries: 1, QueueWait: time.Millisecond}, 3)
	panics := list.Route{Answer: func(*fasthttp.RequestCtx) error { panic("x") }}
	s.Lists.Routes.Add(s.Lists.Routes.Mounts[0], "/panic", panics)
	busy, unready := apitest.Listen(t, s), apitest.Listen(t, api.New(state.Options{Logger: quiet}))
	stalled := apitest.ListenStalled(t, apitest.Sample(t, state.Options{}, 3))
	full := apitest.Listen(t, apitest.Sample(t, state.Options{Connections: 1}, 3))
	if held := apitest.Dial(t, full); held.Get("/docs") != 200 {
		t.Fatal("no connection")
	}
	if !s.Lists.Admission.Gate.Enter(false) {
		t.Fatal("no free slot")
	}
	defer s.Lists.Admission.Gate.Leave()
	get := func(target, more string) string { return "GET " + target + " HTTP/1.1\r\nHost: a\r\n" + more + "\r\n" }
	for _, c := range []struct {
		address, request string
		status           int
		more             string // in addition to the usual fields
		body             string
	}{
		{unready, get(apitest.Target, ""), 503, "Retry-After", apitest.ErrorBody(reply.ErrNoSnapshot)},
		{
			busy, get(apitest.Target, ""), 503, "Retry-After X-Snapshot-Id",
			`{"detail":"Too much is asked at once; try again after Retry-After","rule":"queries at once"}`,
		},
		{
			full, get(apitest.Target, ""), 503, "Retry-After X-Snapshot-Id",
			`{"detail":"Too much is asked at once; try again after Retry-After","rule":"connections"}`,
		},
		{busy, get("/panic", ""), 500, "X-Snapshot-Id", apitest.ErrorBody(errInternal)},
		{
			busy, get(apitest.Target+"&x="+strings.Repeat("y", api.MaxURI), ""), 414, "X-Snapshot-Id",
			apitest.ErrorBody(reply.ErrURITooLong),
		},
		{
			busy, get(apitest.Target+"&x="+strings.Repeat("y", 2*api.ReadBuffer), ""), 414, "X-Snapshot-Id",
			apitest.ErrorBody(reply.ErrURITooLong),
		},
		{
			busy, get(apitest.Target, "X: "+strings.Repeat("y", 2*api.ReadBuffer)+"\r\n"), 431, "X-Snapshot-Id",
			apitest.ErrorBody(reply.ErrHeadersTooLarge),
		},
		{busy, "POST " + apitest.Target + " HTTP/1.1\r\nHost: a\r\nContent-Length: 2000\r\n\r\n" + strings.Repeat("x",
			2000), 413, "X-Snapshot-Id", apitest.ErrorBody(reply.ErrTooLarge)},
		{busy, "GET /docs HTTP/1.1\r\n\r\n", 400, "X-Snapshot-Id", apitest.ErrorBody(reply.ErrBadRequest)},
		{stalled, "GET /docs HTTP/1.1\r\nHost: a", 408, "X-Snapshot-Id", apitest.ErrorBody(reply.ErrTimeout)},
		{
			busy, "GET /docs HTTP/2.0\r\nHost: a\r\n\r\n", 505, "X-Snapshot-Id",
			apitest.ErrorBody(reply.ErrVersionNotSupported),
		},
	} {
		got := apitest.Exchange(t, c.address, "GET", c.request)
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
			"Cache-Control": reply.NoStore, "Retry-After": "1",
			"Access-Control-Allow-Origin": "*", "Content-Type": contract.JSONType,
		} {
			if value, ok := apitest.Field(got, name); ok && value != want {
				t.Errorf("%.60q: %s: %s", c.request, name, value)
			}
		}
	}
}

// TestUnreadHead checks that a HEAD request that could not be read is answered like a GET, but
// without the body, also as the second request of its connection.
func TestUnreadHead(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 3)
	whole, stalled := apitest.Listen(t, s), apitest.ListenStalled(t, s)
	const half = " /docs HTTP/1.1\r\nHost: a"
	for _, rest := range []string{
		" /docs HTTP/1.1\r\n\r\n",
		" /docs HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
		half,
		" /docs HTTP/1.1\r\nHost: a\r\nContent-Length: 2000\r\n\r\n",
		" /docs?" + strings.Repeat("y", 2*api.ReadBuffer) + " HTTP/1.1\r\nHost: a\r\n\r\n",
	} {
		address := whole
		if rest == half { // which is incomplete until the read timeout
			address = stalled
		}
		for _, before := range []string{"", "GET " + apitest.Target + " HTTP/1.1\r\nHost: a\r\n\r\n"} {
			full, bare := unreadAnswer(t, address, before, "GET"+rest), unreadAnswer(t, address, before,
				"HEAD"+rest)
			if bare.Status != full.Status || full.Status < 400 || len(bare.Body) > 0 || len(full.Body) == 0 {
				t.Errorf("HEAD%.60q: %d with %d bytes, GET %d with %d", rest, bare.Status, len(bare.Body),
					full.Status, len(full.Body))
			}
			length, _ := apitest.Field(bare, "Content-Length")
			if want, _ := apitest.Field(full, "Content-Length"); length != want {
				t.Errorf("HEAD%.60q: Content-Length %s, GET %s", rest, length, want)
			}
		}
	}
}

// unreadAnswer returns the answer to a request that cannot be read, optionally after the answer to
// a valid one. The body is everything up to the end of the connection.
func unreadAnswer(t *testing.T, address, before, request string) api.Answer {
	t.Helper()
	conn := apitest.Dial(t, address)
	if before != "" {
		if answer, _ := conn.Raw(t, "GET", before); !strings.HasPrefix(answer, "HTTP/1.1 200 ") {
			t.Fatalf("the first answer is %.40q", answer)
		}
	}
	go apitest.Send(conn.Conn, request)
	response, err := http.ReadResponse(conn.Reader, &http.Request{Method: "HEAD"})
	if err != nil {
		t.Fatalf("%.60q: %v", request, err)
	}
	a := api.Answer{Status: response.StatusCode}
	a.Header = append(a.Header, reply.HeaderField{Name: "Content-Length", Value: response.Header.Get("Content-Length")})
	a.Body, _ = io.ReadAll(conn.Reader) // a request that was not read to its end may reset the connection
	return a
}

// logPause is the shortest time between two logged messages of the HTTP library.
const logPause = time.Second

// TestErrorLog checks that many malformed requests are all counted but make few log lines, which
// state how many messages were suppressed.
func TestErrorLog(t *testing.T) {
	t.Parallel()
	var log testkit.Log
	s := apitest.Sample(t, state.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}, 3)
	address, admin := apitest.Listen(t, s), apitest.ListenAdmin(t, s)
	nonsense := func(n int) {
		for range n {
			apitest.Exchange(t, address, "GET", "nonsense\r\n\r\n")
		}
	}
	lines := func() int { return strings.Count(log.String(), "\n") }
	began := time.Now()
	nonsense(200)
	testkit.WaitFor(t, "200 counted errors and a log line", func() bool {
		return apitest.Metrics(t, admin)["hdqs_connection_faults_total"] == 200 && lines() > 0 // counted first
	})
	if n := lines(); n > 1+int(time.Since(began)/logPause) {
		t.Errorf("%d log lines in %s", n, time.Since(began))
	}
	time.Sleep(logPause)
	nonsense(1)
	testkit.WaitFor(t, "the number of suppressed messages in the log", func() bool {
		reported := lines()
		for _, m := range regexp.MustCompile(`suppressed=([0-9]+)`).FindAllStringSubmatch(log.String(), -1) {
			n, _ := strconv.Atoi(m[1])
			reported += n
		}
		return reported == 201
	})
}

// TestTooLongSaysHowLong: the answer to a request that is too long says the bound.
func TestTooLongSaysHowLong(t *testing.T) {
	for body, bound := range map[string]int{
		apitest.ErrorBody(reply.ErrURITooLong): api.MaxURI, apitest.ErrorBody(reply.ErrHeadersTooLarge): api.ReadBuffer,
		apitest.ErrorBody(reply.ErrTooLarge): mcp.MaxBody,
	} {
		testkit.Contains(t, body, fmt.Sprintf("%d KiB", bound>>10), "the body")
	}
}
