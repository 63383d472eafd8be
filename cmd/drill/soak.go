package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"syscall"
	"time"
)

// soak runs one replica for long, with load, swaps, SIGHUPs and scrubs.
func soak(ctx context.Context, d *drill, t *table) error {
	data, err := d.dataset(ctx)
	if err != nil {
		return err
	}
	store, err := d.copied(data, data.releases[0])
	if err != nil {
		return err
	}
	r, err := d.serve(ctx, serving{args: d.settings("--store", store, "--scrub", "2s")})
	if err != nil {
		return err
	}
	scrubs, err := r.watch(metricScrubs)
	if err != nil {
		return err
	}
	length := d.span(10*time.Minute, 10*time.Second)
	l := d.usualLoad(data, r.public).start(ctx)
	defer l.cancel()
	random := rand.New(rand.NewPCG(1, 2))
	var held []usage
	hangups, swapped := 0, 0
	for end := time.Now().Add(length); time.Now().Before(end) && ctx.Err() == nil && r.alive(); {
		if random.IntN(3) == 0 {
			if err := r.swapTo(ctx, store, data.releases[random.IntN(len(data.releases))]); err != nil {
				return err
			}
			swapped++
		} else {
			for range 1 + random.IntN(4) {
				if err := r.signal(syscall.SIGHUP); err != nil {
					return err
				}
				hangups++
				sleep(ctx, time.Duration(random.IntN(20))*time.Millisecond)
			}
		}
		sleep(ctx, d.span(time.Second, 200*time.Millisecond))
		u, err := usageOf(r.cmd.Process.Pid)
		if err != nil {
			return err
		}
		held = append(held, u)
	}
	l.stop()
	name := fmt.Sprintf("%s with %d swaps and %d SIGHUPs: ", length, swapped, hangups)
	t.add(name+"bad answers", l.counts(), "0 wrong, 0 failed", "", l.clean() && r.alive())
	passes := scrubs.by()
	t.add(name+"scrub passes", fmt.Sprintf("%.0f", passes), "1 or more", metricScrubs, passes > 0)
	t.flat(d, name, held, int64(len(data.releases[0].tables))) // which snapshots are held is chance
	all := l.between(0, time.Since(l.begun))
	took, n := all.quantile(0.99), len(all)
	t.report(name+"p99", fmt.Sprintf("%.1f ms (%d answers)", milliseconds(took), n))
	code, err := r.stop(ctx)
	if err != nil {
		return err
	}
	t.add(name+"the end", fmt.Sprintf("exit code %d", code), "0", "", code == 0)
	return os.RemoveAll(store)
}
