package main

import (
	"errors"
	"flag"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"hdqs/bench/load"
)

// The load beside starts and swaps: one that a replica has in practice, so that a delay shows as
// latency and not as a queue.
const (
	usualRate, usualConnections = 220, 16

	// mostDelayed is the target of the p99 after a start or a swap, divided by that without one.
	mostDelayed = 2
)

// runSwaps is the command swaps: it lets a server swap its data, and starts others of its kind.
func runSwaps(flags *flag.FlagSet, args []string) (err error) {
	e := experiment{}
	e.drive.flags(flags)
	flags.StringVar(&e.start, "start", "", "command that starts the server; {listen} in it becomes host:port")
	flags.StringVar(&e.wrap, "wrap", "", "prefix of the server's command, such as: taskset -c 0")
	flags.IntVar(&e.rounds, "rounds", 10, "starts, and swaps")
	flags.DurationVar(&e.burst, "window", time.Second, "how long answers are measured after one of them, and without")
	swap := flags.String("swap", "", "command after which the server swaps its data once it gets SIGHUP, such as: "+
		"hdqs rollback --store DIR")
	if err := parse(flags, args); err != nil {
		return err
	}
	if e.start == "" || *swap == "" {
		return errors.New("--start and --swap are missing: the commands that start the server and change its data")
	}
	if e.queries, err = e.drive.queries(); err != nil {
		return err
	}
	// The answers that those name are of the data before a swap.
	e.queries = slices.DeleteFunc(e.queries, func(q load.Query) bool { return q.Conditional })
	stopWhenInterrupted(e.stop)
	defer e.stop()
	if e.server, err = e.ours("ours", e.start); err != nil {
		return err
	}
	for _, encoding := range e.codings() {
		err = errors.Join(err, e.swaps(encoding, strings.Fields(*swap)), e.firstSeconds(encoding))
	}
	fmt.Print(e.report.Tables()) // also after a failure
	if slices.ContainsFunc(e.report.Targets, func(v load.Verdict) bool { return !v.Met() }) {
		err = errors.Join(err, errors.New("a target is not met"))
	}
	return err
}

// p99 measures a server under the usual load, of which every answer must be good.
func (e *experiment) p99(s *load.Server, encoding string) (milliseconds float64, err error) {
	p, err := s.Point(load.Drive{
		Queries: e.queries, Encoding: encoding, Connections: usualConnections, Rate: usualRate, Duration: e.burst,
	})
	if err == nil && p.Wrong+p.Failed > 0 {
		err = fmt.Errorf("%d answers were wrong, %d requests failed: %s", p.Wrong, p.Failed, p.FirstWrong)
	}
	return p.P99.Seconds() * 1e3, err
}

// afterwards reports the p99 right after something that has happened to a server, and of the same
// server at another time, in milliseconds by round.
func (e *experiment) afterwards(what, encoding, usually string, after, usual []float64) {
	ratios := make([]float64, len(after))
	for i := range after {
		ratios[i] = after[i] / usual[i]
	}
	v := load.Verdict{
		Query: what, Encoding: encoding, Control: usually, Most: mostDelayed,
		Work:   fmt.Sprintf("p99 right after a %s, %d/s, %s", what, usualRate, encoding),
		Micros: load.Spread(after).Median * 1e3, Got: load.Spread(ratios),
	}
	e.report.Targets = append(e.report.Targets, v)
	progress("%s: %v ms, %s: %v ms, %v times", v.Work, load.Spread(after), v.Control, load.Spread(usual), v.Got)
}

// firstSeconds compares the first window after a start with the third.
func (e *experiment) firstSeconds(encoding string) error {
	var first, third []float64
	for range e.rounds {
		p, err := launch(&load.Server{Name: "ours"}, e.wrap, e.start, firstPlain(e.queries))
		if err != nil {
			return err
		}
		now, err := e.p99(p.Server, encoding)
		time.Sleep(e.burst)
		usual, laterErr := e.p99(p.Server, encoding)
		p.stop()
		if err := errors.Join(err, laterErr); err != nil {
			return fmt.Errorf("after a start: %w", err)
		}
		first, third = append(first, now), append(third, usual)
	}
	e.afterwards("start", encoding, "two windows later", first, third)
	return nil
}

// swaps compares the window from a swap on with the one before it.
func (e *experiment) swaps(encoding string, command []string) error {
	var during, before []float64
	for range e.rounds {
		was, err := e.tags()
		if err != nil {
			return err
		}
		usual, err := e.p99(e.server, encoding)
		if err != nil {
			return fmt.Errorf("before a swap: %w", err)
		}
		if text, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", strings.Join(command, " "), err, text)
		}
		if err := syscall.Kill(e.server.PID, syscall.SIGHUP); err != nil {
			return err
		}
		now, err := e.p99(e.server, encoding)
		if err != nil {
			return fmt.Errorf("during a swap: %w", err)
		}
		switch is, err := e.tags(); {
		case err != nil:
			return err
		case slices.Equal(is, was):
			return fmt.Errorf("%s: all answers are those of before, %v later", strings.Join(command, " "), e.burst)
		}
		during, before = append(during, now), append(before, usual)
	}
	e.afterwards("swap", encoding, "right before it", during, before)
	return nil
}

// tags are the entity tags of all answers. Some of them change with the data.
func (e *experiment) tags() (all []string, err error) {
	for _, q := range e.queries {
		tag, err := e.server.ETag(q)
		if err != nil {
			return nil, err
		}
		all = append(all, tag)
	}
	return all, nil
}
