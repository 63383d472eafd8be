package wire

import (
	"errors"
	"net"
	"net/netip"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/valyala/fasthttp"

	"hdqs/internal/testkit"
)

// TestClosedTwice checks that closing a connection twice frees only one slot.
func TestClosedTwice(t *testing.T) {
	t.Parallel()
	n := NewConnections(Options{Connections: 1, PerClient: 1, Budget: NewBudget(0)})
	a, b := net.Pipe()
	defer b.Close()
	first, second := n.wrap(a), n.wrap(a)
	if n.admit(first) != "" || n.admit(second) != RuleConnections {
		t.Fatal("the limit does not admit exactly one connection")
	}
	first.Close()
	if n.admit(second) != "" {
		t.Fatal("no slot after the first connection was closed")
	}
	first.Close()
	if n.Count() != 1 || n.admit(first) != RuleConnections {
		t.Error("the second Close freed a slot")
	}
}

// addressed is a connection with a given remote address.
type addressed struct {
	net.Conn
	from net.Addr
}

func (c addressed) RemoteAddr() net.Addr { return c.from }
func (c addressed) Close() error         { return nil }

// TestPerClient checks that each client has its own limit, and that a client is forgotten after its
// last connection.
func TestPerClient(t *testing.T) {
	t.Parallel()
	n := NewConnections(Options{PerClient: 2, Budget: NewBudget(0)})
	from := func(address string) *conn {
		return n.wrap(addressed{from: net.TCPAddrFromAddrPort(netip.MustParseAddrPort(address))})
	}
	var open []*conn
	for _, c := range []struct{ address, rule string }{
		{"192.0.2.7:1", ""},
		{"192.0.2.7:2", ""},
		{"192.0.2.7:3", RuleAddress},
		{"192.0.2.8:1", ""},
		{"[2001:db8::1]:1", ""},
		{"[2001:db8::2]:1", ""},
		{"[2001:db8::3]:1", RuleAddress},
		{"[2001:db8:0:1::1]:1", ""},
	} {
		own := from(c.address)
		if rule := n.admit(own); rule != c.rule {
			t.Errorf("%s: rule %q, want %q", c.address, rule, c.rule)
		} else if rule == "" {
			open = append(open, own)
		}
	}
	for _, c := range open {
		c.Close()
	}
	if n.Count() != 0 || len(n.perClient) != 0 {
		t.Errorf("%d connections and the clients %v are still counted", n.Count(), n.perClient)
	}
}

// shortListener fails twice for lack of file descriptors, and then with another error.
type shortListener struct{ left int }

func (l *shortListener) Accept() (net.Conn, error) {
	if l.left--; l.left < 0 {
		return nil, errors.New("broken")
	}
	return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
}
func (l *shortListener) Close() error   { return nil }
func (l *shortListener) Addr() net.Addr { return nil }

type countedLog struct{ messages int }

func (l *countedLog) Printf(string, ...any) { l.messages++ }

// TestShortOfDescriptors checks that Accept waits while there are no file descriptors, and logs it.
func TestShortOfDescriptors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := new(countedLog)
		broken := &shortListener{left: 2}
		_, err := NewConnections(Options{Logger: log}).Listen(broken).Accept()
		if err == nil || !strings.Contains(err.Error(), "broken") || broken.left != -1 || log.messages != 2 {
			t.Errorf("%v; %d errors left to return, %d messages", err, broken.left, log.messages)
		}
	})
}

// TestClientOf lists addresses and the networks that they are counted under.
func TestClientOf(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"192.0.2.7": "192.0.2.7/32", "::ffff:192.0.2.7": "192.0.2.7/32", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64",
		"2001:db8:1:2::9": "2001:db8:1:2::/64", "2001:db8:1:3::9": "2001:db8:1:3::/64", "fe80::1%eth0": "fe80::/64",
		"::1": "::/64",
	} {
		if got := clientOf(netip.MustParseAddr(address)); got.String() != want {
			t.Errorf("the client of %s is %v, want %s", address, got, want)
		}
	}
	if got := clientOf(netip.Addr{}); got.IsValid() {
		t.Errorf("the client of no address is %v", got)
	}
}

// TestInherited checks that the end of a server leaves connections in a socket that it inherited,
// for whoever accepts from that socket next, and that the socket takes new ones.
func TestInherited(t *testing.T) {
	t.Parallel()
	var plain net.ListenConfig
	plain.SetMultipathTCP(false)
	socket := testkit.Value(plain.Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	defer socket.Close()
	file := testkit.Value(socket.(*net.TCPListener).File())(t)
	defer file.Close()
	passed := testkit.Value(net.FileListener(file))(t)
	n := NewConnections(Options{Budget: NewBudget(0)})
	l := n.Listen(Inherited{passed})
	before := testkit.Value(net.Dial("tcp", socket.Addr().String()))(t)
	defer before.Close()
	// The connection has not been accepted when the end begins.
	ended := make(chan struct{})
	go func() {
		n.End(t.Context())
		close(ended)
	}()
	for !n.Draining() {
		runtime.Gosched()
	}
	l.drain() // as End does, which may not have come to it yet
	if c, err := l.Accept(); err == nil {
		c.Close()
		t.Fatal("a connection was accepted after the end had begun")
	}
	<-ended
	after, err := net.Dial("tcp", socket.Addr().String())
	if err != nil {
		t.Fatalf("a connection after the end: %v", err)
	}
	defer after.Close()
	for _, client := range []net.Conn{before, after} {
		c := testkit.Value(socket.Accept())(t)
		defer c.Close()
		if c.RemoteAddr().String() != client.LocalAddr().String() {
			t.Errorf("accepted %s, want %s", c.RemoteAddr(), client.LocalAddr())
		}
		if _, err := client.Write([]byte("x")); err != nil {
			t.Error(err)
		}
		if n, err := c.Read(make([]byte, 1)); n != 1 || err != nil {
			t.Errorf("read %d bytes, %v", n, err)
		}
	}
}

// TestClientOf checks whom a request counts for, with and without a proxy.
func TestClient(t *testing.T) {
	t.Parallel()
	n := NewConnections(Options{Budget: NewBudget(0)})
	for _, c := range []struct {
		from      string
		forwarded []string
		want      string
	}{
		{"192.0.2.7:1", nil, "192.0.2.7/32"},
		{"192.0.2.7:1", []string{"198.51.100.1"}, "192.0.2.7/32"}, // says so itself
		{"[2001:db8::5]:1", []string{"198.51.100.1"}, "2001:db8::/64"},
		{"127.0.0.1:1", nil, "127.0.0.1/32"},
		{"127.0.0.1:1", []string{"198.51.100.1"}, "198.51.100.1/32"},
		{"[::ffff:10.0.0.3]:1", []string{"203.0.113.9", "192.0.2.1, 198.51.100.1 "}, "198.51.100.1/32"},
		{"[fd00::3]:1", []string{"2001:db8:0:1::77"}, "2001:db8:0:1::/64"},
		{"10.0.0.3:1", []string{"unknown"}, "10.0.0.3/32"},
		{"10.0.0.3:1", []string{""}, "10.0.0.3/32"},
		{"", nil, "invalid Prefix"}, // a Unix socket
		{"", []string{"198.51.100.1"}, "198.51.100.1/32"},
	} {
		var from net.Addr = &net.UnixAddr{Name: "@"}
		if c.from != "" {
			from = net.TCPAddrFromAddrPort(netip.MustParseAddrPort(c.from))
		}
		ctx := new(fasthttp.RequestCtx)
		ctx.Init2(n.wrap(addressed{from: from}), nil, false)
		for _, line := range c.forwarded {
			ctx.Request.Header.Add(fasthttp.HeaderXForwardedFor, line)
		}
		testkit.Equal(t, Client(ctx).String(), c.want, "from %q, X-Forwarded-For %q", c.from, c.forwarded)
	}
	if got := Client(new(fasthttp.RequestCtx)); got.IsValid() {
		t.Errorf("without a connection: %s", got)
	}
}

// TestPace checks that the time for a mebibyte is shared by its writes, and begins anew after it.
func TestPace(t *testing.T) {
	t.Parallel()
	p, now := Pace{Timeout: time.Minute}, time.Now()
	for i, c := range []struct {
		bytes      int64
		took, left time.Duration
	}{
		{128 << 10, 20 * time.Second, 40 * time.Second},
		{128 << 10, 30 * time.Second, 10 * time.Second},
		{768 << 10, 9 * time.Second, time.Minute},
		{1, 61 * time.Second, -time.Second},
	} {
		if p.Wrote(c.bytes, c.took); p.Deadline(now) != now.Add(c.left) {
			t.Errorf("write %d: %s are left, want %s", i, p.Deadline(now).Sub(now), c.left)
		}
	}
}
