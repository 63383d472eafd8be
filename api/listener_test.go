package api

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/valyala/fasthttp"
)

// openListener is a listener without a server.
func openListener(l net.Listener) *publicListener {
	return newConnections(0, 0, new(shedCounts), nil, nil).listener(l, newFlight(0))
}

// TestHeldWrites writes pieces of all lengths around the write buffer's, reads in between, closes, and compares what arrives.
func TestHeldWrites(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for range 50 {
		client, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		conn, err := openListener(l).Accept()
		if err != nil {
			t.Fatal(err)
		}
		var want bytes.Buffer
		arrived := make(chan []byte)
		go func() {
			got, _ := io.ReadAll(client)
			arrived <- got
		}()
		for range r.IntN(30) {
			p := make([]byte, []int{1, 100, writeBuffer - 1, writeBuffer, writeBuffer, writeBuffer, writeBuffer + 1, 100_000}[r.IntN(8)])
			for i := range p {
				p[i] = byte(r.Uint32())
			}
			want.Write(p)
			n, err := conn.Write(p)
			clear(p) // the library uses its buffer again
			if n != len(p) || err != nil {
				t.Fatalf("%d of %d bytes written: %v", n, len(p), err)
			}
		}
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
		if got := <-arrived; !bytes.Equal(got, want.Bytes()) {
			t.Fatalf("%d bytes arrived, %d were written, or others", len(got), want.Len())
		}
		client.Close()
	}
}

// TestHeldUntilRead: what is held goes out when the connection waits for the next request.
func TestHeldUntilRead(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	conn, err := openListener(l).Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write(make([]byte, writeBuffer)); err != nil {
		t.Fatal(err)
	}
	go conn.Read(make([]byte, 1))
	if n, err := io.ReadFull(client, make([]byte, writeBuffer)); err != nil {
		t.Fatalf("%d bytes: %v", n, err)
	}
}

// slimListener gives connections so little room, in bytes, for what they send that long answers wait for their clients.
type slimListener struct {
	net.Listener
	room int
}

func (l slimListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return c, c.(*net.TCPConn).SetWriteBuffer(l.room)
}

// TestLentBodies: answers of many lengths and codings, asked for one behind the other and several at once on one connection, by clients that read at
// different speeds: each arrives as it was made, whoever's buffer it was made in.
func TestLentBodies(t *testing.T) {
	for _, keep := range []bool{false, true} { // idle connections their buffers
		s := testServer(t, Options{KeepBuffers: keep, CacheBytes: -1, QueueWait: 10 * time.Second}, sampleTables(t, 3000))
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go s.Serve(slimListener{l, 4 << 10}) //nolint:errcheck // ends with the listener
		t.Cleanup(func() { l.Close() })
		limits := []int{0, 1, 5, 100, 127, 128, 700, 1500}
		want := map[string][]byte{}
		for _, limit := range limits {
			target := fmt.Sprintf("%s&limit=%d", listTarget, limit)
			want[target] = s.Answer("GET", target, nil).Body
		}
		var all sync.WaitGroup
		for client := range 12 {
			all.Go(func() {
				r := rand.New(rand.NewPCG(uint64(client), 7))
				for range 4 {
					if err := askSeveral(r, l.Addr().String(), limits, want); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
	}
}

// askSeveral asks a few times for some pages at once over one connection, which may end with the last of them.
func askSeveral(r *rand.Rand, address string, limits []int, want map[string][]byte) error {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	in := bufio.NewReader(conn)
	for again := true; again; again = r.IntN(3) > 0 {
		var asked []string
		var requests strings.Builder
		for more := 1 + r.IntN(4); more > 0; more-- {
			target := fmt.Sprintf("%s&limit=%d", listTarget, limits[r.IntN(len(limits))])
			asked = append(asked, target)
			fmt.Fprintf(&requests, "GET %s HTTP/1.1\r\nHost: a\r\nAccept-Encoding: %s\r\n", target, []string{"identity", "gzip", "zstd"}[r.IntN(3)])
			if more == 1 && r.IntN(4) == 0 {
				requests.WriteString("Connection: close\r\n")
			}
			requests.WriteString("\r\n")
		}
		if _, err := io.WriteString(conn, requests.String()); err != nil {
			return err
		}
		time.Sleep(time.Duration(r.IntN(3)) * time.Millisecond)
		for i, what := range asked {
			response, err := http.ReadResponse(in, nil)
			if err != nil {
				return fmt.Errorf("%s: %w", what, err)
			}
			body, err := io.ReadAll(response.Body)
			if err == nil {
				body, err = decoded(response.Header.Get("Content-Encoding"), body)
			}
			if err != nil || !bytes.Equal(body, want[what]) {
				return fmt.Errorf("%s: %d bytes arrived, want %d, or others: %v", what, len(body), len(want[what]), err)
			}
			if response.Close && i == len(asked)-1 {
				return nil
			}
		}
	}
	return nil
}

// TestLentUntil: a connection keeps its buffer from answer to answer of one length, and has none when it waits or is over.
func TestLentUntil(t *testing.T) {
	a, b := net.Pipe()
	defer b.Close()
	c := &lineConn{Conn: a, all: newConnections(0, 0, new(shedCounts), nil, nil), flight: newFlight(0)}
	short := c.lend(&shortBodies)
	if c.lend(&shortBodies) != short {
		t.Error("another buffer for an answer of the same length")
	}
	if long := c.lend(&longBodies); long == short || long.pool != &longBodies {
		t.Error("a short buffer for a long answer")
	}
	go b.Write([]byte("x"))
	if _, err := c.Read(make([]byte, 10)); err != nil || c.body != nil {
		t.Errorf("it reads and has %v: %v", c.body, err)
	}
	c.lend(&longBodies)
	noteState(c, fasthttp.StateIdle)
	if c.body == nil {
		t.Error("it is not over and has none")
	}
	noteState(c, fasthttp.StateClosed)
	if c.body != nil {
		t.Error("it is over and has one")
	}
}
