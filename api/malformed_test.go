package api_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"hdqs/api"
	"hdqs/api/apitest"
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
			if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != status {
				t.Fatalf("answer %d: %d %v, want %d", i, response.StatusCode, err, status)
			}
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
