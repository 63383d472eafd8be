package main

import (
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
		if err := e.besideLarge(small, large, c.encoding); err != nil {
			return err
		}
	}
	return nil
}

// besideLarge takes turns in short rounds.
func (e *experiment) besideLarge(small, large load.Query, encoding string) error {
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
	var alone, with []float64
	for range max(e.rounds-2, 1) {
		usual, err := measure()
		if err != nil {
			return err
		}
		var reading errgroup.Group
		reading.Go(func() error { return e.readApart(large, encoding, part+2*lead) })
		time.Sleep(lead)
		beside, err := measure()
		if err := errors.Join(err, reading.Wait()); err != nil {
			return err
		}
		alone, with = append(alone, usual), append(with, beside)
	}
	e.delayed(load.Verdict{
		Query: small.Name + "-beside-" + large.Name, Encoding: encoding, Most: mostBeside, Control: "the same alone",
		Work: fmt.Sprintf("p99 of %s, %d/s, beside %d connections that read %s in %s", small.Name, smallRate, readers,
			large.Name, encoding),
	}, with, alone)
	return nil
}

// readApart reads the large answers in a process of its own, which runs when the core of the
// clients has nothing else to do: one process for both would measure how long its small requests
// wait for its large ones. It stays in the session of this process, because Linux divides the
// cores equally among sessions, whatever the priorities within them.
func (e *experiment) readApart(large load.Query, encoding string, length time.Duration) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	command := exec.Command("chrt", "--idle", "0", self, "load", "--url", e.server.URL,
		"--target", large.Target, "--encodings", encoding, "--connections", strconv.Itoa(readers),
		"--duration", length.String())
	if text, err := command.CombinedOutput(); err != nil { // also without a good answer
		return fmt.Errorf("%s: %w: %s", strings.Join(command.Args, " "), err, text)
	}
	return nil
}
