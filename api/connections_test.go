package api_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/state"
	"hdqs/api/wire"
	"hdqs/internal/testkit"
)

// These repeat unexported constants of package wire.
const (
	refusedAtOnce = 512                    // connections over a limit that may linger to receive their 503
	drainWait     = 100 * time.Millisecond // how long a draining connection waits for one more request
	maxLingerRead = 4 << 20                // bytes that are read from a lingering connection
)

const plainGet = "GET " + apitest.Target + " HTTP/1.1\r\nHost: a\r\n\r\n"

// TestConnectionLimit checks what api adds to the limits of package wire: a connection over one
// gets the same answer as any other 503, whatever it sends, and is counted as one.
func TestConnectionLimit(t *testing.T) {
	t.Parallel()
	for rule, o := range map[string]state.Options{
		"connections":                {Connections: 1},
		"connections of one address": {ConnectionsPerAddress: 1},
	} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			s := apitest.Sample(t, o, 3)
			address, admin := apitest.Listen(t, s), apitest.ListenAdmin(t, s)
			held := apitest.Dial(t, address)
			if status := held.Get(apitest.Target); status != 200 {
				t.Fatalf("status %d within the limit", status)
			}
			body := `{"detail":"Too much is asked at once; try again after Retry-After","rule":"` + rule + `"}`
			for _, request := range []string{plainGet, "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n", ""} {
				want := body
				if strings.HasPrefix(request, "HEAD") {
					want = ""
				}
				if got := unreadAnswer(t, address, "", request); got.Status != 503 || string(got.Body) != want {
					t.Errorf("%.5q: %d %s", request, got.Status, got.Body)
				}
			}
			word, _, _ := strings.Cut(strings.TrimPrefix(rule, "connections of one "), " ")
			m := apitest.Metrics(t, admin)
			if m[fmt.Sprintf("hdqs_http_shed_total{reason=%q}", word)] != 3 || m["hdqs_http_connections"] != 1 ||
				m[`hdqs_http_requests_total{code="503",endpoint="other",format="other"}`] != 3 {
				t.Errorf("wrong metrics: %v", m)
			}
			testkit.Equal(t, held.Get(apitest.Target), 200, "status on the open connection")
		})
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

// TestRefusedClients checks that ordinary clients over the limit always receive the 503 and
// never a broken connection, also when there are many of them. Silent connections must not delay
// the refusal of others.
func TestRefusedClients(t *testing.T) {
	s := lingeringServer(t, state.Options{Connections: 1}) // a refused connection that is silent stays for long
	address := apitest.Listen(t, s)
	admitted := apitest.Dial(t, address)
	if status := admitted.Get(apitest.Target); status != 200 {
		t.Fatal(status)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: testkit.Patience}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			for range 20 {
				response, err := client.Get("http://" + address + apitest.Target)
				if err != nil {
					t.Error(err)
					return
				}
				body, err := io.ReadAll(response.Body)
				response.Body.Close()
				if err != nil || response.StatusCode != 503 || !strings.Contains(string(body), `"rule":"connections"`) {
					t.Errorf("%d %q %v", response.StatusCode, body, err)
				}
			}
		})
	}
	all.Wait()
	var silent []net.Conn
	for range refusedAtOnce + 50 {
		conn := testkit.Value(net.Dial("tcp", address))(t)
		defer conn.Close()
		silent = append(silent, conn)
	}
	for i, conn := range silent {
		testkit.Must(t, conn.SetReadDeadline(time.Now().Add(testkit.Patience)))
		if answer, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 503 ") {
			t.Fatalf("connection %d: %.30q %v", i, answer, err)
		}
	}
	testkit.Equal(t, admitted.Get(apitest.Target), 200, "the admitted connection: status")
}

// startShutdown starts to shut a server down and returns a channel for the result.
func startShutdown(s *api.Server) <-chan error {
	ended := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), testkit.Patience)
		defer cancel()
		ended <- s.Shutdown(ctx)
	}()
	return ended
}

// TestRequestDuringShutdown checks that a request that arrives during the drain wait of a shutdown
// is answered in full, with Connection: close.
func TestRequestDuringShutdown(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 3)
	limits := s.ConnectionLimits()
	limits.DrainWait = testkit.Patience // longer than this test takes to send its requests
	s.Lists.Callers = wire.NewConnections(limits)
	address := apitest.Listen(t, s)
	busy, fresh := apitest.Dial(t, address), apitest.Dial(t, address)
	if status := busy.Get(apitest.Target); status != 200 {
		t.Fatal(status)
	}
	testkit.WaitFor(t, "two connections", func() bool { return s.Lists.Callers.Count() == 2 })
	ended := startShutdown(s)
	testkit.WaitFor(t, "the shutdown to begin", s.Lists.Callers.Draining)
	time.Sleep(drainWait / 4)
	for _, conn := range []apitest.Conn{busy, fresh} {
		if answer, closed := conn.Raw(t, "GET", plainGet); !strings.HasPrefix(answer, "HTTP/1.1 200 ") ||
			!closed {
			t.Errorf("a request during shutdown: %.60q, close: %v", answer, closed)
		}
		if rest, err := io.ReadAll(conn.Reader); err != nil || len(rest) > 0 {
			t.Errorf("after the answer: %.40q, %v", rest, err)
		}
	}
	testkit.Must(t, <-ended)
	if _, err := net.Dial("tcp", address); err == nil {
		t.Error("it still listens after Shutdown")
	}
}

// TestPartialRequestDuringShutdown checks that a shutdown closes idle connections without sending
// anything, but waits for the rest of a request that has begun to arrive and answers it in full.
func TestPartialRequestDuringShutdown(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 3)
	limits := s.ConnectionLimits()
	limits.DrainWait = time.Second // in which a busy machine reads what has arrived
	s.Lists.Callers = wire.NewConnections(limits)
	address := apitest.Listen(t, s)
	idle, half, unused := apitest.Dial(t, address), apitest.Dial(t, address), apitest.Dial(t, address)
	for _, conn := range []apitest.Conn{idle, half} {
		if status := conn.Get(apitest.Target); status != 200 {
			t.Fatal(status)
		}
	}
	testkit.Value(io.WriteString(half, plainGet[:30]))(t)
	testkit.WaitFor(t, "three connections", func() bool { return s.Lists.Callers.Count() == 3 })
	ended := startShutdown(s)
	testkit.WaitFor(t, "the shutdown to begin", s.Lists.Callers.Draining)
	time.Sleep(2 * limits.DrainWait)
	if answer, closed := half.Raw(t, "GET", plainGet[30:]); !strings.HasPrefix(answer, "HTTP/1.1 200 ") ||
		!closed {
		t.Errorf("a request completed during shutdown: %.60q, close: %v", answer, closed)
	}
	for _, conn := range []apitest.Conn{idle, unused, half} {
		if rest, err := io.ReadAll(conn.Reader); err != nil || len(rest) > 0 {
			t.Errorf("before the end of the connection: %.40q, %v", rest, err)
		}
	}
	testkit.Must(t, <-ended)
}

// TestDrain checks that a draining server closes each connection after its next answer, and still
// accepts new connections.
func TestDrain(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 3)
	address := apitest.Listen(t, s)
	conn := apitest.Dial(t, address)
	if answer, closed := conn.Raw(t, "GET", plainGet); !strings.HasPrefix(answer, "HTTP/1.1 200 ") || closed {
		t.Errorf("before Drain: %.60q, close: %v", answer, closed)
	}
	s.Drain()
	for _, conn := range []apitest.Conn{conn, apitest.Dial(t, address)} {
		if answer, closed := conn.Raw(t, "GET", plainGet); !strings.HasPrefix(answer, "HTTP/1.1 200 ") || !closed {
			t.Errorf("draining: %.60q, close: %v", answer, closed)
		}
		if rest, err := io.ReadAll(conn.Reader); err != nil || len(rest) > 0 {
			t.Errorf("draining: after the answer: %.40q, %v", rest, err)
		}
	}
}

// TestHalfRequests: clients that send a part of a long request hold its buffer until it is
// complete. When they hold as many as there may be, more of them are refused, and short requests
// are answered.
func TestHalfRequests(t *testing.T) {
	t.Parallel()
	const most = 2
	s := apitest.Sample(t, state.Options{InflightBytes: 2 * most * api.ReadBuffer}, 3)
	address := apitest.Listen(t, s)
	head := "GET " + apitest.Target + " HTTP/1.1\r\nHost: a\r\nX-Long: " + strings.Repeat("a", 2000)
	held := s.Lists.Callers.Waiting
	var half []apitest.Conn
	for n := range int64(most) {
		half = append(half, apitest.Dial(t, address))
		testkit.Value(io.WriteString(half[n], head))(t)
		testkit.WaitFor(t, "a request that is not complete", func() bool { return held() == (n+1)*api.ReadBuffer })
	}
	refused := apitest.Dial(t, address)
	testkit.Value(io.WriteString(refused, head))(t)
	if body, _ := io.ReadAll(refused.Reader); !bytes.Contains(body,
		[]byte(`"rule":"requests that are not complete"`)) ||
		!bytes.HasPrefix(body, []byte("HTTP/1.1 503 ")) {
		t.Errorf("got %s", body)
	}
	testkit.Equal(t, apitest.Ask(t, address, "GET", apitest.Target, nil).Status, 200, "a short request")
	testkit.Value(io.WriteString(half[0], "\r\n\r\n"))(t)
	if line, _ := half[0].Reader.ReadString('\n'); line != "HTTP/1.1 200 OK\r\n" {
		t.Errorf("a request that was completed: %q", line)
	}
	half[1].Close()
	testkit.WaitFor(t, "the buffers", func() bool { return held() == 0 })
}
