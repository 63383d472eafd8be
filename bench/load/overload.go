package load

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Overload measures a server under more load than it can take. Its parts take turns within each
// round, and each is compared with the usual load just before and after it, because the speed of a
// machine changes within a round.
type Overload struct {
	Server      *Server
	Queries     []Query
	Encoding    string
	Connections int           // of the usual load, which should use the whole server
	Wide        int           // connections of the open loop: so many that a request rarely waits for one
	Idle        int           // idle connections beside the usual load
	Patience    time.Duration // of callers in the open loop
	Rounds      int
	Burst       time.Duration // length of each part; the two with Wide connections are overloadBursts times as long
	Progress    func(format string, args ...any)
}

// overloadFactor is the overload as a multiple of the usual load.
const overloadFactor = 3

// overloadBursts is how many times longer the parts with Wide connections last. The first tenth of
// a second of an overload has about one in forty of the answers of four seconds, and would
// determine their 99th percentile.
const overloadBursts = 3

// maxRecovery limits the wait for the server to return to its usual rate.
const maxRecovery = 20 * time.Second

// OverloadReport is the result of an Overload.
type OverloadReport struct {
	Date, Commit   string
	Machine        Machine
	Note           string
	Encoding       string
	Queries        []string
	Connections    int
	Wide, IdleWait int // connections of the open loop; idle connections
	Patience       time.Duration
	Burst          time.Duration
	Rounds         []OverloadRound

	Against struct{ Closed, Open, Retrying, Idle Multiples }

	Recovery   Ratio   // seconds
	IdleMemory float64 // bytes that all idle connections cost the server, in the worst round
}

// Multiples are a part's rate of good answers, CPU per good answer and p99, each divided by that of
// the usual load.
type Multiples struct{ Rate, CPU, P99 Ratio }

// String formats the three as cells of a table row.
func (m Multiples) String() string { return fmt.Sprintf("%v | %v | %v", m.Rate, m.CPU, m.P99) }

// OverloadRound is the result of one round.
type OverloadRound struct {
	Usual           []LoadPoint // before and after each part
	Closed, Open    LoadPoint
	Retrying        LoadPoint // Wide connections that retry at once when refused
	Idle            LoadPoint
	Refused         int           // requests of the open loop that were refused
	RefusedRetrying int           // of Retrying
	Late, Unsent    int           // of the open loop
	Recovery        time.Duration // from the end of the open loop to nine tenths of the usual rate
	Resident        [2]int64      // bytes without and with the idle connections
}

// Run runs all rounds.
func (v *Overload) Run() (*OverloadReport, error) {
	r := &OverloadReport{
		Encoding: v.Encoding, Connections: v.Connections, Wide: v.Wide, IdleWait: v.Idle, Patience: v.Patience,
		Burst: v.Burst, Machine: ThisMachine(),
	}
	for _, q := range v.Queries {
		r.Queries = append(r.Queries, q.Name)
	}
	if _, _, err := v.drive(v.Connections, 0, v.Burst); err != nil { // warm-up
		return nil, err
	}
	for range v.Rounds {
		round, err := v.round()
		if err != nil {
			return r, err
		}
		r.Rounds = append(r.Rounds, *round)
	}
	r.conclude()
	return r, nil
}

func (v *Overload) drive(connections int, rate float64, length time.Duration) (LoadPoint, *Outcome, error) {
	d := Drive{Queries: v.Queries, Encoding: v.Encoding, Connections: connections, Rate: rate, Duration: length}
	if rate > 0 {
		d.Patience = v.Patience
	}
	o, err := v.Server.Run(d)
	if err != nil {
		return LoadPoint{}, nil, err
	}
	return Point(v.Server.Name, v.Encoding, connections, rate, o), o, nil
}

// round measures the four parts: three times the connections, three times the rate, clients that
// retry at once, and the usual load beside idle connections. The usual load runs before and after
// each.
func (v *Overload) round() (*OverloadRound, error) {
	r := &OverloadRound{}
	usual := func() error {
		p, _, err := v.drive(v.Connections, 0, v.Burst)
		r.Usual = append(r.Usual, p)
		return err
	}
	closed := func() (err error) {
		r.Closed, _, err = v.drive(overloadFactor*v.Connections, 0, v.Burst)
		return err
	}
	open := func() (err error) {
		var o *Outcome
		if r.Open, o, err = v.drive(v.Wide, overloadFactor*r.Usual[len(r.Usual)-1].PerSecond,
			overloadBursts*v.Burst); err != nil {
			return err
		}
		r.Refused, r.Late, r.Unsent = o.Wrong, o.Late, o.Unsent
		return v.recovery(r)
	}
	retrying := func() (err error) {
		var o *Outcome
		if r.Retrying, o, err = v.drive(v.Wide, 0, overloadBursts*v.Burst); err == nil {
			r.RefusedRetrying = o.Wrong
		}
		return err
	}
	for _, part := range []func() error{
		usual, closed, usual, open, usual, retrying, usual,
		func() error { return v.besideIdle(r) }, usual,
	} {
		if err := part(); err != nil {
			return nil, err
		}
	}
	v.Progress("usual %.0f/s; %d connections %.0f/s; %.0f/s due: %.0f/s, p99 %v, %d refused, %d late, %d unsent; "+
		"recovered after %v; "+
		"%d retrying %.0f/s, %d refused; %d idle: %.0f/s, %+.0f MB",
		r.Usual[0].PerSecond, overloadFactor*v.Connections, r.Closed.PerSecond, r.Open.Asked, r.Open.PerSecond,
		short(r.Open.P99), r.Refused, r.Late, r.Unsent,
		short(r.Recovery), v.Wide, r.Retrying.PerSecond, r.RefusedRetrying, v.Idle, r.Idle.PerSecond,
		float64(r.Resident[1]-r.Resident[0])/1e6)
	return r, nil
}

// recovery applies the usual load in short pieces until one reaches nine tenths of the usual rate.
func (v *Overload) recovery(r *OverloadRound) error {
	begun := time.Now()
	for {
		p, _, err := v.drive(v.Connections, 0, v.Burst/10)
		if r.Recovery = time.Since(begun); err != nil || p.PerSecond >= 0.9*r.Usual[len(r.Usual)-1].PerSecond ||
			r.Recovery > maxRecovery {
			return err
		}
	}
}

// besideIdle applies the usual load while other connections, each used once, are idle.
func (v *Overload) besideIdle(r *OverloadRound) error {
	base, err := url.Parse(v.Server.URL)
	if err != nil {
		return err
	}
	before, err := v.Server.usage()
	if err != nil {
		return err
	}
	waiting := make([]client, v.Idle)
	defer func() {
		for i := range waiting {
			waiting[i].drop(nil) //nolint:errcheck // returns its argument
		}
	}()
	for i := range waiting {
		waiting[i].address = base.Host
		if _, err := waiting[i].do(request(base.Host, ask{method: "GET", target: "/favicon.ico"},
			Identity)); err != nil {
			return fmt.Errorf("load: idle connection %d of %d: %w", i+1, v.Idle, err)
		}
		waiting[i].in = nil // frees memory of this process
	}
	p, _, err := v.drive(v.Connections, 0, v.Burst)
	after, usageErr := v.Server.usage()
	r.Idle, r.Resident = p, [2]int64{before.Resident, after.Resident}
	return errors.Join(err, usageErr)
}

// conclude compares each part with the usual load before and after it.
func (r *OverloadReport) conclude() {
	of := func(value func(*LoadPoint) float64, part func(*OverloadRound) (*LoadPoint, int)) Ratio {
		var all []float64
		for i := range r.Rounds {
			round := &r.Rounds[i]
			p, at := part(round)
			if usual := (value(&round.Usual[at]) + value(&round.Usual[at+1])) / 2; usual > 0 {
				all = append(all, value(p)/usual)
			}
		}
		return Spread(all)
	}
	for _, c := range []struct {
		against *Multiples
		part    func(*OverloadRound) (p *LoadPoint, at int)
	}{
		{&r.Against.Closed, func(r *OverloadRound) (*LoadPoint, int) { return &r.Closed, 0 }},
		{&r.Against.Open, func(r *OverloadRound) (*LoadPoint, int) { return &r.Open, 1 }},
		{&r.Against.Retrying, func(r *OverloadRound) (*LoadPoint, int) { return &r.Retrying, 2 }},
		{&r.Against.Idle, func(r *OverloadRound) (*LoadPoint, int) { return &r.Idle, 3 }},
	} {
		c.against.Rate = of(func(p *LoadPoint) float64 { return p.PerSecond }, c.part)
		c.against.CPU = of(func(p *LoadPoint) float64 { return p.CPUMicros }, c.part)
		c.against.P99 = of(func(p *LoadPoint) float64 { return p.P99.Seconds() }, c.part)
	}
	var recovery, memory []float64
	for _, round := range r.Rounds {
		recovery = append(recovery, round.Recovery.Seconds())
		memory = append(memory, float64(round.Resident[1]-round.Resident[0]))
	}
	r.Recovery = Spread(recovery)
	if len(memory) > 0 {
		r.IdleMemory = slices.Max(memory)
	}
}

// WriteJSON writes the report as JSON.
func (r *OverloadReport) WriteJSON(w io.Writer) error { return writeJSON(w, r) }

// WriteMarkdown writes the report as Markdown.
func (r *OverloadReport) WriteMarkdown(w io.Writer) error {
	b := &strings.Builder{}
	fmt.Fprintf(b, "# Overload, measured %s at %s\n\n%s\n\n%s, %d cores, Linux %s, %s; load average before the "+
		"run %s. Coding %s, queries %s. Usual load: %d connections "+
		"in a closed loop. %d rounds of parts in turn, %v each and %v for those of %d connections; each part is "+
		"divided by the usual load just before and after it: median (lowest-highest).\n\n",
		r.Date, r.Commit, r.Note, r.Machine.CPU, r.Machine.Cores, r.Machine.Kernel, r.Machine.Go,
		r.Machine.LoadBefore, r.Encoding, strings.Join(r.Queries, ", "),
		r.Connections, len(r.Rounds), r.Burst, overloadBursts*r.Burst, r.Wide)
	b.WriteString("| part | good answers, of the usual rate | CPU a good answer, of the usual | p99, of the usual " +
		"|\n|---|--:|--:|--:|\n")
	fmt.Fprintf(b, "| %d connections | %v |\n", overloadFactor*r.Connections, r.Against.Closed)
	fmt.Fprintf(b, "| %d times the usual rate due, %d connections, callers wait %v | %v |\n", overloadFactor, r.Wide,
		r.Patience, r.Against.Open)
	fmt.Fprintf(b, "| %d connections that retry at once when refused | %v |\n", r.Wide, r.Against.Retrying)
	fmt.Fprintf(b, "| usual, beside %d idle connections | %v |\n\n", r.IdleWait, r.Against.Idle)
	fmt.Fprintf(b, "Nine tenths of the usual rate again after %v s. The idle connections cost %.0f MB of the "+
		"server's memory.\n\n", r.Recovery, r.IdleMemory/1e6)
	b.WriteString("| round | usual/s | CPU, µs | p99 | closed/s | p99 | due/s | good/s | p50 | p99 | refused | " +
		"late | unsent | recovered after | retrying/s | p99 | refused | beside idle/s | MB |\n" +
		"|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for i, o := range r.Rounds {
		u := &o.Usual[0]
		fmt.Fprintf(b, "| %d | %.0f | %.1f | %v | %.0f | %v | %.0f | %.0f | %v | %v | %d | %d | %d | %v | %.0f | "+
			"%v | %d | %.0f | %.0f → %.0f |\n", i+1, u.PerSecond, u.CPUMicros, short(u.P99),
			o.Closed.PerSecond, short(o.Closed.P99), o.Open.Asked, o.Open.PerSecond, short(o.Open.P50),
			short(o.Open.P99), o.Refused, o.Late, o.Unsent,
			short(o.Recovery), o.Retrying.PerSecond, short(o.Retrying.P99), o.RefusedRetrying, o.Idle.PerSecond,
			float64(o.Resident[0])/1e6, float64(o.Resident[1])/1e6)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
