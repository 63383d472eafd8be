package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"hdqs/bench/load"
)

// compareIncumbent is the command incumbent.
func compareIncumbent(flags *flag.FlagSet, args []string) error {
	start := flags.String("start", "", "command that starts the server; {listen} in it becomes host:port")
	list := flags.String("list", "bench/incumbent.txt", "file of queries and of what was recorded of the other program")
	out := flags.String("out", "bench/results", "directory of reports")
	name := flags.String("name", "", "name of the report's files; empty: date, commit and incumbent")
	note := flags.String("note", "", "what a reader of the report should know")
	rounds := flags.Int("rounds", 3, "bursts for each number of connections")
	burst := flags.Duration("burst", time.Second, "length of a burst")
	if err := parse(flags, args); err != nil {
		return err
	}
	if *start == "" {
		return errors.New("--start is missing: the command that starts the server")
	}
	f, err := os.Open(*list)
	if err != nil {
		return err
	}
	defer f.Close()
	r := load.Report{
		Date: time.Now().UTC().Format("2006-01-02"), Commit: commit(), Machine: load.ThisMachine(), Note: *note, Rounds: *rounds, Burst: *burst,
	}
	if r.Recorded, err = load.ReadRecorded(f); err != nil {
		return fmt.Errorf("%s: %w", *list, err)
	}
	if len(r.Recorded) == 0 {
		return fmt.Errorf("%s: no queries", *list)
	}
	p, err := launch(&load.Server{Name: "ours"}, "", *start, r.Recorded[0].Query, time.Minute)
	if err != nil {
		return err
	}
	stopWhenInterrupted(p.stop)
	for i := range r.Recorded {
		q := &r.Recorded[i]
		if err := q.Measure(p.Server, *rounds, *burst); err != nil {
			return errors.Join(err, p.stop())
		}
		for _, at := range q.Points {
			progress("%-28s %2d connections: %9.0f/s, %.1f µs CPU, %.2f cores, %.3g times theirs (%g wanted)", q.Query.Name, at.Connections, at.Rate.Median,
				at.CPUMicros, at.CoresOfServers, at.Multiple(), q.Want)
		}
	}
	if *name == "" {
		*name = r.Date + "-" + r.Commit + "-incumbent"
	}
	return errors.Join(p.stop(), writeReport(&r, *out, *name))
}
