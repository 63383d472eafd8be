package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"syscall"
	"time"
)

// usualLoad asks a replica for the dataset's requests in turn and judges each answer.
func (d *drill) usualLoad(base string) load {
	l := load{clients: 16, rate: 220}
	l.check = func(ctx context.Context, client *http.Client, turn int) (verdict, string) {
		n := turn % len(d.data.requests)
		a, err := ask(ctx, client, base, d.data.requests[n])
		return d.data.judge(n, a, err)
	}
	if d.short {
		l.rate = 60
	}
	return l
}

// settings are the flags of replicas under load. In the short form the machine may be busy with
// other work, so requests wait for it; in the long form the usual limits hold.
func (d *drill) settings(more ...string) []string {
	if d.short {
		return patientFlags(more...)
	}
	return append([]string{"--snapshot-poll", "1h"}, more...)
}

// swapTo makes the channel show a snapshot and waits until the replica serves it.
func (r *replica) swapTo(ctx context.Context, store string, to *release) error {
	if err := showIn(store, to); err != nil {
		return err
	}
	if err := r.signal(syscall.SIGHUP); err != nil {
		return err
	}
	return waitFor(ctx, "the swap to "+to.id, func() bool { return !r.alive() || r.readiness().Snapshot == to.id })
}

// swaps swaps two snapshots back and forth under load.
func swaps(ctx context.Context, d *drill, t *table) error {
	for _, form := range []struct {
		name string
		pair [2]*release
	}{{"one table", d.data.one}, {"all tables", d.data.all}} {
		changed := fmt.Sprintf("%d of %d tables changed", form.pair[1].differs(form.pair[0]), len(form.pair[0].tables))
		if err := swapPair(ctx, d, t, form.pair, changed); err != nil {
			return fmt.Errorf("%s: %w", form.name, err)
		}
	}
	return nil
}

// swapsInRound is how many swaps are a round: 10 have some 1,500 answers.
const swapsInRound = 10

// swapPair swaps two snapshots back and forth in a replica of its own.
func swapPair(ctx context.Context, d *drill, t *table, pair [2]*release, changed string) error {
	store, err := d.copied(pair[0])
	if err != nil {
		return err
	}
	r, err := d.serve(ctx, serving{args: d.settings("--store", store, "--scrub", "500ms")})
	if err != nil {
		return err
	}
	before, err := r.metrics()
	if err != nil {
		return err
	}
	count := d.times(100, 8)
	pause := d.span(1500*time.Millisecond, 150*time.Millisecond)
	after := d.span(500*time.Millisecond, 100*time.Millisecond)
	l := d.usualLoad(r.public).start(ctx)
	defer l.cancel()
	sleep(ctx, 2*pause)
	var during, between []period
	var held []usage
	var slowest time.Duration
	for i := range count {
		began := time.Now()
		if err := r.swapTo(ctx, store, pair[(i+1)%2]); err != nil {
			return err
		}
		slowest = max(slowest, time.Since(began))
		sleep(ctx, after)
		during = append(during, period{began, time.Now()})
		u, err := usageOf(r.cmd.Process.Pid)
		if err != nil {
			return err
		}
		held = append(held, u)
		from := time.Now()
		sleep(ctx, pause-after)
		between = append(between, period{from, time.Now()})
	}
	l.stop()
	name := fmt.Sprintf("%d swaps, %s: ", count, changed)
	t.add(name+"bad answers", l.counts(), "0 wrong, 0 failed", "", l.clean() && r.alive())
	now, err := r.metrics()
	if err != nil {
		return err
	}
	counted, passes := now[metricSwapped]-before[metricSwapped], now[metricScrubs]-before[metricScrubs]
	t.add(name+"counted", fmt.Sprintf("%.0f", counted), fmt.Sprint(count), metricSwapped, counted == float64(count))
	t.report(name+"scrub passes", fmt.Sprintf("%.0f", passes)) // a swap begins another one
	t.flat(d, name, held)
	var tens rounds
	for i := 0; i < count; i += swapsInRound {
		end := min(i+swapsInRound, count)
		tens.add(l.within(during[i:end]), l.within(between[i:end]))
	}
	t.latencies(d, name+"p99 during a swap", &tens, 2,
		fmt.Sprintf("%d and %d answers, longest swap %s",
			len(l.within(during)), len(l.within(between)), slowest.Round(time.Millisecond)))
	if _, err := r.stop(ctx); err != nil {
		return err
	}
	return os.RemoveAll(store)
}
