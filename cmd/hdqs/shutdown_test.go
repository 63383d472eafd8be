package main_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"hdqs/internal/testkit"
)

// keepAliveCaller sends requests over one connection until the server closes it, then over the
// next, until there is no listener.
type keepAliveCaller struct {
	address, request string
	asked, closing   *atomic.Int64 // requests; answers with Connection: close
	late             *atomic.Int64 // requests that came after the server may have given up waiting for them
	first            func()        // called after the first answer
}

// lastWait is how long a server that shuts down waits for the next request of a connection.
const lastWait = 100 * time.Millisecond

// run returns an error for the first request without a complete answer.
func (c *keepAliveCaller) run() error {
	for {
		err := c.connect()
		if errors.Is(err, errNoListener) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

var errNoListener = errors.New("nobody listens")

// connect opens one connection and sends requests over it until it is closed.
func (c *keepAliveCaller) connect() error {
	began := time.Now()
	conn, err := net.Dial("tcp", c.address)
	if err != nil {
		return fmt.Errorf("%w: %w", errNoListener, err)
	}
	return c.ask(conn, began)
}

// ask sends requests until an answer closes the connection, or until a busy machine has let the
// server wait too long. The server waits from the last answer, or from the connection's start.
func (c *keepAliveCaller) ask(conn net.Conn, from time.Time) error {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for n := 1; ; n++ {
		if err := conn.SetDeadline(time.Now().Add(testkit.Patience)); err != nil {
			return err
		}
		c.asked.Add(1)
		begins := time.Now()
		_, err := io.WriteString(conn, c.request)
		silent := time.Since(from)
		from = begins
		var response *http.Response
		if err == nil {
			response, err = http.ReadResponse(in, nil)
		}
		switch {
		case err != nil && silent >= lastWait:
			c.late.Add(1)
			return nil
		case err != nil:
			return fmt.Errorf("request %d of a connection, after %s: %w", n, silent, err)
		}
		if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != 200 {
			return fmt.Errorf("request %d of a connection: %d, %w", n, response.StatusCode, err)
		}
		if n == 1 {
			c.first()
		}
		if response.Close {
			c.closing.Add(1)
			if rest, err := io.ReadAll(in); err != nil || len(rest) > 0 {
				return fmt.Errorf("after the closing answer: %q, %w", rest, err)
			}
			return nil
		}
	}
}

// TestShutdownOfKeepAliveConnections sends SIGTERM while many callers use persistent connections.
// Each connection ends with an answer that announces it, and every request gets its answer.
func TestShutdownOfKeepAliveConnections(t *testing.T) {
	parallel(t)
	const callers = 50
	for _, delay := range []string{"0s", "300ms"} {
		s := serve(t, "--shutdown-delay", delay)
		var asked, closing, late atomic.Int64
		c := keepAliveCaller{
			address: strings.TrimPrefix(s.base, "http://"), asked: &asked, closing: &closing, late: &late,
			request: "GET " + with(conflictPath+"?limit=20") + " HTTP/1.1\r\nHost: x\r\n\r\n",
		}
		var all, answered sync.WaitGroup
		answered.Add(callers)
		for range callers {
			all.Go(func() {
				c := c
				c.first = sync.OnceFunc(answered.Done)
				defer c.first()
				if err := c.run(); err != nil {
					t.Errorf("--shutdown-delay %s: %v", delay, err)
				}
			})
		}
		answered.Wait()
		time.Sleep(200 * time.Millisecond)
		s.signal(t, syscall.SIGTERM)
		code := s.wait(t)
		all.Wait()
		if code != 0 || s.logged("did not end in time") {
			t.Errorf("--shutdown-delay %s: exit code %d\n%s", delay, code, s.log)
		}
		if closing.Load()+late.Load() < callers {
			t.Errorf("--shutdown-delay %s: %d answers closed their connection, %d requests were late, want %d in all",
				delay, closing.Load(), late.Load(), callers)
		}
		t.Logf("--shutdown-delay %s: %d requests, %d connections, %d late",
			delay, asked.Load(), closing.Load(), late.Load())
	}
}
