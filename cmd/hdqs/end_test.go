package main_test

import (
	"bufio"
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
)

// keptCaller asks over one connection for as long as the server keeps it, then over the next, until nobody listens.
type keptCaller struct {
	address, request string
	asked, told      *atomic.Int64 // requests; answers that said they were the last
	late             *atomic.Int64 // requests that came when nobody could be expected to wait for them any more
	first            func()        // called after the first answer
}

// lastWait is how long a server that ends waits for the next request of a connection.
const lastWait = 100 * time.Millisecond

// run gives the fault of the first request that got no whole answer.
func (c *keptCaller) run() error {
	for {
		began := time.Now()
		conn, err := net.Dial("tcp", c.address)
		if err != nil {
			return nil
		}
		if err := c.ask(conn, began); err != nil {
			return err
		}
	}
}

// ask asks until an answer says that it is the last, or until a busy machine has let the server wait too long: it waits from when the last answer was on its
// way at the earliest, or from when the connection was made.
func (c *keptCaller) ask(conn net.Conn, from time.Time) error {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for n := 1; ; n++ {
		if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
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
			c.told.Add(1)
			if rest, err := io.ReadAll(in); err != nil || len(rest) > 0 {
				return fmt.Errorf("after the last answer: %q, %w", rest, err)
			}
			return nil
		}
	}
}

// TestEndOfKeptConnections sends SIGTERM while many callers ask over connections that they keep: each learns from an answer that it was the last of its
// connection, no connection ends otherwise, and no request stays without its answer.
func TestEndOfKeptConnections(t *testing.T) {
	for _, delay := range []string{"0s", "300ms"} {
		s := serve(t, "--shutdown-delay", delay, "--queue-wait", "30s")
		var asked, told, late atomic.Int64
		c := keptCaller{
			address: strings.TrimPrefix(s.base, "http://"), asked: &asked, told: &told, late: &late,
			request: "GET " + with("/api/v2/coordination-context/conflict-events?limit=20") + " HTTP/1.1\r\nHost: x\r\n\r\n",
		}
		var all, answered sync.WaitGroup
		answered.Add(50)
		for range 50 {
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
		if code != 0 || strings.Contains(s.said.String(), "did not end in time") {
			t.Errorf("--shutdown-delay %s: exit code %d\n%s", delay, code, s.said)
		}
		if told.Load()+late.Load() < 50 {
			t.Errorf("--shutdown-delay %s: %d answers said that they were the last, of 50 callers, of whom %d were late", delay, told.Load(), late.Load())
		}
		t.Logf("--shutdown-delay %s: %d requests, %d connections, %d late", delay, asked.Load(), told.Load(), late.Load())
	}
}
