package load

import (
	"errors"
	"fmt"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The codings that a server may be asked for.
const (
	Identity = "identity"
	Gzip     = "gzip"
	Zstd     = "zstd"
)

// Server is one of the servers to be measured.
type Server struct {
	Name string
	URL  string
	PID  int // of its first process; 0: unknown, so nothing is said of its CPU and memory

	// Path says where a query's answer stands, for a server of files; nil: where the query says. "" means not there.
	Path func(q Query, encoding string) string

	Translation *Translation // for a server of another interface; nil: it is asked what the query says
	Encoding    string       // asked of this server whatever others are asked for; empty: the same
}

// Identifier is sent with every query that is not anonymous: base64 of "hdqs bench:bench@example.org".
const Identifier = "aGRxcyBiZW5jaDpiZW5jaEBleGFtcGxlLm9yZw=="

const identifierHeader = "X-CATALOG-API-APP-IDENTIFIER: " + Identifier

// Drive says how to ask.
type Drive struct {
	Queries     []Query
	Encoding    string
	Connections int
	Rate        float64 // requests a second, due at even intervals; 0: each connection asks again at once
	Duration    time.Duration

	// Patience is how long after a request was due its answer is of use. One that no connection is free for in the tenth part of that is not sent. Zero
	// waits for ever, and sends all.
	Patience time.Duration
}

// Outcome is what a drive measured.
type Outcome struct {
	Requests   int
	Wrong      int // answered with another status than the query's
	Failed     int // not answered
	Late       int // answered when nobody waited any more
	Unsent     int // due when no connection was free
	FirstWrong string
	Bytes      int64
	Elapsed    time.Duration
	CPU        float64 // seconds of the server's processes; 0 when unknown
	Latency    *hdrhistogram.Histogram
	Slowest    time.Duration // exactly; the histogram rounds
}

// newLatencies counts durations up to an hour, each to within one per cent.
func newLatencies() *hdrhistogram.Histogram { return hdrhistogram.New(1, int64(time.Hour), 2) }

// Quantile is the latency that a part q of all good answers did not exceed; 0 if there are no answers.
func (o *Outcome) Quantile(q float64) time.Duration {
	return min(time.Duration(o.Latency.ValueAtQuantile(100*q)), o.Slowest)
}

// PerSecond is the rate of good answers.
func (o *Outcome) PerSecond() float64 { return float64(o.Requests) / o.Elapsed.Seconds() }

// CPUPerRequest is in microseconds.
func (o *Outcome) CPUPerRequest() float64 {
	if o.Requests == 0 {
		return 0
	}
	return o.CPU * 1e6 / float64(o.Requests)
}

// prepared is a query as bytes.
type prepared struct {
	query Query
	bytes []byte
}

// prepare turns queries into bytes for a server, in the order in which they are asked: as often as they weigh, spread evenly.
func (s *Server) prepare(queries []Query, encoding string) ([]prepared, string, error) {
	base, err := url.Parse(s.URL)
	if err != nil || base.Host == "" {
		return nil, "", fmt.Errorf("load: %s: %q is no address of a server", s.Name, s.URL)
	}
	var kinds []prepared
	total := 0
	for _, q := range queries {
		asked := s.ask(q, encoding)
		if asked.target == "" || q.Weight == 0 {
			continue
		}
		headers := []string{identifierHeader}
		if q.Anonymous {
			headers = nil
		}
		if q.Conditional {
			a, err := s.fetch(q, encoding)
			if err != nil {
				return nil, "", err
			}
			if a.etag == "" {
				continue // a server without ETags cannot be asked this
			}
			headers = append(headers, "If-None-Match: "+a.etag)
		}
		kinds = append(kinds, prepared{q, request(base.Host, asked, s.coding(encoding), headers...)})
		total += q.Weight
	}
	if total == 0 {
		return nil, "", fmt.Errorf("load: %s has none of the queries", s.Name)
	}
	// Each round the query that lags furthest behind its weight goes next.
	order := make([]prepared, 0, total)
	credit := make([]int, len(kinds))
	for range total {
		next := 0
		for i := range kinds {
			if credit[i] += kinds[i].query.Weight; credit[i] > credit[next] {
				next = i
			}
		}
		credit[next] -= total
		order = append(order, kinds[next])
	}
	return order, base.Host, nil
}

// Run asks a server for as long as the drive says.
func (s *Server) Run(d Drive) (*Outcome, error) {
	order, address, err := s.prepare(d.Queries, d.Encoding)
	if err != nil {
		return nil, err
	}
	if d.Connections < 1 {
		return nil, errors.New("load: a drive needs a connection")
	}
	before, err := s.usage()
	if err != nil {
		return nil, err
	}
	var next atomic.Int64
	outcomes := make([]Outcome, d.Connections)
	begun := time.Now()
	var wg sync.WaitGroup
	for i := range outcomes {
		outcomes[i].Latency = newLatencies()
		wg.Go(func() { outcomes[i].ask(d, order, address, begun, &next) })
	}
	wg.Wait()
	total := &Outcome{Elapsed: time.Since(begun), Latency: newLatencies()}
	after, err := s.usage()
	if err != nil {
		return nil, err
	}
	total.CPU = after.CPU - before.CPU
	for i := range outcomes {
		total.add(&outcomes[i])
	}
	return total, nil
}

func (s *Server) usage() (Usage, error) {
	if s.PID == 0 {
		return Usage{}, nil
	}
	return UsageOf(s.PID)
}

func (o *Outcome) add(other *Outcome) {
	o.Requests += other.Requests
	o.Wrong += other.Wrong
	o.Failed += other.Failed
	o.Late += other.Late
	o.Unsent += other.Unsent
	o.Bytes += other.Bytes
	if o.FirstWrong == "" {
		o.FirstWrong = other.FirstWrong
	}
	o.Latency.Merge(other.Latency)
	o.Slowest = max(o.Slowest, other.Slowest)
}

// ask is one connection's part of a drive. All connections take their turns from next.
func (o *Outcome) ask(d Drive, order []prepared, address string, begun time.Time, next *atomic.Int64) {
	c := client{address: address}
	defer c.drop(nil)
	for failures := 0; failures < 20; {
		turn := next.Add(1) - 1
		due := time.Now()
		if d.Rate > 0 {
			due = begun.Add(time.Duration(float64(turn) / d.Rate * float64(time.Second)))
		}
		if due.Sub(begun) >= d.Duration && (d.Rate > 0 || turn > 0) { // a machine that begins late still asks once: of nothing there is no rate
			return // at once: to sleep first would count a time in which nobody asks
		}
		time.Sleep(time.Until(due))
		if d.Patience > 0 && time.Since(due) > d.Patience/10 {
			o.Unsent++
			continue
		}
		p := &order[turn%int64(len(order))]
		r, err := c.do(p.bytes)
		switch {
		case err != nil:
			o.Failed++
			o.note(p.query.Name + ": " + err.Error())
			failures++
			continue
		case r.status != p.query.Status:
			o.Wrong++
			o.note(fmt.Sprintf("%s: status %d, want %d", p.query.Name, r.status, p.query.Status))
			continue
		}
		took := time.Since(due)
		if d.Patience > 0 && took > d.Patience {
			o.Late++
			continue
		}
		o.good(took)
		o.Bytes += r.bytes
	}
}

// good counts a good answer.
func (o *Outcome) good(took time.Duration) {
	if err := o.Latency.RecordValue(int64(min(took, time.Hour))); err != nil {
		panic(err) // only a value out of range is refused
	}
	o.Slowest = max(o.Slowest, took)
	o.Requests++
}

func (o *Outcome) note(what string) {
	if o.FirstWrong == "" {
		o.FirstWrong = what
	}
}
