package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

// hang is a way in which a store does not answer.
type hang struct {
	name string
	// begin makes the store of a replica hang, and returns what mends it.
	begin func(s *faultyStore) (mend func() error, err error)
}

var hangsOfStores = []hang{
	{"https without an answer", func(s *faultyStore) (func() error, error) { return s.webHangs(hangs), nil }},
	{"https, a byte at a time", func(s *faultyStore) (func() error, error) { return s.webHangs(drips), nil }},
	{"https, process stopped", func(s *faultyStore) (func() error, error) {
		return func() error { return s.process.signal(syscall.SIGCONT) }, s.process.signal(syscall.SIGSTOP)
	}},
}

func (s *faultyStore) webHangs(mode int32) (mend func() error) {
	s.web.mode.Store(mode)
	return func() error {
		s.web.mode.Store(answers)
		return nil
	}
}

// The waits of a replica in this scenario.
const (
	hangDelay = 500 * time.Millisecond
	hangDrain = 2 * time.Second
)

// hangingStores lets stores hang while replicas start, look and end.
func hangingStores(ctx context.Context, d *drill, t *table) error {
	for _, h := range hangsOfStores {
		for _, part := range []struct {
			name string
			run  func(context.Context, *faultyStore, *table, hang) error
		}{{"start", hangAtStart}, {"look", hangAtLook}, {"end", hangAtEnd}} {
			err := h.run(ctx, d, t, part.run)
			if err != nil {
				t.fail(h.name+", "+part.name, err)
			}
			d.processes.killAll(false)
		}
	}
	for _, part := range []func(context.Context, *drill, *table) error{pipeForStore, deadFileSystem} {
		if err := part(ctx, d, t); err != nil {
			return err
		}
		d.processes.killAll(false)
	}
	return ctx.Err()
}

// run prepares a store that shows the old snapshot and runs one part with it.
func (h *hang) run(
	ctx context.Context, d *drill, t *table, part func(context.Context, *faultyStore, *table, hang) error,
) error {
	s, err := (&storeFault{}).prepare(ctx, d, kindDirectory)
	if err != nil {
		return err
	}
	defer os.RemoveAll(s.dir)
	if strings.Contains(h.name, "process") {
		s.process, s.web, err = d.startStoreProcess(ctx, s.dir)
	} else {
		s.web, err = d.newWebStore(s.dir)
		if err == nil {
			defer s.web.stop()
		}
	}
	if err != nil {
		return err
	}
	return part(ctx, s, t, *h)
}

// replica starts a replica of the store, and waits until it listens.
func (s *faultyStore) replica(ctx context.Context, timeout time.Duration) (*replica, error) {
	return s.d.serve(ctx, serving{env: s.web.env, args: append([]string{
		"--snapshot-poll", "1h", "--queue-wait", "20s", "--data-dir", s.kept, "--store-timeout", timeout.String(),
		"--shutdown-delay", hangDelay.String(), "--drain-timeout", hangDrain.String(),
	}, s.web.flags...)})
}

// hangAtStart: a replica with a kept copy is ready at once.
func hangAtStart(ctx context.Context, s *faultyStore, t *table, h hang) error {
	first, err := s.replica(ctx, 5*time.Second)
	if err != nil {
		return err
	}
	if _, err := first.stop(ctx); err != nil {
		return err
	}
	mend, err := h.begin(s)
	if err != nil {
		return err
	}
	began := time.Now()
	r, err := s.replica(ctx, 5*time.Minute)
	if err != nil {
		return errors.Join(err, mend())
	}
	if err := waitFor(ctx, "the replica to be ready", func() bool { return r.readiness().ready }); err != nil {
		return errors.Join(err, mend())
	}
	took := time.Since(began)
	running := false
	waited := waitFor(ctx, "the look to show in "+metricRunning, func() bool {
		m, err := r.metrics()
		if err != nil {
			return false
		}
		v, found := m.sum(metricRunning)
		running = v > 0
		return running || !found
	})
	l := load{clients: 2, check: s.data.checked(r.public)}.start(ctx)
	defer l.cancel()
	if err := errors.Join(waited, l.answered(ctx, 50), mend()); err != nil {
		return err
	}
	l.stop()
	most := s.d.span(3*time.Second, 20*time.Second)
	t.add(h.name+", start", fmt.Sprintf("ready in %.2f s, %s", took.Seconds(), l.counts()),
		fmt.Sprintf("%s, 0 wrong, 0 failed", most), metricRunning, took <= most && l.clean() && running)
	return nil
}

// hangAtLook: requests are answered, the look fails in time, and the next one succeeds.
func hangAtLook(ctx context.Context, s *faultyStore, t *table, h hang) error {
	r, err := s.replica(ctx, time.Second)
	if err != nil {
		return err
	}
	pause := s.d.span(5*time.Millisecond, 20*time.Millisecond)
	l := load{clients: 2, pause: pause, check: s.data.checked(r.public)}.start(ctx)
	defer l.cancel()
	mend, err := h.begin(s)
	if err != nil {
		return err
	}
	took, where, err := r.failingLook(ctx)
	if err := errors.Join(err, mend(), s.mendAll()); err != nil {
		return err
	}
	if err := r.swapTo(ctx, s.dir, s.next); err != nil {
		return err
	}
	l.stop()
	most := s.d.span(3*time.Second, 20*time.Second)
	t.add(h.name+", look", fmt.Sprintf("failed after %.2f s, then swapped, %s", took.Seconds(), l.counts()),
		fmt.Sprintf("%s, 0 wrong, 0 failed", most), where, where == metricChannel && took <= most && l.clean())
	return nil
}

// hangAtEnd: the end takes no longer than the delay and the drain timeout.
func hangAtEnd(ctx context.Context, s *faultyStore, t *table, h hang) error {
	r, err := s.replica(ctx, 5*time.Minute)
	if err != nil {
		return err
	}
	mend, err := h.begin(s)
	if err != nil {
		return err
	}
	if err := r.signal(syscall.SIGHUP); err != nil {
		return errors.Join(err, mend())
	}
	sleep(ctx, 300*time.Millisecond) // until the look has begun
	began := time.Now()
	code, err := r.stop(ctx)
	took := time.Since(began)
	if err := errors.Join(err, mend()); err != nil {
		return err
	}
	most := hangDelay + hangDrain + s.d.span(500*time.Millisecond, 15*time.Second)
	t.add(h.name+", end", fmt.Sprintf("exit code %d after %.2f s", code, took.Seconds()),
		fmt.Sprintf("0 within %s", most), "", code == 0 && took <= most)
	return nil
}

// pipeForStore: a named pipe in place of the store is refused at a start, which must not hang.
func pipeForStore(ctx context.Context, d *drill, t *table) error {
	dir, err := d.folder("pipe")
	if err != nil {
		return err
	}
	path := dir + "/store"
	if err := syscall.Mkfifo(path, 0o644); err != nil {
		return err
	}
	began := time.Now()
	p, err := d.processes.start(d.environment(), nil, append(d.pinned(), d.binary, "serve",
		"--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--store", path, "--store-timeout", "1s")...)
	if err != nil {
		return err
	}
	code, err := p.wait(ctx, patience)
	if err != nil {
		return err
	}
	took := time.Since(began)
	most := d.span(3*time.Second, 20*time.Second)
	t.add("store is a named pipe, start", fmt.Sprintf("exit code %d after %.2f s", code, took.Seconds()),
		fmt.Sprintf("an error within %s", most), "", code > 0 && code < codeInterrupted && took <= most)
	return nil
}

// deadFileSystem: a look at a directory on a dead file system fails in time, and the end does not
// wait for it.
func deadFileSystem(ctx context.Context, d *drill, t *table) error {
	const name = "dead file system"
	dead, err := d.mountDead()
	var missing *notPossible
	if errors.As(err, &missing) {
		t.notRun(name, missing.why)
		return nil
	} else if err != nil {
		return err
	}
	s, err := (&storeFault{}).prepare(ctx, d, kindDirectory)
	if err != nil {
		return err
	}
	link := s.dir + ".link"
	point := func(to string) error { return errors.Join(os.Symlink(to, link+".new"), os.Rename(link+".new", link)) }
	if err := point(s.dir); err != nil {
		return err
	}
	r, err := d.serve(ctx, serving{args: []string{
		"--store", link, "--data-dir", s.kept, "--snapshot-poll", "1h", "--store-timeout", "1s",
		"--shutdown-delay", hangDelay.String(), "--drain-timeout", hangDrain.String(),
	}})
	if err != nil {
		return err
	}
	pause := d.span(5*time.Millisecond, 20*time.Millisecond)
	l := load{clients: 2, pause: pause, check: s.data.checked(r.public)}.start(ctx)
	defer l.cancel()
	if err := point(dead); err != nil {
		return err
	}
	took, where, err := r.failingLook(ctx)
	if err != nil {
		return err
	}
	l.stop()
	most := d.span(4*time.Second, 20*time.Second)
	t.add(name+", look", fmt.Sprintf("failed after %.2f s, %s", took.Seconds(), l.counts()),
		fmt.Sprintf("%s, 0 wrong, 0 failed", most), where, where == metricChannel && took <= most && l.clean())
	if err := r.signal(syscall.SIGHUP); err != nil {
		return err
	}
	sleep(ctx, 300*time.Millisecond)
	began := time.Now()
	code, err := r.stop(ctx)
	if err != nil {
		return err
	}
	took = time.Since(began)
	most = hangDelay + hangDrain + d.span(500*time.Millisecond, 15*time.Second)
	t.add(name+", end", fmt.Sprintf("exit code %d after %.2f s", code, took.Seconds()),
		fmt.Sprintf("0 within %s", most), "", code == 0 && took <= most)
	return nil
}
