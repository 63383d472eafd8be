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

// Overload asks a server for more than it can give, and watches what is left of what it gave before. Its parts take turns within each round, and each is
// compared with the usual load just before and after it, because a machine's mood changes faster than a round passes.
type Overload struct {
	Server      *Server
	Queries     []Query
	Encoding    string
	Connections int           // of the usual load, which should fill the server
	Wide        int           // connections of the open loop, so many that a request seldom lacks one
	Idle        int           // connections that wait beside the usual load
	Patience    time.Duration // of the callers of the open loop
	Rounds      int
	Burst       time.Duration // length of each part; those of overload are overloadBursts as long
	Progress    func(format string, args ...any)
}

// overloadFactor is how much more is asked than the server can give.
const overloadFactor = 3

// overloadBursts is how much longer the parts of overload last than others. Where more is asked than the server can give, the first tenth of a second decides
// about one in forty answers of four seconds, and would be all that their 99th percentile tells.
const overloadBursts = 3

// mostRecovery is how long the server may take to be itself again before we stop looking.
const mostRecovery = 20 * time.Second

// OverloadReport is what an Overload measured.
type OverloadReport struct {
	Date, Commit   string
	Machine        Machine
	Note           string
	Encoding       string
	Queries        []string
	Connections    int
	Wide, IdleWait int // connections of the open loop, and those that wait
	Patience       time.Duration
	Burst          time.Duration
	Rounds         []OverloadRound

	Against struct{ Closed, Open, Rude, Idle Multiples }

	Recovery   Ratio   // seconds
	IdleMemory float64 // bytes of the server that all waiting connections cost, in the worst round
}

// Multiples are a part's rate of good answers, and CPU and longest wait but for one in a hundred of each, divided by the usual.
type Multiples struct{ Rate, CPU, P99 Ratio }

// String is the three as cells of a row.
func (m Multiples) String() string { return fmt.Sprintf("%v | %v | %v", m.Rate, m.CPU, m.P99) }

// OverloadRound is one round's part of it.
type OverloadRound struct {
	Usual        []LoadPoint // before and after each part
	Closed, Open LoadPoint
	Rude         LoadPoint // as many connections as the open loop's, that ask again as soon as they are turned away
	Idle         LoadPoint
	Turned       int           // requests of the open loop that were answered otherwise than asked: turned away
	TurnedRudely int           // those of Rude
	Late, Unsent int           // of the open loop
	Recovery     time.Duration // from the end of the open loop until nine tenths of the usual rate
	Resident     [2]int64      // bytes without and with the waiting connections
}

// Run measures.
func (v *Overload) Run() (*OverloadReport, error) {
	r := &OverloadReport{
		Encoding: v.Encoding, Connections: v.Connections, Wide: v.Wide, IdleWait: v.Idle, Patience: v.Patience, Burst: v.Burst, Machine: ThisMachine(),
	}
	for _, q := range v.Queries {
		r.Queries = append(r.Queries, q.Name)
	}
	if _, _, err := v.drive(v.Connections, 0, v.Burst); err != nil { // warms up
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

// round is: usual, three times the connections, usual, three times the rate, usual, all connections, usual, usual beside connections that wait, usual.
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
		if r.Open, o, err = v.drive(v.Wide, overloadFactor*r.Usual[len(r.Usual)-1].PerSecond, overloadBursts*v.Burst); err != nil {
			return err
		}
		r.Turned, r.Late, r.Unsent = o.Wrong, o.Late, o.Unsent
		return v.comeBack(r)
	}
	rude := func() (err error) {
		var o *Outcome
		if r.Rude, o, err = v.drive(v.Wide, 0, overloadBursts*v.Burst); err == nil {
			r.TurnedRudely = o.Wrong
		}
		return err
	}
	for _, part := range []func() error{usual, closed, usual, open, usual, rude, usual, func() error { return v.beside(r) }, usual} {
		if err := part(); err != nil {
			return nil, err
		}
	}
	v.Progress("usual %.0f/s; %d connections %.0f/s; %.0f/s due: %.0f/s, p99 %v, %d turned away, %d late, %d unsent; back after %v; "+
		"%d rude %.0f/s, %d turned away; %d wait: %.0f/s, %+.0f MB",
		r.Usual[0].PerSecond, overloadFactor*v.Connections, r.Closed.PerSecond, r.Open.Asked, r.Open.PerSecond, short(r.Open.P99), r.Turned, r.Late, r.Unsent,
		short(r.Recovery), v.Wide, r.Rude.PerSecond, r.TurnedRudely, v.Idle, r.Idle.PerSecond, float64(r.Resident[1]-r.Resident[0])/1e6)
	return r, nil
}

// comeBack asks as usual in short pieces until one of them is as good as usual.
func (v *Overload) comeBack(r *OverloadRound) error {
	begun := time.Now()
	for {
		p, _, err := v.drive(v.Connections, 0, v.Burst/10)
		if r.Recovery = time.Since(begun); err != nil || p.PerSecond >= 0.9*r.Usual[len(r.Usual)-1].PerSecond || r.Recovery > mostRecovery {
			return err
		}
	}
}

// beside asks as usual while other connections, which were answered once, wait.
func (v *Overload) beside(r *OverloadRound) error {
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
			waiting[i].drop(nil) //nolint:errcheck // gives back what it is given
		}
	}()
	for i := range waiting {
		waiting[i].address = base.Host
		if _, err := waiting[i].do(request(base.Host, ask{method: "GET", target: "/favicon.ico"}, Identity)); err != nil {
			return fmt.Errorf("load: waiting connection %d of %d: %w", i+1, v.Idle, err)
		}
		waiting[i].in = nil // its memory is ours, not the server's
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
		return spread(all)
	}
	for _, c := range []struct {
		against *Multiples
		part    func(*OverloadRound) (p *LoadPoint, at int)
	}{
		{&r.Against.Closed, func(r *OverloadRound) (*LoadPoint, int) { return &r.Closed, 0 }},
		{&r.Against.Open, func(r *OverloadRound) (*LoadPoint, int) { return &r.Open, 1 }},
		{&r.Against.Rude, func(r *OverloadRound) (*LoadPoint, int) { return &r.Rude, 2 }},
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
	r.Recovery = spread(recovery)
	if len(memory) > 0 {
		r.IdleMemory = slices.Max(memory)
	}
}

// WriteJSON writes the report for programs.
func (r *OverloadReport) WriteJSON(w io.Writer) error { return writeJSON(w, r) }

// WriteMarkdown writes the report for people.
func (r *OverloadReport) WriteMarkdown(w io.Writer) error {
	b := &strings.Builder{}
	fmt.Fprintf(b, "# Overload, measured %s at %s\n\n%s\n\n%s, %d cores, Linux %s, %s; load average before the run %s. Asked in %s: %s. Usual load: %d connections "+
		"that ask again at once. %d rounds of parts in turn, %v each and %v for those of %d connections; each part is "+
		"divided by the usual load just before and after it: median (lowest-highest).\n\n",
		r.Date, r.Commit, r.Note, r.Machine.CPU, r.Machine.Cores, r.Machine.Kernel, r.Machine.Go, r.Machine.LoadBefore, r.Encoding, strings.Join(r.Queries, ", "),
		r.Connections, len(r.Rounds), r.Burst, overloadBursts*r.Burst, r.Wide)
	b.WriteString("| part | good answers, of the usual rate | CPU a good answer, of the usual | p99, of the usual |\n|---|--:|--:|--:|\n")
	fmt.Fprintf(b, "| %d connections | %v |\n", overloadFactor*r.Connections, r.Against.Closed)
	fmt.Fprintf(b, "| %d times the usual rate due, %d connections, callers wait %v | %v |\n", overloadFactor, r.Wide, r.Patience, r.Against.Open)
	fmt.Fprintf(b, "| %d connections that ask again as soon as they are turned away | %v |\n", r.Wide, r.Against.Rude)
	fmt.Fprintf(b, "| usual, beside %d connections that wait | %v |\n\n", r.IdleWait, r.Against.Idle)
	fmt.Fprintf(b, "Back at nine tenths of the usual rate after %v s. The waiting connections cost %.0f MB of the server's memory.\n\n", r.Recovery, r.IdleMemory/1e6)
	b.WriteString("| round | usual/s | CPU, µs | p99 | closed/s | p99 | due/s | good/s | p50 | p99 | turned away | late | unsent | back after | rude/s | p99 | turned away | beside idle/s | MB |\n" +
		"|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for i, o := range r.Rounds {
		u := &o.Usual[0]
		fmt.Fprintf(b, "| %d | %.0f | %.1f | %v | %.0f | %v | %.0f | %.0f | %v | %v | %d | %d | %d | %v | %.0f | %v | %d | %.0f | %.0f → %.0f |\n", i+1, u.PerSecond, u.CPUMicros, short(u.P99),
			o.Closed.PerSecond, short(o.Closed.P99), o.Open.Asked, o.Open.PerSecond, short(o.Open.P50), short(o.Open.P99), o.Turned, o.Late, o.Unsent,
			short(o.Recovery), o.Rude.PerSecond, short(o.Rude.P99), o.TurnedRudely, o.Idle.PerSecond, float64(o.Resident[0])/1e6, float64(o.Resident[1])/1e6)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
