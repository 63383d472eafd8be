package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"hdqs/bench/load"
)

// closed sends the whole mix in a closed loop, over 1 to 64 connections.
func (e *experiment) closed() error {
	s := e.asConfigured()
	for _, encoding := range e.codings() {
		for connections := 1; connections <= 64; connections *= 4 {
			o, err := s.Run(load.Drive{
				Queries: e.queries, Encoding: encoding, Connections: connections, Duration: e.part(8),
			})
			if err != nil {
				return err
			}
			e.report.Closed = append(e.report.Closed, load.Point(s.Name, encoding, connections, 0, o))
			progress("closed loop, %s, %d connections: %.0f/s", encoding, connections, o.PerSecond())
		}
	}
	return nil
}

// open sends the whole mix in an open loop, at half and at four fifths of the highest closed-loop
// rate without refusals.
func (e *experiment) open() error {
	s := e.asConfigured()
	for _, encoding := range e.codings() {
		most := 0.0
		for _, p := range e.report.Closed {
			if p.Encoding == encoding && p.Wrong == 0 {
				most = max(most, p.PerSecond)
			}
		}
		for _, part := range []float64{0.5, 0.8} {
			rate := most * part
			o, err := s.Run(load.Drive{
				Queries: e.queries, Encoding: encoding, Connections: 64, Rate: rate, Duration: e.part(40),
			})
			if err != nil {
				return err
			}
			e.report.Open = append(e.report.Open, load.Point(s.Name, encoding, 64, rate, o))
			progress("open loop, %s, %.0f/s due: p99 %v, p99.9 %v", encoding, rate, o.Quantile(0.99), o.Quantile(0.999))
		}
	}
	return nil
}

// faults counts the page faults of answers of the server as configured, and what its cache
// answered.
func (e *experiment) faults() error {
	if e.byDefault == nil {
		return nil
	}
	var cells []load.Cell
	for _, cell := range e.report.Cells {
		if cell.Server == e.byDefault.Name && cell.SentBytes >= wholePage {
			cells = append(cells, cell)
		}
	}
	if len(cells) == 0 {
		return nil
	}
	twice := *e.byDefault
	twice.Fresh = &load.Fresh{Twice: true}
	drive := func(c load.Cell, most int) (*load.Outcome, error) {
		q := e.find(c.Query)
		q.Weight = 1
		return twice.Run(load.Drive{
			Queries: []load.Query{q}, Encoding: c.Encoding, Connections: e.connections,
			Duration: time.Minute, Most: most,
		})
	}
	for _, cell := range cells {
		f := load.Faults{Query: cell.Query, Encoding: cell.Encoding, Sent: cell.SentBytes, Once: cell.Faults, Twice: -1}
		// A cache that is not full yet takes new memory, and so does one that is full of bodies of
		// other lengths. To fill it takes too long with pages that cost much, and plain ones are
		// not kept.
		fill := int(2 * fullCache / cell.SentBytes)
		if cell.Encoding != load.Identity && cell.CPUMicros*float64(fill) < longestFill {
			if _, err := drive(cell, fill); err != nil {
				return err
			}
			o, err := drive(cell, requestsForFaults)
			if err != nil {
				return err
			}
			f.Twice = o.FaultsPerRequest()
		}
		e.report.Faults = append(e.report.Faults, f)
	}
	if v, ok := load.FaultsVerdict(e.report.Faults, mostFaults); ok {
		e.report.Targets = append(e.report.Targets, v)
	}
	for _, p := range e.processes {
		if p.Server == e.byDefault && p.admin != "" {
			var err error
			e.report.Cache, err = cacheUse("http://" + p.admin + "/metrics")
			return err
		}
	}
	return nil
}

const (
	// wholePage is the length from which a body's page faults are counted: of a shorter one they
	// would be less than one.
	wholePage = 32 << 10

	// fullCache are more bytes of bodies than the cache keeps by default.
	fullCache = 96 << 20

	// longestFill limits the CPU for filling the cache, in microseconds.
	longestFill = 1.5e6

	// requestsForFaults are the requests by which page faults are counted.
	requestsForFaults = 256

	// mostFaults is the target of page faults, as a part of the pages that a body fills: memory
	// that is used again has none, memory that is new has one for each page.
	mostFaults = 0.1

	// firstFresh numbers the large pages of the first round, apart from those of other
	// measurements, and freshStep is more than there are in a round.
	firstFresh, freshStep = 1_000_000, 50_000

	// mostBeside is the target of the p99 of small answers beside large ones, divided by that
	// alone.
	mostBeside = 3
)

// find returns the query with a name.
func (e *experiment) find(name string) load.Query {
	for _, q := range e.queries {
		if q.Name == name {
			return q
		}
	}
	return load.Query{}
}

// cacheUse reads what the cache of bodies counted.
func cacheUse(metrics string) (use load.CacheUse, err error) {
	_, body, err := fasthttp.Get(nil, metrics)
	if err != nil {
		return use, err
	}
	for _, counter := range []struct {
		name string
		into *float64
	}{{"hits", &use.Hits}, {"misses", &use.Misses}} {
		_, line, _ := strings.Cut("\n"+string(body), "\nhdqs_body_cache_"+counter.name+"_total ")
		line, _, _ = strings.Cut(line, "\n")
		if *counter.into, err = strconv.ParseFloat(line, 64); err != nil {
			return use, fmt.Errorf("%s of the cache of bodies: %w", counter.name, err)
		}
	}
	return use, nil
}

// beside measures small answers beside ten connections that read large pages.
func (e *experiment) beside() error {
	small := e.find("small-three-filters")
	for _, large := range []struct{ name, encoding string }{
		{"conflict-run", load.Identity}, {"conflict-scattered", load.Gzip},
	} {
		b := load.Beside{
			Server: e.asConfigured(), Small: small, Large: e.find(large.name), Encoding: large.encoding, Rate: 1000,
			Readers: 10, Rounds: max(e.rounds-2, 1), Part: 13 * e.burst,
		}
		first := firstFresh
		b.Read = func(duration time.Duration) (float64, error) {
			first += freshStep
			return readApart(b, first, duration)
		}
		if b.Small.Name == "" || b.Large.Name == "" {
			progress("no small answers beside %s: not among the queries", large.name)
			continue
		}
		r, err := b.Run()
		if err != nil {
			return err
		}
		e.report.Beside = append(e.report.Beside, *r)
		e.report.Targets = append(e.report.Targets, r.Verdict(mostBeside))
		progress("%s beside %s, %s: p99 %v alone, %v beside, %v times", r.Small, r.Large, r.Encoding, r.Alone.P99,
			r.With.P99, r.P99)
	}
	return nil
}

// readApart reads the large answers in a process of its own, which runs when the core of the
// clients has nothing else to do: one process for both would measure how long its small requests
// wait for its large ones. It stays in the session of this process, because Linux divides the
// cores equally among sessions, whatever the priorities within them. For a server of which new
// pages are requested, first is the number of the first of them.
func readApart(b load.Beside, first int, duration time.Duration) (perSecond float64, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	command := exec.Command("chrt", "--idle", "0", self, "load", "--json", "--url", b.Server.URL,
		"--target", b.Large.Target, "--encodings", b.Encoding, "--connections", strconv.Itoa(b.Readers),
		"--duration", duration.String())
	if b.Server.Fresh != nil {
		command.Args = append(command.Args, "--fresh", strconv.Itoa(first))
	}
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		return 0, fmt.Errorf("%s: %w", strings.Join(command.Args, " "), err)
	}
	var points [1]load.LoadPoint
	err = json.Unmarshal(out, &points)
	return points[0].PerSecond, err
}
