package api

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"hdqs/api/reply"
	"hdqs/internal/testkit"
)

// goodIdentifier is $ID in text cases.
const goodIdentifier = "bXktYXBwOm1lQGV4YW1wbGUub3Jn" // my-app:me@example.org

func (a *Answer) field(name string) (string, bool) {
	for _, f := range a.Header {
		if strings.EqualFold(f.Name, name) {
			return f.Value, true
		}
	}
	return "", false
}

// headerOf is a header field of an answer, empty without it.
func headerOf(a Answer, name string) string {
	value, _ := a.field(name)
	return value
}

// sorted normalizes the header fields of TCP and of Answer, without those that belong to the
// connection.
func sorted(fields []reply.HeaderField) []string {
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

// listen serves on a free port of this machine and returns its address.
func listen(tb testing.TB, s *Server) string { return listenFor(tb, s.Serve) }

// waitFor polls until a condition holds.
var waitFor = testkit.WaitFor

// listenStalled is like listen, but when a client has sent all that it will send, its connection
// reaches the read timeout. So a request that stays incomplete is cut by an event: any time that
// is short enough to wait for would also cut complete requests on a busy machine.
func listenStalled(tb testing.TB, s *Server) string {
	return listenFor(tb, func(l net.Listener) error { return s.Serve(stalledListener{l}) })
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

// send sends a request. Nothing follows one that has no end, which listenStalled waits for.
func send(conn net.Conn, request string) {
	_, err := io.WriteString(conn, request) // fails if the server answers before it has read all
	if c, ok := conn.(*net.TCPConn); ok && err == nil && request != "" && !strings.Contains(request, "\r\n\r\n") {
		_ = c.CloseWrite()
	}
}

// listenAdmin starts the admin listener.
func listenAdmin(tb testing.TB, s *Server) string { return listenFor(tb, s.ServeAdmin) }

func listenFor(tb testing.TB, serve func(net.Listener) error) string {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	go serve(l) //nolint:errcheck // returns when the listener is closed
	tb.Cleanup(func() { l.Close() })
	return l.Addr().String()
}

// ask sends a request exactly as given; an HTTP client library would normalize it.
func ask(tb testing.TB, address, method, target string, header []reply.HeaderField) Answer {
	tb.Helper()
	request := method + " " + target + " HTTP/1.1\r\nHost: test.example\r\nConnection: close\r\n"
	for _, f := range header {
		request += f.Name + ": " + f.Value + "\r\n"
	}
	return exchange(tb, address, method, request+"\r\n")
}

func exchange(tb testing.TB, address, method, request string) Answer {
	tb.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		tb.Fatal(err)
	}
	defer conn.Close()
	testkit.Must(tb, conn.SetDeadline(time.Now().Add(testkit.Patience)))
	go send(conn, request)
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		tb.Fatalf("%.80q: %v", request, err)
	}
	defer response.Body.Close()
	a := Answer{Status: response.StatusCode}
	for name, values := range response.Header {
		for _, v := range values {
			a.Header = append(a.Header, reply.HeaderField{Name: name, Value: v})
		}
	}
	if a.Body, err = io.ReadAll(response.Body); err != nil {
		tb.Fatal(err)
	}
	return a
}

// plainBody returns the decoded body of an answer.
func plainBody(t *testing.T, a Answer) []byte {
	t.Helper()
	body, err := decodeBody(headerOf(a, "Content-Encoding"), a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return body
}
