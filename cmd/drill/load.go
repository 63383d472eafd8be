package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// load sends requests from a number of clients, each over a connection of its own.
type load struct {
	clients int
	rate    float64       // requests per second, due at even intervals; 0: each client asks again at once
	pause   time.Duration // of a client between two requests, without a rate
	check   func(ctx context.Context, client *http.Client, turn int) (verdict, string)
}

// sample is one good answer.
type sample struct {
	due  time.Time     // when the request was to be sent
	took time.Duration // from then on
}

// running is a load that has begun.
type running struct {
	load
	begun    time.Time
	cancel   context.CancelFunc
	stopping atomic.Bool
	group    sync.WaitGroup
	turn     atomic.Int64
	inFlight atomic.Int64
	asked    atomic.Int64
	bad      [failed + 1]atomic.Int64 // by verdict

	mu      sync.Mutex
	samples []sample
	firsts  []string // what was wrong with the first bad answers
}

// start begins to send. The requests in flight end with ctx.
func (l load) start(ctx context.Context) *running {
	ctx, cancel := context.WithCancel(ctx)
	r := &running{load: l, begun: time.Now(), cancel: cancel}
	client := newClient(l.clients)
	for range l.clients {
		r.group.Go(func() { r.send(ctx, client) })
	}
	return r
}

// stop lets the requests in flight end and returns when all have.
func (r *running) stop() {
	r.stopping.Store(true)
	r.group.Wait()
	r.cancel()
}

func (r *running) send(ctx context.Context, client *http.Client) {
	defer client.CloseIdleConnections()
	for !r.stopping.Load() && ctx.Err() == nil {
		turn := r.turn.Add(1) - 1
		due := time.Now()
		if r.rate > 0 {
			// In the open loop a server that stalls is charged for all requests that it delays.
			due = r.begun.Add(time.Duration(float64(turn) / r.rate * float64(time.Second)))
			sleep(ctx, time.Until(due))
			if r.stopping.Load() || ctx.Err() != nil {
				return
			}
		}
		r.inFlight.Add(1)
		v, what := r.check(ctx, client, int(turn))
		r.inFlight.Add(-1)
		if v != good && ctx.Err() != nil {
			return
		}
		r.asked.Add(1)
		r.bad[v].Add(1)
		r.mu.Lock()
		if v == good {
			r.samples = append(r.samples, sample{due, time.Since(due)})
		} else if len(r.firsts) < 5 {
			r.firsts = append(r.firsts, what)
		}
		r.mu.Unlock()
		if r.pause > 0 {
			sleep(ctx, r.pause)
		}
	}
}

func (r *running) wrong() int64  { return r.bad[wrong].Load() }
func (r *running) failed() int64 { return r.bad[failed].Load() }

func (r *running) clean() bool { return r.wrong()+r.failed() == 0 }

// counts are the bad answers of a load, and what was wrong with the first ones.
func (r *running) counts() string {
	return fmt.Sprintf("%d wrong, %d failed of %d%s", r.wrong(), r.failed(), r.asked.Load(), r.complaints())
}

func (r *running) complaints() (text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, what := range r.firsts {
		if i == 0 {
			text = ":"
		}
		text += "\n  " + what
	}
	return text
}

// period is a part of the time of a load.
type period struct{ from, to time.Time }

// within returns how long the answers took to requests that were due in one of the periods.
func (r *running) within(in []period) (all latencies) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.samples {
		if slices.ContainsFunc(in, func(p period) bool { return !s.due.Before(p.from) && s.due.Before(p.to) }) {
			all = append(all, s.took)
		}
	}
	return all
}

// between returns how long the answers took to requests that were due in a part of the load.
func (r *running) between(from, to time.Duration) latencies {
	return r.within([]period{{r.begun.Add(from), r.begun.Add(to)}})
}

type latencies []time.Duration

// quantile returns what a part q of them did not exceed, 0 if there are none.
func (l latencies) quantile(q float64) time.Duration {
	if len(l) == 0 {
		return 0
	}
	slices.Sort(l)
	return l[min(len(l)-1, int(q*float64(len(l))))]
}
