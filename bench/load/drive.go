package load

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The content codings that can be requested.
const (
	Identity = "identity"
	Gzip     = "gzip"
	Zstd     = "zstd"
)

// Server is a server to be measured.
type Server struct {
	Name string
	URL  string
	PID  int // of its first process; 0: unknown, CPU and memory are not measured

	// Path is the path of a query's answer on a server of files, "" if it has none. nil: the
	// query's own path.
	Path func(q Query, encoding string) string

	Translation *Translation // for a server with another interface; nil: queries are sent unchanged
	Encoding    string       // requested from this server instead of the comparison's coding; empty: the same

	// Fresh requests other pages each time; nil: queries are sent unchanged. It has no effect on
	// conditional queries, and on those whose answer is an error.
	Fresh *Fresh
}

// Identifier is sent with every query that is not anonymous: base64 of "hdqs
// bench:bench@example.org".
const Identifier = "aGRxcyBiZW5jaDpiZW5jaEBleGFtcGxlLm9yZw=="

const identifierHeader = "X-CATALOG-API-APP-IDENTIFIER: " + Identifier

// Drive describes a load: queries, connections, rate and duration.
type Drive struct {
	Queries     []Query
	Encoding    string
	Connections int
	Rate        float64 // requests per second, due at even intervals; 0: closed loop
	Duration    time.Duration
	Most        int // requests at most; 0: as many as the duration allows

	// Patience is how long callers wait for an answer after the request was due. A request for
	// which no connection is free within a tenth of that is not sent. Zero: callers wait for ever,
	// and every request is sent.
	Patience time.Duration
}

// Outcome is the result of a drive.
type Outcome struct {
	Requests   int
	Wrong      int // answered with a status that is not the query's
	Failed     int // not answered
	Late       int // answered after the caller's patience
	Unsent     int // not sent, because no connection was free
	FirstWrong string
	Faults     int64 // minor page faults of the server's processes
	Bytes      int64
	Elapsed    time.Duration
	CPU        float64 // seconds of the server's processes; 0 if unknown
	Latency    *hdrhistogram.Histogram
	Slowest    time.Duration // exact; the histogram rounds
}

// newLatencies counts durations up to an hour, each to within one per cent.
func newLatencies() *hdrhistogram.Histogram { return hdrhistogram.New(1, int64(time.Hour), 2) }

// Quantile is the latency that a part q of all good answers did not exceed; 0 if there are no
// answers.
func (o *Outcome) Quantile(q float64) time.Duration {
	return min(time.Duration(o.Latency.ValueAtQuantile(100*q)), o.Slowest)
}

// PerSecond is the rate of good answers.
func (o *Outcome) PerSecond() float64 { return float64(o.Requests) / o.Elapsed.Seconds() }

// FaultsPerRequest is the number of page faults per good answer.
func (o *Outcome) FaultsPerRequest() float64 { return float64(o.Faults) / float64(max(o.Requests, 1)) }

// CPUPerRequest is the CPU per good answer in microseconds.
func (o *Outcome) CPUPerRequest() float64 {
	if o.Requests == 0 {
		return 0
	}
	return o.CPU * 1e6 / float64(o.Requests)
}

// prepared is a query and the bytes of its request.
type prepared struct {
	query Query
	bytes []byte
	fresh *freshRequest // in place of bytes; nil: bytes
}

// prepare makes the requests of queries for a server, in sending order: each as often as its
// weight, evenly spread.
func (s *Server) prepare(queries []Query, encoding string) ([]prepared, string, error) {
	base, err := url.Parse(s.URL)
	if err != nil || base.Host == "" {
		return nil, "", fmt.Errorf("load: %s: %q is not the address of a server", s.Name, s.URL)
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
				continue // impossible on a server without ETags
			}
			headers = append(headers, "If-None-Match: "+a.etag)
		}
		kind := prepared{query: q, bytes: request(base.Host, asked, s.coding(encoding), headers...)}
		if s.Fresh != nil && q.Status == http.StatusOK {
			pages, err := s.Fresh.of(s, q)
			if err != nil {
				return nil, "", err
			}
			kind.fresh = newFreshRequest(base.Host, asked, s.coding(encoding), headers)
			kind.fresh.pages, kind.fresh.twice = pages, s.Fresh.Twice
		}
		kinds = append(kinds, kind)
		total += q.Weight
	}
	if total == 0 {
		return nil, "", fmt.Errorf("load: %s answers no query of the mix", s.Name)
	}
	// The next query is always the one furthest below its share.
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

// Run sends a drive to a server.
func (s *Server) Run(d Drive) (*Outcome, error) {
	order, address, err := s.prepare(d.Queries, d.Encoding)
	if err != nil {
		return nil, err
	}
	if d.Connections < 1 {
		return nil, errors.New("load: a drive needs at least one connection")
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
	total.CPU, total.Faults = after.CPU-before.CPU, after.Faults-before.Faults
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

// ask is one connection's part of a drive. next numbers the requests of all connections.
func (o *Outcome) ask(d Drive, order []prepared, address string, begun time.Time, next *atomic.Int64) {
	c := client{address: address}
	defer c.drop(nil)
	var fresh []byte
	for failures := 0; failures < 20; {
		turn := next.Add(1) - 1
		if d.Most > 0 && turn >= int64(d.Most) {
			return
		}
		due := time.Now()
		if d.Rate > 0 {
			due = begun.Add(time.Duration(float64(turn) / d.Rate * float64(time.Second)))
		}
		// A closed loop that starts late on a busy machine still sends one request.
		if due.Sub(begun) >= d.Duration && (d.Rate > 0 || turn > 0) {
			return // without sleeping, which would count as time of the drive
		}
		time.Sleep(time.Until(due))
		if d.Patience > 0 && time.Since(due) > d.Patience/10 {
			o.Unsent++
			continue
		}
		p := &order[turn%int64(len(order))]
		sent := p.bytes
		if p.fresh != nil {
			fresh = p.fresh.appendNext(fresh[:0])
			sent = fresh
		}
		r, err := c.do(sent)
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
