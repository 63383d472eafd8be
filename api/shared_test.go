package api

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"hdqs/api/reply"
	"hdqs/api/state"
)

// slowClient pipelines several requests for a page and reads nothing.
func slowClient(t *testing.T, address, target string, times int) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.(*net.TCPConn).SetReadBuffer(2 << 10); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, strings.Repeat("GET "+target+" HTTP/1.1\r\nHost: a\r\nAccept-Encoding: "+
		"gzip\r\n\r\n", times)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// TestSharedBytesInFlight checks that clients that do not read a cached page count towards the byte
// budget with the memory that each of them occupies. When there are too many, other clients are
// refused. When they have gone, no bytes are in flight.
func TestSharedBytesInFlight(t *testing.T) {
	t.Parallel()
	s := testServer(t, state.Options{InflightBytes: 1 << 20},
		[]*testTable{numberedLocations(20_000, nil)})
	address := listenFor(t, func(l net.Listener) error { return s.Serve(smallBufferListener{l, 4 << 10}) })
	target := "/api/v2/metadata/location?app_identifier=" + goodIdentifier
	gzip := []reply.HeaderField{{Name: "Accept-Encoding", Value: "gzip"}}
	var page Answer
	for range 3 {
		page = ask(t, address, "GET", target, gzip)
	}
	if found := s.Bodies.Counts(); page.Status != 200 || found.Hits != 1 {
		t.Fatalf("status %d, %d hits", page.Status, found.Hits)
	}
	waitFor(t, "the answers to be read", func() bool { return s.Budget.Bytes() == 0 })
	refused := func() int64 { return s.shedBy(reply.RuleBytes) }
	var slow []net.Conn
	for refused() == 0 && len(slow) < 100 {
		before := s.Bodies.Counts().Hits
		slow = append(slow, slowClient(t, address, target, 50))
		waitFor(t, "its first answer", func() bool { return s.Bodies.Counts().Hits > before || refused() > 0 })
	}
	if refused() == 0 {
		t.Fatalf("%d clients do not read %d bytes each; %d bytes are in flight, and no client is refused", len(slow),
			len(page.Body), s.Budget.Bytes())
	}
	if got := ask(t, address, "GET", target, gzip); got.Status != 503 || !bytes.Contains(got.Body,
		[]byte(reply.RuleBytes)) {
		t.Errorf("another client: %d %.100s", got.Status, got.Body)
	}
	for _, c := range []struct {
		method string
		header []reply.HeaderField
		status int
	}{
		{"OPTIONS", gzip, 204},
		{"HEAD", nil, 200},
		{"HEAD", gzip, 503}, // its length is known only after rendering
	} {
		if got := ask(t, address, c.method, target, c.header); got.Status != c.status {
			t.Errorf("%s %v: %d, want %d", c.method, c.header, got.Status, c.status)
		}
	}
	for _, conn := range slow {
		conn.Close()
	}
	waitFor(t, "the connections to be closed", func() bool { return s.Budget.Bytes() == 0 })
	if got := ask(t, address, "GET", target, gzip); got.Status != 200 || !bytes.Equal(got.Body, page.Body) {
		t.Errorf("after that: status %d, %d bytes", got.Status, len(got.Body))
	}
}

// shedBy returns how many requests a rule has refused.
func (s *Server) shedBy(rule string) int64 {
	for i := range reply.Rules {
		if reply.Rules[i].Rule == rule {
			return s.Shed[i].Load()
		}
	}
	panic(fmt.Sprintf("no rule %q", rule))
}
