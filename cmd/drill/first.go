package main

import (
	"context"
	"fmt"
	"time"
)

// firstSecond starts replicas and asks them at the usual rate from the moment at which they are
// ready.
func firstSecond(ctx context.Context, d *drill, t *table) error {
	if err := showIn(d.data.store, d.data.releases[0]); err != nil {
		return err
	}
	starts := d.times(10, 2)
	const measured = 3 * time.Second
	var seconds rounds
	var answers [2]int // in the first second and in the third
	var bad, asked int64
	var untilReady time.Duration
	complaints := ""
	for range starts {
		began := time.Now()
		r, err := d.serve(ctx, serving{args: d.settings("--store", d.data.store)})
		if err != nil {
			return err
		}
		if err := waitFor(ctx, "the replica to be ready", func() bool { return r.readiness().ready }); err != nil {
			return err
		}
		untilReady = max(untilReady, time.Since(began))
		l := d.usualLoad(r.public).start(ctx)
		sleep(ctx, measured)
		l.stop()
		first, third := l.between(0, time.Second), l.between(2*time.Second, 3*time.Second)
		seconds.add(first, third)
		answers[0], answers[1] = answers[0]+len(first), answers[1]+len(third)
		bad, asked = bad+l.wrong()+l.failed(), asked+l.asked.Load()
		complaints += l.complaints()
		if _, err := r.stop(ctx); err != nil {
			return err
		}
	}
	name := fmt.Sprintf("%d starts: ", starts)
	t.report(name+"time until ready", fmt.Sprintf("at most %.2f s", untilReady.Seconds()))
	t.add(name+"bad answers", fmt.Sprintf("%d of %d%s", bad, asked, complaints), "0", metricShed, bad == 0)
	t.latencies(d, name+"p99 of the first second", &seconds, 2,
		fmt.Sprintf("else is the third; %d and %d answers", answers[0], answers[1]))
	return nil
}
