package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"hdqs/bench/load"
)

// closed sends the whole mix in a closed loop, over 1 to 64 connections.
func (e *experiment) closed() error {
	for _, encoding := range e.codings() {
		for connections := 1; connections <= 64; connections *= 4 {
			p, err := e.asConfigured().Point(load.Drive{
				Queries: e.queries, Encoding: encoding, Connections: connections, Duration: e.part(8),
			})
			if err != nil {
				return err
			}
			e.report.Closed = append(e.report.Closed, p)
			progress("closed loop, %s, %d connections: %.0f/s", encoding, connections, p.PerSecond)
		}
	}
	return nil
}

// open sends the whole mix in an open loop, at half and at four fifths of the highest closed-loop
// rate without refusals.
func (e *experiment) open() error {
	for _, encoding := range e.codings() {
		most := 0.0
		for _, p := range e.report.Closed {
			if p.Encoding == encoding && p.Wrong == 0 {
				most = max(most, p.PerSecond)
			}
		}
		for _, part := range []float64{0.5, 0.8} {
			p, err := e.asConfigured().Point(load.Drive{
				Queries: e.queries, Encoding: encoding, Connections: 64, Rate: most * part, Duration: e.part(40),
			})
			if err != nil {
				return err
			}
			e.report.Open = append(e.report.Open, p)
			progress("open loop, %s, %.0f/s due: p99 %v, p99.9 %v", encoding, p.Asked, p.P99, p.P999)
		}
	}
	return nil
}

// faults counts the page faults of answers of the server as configured, and what its cache
// answered.
func (e *experiment) faults() (err error) {
	if e.byDefault == nil {
		return nil
	}
	for _, cell := range e.report.Cells {
		if cell.Server != e.byDefault.Name || cell.SentBytes < wholePage {
			continue
		}
		f := load.Faults{Query: cell.Query, Encoding: cell.Encoding, Sent: cell.SentBytes, Once: cell.Faults, Twice: -1}
		// A cache that is not full yet takes new memory, and so does one that is full of bodies of
		// other lengths. To fill it takes too long with pages that cost much, and plain ones are
		// not kept.
		fill := int(2 * fullCache / cell.SentBytes)
		if cell.Encoding != load.Identity && cell.CPUMicros*float64(fill) < longestFill {
			q := e.find(cell.Query)
			q.Weight = 1
			for _, requests := range []int{fill, requestsForFaults} {
				o, err := e.twice.Run(load.Drive{
					Queries: []load.Query{q}, Encoding: cell.Encoding, Connections: e.connections,
					Duration: time.Minute, Most: requests,
				})
				if err != nil {
					return err
				}
				f.Twice = o.FaultsPerRequest()
			}
		}
		e.report.Faults = append(e.report.Faults, f)
	}
	if v, ok := load.FaultsVerdict(e.report.Faults, mostFaults); ok {
		e.report.Targets = append(e.report.Targets, v)
	}
	for _, p := range e.processes {
		if p.Server == e.byDefault && p.admin != "" {
			e.report.Cache, err = cacheUse("http://" + p.admin + "/metrics")
		}
	}
	return err
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
)

// find returns the query with a name.
func (e *experiment) find(name string) load.Query {
	at := slices.IndexFunc(e.queries, func(q load.Query) bool { return q.Name == name })
	if at < 0 {
		return load.Query{}
	}
	return e.queries[at]
}

// cacheUse reads what the cache of bodies counted.
func cacheUse(metrics string) (use load.CacheUse, err error) {
	_, body, err := fasthttp.Get(nil, metrics)
	if err != nil {
		return use, err
	}
	for name, into := range map[string]*float64{"hits": &use.Hits, "misses": &use.Misses} {
		_, line, _ := strings.Cut("\n"+string(body), "\nhdqs_body_cache_"+name+"_total ")
		line, _, _ = strings.Cut(line, "\n")
		if *into, err = strconv.ParseFloat(line, 64); err != nil {
			return use, fmt.Errorf("%s of the cache of bodies: %w", name, err)
		}
	}
	return use, nil
}
