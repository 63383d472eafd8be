// Package edge_test proves what lies between clients and the service: bytes that no client library
// sends, the caches whose configurations are in deploy, and that no answer which they keep repeats
// an identifier.
package edge_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

// rawCase is a case of testdata/raw/*.txt, which explains the format.
type rawCase struct {
	name, send string
	answers    []string
	nginx      int
	closed     bool
}

func readRawCases(t *testing.T, name string) []rawCase {
	t.Helper()
	text, err := os.ReadFile(name)
	testkit.Must(t, err)
	var cases []rawCase
	for number, line := range strings.Split(string(text), "\n") {
		word, rest, _ := strings.Cut(line, " ")
		last := len(cases) - 1
		switch word {
		case "", "#":
		case "case":
			cases = append(cases, rawCase{name: fmt.Sprintf("%d %s", number+1, rest)})
		case "send":
			bytes, err := strconv.Unquote(`"` + strings.ReplaceAll(rest, `"`, `\"`) + `"`)
			if err != nil {
				t.Fatalf("%s:%d: %v", name, number+1, err)
			}
			cases[last].send += bytes
		case "answers":
			cases[last].answers = strings.Fields(rest)
		case "nginx":
			if cases[last].nginx, err = strconv.Atoi(rest); err != nil {
				t.Fatalf("%s:%d: %v", name, number+1, err)
			}
		case "then":
			cases[last].closed = rest == "closed"
		default:
			t.Fatalf("%s:%d: unknown word %q", name, number+1, word)
		}
	}
	return cases
}

// allRawCases returns the cases of all files.
func allRawCases(t *testing.T) []rawCase {
	t.Helper()
	var cases []rawCase
	for _, file := range []string{"rfc9112", "smuggling"} {
		found := readRawCases(t, "testdata/raw/"+file+".txt")
		if len(found) < 35 {
			t.Fatalf("%s: only %d cases", file, len(found))
		}
		cases = append(cases, found...)
	}
	return cases
}

// bytes returns what a case sends, with $L replaced by the target of a list.
func (c *rawCase) bytes(list string) string { return strings.ReplaceAll(c.send, "$L", list) }

// TestRawCases sends bytes that no client library would send. It runs with and without buffers kept
// by idle connections.
func TestRawCases(t *testing.T) {
	t.Parallel()
	cases := allRawCases(t)
	s := apitest.Sample(t, state.Options{}, 3)
	address, stalled := apitest.Listen(t, s), apitest.ListenStalled(t, s)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			// The server waits for the rest of the request until the read timeout.
			if slices.Contains(c.answers, "408") || slices.Contains(c.answers, "none") {
				c.check(t, stalled, true)
			} else {
				c.check(t, address, false)
			}
		})
	}
}

func (c *rawCase) check(t *testing.T, address string, stalls bool) {
	conn := apitest.Dial(t, address)
	_, err := io.WriteString(conn, c.bytes(apitest.Target))
	if stalls && err == nil {
		err = conn.Conn.(*net.TCPConn).CloseWrite()
	}
	testkit.Must(t, err)
	for i, want := range c.answers {
		if want == "none" {
			break
		}
		method := "GET"
		if strings.Count(c.send, "HEAD ") == 1 && i == 1 {
			method = "HEAD"
		}
		response, err := http.ReadResponse(conn.Reader, &http.Request{Method: method})
		if err != nil {
			t.Fatalf("answer %d: %v", i, err)
		}
		body, err := io.ReadAll(response.Body)
		if err != nil || strconv.Itoa(response.StatusCode) != want {
			t.Errorf("answer %d: %d %q %v, want %s", i, response.StatusCode, body, err, want)
		}
		if response.StatusCode >= 400 && response.Header.Get("Content-Type") != contract.JSONType {
			t.Errorf("answer %d: %d of type %q", i, response.StatusCode, response.Header.Get("Content-Type"))
		}
	}
	status := conn.Get(apitest.Target)
	if closed := status == 0; closed != c.closed {
		t.Errorf("the connection is closed: %v, want %v (another request got status %d)", closed, c.closed, status)
	}
}

// TestEdgeRawCases sends the bytes of testdata/raw through nginx. nginx may be stricter or more
// lenient than we are. But it must never send us more requests than the client sent, never hang,
// and never answer one request with the answer to another, neither on the client's connection nor
// on the connections that it keeps open to us.
func TestEdgeRawCases(t *testing.T) {
	t.Parallel()
	g := startEdge(t, fronts[0], state.Options{})
	for i, c := range allRawCases(t) {
		t.Run(c.name, func(t *testing.T) { c.checkEdge(t, g, strconv.Itoa(i)) })
	}
}

// marked returns a list target that no cache has stored. The answer names the mark among the
// unknown parameters.
func marked(mark string) string { return apitest.Target + "&" + mark + "=1" }

// checkEdge sends a case, then a valid request on the same connection and one on another
// connection.
func (c *rawCase) checkEdge(t *testing.T, g *origin, number string) {
	requests := c.nginx
	for _, status := range c.answers {
		if status != "100" && c.nginx == 0 {
			requests++
		}
	}
	g.seen()
	conn := apitest.Dial(t, g.address)
	testkit.Must(t, conn.SetDeadline(time.Now().Add(testkit.Patience)))
	testkit.Value(io.WriteString(conn, c.bytes(marked("case"+number))))(t)
	for answers, open := 0, true; open && answers < requests; {
		method := "GET"
		if strings.Count(c.send, "HEAD ") == 1 && answers == 1 {
			method = "HEAD"
		}
		var a edgeAnswer
		if a, open = readEdge(t, conn, method); !open || a.status == http.StatusContinue {
			continue
		}
		answers++
		if a.status == http.StatusOK && strings.Contains(c.send, "$L") && !a.own("case"+number) {
			t.Errorf("answer %d belongs to the request of %q", answers, a.unknown)
		}
	}
	targets := g.seen()
	if len(targets) > requests {
		t.Errorf("the client sent %d requests, but the service received %q", requests, targets)
	}
	if a, answered := askNext(t, conn, "next"+number); answered && a.status == http.StatusOK && !a.own("next"+number) {
		t.Errorf("the next request on the connection got the answer to the request of %q", a.unknown)
	} else if answered && a.status != http.StatusOK && a.status != http.StatusBadRequest &&
		a.status != http.StatusRequestTimeout {
		t.Errorf("the next request on the connection got status %d", a.status)
	}
	a, answered := askNext(t, apitest.Dial(t, g.address), "other"+number)
	if !answered || a.status != http.StatusOK || !a.own("other"+number) {
		t.Errorf("a request on another connection got status %d and the answer to the request of %q", a.status,
			a.unknown)
	}
	for _, target := range append(targets, g.seen()...) {
		if _, path, _ := strings.Cut(target, " "); strings.HasPrefix(path, "/smuggled") {
			t.Errorf("the service received %q", target)
		}
	}
}

// edgeAnswer is the part of an answer that the checks use.
type edgeAnswer struct {
	status  int
	unknown string
}

// own reports whether this is the answer to the request with a mark.
func (a edgeAnswer) own(mark string) bool {
	return slices.Contains(strings.Split(a.unknown, ", "), mark)
}

// readEdge reads an answer; ok is false if the connection ends instead.
func readEdge(t *testing.T, conn apitest.Conn, method string) (a edgeAnswer, ok bool) {
	t.Helper()
	start, err := conn.Reader.Peek(5)
	var timeout net.Error
	switch {
	case errors.As(err, &timeout) && timeout.Timeout():
		t.Fatalf("neither an answer nor the end of the connection within %s", testkit.Patience)
	case len(start) == 0:
		return edgeAnswer{}, false
	// The answer to a request without a version has no header and ends with the connection.
	case string(start) != "HTTP/":
		testkit.Value(io.Copy(io.Discard, conn.Reader))(t)
		return edgeAnswer{}, true
	}
	response := testkit.Value(http.ReadResponse(conn.Reader, &http.Request{Method: method}))(t)
	testkit.Value(io.Copy(io.Discard, response.Body))(t)
	return edgeAnswer{response.StatusCode, response.Header.Get(contract.HeaderUnknown)}, true
}

// askNext sends a valid request with Connection: close and checks that it gets at most one answer.
// There is no answer if the connection has ended.
func askNext(t *testing.T, conn apitest.Conn, mark string) (edgeAnswer, bool) {
	t.Helper()
	testkit.Must(t, conn.SetDeadline(time.Now().Add(testkit.Patience)))
	if _, err := io.WriteString(conn,
		"GET "+marked(mark)+" HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"); err != nil {
		return edgeAnswer{}, false
	}
	a, answered := readEdge(t, conn, "GET")
	if extra, more := readEdge(t, conn, "GET"); answered && more {
		t.Errorf("an extra answer: %+v", extra)
	}
	return a, answered
}

func TestMain(m *testing.M) { apitest.Main(m) }
