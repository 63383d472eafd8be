package load

import (
	"errors"
	"fmt"
	"strings"
	"time"
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
	r := &BesideResult{
		Small: b.Small.Name, Large: b.Large.Name, Encoding: b.Encoding, Rate: b.Rate, Readers: b.Readers,
		Rounds: b.Rounds,
	}
	small := Drive{
		Queries: []Query{b.Small}, Encoding: Identity, Connections: besideConnections, Rate: b.Rate,
		Duration: b.Part,
	}
	alone, with := Outcome{Latency: newLatencies()}, Outcome{Latency: newLatencies()}
	var p99 []float64
	var large []float64
	measure := func(into *Outcome) (time.Duration, error) {
		o, err := b.Server.Run(small)
		if err != nil {
			return 0, err
		}
		into.add(o)
		into.Elapsed += o.Elapsed
		return o.Quantile(0.99), nil
	}
	for range b.Rounds {
		before, err := measure(&alone)
		if err != nil {
			return nil, err
		}
		beside, read, err := b.beside(func() (time.Duration, error) { return measure(&with) })
		if err == nil && read == 0 {
			err = fmt.Errorf("load: nothing read %s beside %s", b.Large.Name, b.Small.Name)
		}
		if err != nil {
			return nil, err
		}
		p99, large = append(p99, beside.Seconds()/before.Seconds()), append(large, read)
	}
	if alone.Requests == 0 || with.Requests == 0 {
		return nil, fmt.Errorf("load: no good answers to %s beside %s: %s", b.Small.Name, b.Large.Name, with.FirstWrong)
	}
	r.Alone = Point(b.Server.Name, Identity, besideConnections, b.Rate, &alone)
	r.With = Point(b.Server.Name, Identity, besideConnections, b.Rate, &with)
	r.P99, r.LargePerSecond = Spread(p99), median(large)
	return r, nil
}

// beside measures while other connections read large answers, and returns how many of these there
// were per second.
func (b *Beside) beside(measure func() (time.Duration, error)) (p99 time.Duration, read float64, err error) {
	type result struct {
		perSecond float64
		err       error
	}
	ended := make(chan result, 1)
	const lead = 200 * time.Millisecond // before and after the small requests
	go func() {
		perSecond, err := b.Read(b.Part + 2*lead)
		ended <- result{perSecond, err}
	}()
	time.Sleep(lead)
	p99, err = measure()
	large := <-ended
	return p99, large.perSecond, errors.Join(err, large.err)
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

func writeBeside(b *strings.Builder, all []BesideResult) {
	if len(all) == 0 {
		return
	}
	b.WriteString("\n## Small answers beside large ones\n\nThe server as configured.\n\n" +
		"| small, at a rate | large | readers | large/s | p50 | beside | p99 | beside | p99.9 | beside | " +
		"p99, beside ÷ alone |\n|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, r := range all {
		fmt.Fprintf(b, "| %s, %.0f/s | %s, %s | %d | %.0f | %v | %v | %v | %v | %v | %v | %v |\n", r.Small, r.Rate,
			r.Large, r.Encoding, r.Readers, r.LargePerSecond, short(r.Alone.P50), short(r.With.P50), short(r.Alone.P99),
			short(r.With.P99), short(r.Alone.P999), short(r.With.P999), r.P99)
	}
}
