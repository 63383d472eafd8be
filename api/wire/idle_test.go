//go:build !race

package wire_test

import (
	"io"
	"net"
	"runtime"
	"testing"
	"time"

	"hdqs/api/apitest"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

// TestIdleConnections measures the memory of an idle connection after an answer. 10,000 of them may
// use 300 MB, including the client's side, which is in this process too. Kernel buffers are not
// counted.
func TestIdleConnections(t *testing.T) {
	const (
		connections = 1500
		budget      = 300 << 20 / 10000
	)
	s := apitest.Sample(t, state.Options{}, 200)
	address := apitest.Listen(t, s)
	used := func() int64 {
		for range 3 {
			runtime.GC()
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapInuse + m.StackInuse)
	}
	// Warm up, so that one-time allocations are not counted.
	if got := apitest.Ask(t, address, "GET", apitest.Target, nil); got.Status != 200 {
		t.Fatal(got.Status)
	}
	before := used()
	var all []net.Conn
	answer := make([]byte, 64<<10)
	for range connections {
		conn, err := net.Dial("tcp", address)
		testkit.Must(t, err)
		defer conn.Close()
		all = append(all, conn)
		_, err = io.WriteString(conn, "GET "+apitest.Target+"&limit=20 HTTP/1.1\r\nHost: a\r\n\r\n")
		testkit.Must(t, err)
		if n, err := conn.Read(answer); err != nil || n < 200 {
			t.Fatal(n, err)
		}
	}
	// The last connections have been answered, but may not be idle yet.
	each := (used() - before) / connections
	for end := time.Now().Add(time.Minute); each > budget && time.Now().Before(end); {
		time.Sleep(50 * time.Millisecond)
		each = (used() - before) / connections
	}
	t.Logf("%d bytes per connection", each)
	if each > budget {
		t.Errorf("%d bytes per connection, want at most %d", each, budget)
	}
	runtime.KeepAlive(all)
}
