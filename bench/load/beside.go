package load

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
)

// Beside measures small answers beside clients that read large ones: the latency of the small ones,
// at an even rate, with and without the others, in turns.
type Beside struct {
	Server   *Server
	Small    Query
	Large    Query
	Encoding string  // of the large answers; the small ones are not compressed
	Rate     float64 // small requests per second
	Readers  int     // connections that request large answers
	Rounds   int
	Part     time.Duration // length of each of the two parts of a round

	// Read requests the large answers for a time and returns how many there were per second. In
	// production its clients run on other machines, so it must not slow down this process.
	Read func(time.Duration) (perSecond float64, err error)
}

// BesideResult is the result of a Beside.
type BesideResult struct {
	Small, Large, Encoding string
	Rate                   float64
	Readers, Rounds        int
	LargePerSecond         float64
	Alone, With            LoadPoint // of all rounds
	P99                    Ratio     // with ÷ alone, by round
}

// besideConnections are enough for small requests to find one that is free.
const besideConnections = 32

// Run runs all rounds.
func (b *Beside) Run() (*BesideResult, error) {
	b.Small.Weight, b.Large.Weight = 1, 1
	alone, with := newOutcome(), newOutcome()
	var p99, large []float64
	measure := func(into *Outcome) (seconds float64, err error) {
		o, err := b.Server.Run(Drive{
			Queries: []Query{b.Small}, Encoding: Identity, Connections: besideConnections, Rate: b.Rate,
			Duration: b.Part,
		})
		if err != nil {
			return 0, err
		}
		into.add(o)
		into.Elapsed += o.Elapsed
		return o.Quantile(0.99).Seconds(), nil
	}
	for range b.Rounds {
		before, err := measure(alone)
		if err != nil {
			return nil, err
		}
		const lead = 200 * time.Millisecond // before and after the small requests
		var read float64
		var all errgroup.Group
		all.Go(func() (err error) {
			read, err = b.Read(b.Part + 2*lead)
			return err
		})
		time.Sleep(lead)
		beside, err := measure(with)
		if err := errors.Join(err, all.Wait()); err != nil {
			return nil, err
		}
		p99, large = append(p99, beside/before), append(large, read)
	}
	if alone.Requests == 0 || with.Requests == 0 || slices.Min(large) == 0 {
		return nil, fmt.Errorf("load: no good answers to %s beside %s: %s", b.Small.Name, b.Large.Name, with.FirstWrong)
	}
	return &BesideResult{
		Small: b.Small.Name, Large: b.Large.Name, Encoding: b.Encoding, Rate: b.Rate, Readers: b.Readers,
		Rounds: b.Rounds, LargePerSecond: median(large), P99: Spread(p99),
		Alone: Point(b.Server.Name, Identity, besideConnections, b.Rate, alone),
		With:  Point(b.Server.Name, Identity, besideConnections, b.Rate, with),
	}, nil
}

// Verdict compares the latencies with a target.
func (r *BesideResult) Verdict(most float64) Verdict {
	return Verdict{
		Query: r.Small + "-beside-" + r.Large, Encoding: r.Encoding,
		Work: fmt.Sprintf("p99 of %s, %.0f/s, beside %d connections that read %s in %s", r.Small, r.Rate, r.Readers,
			r.Large, r.Encoding),
		Control: "the same alone", Micros: float64(r.With.P99.Microseconds()), Most: most, Got: r.P99,
	}
}
