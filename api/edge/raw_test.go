package edge_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

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
