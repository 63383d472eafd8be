package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// oldOneStays is in the log line of a failed look.
const oldOneStays = "the old one stays"

// group is a control group for one replica.
type group struct{ dir, limit, kills string }

// newGroup makes a control group of version 1 or 2 with a memory limit. An error is what this
// machine does not allow.
func (d *drill) newGroup(limit int64) (*group, error) {
	const root = "/sys/fs/cgroup"
	name := fmt.Sprintf("hdqs-drill-%d", os.Getpid())
	g := &group{dir: filepath.Join(root, name), limit: "memory.max", kills: "memory.events"}
	if _, err := os.Stat(filepath.Join(root, "memory")); err == nil {
		g.dir = filepath.Join(root, "memory", name)
		g.limit, g.kills = "memory.limit_in_bytes", "memory.oom_control"
	}
	if err := os.Mkdir(g.dir, 0o755); err != nil {
		return nil, fmt.Errorf("no control group can be made: %w", err)
	}
	d.undo = append(d.undo, func() error { return os.Remove(g.dir) })
	if err := os.WriteFile(filepath.Join(g.dir, g.limit), []byte(strconv.FormatInt(limit, 10)), 0); err != nil {
		return nil, fmt.Errorf("the control group takes no memory limit: %w", err)
	}
	return g, nil
}

// killed is how many processes the kernel has killed in the group.
func (g *group) killed() (n int, err error) {
	text, err := os.ReadFile(filepath.Join(g.dir, g.kills))
	if err != nil {
		return 0, err
	}
	_, rest, found := strings.Cut("\n"+string(text), "\noom_kill ")
	if !found {
		return 0, fmt.Errorf("%s has no line oom_kill: %q", g.kills, text)
	}
	line, _, _ := strings.Cut(rest, "\n")
	return strconv.Atoi(line)
}

// groupShare is the memory limit, as a multiple of what the replica holds without a limit.
const groupShare = 1.3

// memoryLimit swaps snapshots with other tables in a control group that has little more memory than
// one of them needs.
func memoryLimit(ctx context.Context, d *drill, t *table) error {
	store, err := d.copied(d.data.all[0])
	if err != nil {
		return err
	}
	resident, err := residentSize(ctx, d, store)
	if err != nil {
		return err
	}
	limit := int64(float64(resident) * groupShare)
	swaps := d.times(6, 6)
	name := fmt.Sprintf("%d swaps within %s", swaps, megabytes(limit))
	g, err := d.newGroup(limit)
	if err != nil {
		t.notRun(name, err.Error())
		return nil
	}
	if err := forgetPages(store); err != nil {
		return err
	}
	r, err := d.serve(ctx, serving{
		args: d.settings("--store", store), before: fmt.Sprintf("echo $$ > %s/cgroup.procs", g.dir),
	})
	if err != nil {
		return err
	}
	known, err := r.metrics()
	if err != nil {
		return err
	}
	seen := known[metricLimit]
	l := d.usualLoad(r.public).start(ctx)
	defer l.cancel()
	swapped, refused := 0, 0
	for n := range swaps {
		sleep(ctx, d.span(3*time.Second, 500*time.Millisecond))
		to := d.data.all[(n+1)%2]
		failures := r.log.count(oldOneStays)
		if err := errors.Join(showIn(store, to), r.signal(syscall.SIGHUP)); err != nil {
			return err
		}
		err := waitFor(ctx, "the end of the poll", func() bool {
			return !r.alive() || r.readiness().Snapshot == to.id || r.log.count(oldOneStays) > failures
		})
		if err != nil {
			return err
		}
		if r.readiness().Snapshot == to.id {
			swapped++
		} else {
			refused++
		}
	}
	sleep(ctx, d.span(3*time.Second, 500*time.Millisecond))
	l.stop()
	killed, err := g.killed()
	if err != nil {
		return err
	}
	figure := fmt.Sprintf("%d killed, %d swapped, %d refused, %s", killed, swapped, refused, l.counts())
	ok := killed == 0 && r.alive() && l.clean() && int64(seen) == limit&^4095 // the kernel rounds to pages
	t.add(name, figure, "0 killed, 0 wrong, 0 failed", metricLimit, ok)
	m, err := r.metrics()
	if err != nil {
		return err
	}
	counted := m[metricNoRoom]
	t.add("swaps refused", fmt.Sprintf("%d, counted %.0f; %.0f held snapshots dropped", refused, counted,
		m[metricDropped]), "all counted", metricNoRoom, int(counted) == refused)
	return nil
}

// residentSize is what a replica holds under load without a limit.
func residentSize(ctx context.Context, d *drill, store string) (int64, error) {
	if err := forgetPages(store); err != nil {
		return 0, err
	}
	r, err := d.serve(ctx, serving{args: d.settings("--store", store)})
	if err != nil {
		return 0, err
	}
	l := d.usualLoad(r.public).start(ctx)
	defer l.cancel()
	sleep(ctx, d.span(10*time.Second, 2*time.Second))
	l.stop()
	u, err := usageOf(r.cmd.Process.Pid)
	if err != nil {
		return 0, err
	}
	_, err = r.stop(ctx)
	return u.resident, err
}

// forgetPages drops the files of a store from the page cache, so that their pages count for the
// group of the replica that reads them next.
func forgetPages(store string) error {
	paths, err := filepath.Glob(filepath.Join(store, "segments", "*.seg"))
	if err != nil {
		return err
	}
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		_ = f.Sync() // only clean pages can be dropped
		err = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}
