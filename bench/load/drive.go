package load

import (
	"cmp"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/valyala/fasthttp"
)

// Drive describes a load: queries, connections, rate and duration.
type Drive struct {
	Queries     []Query
	Encoding    string
	Connections int
	Rate        float64 // requests per second, due at even intervals; 0: closed loop
	Duration    time.Duration
}

// Outcome is the result of a drive.
type Outcome struct {
	Requests   int
	Wrong      int // answered with a status that is not the query's
	Failed     int // not answered
	FirstWrong string
	Bytes      int64
	Elapsed    time.Duration
	CPU        float64 // seconds of the server's processes; 0 if unknown
	Latency    *hdrhistogram.Histogram
	Slowest    time.Duration // exact; the histogram rounds
}

// newOutcome counts durations up to an hour, each to within one per cent.
func newOutcome() *Outcome { return &Outcome{Latency: hdrhistogram.New(1, int64(time.Hour), 2)} }

// Quantile is the latency that a part q of all good answers did not exceed; 0 if there are no
// answers.
func (o *Outcome) Quantile(q float64) time.Duration {
	return min(time.Duration(o.Latency.ValueAtQuantile(100*q)), o.Slowest)
}

// PerSecond is the rate of good answers.
func (o *Outcome) PerSecond() float64 { return float64(o.Requests) / o.Elapsed.Seconds() }

// CPUPerRequest is the CPU per good answer in microseconds.
func (o *Outcome) CPUPerRequest() float64 {
	if o.Requests == 0 {
		return 0
	}
	return o.CPU * 1e6 / float64(o.Requests)
}

type prepared struct {
	query   Query
	request *fasthttp.Request
}

// prepare makes the requests of queries, in sending order: each as often as its weight, evenly
// spread.
func (s *Server) prepare(queries []Query, encoding string) ([]prepared, error) {
	var kinds []prepared
	total := 0
	for _, q := range queries {
		if s.target(q, encoding) == "" || q.Weight == 0 {
			continue
		}
		kind := prepared{query: q, request: s.request(q, encoding)}
		if q.Conditional {
			a, err := s.fetch(q, encoding)
			if err != nil {
				return nil, err
			}
			kind.request.Header.Set("If-None-Match", a.etag)
		}
		kinds = append(kinds, kind)
		total += q.Weight
	}
	if total == 0 {
		return nil, fmt.Errorf("load: %s answers no query of the mix", s.Name)
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
	return order, nil
}

// Run sends a drive to a server.
func (s *Server) Run(d Drive) (*Outcome, error) {
	order, err := s.prepare(d.Queries, d.Encoding)
	if err != nil {
		return nil, err
	}
	if d.Connections < 1 {
		return nil, errors.New("load: a drive needs at least one connection")
	}
	senders := make([]sender, d.Connections)
	var next atomic.Int64
	for i := range senders {
		client, err := s.client()
		if err != nil {
			return nil, err
		}
		senders[i] = sender{Drive: d, client: client, order: order, next: &next, outcome: newOutcome()}
	}
	before, err := s.usage()
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
	total.Elapsed = time.Since(begun)
	after, err := s.usage()
	if err != nil {
		return nil, err
	}
	total.CPU = after.CPU - before.CPU
	for i := range senders {
		senders[i].client.CloseIdleConnections()
		total.add(senders[i].outcome)
	}
	return total, nil
}

func (s *Server) usage() (Usage, error) {
	if s.PID == 0 {
		return Usage{}, nil
	}
	return UsageOf(s.PID)
}

// add adds the counts of another drive, or of a connection of this one. Time and usage are those of
// the whole drive.
func (o *Outcome) add(other *Outcome) {
	o.Requests += other.Requests
	o.Wrong += other.Wrong
	o.Failed += other.Failed
	o.Bytes += other.Bytes
	o.FirstWrong = cmp.Or(o.FirstWrong, other.FirstWrong)
	o.Latency.Merge(other.Latency)
	o.Slowest = max(o.Slowest, other.Slowest)
}

// sender is one connection's part of a drive.
type sender struct {
	Drive
	client  *fasthttp.HostClient
	order   []prepared
	next    *atomic.Int64 // numbers the requests of all connections
	outcome *Outcome
}

// mostFailures is how many requests of a connection may fail before it gives up.
const mostFailures = 20

func (s *sender) send(begun time.Time) {
	o := s.outcome
	var request fasthttp.Request
	var response fasthttp.Response
	for o.Failed < mostFailures {
		turn := s.next.Add(1) - 1
		due := time.Now()
		if s.Rate > 0 {
			due = begun.Add(time.Duration(float64(turn) / s.Rate * float64(time.Second)))
		}
		// A closed loop that starts late on a busy machine still sends one request.
		if due.Sub(begun) >= s.Duration && (s.Rate > 0 || turn > 0) {
			return // without sleeping, which would count as time of the drive
		}
		time.Sleep(time.Until(due))
		p := &s.order[turn%int64(len(s.order))]
		p.request.CopyTo(&request)
		err := s.client.Do(&request, &response)
		// Latency counts from when the request was due, so that a server that stalls is charged
		// for all requests that it delays.
		o.count(&p.query, &response, err, time.Since(due))
	}
}

func (o *Outcome) count(q *Query, r *fasthttp.Response, err error, took time.Duration) {
	wrong := ""
	switch {
	case err != nil:
		o.Failed++
		wrong = fmt.Sprintf("%s: %v", q.Name, err)
	case r.StatusCode() != q.Status:
		o.Wrong++
		wrong = fmt.Sprintf("%s: status %d, want %d", q.Name, r.StatusCode(), q.Status)
	default:
		o.Requests++
		o.Bytes += int64(len(r.Body()))
		o.Slowest = max(o.Slowest, took)
		if err := o.Latency.RecordValue(int64(min(took, time.Hour))); err != nil {
			panic(err) // only a value out of range is refused
		}
	}
	o.FirstWrong = cmp.Or(o.FirstWrong, wrong)
}
