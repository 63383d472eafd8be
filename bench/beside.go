package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"hdqs/bench/load"
)

const (
	// smallRate is the rate of small requests, over so many connections that one is free.
	smallRate, smallConnections = 1000, 32

	// readers are the connections that read large pages.
	readers = 10

	// lead is how long the large pages are read before and after the small requests.
	lead = 200 * time.Millisecond

	// mostBeside is the target of the p99 of small answers beside large ones, divided by that
	// alone.
	mostBeside = 3
)

// beside measures small answers at an even rate, beside connections that read large pages and
// without them.
func (e *experiment) beside() error {
	find := func(name string) (found load.Query) {
		if at := slices.IndexFunc(e.queries, func(q load.Query) bool { return q.Name == name }); at >= 0 {
			found = e.queries[at]
		}
		return found
	}
	small := find("small-three-filters")
	for _, c := range []struct{ name, encoding string }{
		{"conflict-run", load.Identity}, {"conflict-scattered", load.Gzip},
	} {
		large := find(c.name)
		if small.Name == "" || large.Name == "" {
			progress("no small answers beside %s: not among the queries", c.name)
			continue
		}
		r, err := e.besideLarge(small, large, c.encoding)
		if err != nil {
			return err
		}
		e.report.Beside = append(e.report.Beside, r)
		e.report.Targets = append(e.report.Targets, r.Verdict(mostBeside))
		progress("%s beside %s, %s: p99 %v ms alone, %v ms beside, %v times", r.Small, r.Large, r.Encoding, r.Alone,
			r.With, r.P99)
	}
	return nil
}

// besideLarge takes turns in short rounds.
func (e *experiment) besideLarge(small, large load.Query, encoding string) (r load.Beside, err error) {
	small.Weight = 1
	part := 13 * e.burst
	measure := func() (milliseconds float64, err error) {
		p, err := e.server.Point(load.Drive{
			Queries: []load.Query{small}, Encoding: load.Identity, Connections: smallConnections, Rate: smallRate,
			Duration: part,
		})
		if err == nil && p.P99 == 0 {
			err = fmt.Errorf("no good answers to %s", small.Name)
		}
		return p.P99.Seconds() * 1e3, err
	}
	var alone, with, ratios, rates []float64
	for range max(e.rounds-2, 1) {
		usual, err := measure()
		if err != nil {
			return r, err
		}
		var perSecond float64
		var reading errgroup.Group
		reading.Go(func() (err error) {
			perSecond, err = e.readApart(large, encoding, part+2*lead)
			return err
		})
		time.Sleep(lead)
		beside, err := measure()
		if err := errors.Join(err, reading.Wait()); err != nil {
			return r, err
		}
		alone, with = append(alone, usual), append(with, beside)
		ratios, rates = append(ratios, beside/usual), append(rates, perSecond)
	}
	return load.Beside{
		Small: small.Name, Large: large.Name, Encoding: encoding, Rate: smallRate, Readers: readers,
		LargePerSecond: load.Spread(rates), Alone: load.Spread(alone), With: load.Spread(with),
		P99: load.Spread(ratios),
	}, nil
}

// readApart reads the large answers in a process of its own, which runs when the core of the
// clients has nothing else to do: one process for both would measure how long its small requests
// wait for its large ones. It stays in the session of this process, because Linux divides the
// cores equally among sessions, whatever the priorities within them.
func (e *experiment) readApart(large load.Query, encoding string, length time.Duration) (float64, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	command := exec.Command("chrt", "--idle", "0", self, "load", "--json", "--url", e.server.URL,
		"--target", large.Target, "--encodings", encoding, "--connections", strconv.Itoa(readers),
		"--duration", length.String())
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		return 0, fmt.Errorf("%s: %w", strings.Join(command.Args, " "), err)
	}
	var points [1]load.LoadPoint
	err = json.Unmarshal(out, &points)
	return points[0].PerSecond, err
}
