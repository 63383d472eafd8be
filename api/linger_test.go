package api_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/state"
	"hdqs/api/wire"
	"hdqs/internal/testkit"
)

// unreadable returns requests of more than a megabyte that the server does not read to the end, and
// their statuses.
func unreadable() map[string]string {
	long := strings.Repeat("x", 1<<20)
	const get, post = "GET " + apitest.Target, "POST " + apitest.Target
	return map[string]string{
		post + " HTTP/1.1\r\nHost: a\r\nContent-Length: 1048576\r\n\r\n" + long:                    "413",
		chunkedPost + "100000\r\n" + long + "\r\n0\r\n\r\n":                                        "413",
		chunkedPost + "1;" + long + "\r\nx\r\n0\r\n\r\n":                                           "413",
		get + "&x=" + long + " HTTP/1.1\r\nHost: a\r\n\r\n":                                        "414",
		get + " HTTP/1.1\r\nHost: a\r\nX: " + long + "\r\n\r\n":                                    "431",
		get + " HTTP/1.1\r\nHost: a b\r\n\r\n" + long:                                              "400",
		post + " HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n" + long:                "400",
		post + " HTTP/3.0\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello" + long:                     "505",
		post + " HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nno size\r\n" + long:      "400",
		plainGet[:len(plainGet)-2] + "Content-Length: 1025\r\nExpect: 100-continue\r\n\r\n" + long: "413",
	}
}

// lingeringServer returns a server whose connections linger for as long as their clients need.
func lingeringServer(t *testing.T, o state.Options) *api.Server {
	s := apitest.Sample(t, o, 3)
	limits := s.ConnectionLimits()
	limits.LingerTime = testkit.Patience
	s.Lists.Callers = wire.NewConnections(limits)
	return s
}

// TestAnswerToUnreadRequest checks that a client that sends a whole request before it reads
// receives the answer and not a broken connection.
func TestAnswerToUnreadRequest(t *testing.T) {
	t.Parallel()
	for _, keep := range []bool{false, true} {
		t.Run(fmt.Sprintf("keep=%v", keep), func(t *testing.T) {
			t.Parallel()
			s := lingeringServer(t, state.Options{KeepBuffers: keep})
			address := apitest.Listen(t, s)
			for request, want := range unreadable() {
				for range 3 {
					conn := apitest.Dial(t, address)
					if _, err := io.WriteString(conn, request); err != nil {
						t.Fatalf("%.80q: %v", request, err)
					}
					if status, err := conn.ReadWhole(); fmt.Sprint(status) != want || err != nil {
						t.Fatalf("%.80q: %d %v, want %s", request, status, err, want)
					}
					conn.Close()
				}
			}
			testkit.WaitFor(t, "all connections to be closed", func() bool {
				return s.Lists.Callers.Count()+s.Lists.Callers.Lingering() == 0
			})
		})
	}
}
