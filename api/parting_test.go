package api

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// unreadable are requests of more than a megabyte, none of which is read whole, and their answers.
func unreadable() map[string]string {
	long := strings.Repeat("x", 1<<20)
	return map[string]string{
		"POST " + listTarget + " HTTP/1.1\r\nHost: a\r\nContent-Length: 1048576\r\n\r\n" + long:               "413",
		chunkedPost + "100000\r\n" + long + "\r\n0\r\n\r\n":                                                   "413",
		chunkedPost + "1;" + long + "\r\nx\r\n0\r\n\r\n":                                                      "413",
		"GET " + listTarget + "&x=" + long + " HTTP/1.1\r\nHost: a\r\n\r\n":                                   "414",
		"GET " + listTarget + " HTTP/1.1\r\nHost: a\r\nX: " + long + "\r\n\r\n":                               "431",
		"GET " + listTarget + " HTTP/1.1\r\nHost: a b\r\n\r\n" + long:                                         "400",
		"POST " + listTarget + " HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n" + long:           "400",
		"POST " + listTarget + " HTTP/3.0\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello" + long:                "505",
		"POST " + listTarget + " HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nno size\r\n" + long: "400",
		plainGet[:len(plainGet)-2] + "Content-Length: 1025\r\nExpect: 100-continue\r\n\r\n" + long:            "413",
	}
}

// patient is a server that gives clients all the time they need to leave.
func patient(t *testing.T, o Options) *Server {
	s := testServer(t, o, sampleTables(t, 3))
	s.callers.partingTime = time.Minute
	return s
}

// readWhole reads an answer and the end of the connection.
func (c dialled) readWhole() (status int, err error) {
	response, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		return 0, err
	}
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return 0, err
	}
	if rest, err := io.ReadAll(c.reader); err != nil || len(rest) > 0 {
		return 0, fmt.Errorf("then %.40q, %w", rest, err)
	}
	return response.StatusCode, nil
}

// TestAnswerBeforeTheRest: a client that sends all of a request before it reads gets the answer, and no broken connection.
func TestAnswerBeforeTheRest(t *testing.T) {
	for _, keep := range []bool{false, true} {
		s := patient(t, Options{KeepBuffers: keep})
		address := listen(t, s)
		for request, want := range unreadable() {
			for range 3 {
				conn := dial(t, address)
				if _, err := io.WriteString(conn, request); err != nil {
					t.Fatalf("%.80q: %v", request, err)
				}
				if status, err := conn.readWhole(); fmt.Sprint(status) != want || err != nil {
					t.Fatalf("%.80q: %d %v, want %s", request, status, err, want)
				}
				conn.Close()
			}
		}
		waitFor(t, "all places", func() bool { return s.callers.count()+len(s.callers.parting) == 0 })
	}
}

// badRequest is answered at once, whatever follows.
const badRequest = "GET / HTTP/1.1\r\n\r\n"

// partingClient sends a bad request, reads the answer and stays.
func partingClient(t *testing.T, address string) dialled {
	t.Helper()
	conn := dial(t, address)
	if _, err := io.WriteString(conn, badRequest); err != nil {
		t.Fatal(err)
	}
	if status, err := conn.readWhole(); status != 400 || err != nil {
		t.Fatalf("%d %v", status, err)
	}
	return conn
}

// TestPartingPlace: a connection that ends keeps its place until its client has left.
func TestPartingPlace(t *testing.T) {
	s := patient(t, Options{Connections: 1, ConnectionsPerAddress: 1})
	address := listen(t, s)
	conn := partingClient(t, address)
	if got := exchange(t, address, "GET", plainGet); got.Status != 503 {
		t.Errorf("%d beside a connection that ends", got.Status)
	}
	conn.Close()
	over := func() bool { return s.callers.count()+len(s.callers.parting) == 0 }
	waitFor(t, "the place", over)
	if got := exchange(t, address, "GET", plainGet); got.Status != 200 {
		t.Errorf("%d after it", got.Status)
	}
	waitFor(t, "the other's end", over)
	if len(s.callers.each) > 0 {
		t.Errorf("%v are remembered", s.callers.each)
	}
}

// TestPartingBounds: a client that stays is left when there are too many such, when its time is over, and when it sends too much.
func TestPartingBounds(t *testing.T) {
	s := patient(t, Options{})
	address, read := listenCounted(t, s)
	over := func() bool { return s.callers.count() == 0 }

	for range partingAtOnce {
		s.callers.parting <- struct{}{}
	}
	partingClient(t, address)
	waitFor(t, "the end of one too many", over)
	for range partingAtOnce {
		<-s.callers.parting
	}

	conn := partingClient(t, address)
	before := read.Load()
	var err error
	for more := make([]byte, 100_000); err == nil; {
		_, err = conn.Write(more)
	}
	var network net.Error
	if errors.As(err, &network) && network.Timeout() {
		t.Error("a client that sends without an end is read without an end")
	}
	waitFor(t, "the end of one that sends", over)
	if n := read.Load() - before; n < partingBytes/2 || n > partingBytes {
		t.Errorf("%d bytes were read of one that sends", n)
	}

	s.callers.partingTime = 10 * time.Millisecond
	partingClient(t, address)
	waitFor(t, "the end of one that waits", over)
	if len(s.callers.parting) > 0 {
		t.Error("a place is not given back")
	}
}

// TestPartingEnd: the end of the server waits for connections that end already, and takes no client's answer.
func TestPartingEnd(t *testing.T) {
	s := patient(t, Options{})
	address := listen(t, s)
	conn := dial(t, address)
	if _, err := io.WriteString(conn, badRequest); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "a bad request", func() bool { return len(s.callers.parting) == 1 })
	ended := endSoon(s)
	waitFor(t, "the listener's end", func() bool {
		other, err := net.Dial("tcp", address)
		if err == nil {
			other.Close()
		}
		return err != nil
	})
	waitFor(t, "one connection that is left, and woken", func() bool { return s.callers.count() == 1 })
	if _, err := io.WriteString(conn, strings.Repeat("x", 1<<20)); err != nil {
		t.Error(err)
	}
	if status, err := conn.readWhole(); status != 400 || err != nil {
		t.Errorf("%d %v", status, err)
	}
	select {
	case err := <-ended:
		t.Errorf("ended before its last connection: %v", err)
	default:
	}
	conn.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
