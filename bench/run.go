package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"hdqs/bench/load"
)

// experiment is the command run: its flags and state.
type experiment struct {
	drive
	record
	nginx, wrap, peers, stores string
	sweep                      string
	rounds                     int
	burst                      time.Duration

	report  load.Report
	server  *load.Server
	queries []load.Query
}

func runAll(flags *flag.FlagSet, args []string) error {
	e := experiment{}
	e.drive.flags(flags)
	e.record.register(flags, "date and commit")
	flags.StringVar(&e.stores, "also-start", "",
		"commands of servers of other sizes, separated by ;, for memory by rows")
	flags.StringVar(&e.wrap, "wrap", "", "prefix of the servers' commands, such as: taskset -c 0")
	flags.StringVar(&e.nginx, "nginx", "nginx", "program of the control; empty: no control")
	flags.StringVar(&e.peers, "peers", "", "servers that are already running, as NAME=URL[,PID], separated by ;")
	flags.StringVar(&e.sweep, "sweep", "/api/v2/coordination-context/conflict-events?limit=%d",
		"query for the cost by rows")
	flags.IntVar(&e.rounds, "rounds", 5, "bursts per server")
	flags.DurationVar(&e.burst, "burst", 500*time.Millisecond, "length of a burst")
	if err := e.record.parse(flags, args); err != nil {
		return err
	}
	var err error
	if e.queries, err = e.drive.queries(); err != nil {
		return err
	}
	e.report = e.record.begin()
	e.report.Connections, e.report.Rounds, e.report.Burst = e.connections, e.rounds, e.burst
	return errors.Join(e.measure(), e.record.write(&e.report, "")) // a run that failed still reports what it measured
}

func commit() string {
	text, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(text))
}

// launch starts a server with the flags' prefix.
func (e *experiment) launch(name, command string) (*process, error) {
	return launch(&load.Server{Name: name}, e.wrap, command, firstPlain(e.queries), time.Minute)
}

func firstPlain(queries []load.Query) load.Query {
	for _, q := range queries {
		if q.Status == 200 {
			return q
		}
	}
	return queries[0]
}

// measure runs all measurements, memory last.
func (e *experiment) measure() (err error) {
	if err := e.starts(); err != nil {
		return err
	}
	p, err := e.launch("ours", e.start)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	e.server = p.Server
	rows := p.TotalRows()
	fresh, err := load.UsageOf(p.PID)
	if err != nil {
		return err
	}
	for _, step := range []func() error{e.compare, e.closed, e.open, e.byRows} {
		if err := step(); err != nil {
			return err
		}
	}
	used, err := load.UsageOf(p.PID)
	if err != nil {
		return err
	}
	e.report.Memory = append(e.report.Memory, load.Footprint{
		Server: "ours", Rows: rows, Resident: fresh.Resident,
		PeakResident: used.Peak,
	})
	slices.SortFunc(e.report.Memory, func(a, b load.Footprint) int { return a.Rows - b.Rows })
	return nil
}

// starts starts the server five times, and the servers of other sizes once each.
func (e *experiment) starts() error {
	var took []time.Duration
	for range 5 {
		p, err := e.launch("ours", e.start)
		if err != nil {
			return err
		}
		took = append(took, p.took)
		if err := p.stop(); err != nil {
			return err
		}
	}
	slices.Sort(took)
	e.report.Starts = append(e.report.Starts, load.StartTime{
		Server: "ours", Median: took[2], Low: took[0],
		High: took[4],
	})
	progress("first answer after %v", took)
	for _, command := range split(e.stores) {
		p, err := e.launch("ours", command)
		if err != nil {
			return err
		}
		f := load.Footprint{Server: "ours", Rows: p.TotalRows()}
		fresh, err1 := load.UsageOf(p.PID)
		_, err2 := p.Run(load.Drive{
			Queries: e.queries, Encoding: load.Gzip, Connections: e.connections,
			Duration: 3 * e.burst,
		})
		used, err3 := load.UsageOf(p.PID)
		if err := errors.Join(err1, err2, err3, p.stop()); err != nil {
			return err
		}
		f.Resident, f.PeakResident = fresh.Resident, used.Peak
		e.report.Memory = append(e.report.Memory, f)
	}
	return nil
}

func split(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ';' })
}

// compare measures ours, the control and the peers in turn.
func (e *experiment) compare() (err error) {
	c := load.Comparison{
		Servers: []*load.Server{e.server}, Queries: e.queries, Encodings: e.codings(), Rounds: e.rounds, Burst: e.burst,
		Connections: e.connections, Progress: progress,
	}
	if e.nginx != "" {
		dir, err := os.MkdirTemp("", "bench-nginx-*")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		control, err := load.StartNginx(e.nginx, dir, strings.Fields(e.wrap), e.server, e.queries)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, control.Stop()) }()
		c.Servers = append(c.Servers, &control.Server)
	}
	for _, text := range split(e.peers) {
		s, err := parseServer(text)
		if err != nil {
			return err
		}
		c.Servers = append(c.Servers, s)
	}
	e.report.Cells, err = c.Run()
	e.report.Targets = c.Verdicts
	return err
}

// closed sends the whole mix in a closed loop, over 1 to 64 connections.
func (e *experiment) closed() error {
	for _, encoding := range e.codings() {
		for connections := 1; connections <= 64; connections *= 2 {
			o, err := e.server.Run(load.Drive{
				Queries: e.queries, Encoding: encoding, Connections: connections,
				Duration: 3 * e.burst,
			})
			if err != nil {
				return err
			}
			e.report.Closed = append(e.report.Closed, load.Point("ours", encoding, connections, 0, o))
			progress("closed loop, %s, %d connections: %.0f/s", encoding, connections, o.PerSecond())
		}
	}
	return nil
}

// open sends the whole mix in an open loop, at fractions of the highest closed-loop rate.
func (e *experiment) open() error {
	for _, encoding := range e.codings() {
		most := 0.0
		for _, p := range e.report.Closed {
			if p.Encoding == encoding {
				most = max(most, p.PerSecond)
			}
		}
		for _, part := range []float64{0.3, 0.6, 0.8} {
			rate := most * part
			o, err := e.server.Run(load.Drive{
				Queries: e.queries, Encoding: encoding, Connections: 64, Rate: rate,
				Duration: 8 * e.burst,
			})
			if err != nil {
				return err
			}
			e.report.Open = append(e.report.Open, load.Point("ours", encoding, 64, rate, o))
			progress("open loop, %s, %.0f/s due: p99 %v", encoding, rate, o.Quantile(0.99))
		}
	}
	return nil
}

// byRows measures one query with 1 to 10,000 rows.
func (e *experiment) byRows() error {
	if e.sweep == "" {
		return nil
	}
	for _, encoding := range e.codings() {
		for _, limit := range []int{1, 10, 100, 1000, 3000, 10000} {
			q := load.Query{
				Weight: 1, Name: fmt.Sprintf("sweep-%d", limit), Target: fmt.Sprintf(e.sweep, limit),
				Status: 200,
			}
			o, err := e.server.Run(load.Drive{
				Queries: []load.Query{q}, Encoding: encoding,
				Connections: e.connections, Duration: 2 * e.burst,
			})
			if err != nil {
				return err
			}
			e.report.ByRows = append(e.report.ByRows, load.RowsPoint{
				Server: "ours", Encoding: encoding, Rows: limit, CPUMicros: o.CPUPerRequest(), P50: o.Quantile(0.5),
			})
		}
	}
	return nil
}
