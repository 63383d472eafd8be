package api

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"hdqs/api/state"
	"hdqs/api/wire"
	"hdqs/internal/testkit"
)

// unreadable returns requests of more than a megabyte that the server does not read to the end, and
// their statuses.
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

// lingeringServer returns a server whose connections linger for as long as their clients need.
func lingeringServer(t *testing.T, o state.Options) *Server {
	s := sampleServer(t, o, 3)
	limits := s.connectionLimits()
	limits.LingerTime = testkit.Patience
	s.Lists.Callers = wire.NewConnections(limits)
	return s
}

// readWhole reads an answer and checks that the connection ends after it.
func (c testConn) readWhole() (status int, err error) {
	response, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		return 0, err
	}
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return 0, err
	}
	if rest, err := io.ReadAll(c.reader); err != nil || len(rest) > 0 {
		return 0, fmt.Errorf("after the answer: %.40q, %w", rest, err)
	}
	return response.StatusCode, nil
}

// TestAnswerToUnreadRequest checks that a client that sends a whole request before it reads
// receives the answer and not a broken connection.
func TestAnswerToUnreadRequest(t *testing.T) {
	t.Parallel()
	for _, keep := range []bool{false, true} {
		t.Run(fmt.Sprintf("keep=%v", keep), func(t *testing.T) {
			t.Parallel()
			s := lingeringServer(t, state.Options{KeepBuffers: keep})
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
			waitFor(t, "all connections to be closed", func() bool {
				return s.Lists.Callers.Count()+s.Lists.Callers.Lingering() == 0
			})
		})
	}
}
