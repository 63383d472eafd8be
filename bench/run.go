package main

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"time"

	"hdqs/bench/load"
)

// experiment is the command run: its flags and state.
type experiment struct {
	drive
	output
	start, wrap, wide   string
	nginx               string
	whole               string
	rounds              int
	burst               time.Duration
	processes           []*process
	report              load.Report
	server, wholeBodies *load.Server
	queries             []load.Query
}

func runAll(flags *flag.FlagSet, args []string) (err error) {
	e := experiment{}
	e.drive.flags(flags)
	e.output.flags(flags)
	flags.StringVar(&e.start, "start", "", "command that starts the server; {listen} in it becomes host:port")
	flags.StringVar(&e.whole, "whole", "",
		"command of the same server, compressing whole bodies by the library; control")
	flags.StringVar(&e.wrap, "wrap", "", "prefix of the servers' commands, such as: taskset -c 0")
	flags.StringVar(&e.wide, "wide", "", "prefix of commands that may use all cores, such as: taskset -c 0-1")
	flags.StringVar(&e.nginx, "nginx", "nginx", "program of the control; empty: no control")
	flags.IntVar(&e.rounds, "rounds", 5, "starts, and rounds of each query")
	flags.DurationVar(&e.burst, "burst", 120*time.Millisecond, "length of a burst of one server, query and coding")
	if err := parse(flags, args); err != nil {
		return err
	}
	if e.start == "" {
		return errors.New("--start is missing: the command that starts the server")
	}
	if e.queries, err = e.drive.queries(); err != nil {
		return err
	}
	e.report = load.Report{
		Date: time.Now().UTC().Format(time.DateOnly), Commit: commit(), Machine: load.ThisMachine(), Note: e.note,
		Connections: e.connections, Rounds: e.rounds, Burst: e.burst,
	}
	stopWhenInterrupted(e.stop)
	defer e.stop()
	// A run that failed still reports what it measured.
	return errors.Join(e.measure(), e.write(&e.report))
}

// begin starts a server that runs until stop, and waits until it answers a query.
func (e *experiment) begin(s *load.Server, command string, first load.Query) error {
	p, err := launch(s, e.wrap, command, first)
	if err == nil {
		e.processes = append(e.processes, p)
	}
	return err
}

// ours starts a server of the program under test.
func (e *experiment) ours(name, command string) (*load.Server, error) {
	s := &load.Server{Name: name}
	return s, e.begin(s, command, firstPlain(e.queries))
}

func (e *experiment) stop() {
	for _, p := range e.processes {
		p.stop()
	}
}

func firstPlain(queries []load.Query) load.Query {
	return queries[max(0, slices.IndexFunc(queries, func(q load.Query) bool { return q.Status == 200 }))]
}

// measure runs all measurements, memory last.
func (e *experiment) measure() error {
	for _, step := range []func() error{e.starts, e.servers, e.compare} {
		if err := step(); err != nil {
			return err
		}
	}
	used, err := load.UsageOf(e.server.PID)
	e.report.PeakResident = used.Peak
	return err
}

// starts starts the server several times on all cores, each until its first answer.
func (e *experiment) starts() error {
	var took []float64
	for range e.rounds {
		p, err := launch(&load.Server{Name: "ours"}, e.wide, e.start, firstPlain(e.queries))
		if err != nil {
			return err
		}
		took = append(took, p.took.Seconds())
		p.stop()
	}
	e.report.Start = load.Spread(took)
	return nil
}

// servers starts ours and the control that compresses whole bodies.
func (e *experiment) servers() (err error) {
	if e.server, err = e.ours("ours", e.start); err != nil {
		return err
	}
	usage, err := load.UsageOf(e.server.PID)
	if err != nil {
		return err
	}
	e.report.Resident = usage.Resident
	if e.whole != "" {
		if e.wholeBodies, err = e.ours("whole", e.whole); err == nil {
			e.wholeBodies.Bounded = true
		}
	}
	return err
}

// compare measures every query beside its controls.
func (e *experiment) compare() (err error) {
	s := load.Comparison{
		Servers: []*load.Server{e.server}, Queries: e.queries, Encodings: e.codings(),
		Rounds: e.rounds, Burst: e.burst, Connections: e.connections, Progress: progress,
	}
	dir, err := os.MkdirTemp("", "bench-files-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if e.nginx != "" {
		control, err := e.files(dir)
		if err != nil {
			return err
		}
		s.Servers = append(s.Servers, control)
		s.Prepare = func(q load.Query) error {
			_, err := load.SaveAnswers(filepath.Join(dir, "files"), e.server, []load.Query{q}, true)
			return err
		}
	}
	if e.wholeBodies != nil {
		s.Servers = append(s.Servers, e.wholeBodies)
	}
	fixed, err := e.fixed(filepath.Join(dir, "fixed"))
	if err != nil {
		return err
	}
	if fixed != nil {
		s.Servers = append(s.Servers, fixed)
	}
	err = s.Run()
	e.report.Cells = s.Cells
	e.report.Targets = append(e.report.Targets, s.Verdicts...)
	return err
}

// files starts the control in which nginx sends our answers from files below dir.
func (e *experiment) files(dir string) (*load.Server, error) {
	names, err := load.SaveAnswers(filepath.Join(dir, "files"), e.server, e.queries, true)
	if err != nil {
		return nil, err
	}
	s, conf, err := load.Nginx(dir, names)
	if err != nil {
		return nil, err
	}
	return s, e.begin(s, e.nginx+" -p "+dir+" -c "+conf+" -e stderr", firstPlain(e.queries))
}

// fixed starts the control that sends fixed bodies by the server's HTTP library. It is nil if no
// bound names it.
func (e *experiment) fixed(dir string) (*load.Server, error) {
	var bounded []load.Query
	for _, q := range e.queries {
		if slices.ContainsFunc(q.Bounds, func(b load.Bound) bool { return b.Other == "fixed" }) {
			bounded = append(bounded, q)
		}
	}
	if len(bounded) == 0 {
		return nil, nil
	}
	names, err := load.SaveAnswers(dir, e.server, bounded, false)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s := &load.Server{Name: "fixed", Bounded: true, Path: func(q load.Query, _ string) string { return names[q.Name] }}
	return s, e.begin(s, self+" fixed --listen {listen} --dir "+dir, bounded[0])
}
