package list_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/list"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/api/wire"
	"hdqs/internal/background"
	"hdqs/internal/testkit"
)

// TestShedding checks that, with all slots taken, lists get a 503 that names the rule after the
// longest wait, requests without a query are answered, and a slot that is freed in time is used.
func TestShedding(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{Queries: 2, QueueWait: 20 * time.Millisecond, CacheBytes: -1}, 3)
	first := s.Answer("GET", apitest.Target, nil)
	for range 2 {
		if !s.Lists.Admission.Gate.Enter(false) {
			t.Fatal("no free slot")
		}
	}
	started := time.Now()
	got := s.Answer("GET", apitest.Target, nil)
	retry, _ := apitest.Field(got, "Retry-After")
	if control := apitest.Header(got, "Cache-Control"); got.Status != 503 || retry != "1" || control != reply.NoStore ||
		!bytes.Contains(got.Body, []byte(`"rule":"queries at once"`)) || time.Since(started) < 20*time.Millisecond {
		t.Errorf("%d, Retry-After %q, %q, %s", got.Status, retry, control, got.Body)
	}
	for _, c := range []struct {
		method, target string
		header         []reply.HeaderField
		status         int
	}{
		{"HEAD", apitest.Target, nil, 200},
		{"GET", apitest.Target, apitest.Fields("If-None-Match", apitest.Header(first, "ETag")), 304},
		{"OPTIONS", apitest.Target, nil, 204},
		{"GET", "/docs", nil, 200},
		{"GET", "/docs?q=price", nil, 503}, // rendered for each request, as those below
		{"GET", "/docs/org", nil, 503},
		{"GET", "/", nil, 503},
		{"GET", "/browse/org", nil, 503},
		{"GET", "/changelog", nil, 503},
		{"GET", "/country/AFG", nil, 503},
		{"GET", "/search?q=a", nil, 503},
		{"GET", "/nowhere", apitest.BrowserAccept, 503},
		{"GET", apitest.Target + "&limit=x", nil, 422},
	} {
		testkit.Equal(t, s.Answer(c.method, c.target, c.header).Status, c.status, "%s %s", c.method, c.target)
	}
	s.Lists.Admission.Gate = wire.NewGate(2, testkit.Patience)
	for range 2 {
		s.Lists.Admission.Gate.Enter(false)
	}
	go func() {
		testkit.WaitFor(t, "a waiting request", func() bool { return s.Lists.Admission.Gate.Waiting() == 1 })
		s.Lists.Admission.Gate.Leave()
	}()
	testkit.Equal(t, s.Answer("GET", apitest.Target, nil).Status, 200, "with a freed slot: status")
	s.Lists.Admission.Gate.Leave()

	s.State.Budget.Add(s.State.Budget.Limit())
	got = s.Answer("GET", apitest.Target, nil)
	if got.Status != 503 || !bytes.Contains(got.Body, []byte(`"rule":"bytes of answers in flight"`)) {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	s.State.Budget.Add(-s.State.Budget.Limit())
	gate := s.Lists.Admission.Gate
	if got := s.Answer("GET", apitest.Target, nil); got.Status != 200 || gate.Running() != 0 || gate.Waiting() != 0 {
		t.Errorf("after that: %d, %d slots, %d waiting", got.Status, gate.Running(), gate.Waiting())
	}
}

// TestBytesInFlight checks that answers whose clients do not read count until their connection
// ends, and that other requests are refused meanwhile.
func TestBytesInFlight(t *testing.T) {
	t.Parallel()
	s := apitest.Server(t, state.Options{
		InflightBytes: 4 << 20,
	}, []*apitest.Table{apitest.Locations(60000, nil)})
	address := apitest.ListenSmall(t, s, 64<<10)
	target := "/api/v2/metadata/location?app_identifier=" + apitest.Identifier
	if got := apitest.Ask(t, address, "GET", target, nil); got.Status != 200 || len(got.Body) < 1<<20 {
		t.Fatalf("%d, %d bytes", got.Status, len(got.Body))
	}
	testkit.WaitFor(t, "the answer to be read", func() bool { return s.State.Budget.Bytes() == 0 })
	var slow []net.Conn
	refused := false
	for end := time.Now().Add(testkit.Patience); !refused && time.Now().Before(end); {
		if !s.State.Budget.IsFull() { // not full any more if the kernel has buffered another answer
			conn := testkit.Value(net.Dial("tcp", address))(t)
			defer conn.Close()
			slow = append(slow, conn)
			for range 8 { // more than the sockets' buffers hold
				fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: a\r\n\r\n", target)
			}
		}
		time.Sleep(5 * time.Millisecond)
		refused = s.State.Budget.IsFull() && apitest.Ask(t, address, "GET", target, nil).Status == 503
	}
	if !refused {
		t.Errorf("with %d bytes in flight on %d connections no request is refused", s.State.Budget.Bytes(),
			len(slow))
	}
	testkit.Equal(t, apitest.Ask(t, address, "HEAD", target, nil).Status, 200, "HEAD")
	for _, conn := range slow {
		conn.Close()
	}
	testkit.WaitFor(t, "the connections to be closed", func() bool { return s.State.Budget.Bytes() == 0 })
	testkit.Equal(t, apitest.Ask(t, address, "GET", target, nil).Status, 200, "after that")
}

// TestSlowClients checks that a client that sends one byte at a time is cut off at the read
// timeout, and one that reads slowly at the write timeout. Other clients are served meanwhile.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	s := apitest.Server(t, state.Options{
		ReadTimeout: time.Second, WriteTimeout: 1200 * time.Millisecond, IdleTimeout: 500 * time.Millisecond,
	}, []*apitest.Table{apitest.Locations(60000, nil)})
	address := apitest.Listen(t, s)
	var idle apitest.Conn
	answered := func(target string) func() bool {
		return func() bool { // false if a busy machine has sent the request too late
			idle = apitest.Dial(t, address)
			return idle.Get(target) == 200
		}
	}
	testkit.WaitFor(t, "the page of a client that is idle then", answered("/docs"))
	writer, reader := apitest.Dial(t, address), apitest.Dial(t, address)
	target := "/api/v2/metadata/location?app_identifier=" + apitest.Identifier
	for range 8 {
		fmt.Fprintf(reader, "GET %s HTTP/1.1\r\nHost: a\r\n\r\n", target)
	}
	go func() { // until the connection ends
		_, err := io.WriteString(writer, "GET "+target+" HTTP/1.1\r\nHost: a\r\nX-Slow: ")
		for err == nil {
			time.Sleep(20 * time.Millisecond)
			_, err = io.WriteString(writer, "x")
		}
	}()
	answer, err := io.ReadAll(writer.Reader)
	if isTimeout(err) || len(answer) > 0 && !bytes.HasPrefix(answer, []byte("HTTP/1.1 408 ")) {
		t.Errorf("slow writer: %v after %.60q", err, answer)
	}
	if rest, err := io.ReadAll(idle.Reader); isTimeout(err) || len(rest) > 0 {
		t.Errorf("idle connection: %v after %q", err, rest)
	}
	testkit.WaitFor(t, "the answer to half a request", func() bool {
		half := apitest.Dial(t, address)
		fmt.Fprint(half, "GET /docs HTTP/1.1\r\nHost: a")
		answer, _ := io.ReadAll(half)
		return bytes.HasPrefix(answer, []byte("HTTP/1.1 408 "))
	})
	testkit.WaitFor(t, "the slow reader to be cut off", func() bool { return s.State.Budget.Bytes() == 0 })
	testkit.WaitFor(t, "the answer to another client", answered(target+"&limit=1"))
}

// isTimeout reports whether a connection was still open when the test's own patience ended.
func isTimeout(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout()
}

// TestBytesOfWaiting: requests that wait for the same page, which no cache keeps, are let in before
// any answer is in flight. Those that find the bytes taken when it is their turn are refused.
func TestBytesOfWaiting(t *testing.T) {
	t.Parallel()
	const clients, parts = 60, 4 // parts of pages that may be in flight
	s := apitest.Server(t, state.Options{
		Queries: 1, QueueWait: testkit.Patience, CacheBytes: -1, InflightBytes: parts << 20,
	}, []*apitest.Table{apitest.Locations(60000, nil)})
	address := apitest.ListenSmall(t, s, 64<<10)
	if !s.Lists.Admission.Gate.Enter(false) {
		t.Fatal("no free slot")
	}
	target := "/api/v2/metadata/location?app_identifier=" + apitest.Identifier
	var all []apitest.Conn
	for range clients {
		all = append(all, apitest.Dial(t, address))
		for range 8 { // more than the sockets' buffers hold
			fmt.Fprintf(all[len(all)-1], "GET %s HTTP/1.1\r\nHost: a\r\n\r\n", target)
		}
	}
	testkit.WaitFor(t, "the requests", func() bool {
		return s.Lists.Admission.Gate.Waiting() > 0 && s.Lists.Callers.Count() == clients
	})
	s.Lists.Admission.Gate.Leave()
	answered := 0
	for _, c := range all {
		line, err := c.Reader.ReadString('\n')
		if testkit.Must(t, err); line == "HTTP/1.1 200 OK\r\n" {
			answered++
		}
	}
	if most := parts<<20/(640<<10) + 2; answered == 0 || answered > most {
		t.Errorf("%d of %d answers, want at most %d", answered, clients, most)
	}
}

// Pages of every second row, of neighbouring rows, and of three rows.
const (
	scatteredPage = "/api/v2/metadata/location?has_hrp=true&app_identifier=" + apitest.Identifier
	runPage       = "/api/v2/metadata/location?limit=2000&app_identifier=" + apitest.Identifier
	shortPage     = "/api/v2/metadata/location?limit=3&app_identifier=" + apitest.Identifier
)

var (
	codedPage = apitest.Fields("Accept-Encoding", "gzip")
	wholePage = apitest.Fields("Accept-Encoding", "zstd")
)

// TestLongAnswersLeaveSlots checks that pages that take long to make wait for slots of their own,
// and that short queries are answered meanwhile.
func TestLongAnswersLeaveSlots(t *testing.T) {
	t.Parallel()
	s := apitest.Server(
		t,
		state.Options{Queries: 1, CacheBytes: -1},
		[]*apitest.Table{apitest.Locations(4*list.ManyCoded,
			nil)},
	)
	a := &s.Lists.Admission
	a.Gate, a.Slow = wire.NewGate(1, testkit.Patience), wire.NewGate(1, testkit.Patience)
	if !s.Lists.Admission.Slow.Enter(false) {
		t.Fatal("the slot is taken")
	}
	const pages = 4
	var done sync.WaitGroup
	for i := range pages {
		done.Go(func() {
			target, header := scatteredPage, codedPage
			if i%2 > 0 {
				target, header = runPage, wholePage
			}
			if got := s.Answer("GET", target, header); got.Status != 200 {
				t.Errorf("a long page is %d %s", got.Status, got.Body)
			}
		})
	}
	testkit.WaitFor(t, "long pages that wait", func() bool { return s.Lists.Admission.Slow.Waiting() == pages })
	if got := s.Answer("GET", shortPage, codedPage); got.Status != 200 || s.Lists.Admission.Gate.Running() != 0 {
		t.Errorf("a short query is %d, with %d slots of short ones taken", got.Status, s.Lists.Admission.Gate.Running())
	}
	testkit.Equal(t, s.Answer("GET", scatteredPage, nil).Status, 200, "an uncompressed page")
	testkit.Equal(t, s.Answer("GET", runPage, codedPage).Status, 200, "a page of neighbouring rows in gzip")
	testkit.Equal(t, s.Lists.Admission.Slow.Running(), 1, "long answers run")
	s.Lists.Admission.Slow.Leave()
	done.Wait()
	if s.Lists.Admission.Slow.Running() != 0 || s.Lists.Admission.Gate.Running() != 0 {
		t.Errorf("after that %d and %d slots are taken", a.Slow.Running(), a.Gate.Running())
	}

	s.Lists.Admission.Slow = wire.NewGate(1, time.Millisecond)
	s.Lists.Admission.Slow.Enter(false)
	got := s.Answer("GET", scatteredPage, codedPage)
	if got.Status != 503 || !bytes.Contains(got.Body, []byte(`"rule":"queries at once"`)) ||
		s.Lists.Admission.Gate.Running() != 0 {
		t.Errorf("without a slot in time: %d %s, %d slots of short ones taken", got.Status, got.Body, a.Gate.Running())
	}
	if _, has := apitest.Field(got, "X-Total-Count"); has {
		t.Error("the refusal has the header of the page")
	}
}

// TestAggregatesTakeTurns checks that an aggregate over many groups waits for its turn, and that
// short queries do not.
func TestAggregatesTakeTurns(t *testing.T) {
	t.Parallel()
	s := apitest.Server(t, state.Options{CacheBytes: -1}, []*apitest.Table{apitest.Locations(2*list.ManyCoded, nil)})
	const many = "/api/v2/metadata/location/aggregate?group_by=id&measures=count&limit=10&app_identifier=" + apitest.Identifier
	turns := make([]background.Turn, background.Turns())
	for i := range turns {
		turns[i].Begin()
	}
	done := make(chan api.Answer, 1)
	go func() { done <- s.Answer("GET", many, codedPage) }()
	testkit.WaitFor(t, "the aggregate", func() bool { return s.Lists.Admission.Slow.Running() == 1 })
	testkit.Equal(t, s.Answer("GET", shortPage, codedPage).Status, 200, "a short query")
	select {
	case got := <-done:
		t.Errorf("the aggregate did not wait: %d", got.Status)
	case <-time.After(300 * time.Millisecond):
	}
	for i := range turns {
		turns[i].End()
	}
	if got := <-done; got.Status != 200 || apitest.Header(got, "X-Total-Count") != strconv.Itoa(2*list.ManyCoded) {
		t.Errorf("the aggregate is %d with %s groups", got.Status, apitest.Header(got, "X-Total-Count"))
	}
}
