package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hdqs/bench/load"
)

// experiment is the command run: its flags and state.
type experiment struct {
	drive
	record
	nginx, wrap, wide, stores      string
	whole, configured, micro       string
	sweep, release                 string
	rounds                         int
	burst                          time.Duration
	processes                      []*process
	report                         load.Report
	server, byDefault, wholeBodies *load.Server
	queries                        []load.Query
}

func runAll(flags *flag.FlagSet, args []string) error {
	e := experiment{}
	e.drive.flags(flags)
	e.record.register(flags, "bench")
	flags.StringVar(&e.whole, "whole", "",
		"command of the same server, compressing whole bodies by the library; control")
	flags.StringVar(&e.configured, "configured", "",
		"command of the same server with its default flags; {admin} in it becomes host:port of its metrics")
	flags.StringVar(&e.micro, "micro", "", "command that runs Go benchmarks with targets")
	flags.StringVar(&e.stores, "also-start", "",
		"commands of servers of other sizes, separated by ;, for memory by rows")
	flags.StringVar(&e.wrap, "wrap", "", "prefix of the servers' commands, such as: taskset -c 0")
	flags.StringVar(&e.wide, "wide", "", "prefix of commands that may use all cores, such as: taskset -c 0-1")
	flags.StringVar(&e.nginx, "nginx", "nginx", "program of the control; empty: no control")
	flags.StringVar(&e.release, "release", "", "version of the program in trend.csv; empty: trend.csv stays")
	flags.StringVar(&e.sweep, "sweep", "/api/v2/coordination-context/conflict-events?limit=%d",
		"query for the cost by rows; empty: none")
	flags.IntVar(&e.rounds, "rounds", 5, "rounds of each query; other parts take fewer, in proportion")
	flags.DurationVar(&e.burst, "burst", 120*time.Millisecond, "length of a burst of one server, query and coding")
	if err := e.record.parse(flags, args); err != nil {
		return err
	}
	var err error
	if e.queries, err = e.drive.queries(); err != nil {
		return err
	}
	e.report = e.record.begin()
	e.report.Connections, e.report.Rounds, e.report.Burst = e.connections, e.rounds, e.burst
	stopWhenInterrupted(e.stop)
	// A run that failed still reports what it measured, but is no line of the trend.
	if err := errors.Join(e.measure(), e.stop()); err != nil {
		return errors.Join(err, e.record.write(&e.report))
	}
	return errors.Join(e.record.write(&e.report), e.trend())
}

func commit() string {
	text, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(text))
}

// begin starts a server that runs until stop, and waits until it answers a query.
func (e *experiment) begin(s *load.Server, command string, first load.Query) error {
	p, err := launch(s, e.wrap, command, first, time.Minute)
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

// stop ends all servers that were started.
func (e *experiment) stop() error {
	var err error
	for _, p := range e.processes {
		err = errors.Join(err, p.stop())
	}
	e.processes = nil
	return err
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
func (e *experiment) measure() error {
	for _, step := range []struct {
		name string
		run  func() error
	}{
		{"micro benchmarks", e.micros},
		{"starts", e.starts},
		{"memory of other sizes", e.sizes},
		{"servers", e.servers},
		{"queries", e.compare},
		{"page faults", e.faults},
		{"closed loops", e.closed},
		{"open loops", e.open},
		{"small answers beside large ones", e.beside},
		{"cost by rows", e.byRows},
		{"memory", e.memory},
	} {
		begun := time.Now()
		if err := step.run(); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		progress("%s took %.1f s", step.name, time.Since(begun).Seconds())
	}
	return nil
}

// part is the length of a part of the run that is not made of bursts.
func (e *experiment) part(bursts int) time.Duration {
	return time.Duration(bursts*e.rounds) * e.burst / 5
}

// sizes measures the memory of servers of other sizes.
func (e *experiment) sizes() error {
	for _, command := range split(e.stores) {
		s, err := e.ours("ours", command)
		if err != nil {
			return err
		}
		f := load.Footprint{Server: s.Name, Rows: s.TotalRows()}
		fresh, err1 := load.UsageOf(s.PID)
		_, err2 := s.Run(load.Drive{
			Queries: e.queries, Encoding: load.Gzip, Connections: e.connections, Duration: e.part(10),
		})
		used, err3 := load.UsageOf(s.PID)
		if err := errors.Join(err1, err2, err3, e.stop()); err != nil {
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

// servers starts ours, the same as configured, and the control that compresses whole bodies.
func (e *experiment) servers() (err error) {
	if e.server, err = e.ours("ours", e.start); err != nil {
		return err
	}
	usage, err := load.UsageOf(e.server.PID)
	if err != nil {
		return err
	}
	e.report.Memory = append(e.report.Memory, load.Footprint{
		Server: "ours", Rows: e.server.TotalRows(), Resident: usage.Resident,
	})
	if e.configured != "" {
		if e.byDefault, err = e.ours("configured", e.configured); err != nil {
			return err
		}
		e.byDefault.Fresh = &load.Fresh{}
	}
	if e.whole != "" {
		e.wholeBodies, err = e.ours("whole", e.whole)
	}
	return err
}

// asConfigured is the server of the measurements that have no control.
func (e *experiment) asConfigured() *load.Server {
	if e.byDefault != nil {
		return e.byDefault
	}
	return e.server
}

// compare measures every query beside its controls.
func (e *experiment) compare() (err error) {
	s := load.Suite{
		Ours: e.server, Configured: e.byDefault, Queries: e.queries, Encodings: e.codings(), Rounds: e.rounds,
		Burst: e.burst, Connections: e.connections, Progress: progress,
	}
	dir, err := os.MkdirTemp("", "bench-files-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if e.nginx != "" {
		control, err := load.StartNginx(e.nginx, filepath.Join(dir, "nginx"), strings.Fields(e.wrap), e.server,
			e.queries)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, control.Stop()) }()
		s.Controls = append(s.Controls, &control.Server)
		s.Prepare = func(q load.Query) error { return control.Save(e.server, q) }
	}
	if e.wholeBodies != nil {
		s.Named = append(s.Named, e.wholeBodies)
	}
	fixed, err := e.fixed(filepath.Join(dir, "fixed"))
	if err != nil {
		return err
	}
	if fixed != nil {
		s.Named = append(s.Named, fixed)
	}
	err = s.Run()
	e.report.Cells = s.Cells
	e.report.Targets = append(e.report.Targets, s.Verdicts...)
	return err
}

// fixed starts the control that sends fixed bodies by the server's HTTP library. It is nil if no
// bound names it.
func (e *experiment) fixed(dir string) (*load.Server, error) {
	var bounded []load.Query
	for _, q := range e.queries {
		if slices.ContainsFunc(q.Bounds, func(b load.Bound) bool { return b.Measure == "cpu/fixed" }) {
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
	s := &load.Server{Name: "fixed", Path: func(q load.Query, _ string) string { return names[q.Name] }}
	return s, e.begin(s, self+" fixed --listen {listen} --dir "+dir, bounded[0])
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
				Queries: []load.Query{q}, Encoding: encoding, Connections: e.connections, Duration: e.part(3),
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

// memory measures the memory of the server at the end.
func (e *experiment) memory() error {
	used, err := load.UsageOf(e.server.PID)
	if err != nil {
		return err
	}
	e.report.Memory[len(e.report.Memory)-1].PeakResident = used.Peak
	slices.SortFunc(e.report.Memory, func(a, b load.Footprint) int { return a.Rows - b.Rows })
	return nil
}

// trend adds the run to trend.csv.
func (e *experiment) trend() error {
	if e.release == "" {
		return nil
	}
	path := filepath.Join(e.out, "trend.csv")
	var all []load.Trend
	f, err := os.Open(path)
	if err == nil {
		all, err = load.ReadTrend(f)
		f.Close()
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s: %w", path, err)
	}
	all = load.Supersede(all, e.report.Trend(e.release))
	return writeFile(path, func(w io.Writer) error { return load.WriteTrend(w, all) })
}
