package main

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/valyala/fasthttp"
	"golang.org/x/sys/unix"
)

// drive is a load: queries, connections, rate and duration.
type drive struct {
	queries     []query
	encoding    string
	connections int
	rate        float64 // requests per second, due at even intervals; 0: closed loop
	duration    time.Duration
	pid         int // of the server; 0: its CPU is not measured
}

// identity is the coding of plain bodies.
const identity = "identity"

// identifier is sent with every query that is not anonymous: base64 of "hdqs
// bench:bench@example.org".
const identifier = "aGRxcyBiZW5jaDpiZW5jaEBleGFtcGxlLm9yZw=="

func (d *drive) request(url string, q query) *fasthttp.Request {
	r := &fasthttp.Request{}
	r.SetRequestURI(url + q.target)
	r.Header.SetUserAgent("hdqs-bench")
	if !q.anonymous {
		r.Header.Set("X-CATALOG-API-APP-IDENTIFIER", identifier)
	}
	if d.encoding != identity {
		r.Header.Set("Accept-Encoding", d.encoding)
	}
	return r
}

// newClient returns a client that has one connection. It sends each request once.
func newClient(url string) *fasthttp.HostClient {
	return &fasthttp.HostClient{
		Addr: strings.TrimPrefix(url, "http://"), MaxConns: 1, MaxIdemponentCallAttempts: 1,
		ReadTimeout: time.Minute, ReadBufferSize: 1 << 17, DisablePathNormalizing: true,
	}
}

type prepared struct {
	query
	request *fasthttp.Request
}

// prepare makes the requests, in sending order: each as often as its weight, evenly spread. Each is
// sent once before, for its ETag and for the digests of its body.
func (d *drive) prepare(url string) (order []prepared, digests map[string][2]string, err error) {
	var kinds []prepared
	total := 0
	digests = map[string][2]string{}
	client := newClient(url)
	defer client.CloseIdleConnections()
	for _, q := range d.queries {
		kind := prepared{q, d.request(url, q)}
		var answer fasthttp.Response
		err := client.Do(kind.request, &answer)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", q.name, err)
		}
		body, err := answer.BodyUncompressed()
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", q.name, err)
		}
		if q.conditional && answer.StatusCode() == http.StatusOK {
			kind.request.Header.SetBytesV("If-None-Match", answer.Header.Peek("ETag"))
		}
		digests[q.name] = [2]string{digest(answer.Body()), digest(body)}
		kinds = append(kinds, kind)
		total += q.weight
	}
	// The next query is always the one furthest below its share.
	credit := make([]int, len(kinds))
	for range total {
		next := 0
		for i := range kinds {
			if credit[i] += kinds[i].weight; credit[i] > credit[next] {
				next = i
			}
		}
		credit[next] -= total
		order = append(order, kinds[next])
	}
	if total == 0 {
		err = fmt.Errorf("all %d queries have the weight 0", len(kinds))
	}
	return order, digests, err
}

func digest(body []byte) string { return fmt.Sprintf("%x", sha256.Sum256(body)) }

// run sends the load to a server.
func (d *drive) run(url string) (*outcome, error) {
	order, digests, err := d.prepare(url)
	if err != nil {
		return nil, err
	}
	senders := make([]sender, d.connections)
	var next atomic.Int64
	for i := range senders {
		senders[i] = sender{drive: d, client: newClient(url), order: order, next: &next, outcome: newOutcome()}
	}
	before, err := cpuSeconds(d.pid)
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	var wg sync.WaitGroup
	for i := range senders {
		wg.Go(func() { senders[i].send(begun) })
	}
	wg.Wait()
	total := newOutcome()
	total.elapsed, total.digests = time.Since(begun), digests
	after, err := cpuSeconds(d.pid)
	total.cpu = after - before
	for i := range senders {
		total.add(senders[i].outcome)
	}
	return total, err
}

// cpuSeconds reads the clock of a process's CPU time: user and system time of all its threads, also
// of those that have ended, in nanoseconds. The times in /proc/PID/stat have steps of 10 ms.
func cpuSeconds(pid int) (float64, error) {
	const scheduled = 2 // CPUCLOCK_SCHED of the kernel: the time that the scheduler counted
	if pid == 0 {
		return 0, nil
	}
	var at unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|scheduled), &at); err != nil {
		return 0, fmt.Errorf("the CPU time of process %d: %w", pid, err)
	}
	return float64(at.Nano()) / 1e9, nil
}

// outcome is the result of a load, or of one connection's part of it.
type outcome struct {
	requests   int // good ones
	wrong      int // answered with a status that is not the query's
	failed     int // not answered
	firstWrong string
	bytes      int64
	latency    *hdrhistogram.Histogram
	slowest    time.Duration // exact; the histogram rounds

	// Of the whole load:
	elapsed time.Duration
	cpu     float64              // seconds of the server's process; 0 if unknown
	digests map[string][2]string // SHA-256 of the body as sent and decoded, by query
}

// newOutcome counts durations up to an hour, each to within one per cent.
func newOutcome() *outcome { return &outcome{latency: hdrhistogram.New(1, int64(time.Hour), 2)} }

// report is what the command prints. Quantiles are of good answers.
func (o *outcome) report() map[string]any {
	micros := func(d time.Duration) float64 { return float64(d) / 1e3 }
	quantile := func(q float64) float64 {
		return micros(min(time.Duration(o.latency.ValueAtQuantile(q)), o.slowest))
	}
	good := float64(max(o.requests, 1))
	return map[string]any{
		"requests": o.requests, "wrong": o.wrong, "failed": o.failed, "first_wrong": o.firstWrong,
		"bytes": float64(o.bytes) / good, "per_second": float64(o.requests) / o.elapsed.Seconds(),
		"cpu_us": o.cpu * 1e6 / good, "p50_us": quantile(50), "p90_us": quantile(90), "p99_us": quantile(99),
		"p999_us": quantile(99.9), "max_us": micros(o.slowest), "digests": o.digests,
	}
}

func (o *outcome) add(other *outcome) {
	o.requests += other.requests
	o.wrong += other.wrong
	o.failed += other.failed
	o.bytes += other.bytes
	o.firstWrong = cmp.Or(o.firstWrong, other.firstWrong)
	o.latency.Merge(other.latency)
	o.slowest = max(o.slowest, other.slowest)
}

// sender is one connection's part of a load.
type sender struct {
	*drive
	client  *fasthttp.HostClient
	order   []prepared
	next    *atomic.Int64 // numbers the requests of all connections
	outcome *outcome
}

// mostFailures is how many requests of a connection may fail before it gives up.
const mostFailures = 20

func (s *sender) send(begun time.Time) {
	o := s.outcome
	var request fasthttp.Request
	var response fasthttp.Response
	for o.failed < mostFailures {
		turn := s.next.Add(1) - 1
		due := time.Now()
		if s.rate > 0 {
			due = begun.Add(time.Duration(float64(turn) / s.rate * float64(time.Second)))
		}
		// A closed loop that starts late on a busy machine still sends one request.
		if due.Sub(begun) >= s.duration && (s.rate > 0 || turn > 0) {
			return // without sleeping, which would count as time of the load
		}
		time.Sleep(time.Until(due))
		p := &s.order[turn%int64(len(s.order))]
		p.request.CopyTo(&request)
		err := s.client.Do(&request, &response)
		o.count(p.query, &response, err, time.Since(due))
	}
}

func (o *outcome) count(q query, r *fasthttp.Response, err error, took time.Duration) {
	wrong := ""
	switch {
	case err != nil:
		o.failed++
		wrong = fmt.Sprintf("%s: %v", q.name, err)
	case r.StatusCode() != q.status:
		o.wrong++
		wrong = fmt.Sprintf("%s: status %d, want %d", q.name, r.StatusCode(), q.status)
	default:
		o.requests++
		o.bytes += int64(len(r.Body()))
		o.slowest = max(o.slowest, took)
		if err := o.latency.RecordValue(int64(min(took, time.Hour))); err != nil {
			panic(err) // only a value out of range is refused
		}
	}
	o.firstWrong = cmp.Or(o.firstWrong, wrong)
}
