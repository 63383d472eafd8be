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
	var rec record
	rec.register(flags, "incumbent")
	list := flags.String("list", "bench/incumbent.txt", "file of queries and recorded figures")
	rounds := flags.Int("rounds", 3, "bursts per number of connections")
	burst := flags.Duration("burst", time.Second, "length of a burst")
	if err := rec.parse(flags, args); err != nil {
		return err
	}
	f, err := os.Open(*list)
	if err != nil {
		return err
	}
	defer f.Close()
	r := rec.begin()
	r.Rounds, r.Burst = *rounds, *burst
	if r.Recorded, err = load.ReadRecorded(f); err != nil {
		return fmt.Errorf("%s: %w", *list, err)
	}
	if len(r.Recorded) == 0 {
		return fmt.Errorf("%s: no queries", *list)
	}
	p, err := launch(&load.Server{Name: "ours"}, "", rec.start, r.Recorded[0].Query, time.Minute)
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
			progress("%-28s %2d connections: %9.0f/s, %.1f µs CPU, %.2f cores, %.3g times theirs (target %g)",
				q.Query.Name, at.Connections, at.Rate.Median,
				at.CPUMicros, at.CoresOfServers, at.Multiple(), q.Want)
		}
	}
	return errors.Join(p.stop(), rec.write(&r))
}
