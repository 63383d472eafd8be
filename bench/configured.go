package main

import (
	"slices"

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

// find returns the query with a name.
func (e *experiment) find(name string) load.Query {
	at := slices.IndexFunc(e.queries, func(q load.Query) bool { return q.Name == name })
	if at < 0 {
		return load.Query{}
	}
	return e.queries[at]
}
