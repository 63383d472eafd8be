package apitest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"hdqs/api"
	"hdqs/api/reply"
	"hdqs/internal/testkit"
)

// ListenSmall is Listen with small send buffers of connections, so that long answers wait for their
// clients.
func ListenSmall(tb testing.TB, s *api.Server, bytes int) string {
	return ListenFor(tb, func(l net.Listener) error { return s.Serve(smallBuffers{l, bytes}) })
}

type smallBuffers struct {
	net.Listener
	bytes int
}

func (l smallBuffers) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return c, c.(*net.TCPConn).SetWriteBuffer(l.bytes)
}

// Conn is a client connection with a reader.
type Conn struct {
	net.Conn
	Reader *bufio.Reader
}

// Dial connects to an address.
func Dial(tb testing.TB, address string) Conn {
	tb.Helper()
	conn := testkit.Value(net.Dial("tcp", address))(tb)
	tb.Cleanup(func() { conn.Close() })
	d := Conn{conn, bufio.NewReader(conn)}
	d.extend(tb)
	return d
}

// extend sets a new deadline. Tests that ask many times over one connection extend it for each
// request.
func (d Conn) extend(tb testing.TB) {
	tb.Helper()
	testkit.Must(tb, d.SetDeadline(time.Now().Add(testkit.Patience)))
}

// Get sends a request on an open connection and returns the status, or 0 if that fails.
func (d Conn) Get(target string) int {
	if _, err := fmt.Fprintf(d, "GET %s HTTP/1.1\r\nHost: a\r\n\r\n", target); err != nil {
		return 0
	}
	var status, length int
	for {
		line, err := d.Reader.ReadString('\n')
		if err != nil {
			return 0
		}
		fmt.Sscanf(line, "HTTP/1.1 %d", &status)        //nolint:errcheck // most lines do not match
		fmt.Sscanf(line, "Content-Length: %d", &length) //nolint:errcheck // most lines do not match
		if line == "\r\n" {
			break
		}
	}
	if _, err := d.Reader.Discard(length); err != nil {
		return 0
	}
	return status
}

// Raw sends bytes and returns the answer as received, with its body decoded.
func (d Conn) Raw(t *testing.T, method, request string) (answer string, closed bool) {
	t.Helper()
	d.extend(t)
	testkit.Value(io.WriteString(d, request))(t)
	var head strings.Builder
	length, coding := 0, ""
	for {
		line, err := d.Reader.ReadString('\n')
		if err != nil {
			t.Fatalf("%.200q: %v after %q", request, err, head.String())
		}
		head.WriteString(line)
		fmt.Sscanf(line, "Content-Length: %d", &length)   //nolint:errcheck // most lines do not match
		fmt.Sscanf(line, "Content-Encoding: %s", &coding) //nolint:errcheck // most lines do not match
		closed = closed || line == "Connection: close\r\n"
		if line == "\r\n" {
			break
		}
	}
	if method == "HEAD" {
		return head.String(), closed
	}
	body := make([]byte, length)
	testkit.Value(io.ReadFull(d.Reader, body))(t)
	body = testkit.Value(Decode(coding, body))(t)
	return head.String() + string(body), closed
}

// ShedBy returns how many requests a rule has refused.
func ShedBy(s *api.Server, rule string) int64 {
	for i := range reply.Rules {
		if reply.Rules[i].Rule == rule {
			return s.State.Shed[i].Load()
		}
	}
	panic(fmt.Sprintf("no rule %q", rule))
}

// CheckLongPage asks for a page that is streamed, over a network, in each coding, and with HEAD.
func CheckLongPage(t *testing.T, s *api.Server, target string, check func(body []byte)) {
	t.Helper()
	plain := s.Answer("GET", target, nil)
	if plain.Status != 200 || len(plain.Body) < 256<<10 {
		t.Fatalf("%s: %d, %d bytes", target, plain.Status, len(plain.Body))
	}
	check(plain.Body)
	if head := s.Answer("HEAD", target, nil); head.Status != 200 || Header(head, "Etag") != Header(plain, "Etag") {
		t.Errorf("HEAD: %d %v", head.Status, head.Header)
	}
	for _, coding := range []string{"gzip", "zstd"} {
		coded := s.Answer("GET", target, Fields("Accept-Encoding", coding))
		if body := Body(t, coded); len(body) != len(plain.Body) || Header(coded, "Content-Encoding") != coding {
			t.Errorf("%s: %d bytes of %d", coding, len(body), len(plain.Body))
		}
		if head := s.Answer("HEAD", target, Fields("Accept-Encoding", coding)); head.Status != 200 {
			t.Errorf("HEAD in %s: %d", coding, head.Status)
		}
	}
	address := Listen(t, s)
	for range 2 { // on one connection
		for _, coding := range []string{"identity", "gzip"} {
			request := testkit.Value(http.NewRequest("GET", "http://"+address+target, nil))(t)
			request.Header.Set("Accept-Encoding", coding)
			got := testkit.Value(http.DefaultClient.Do(request))(t)
			body := testkit.Value(io.ReadAll(got.Body))(t)
			got.Body.Close()
			if coding == "gzip" {
				body = Body(t, api.Answer{Body: body, Header: Fields("Content-Encoding", coding)})
			}
			testkit.Equal(t, len(body), len(plain.Body), "%s over a network bytes", coding)
		}
		head := testkit.Value(http.Head("http://" + address + target))(t)
		head.Body.Close()
	}
	var readers []net.Conn
	for range 9 {
		conn := testkit.Value(net.Dial("tcp", address))(t)
		defer conn.Close()
		testkit.Must(t, conn.(*net.TCPConn).SetReadBuffer(4<<10))
		testkit.Value(fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", target))(t)
		testkit.Value(conn.Read(make([]byte, 100)))(t)
		readers = append(readers, conn)
	}
	got, most := s.State.Budget.Bytes(), int64(len(readers))*(700<<10)
	if got > most || got == 0 && len(plain.Body) > 3<<20 {
		t.Errorf("%d slow readers hold %d bytes, want at most %d", len(readers), got, most)
	}
	for _, conn := range readers {
		conn.Close()
	}
	testkit.WaitFor(t, "the budget is free", func() bool { return s.State.Budget.Bytes() == 0 })
}
