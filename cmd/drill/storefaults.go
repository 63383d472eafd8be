package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// oldOneStays is in the log line of a look that has failed.
const oldOneStays = "the old one stays"

// faultyStore is a store that a replica follows while a fault is made in it and mended.
type faultyStore struct {
	d         *drill
	data      *dataset
	old, next *release
	dir       string
	kept      string    // the replica's --data-dir
	web       *webStore // nil: the replica reads the directory
	process   *process  // that serves it, if it is another one
	mended    []func() error
}

// storeFaults makes each fault of a store while a new snapshot is published. The old one is served,
// the log and a metric tell, and once the fault is mended the new snapshot comes.
func storeFaults(ctx context.Context, d *drill, t *table) error {
	for _, group := range faultsOfStores {
		for _, f := range group.faults {
			for _, kind := range f.kinds[:d.times(len(f.kinds), 1)] {
				var missing *notPossible
				if err := f.run(ctx, d, t, kind, group.metric); errors.As(err, &missing) {
					t.notRun(kind+": "+f.name, missing.why)
				} else if err != nil {
					t.fail(kind+": "+f.name, err)
				}
				d.processes.killAll(false)
				if ctx.Err() != nil {
					return ctx.Err()
				}
			}
		}
	}
	return nil
}

// notPossible is the error of what this machine does not allow.
type notPossible struct{ why string }

func (e *notPossible) Error() string { return e.why }

// run makes a fault, looks, mends it, looks again, and adds a row.
func (f *storeFault) run(ctx context.Context, d *drill, t *table, kind, metric string) error {
	s, err := f.prepare(ctx, d, kind)
	if err != nil {
		return err
	}
	defer os.RemoveAll(s.dir)
	r, err := s.serve(ctx, f.signed)
	if s.web != nil {
		defer s.web.stop()
	}
	if err != nil {
		return err
	}
	var mended atomic.Bool
	var other atomic.Int64 // answers of another snapshot than the old one, before the store is mended
	pause := d.span(5*time.Millisecond, 20*time.Millisecond)
	l := load{clients: 2, pause: pause, check: s.data.checkedWith(r.public, func(a answer) {
		if !mended.Load() && a.header.Get("X-Snapshot-Id") != s.old.id {
			other.Add(1)
		}
	})}.start(ctx)
	defer l.cancel()

	broken := f.make(s)
	defer s.mend()
	if broken != nil {
		return broken
	}
	_, where, err := r.failingLook(ctx)
	if err == nil {
		err = l.answered(ctx, 20)
	}
	if err != nil || !r.alive() {
		return fmt.Errorf("%w; alive: %v; the log:\n%s", err, r.alive(), r.log.last())
	}

	mended.Store(true)
	if err := s.mendAll(); err != nil {
		return err
	}
	began := time.Now()
	if err := r.signal(syscall.SIGHUP); err != nil {
		return err
	}
	err = waitFor(ctx, "the swap after the store was mended", func() bool {
		return !r.alive() || r.readiness().Snapshot == s.next.id
	})
	if err != nil {
		return fmt.Errorf("%w; the log:\n%s", err, r.log.last())
	}
	took := time.Since(began)
	l.stop()

	figure := fmt.Sprintf("%s, %d of another snapshot; swapped %.2f s after", l.counts(), other.Load(), took.Seconds())
	t.add(kind+": "+f.name, figure, "0 wrong, 0 failed, 0 of another", where,
		l.clean() && other.Load() == 0 && where == metric)
	return nil
}

// failingLook makes a replica look at a store with a fault, and waits until its log says that the
// look has failed. It returns how long that took, and the metric of the stage at which it failed.
func (r *replica) failingLook(ctx context.Context) (took time.Duration, where string, err error) {
	before, err := r.metrics()
	if err != nil {
		return 0, "", err
	}
	failures, began := r.log.count(oldOneStays), time.Now()
	if err := r.signal(syscall.SIGHUP); err != nil {
		return 0, "", err
	}
	err = waitFor(ctx, "the failed look in the log", func() bool {
		return !r.alive() || r.log.count(oldOneStays) > failures
	})
	took = time.Since(began)
	after, err2 := r.metrics()
	return took, stageMoved(before, after), errors.Join(err, err2)
}

// stageMoved returns the metric of the stage at which a look has failed.
func stageMoved(before, after metrics) string {
	for _, metric := range []string{metricChannel, metricManifest, metricSegments} {
		from, _ := before.sum(metric)
		if to, _ := after.sum(metric); to > from {
			return metric
		}
	}
	return "none of " + nameOf(metricChannel)
}

func nameOf(metric string) string {
	name, _, _ := strings.Cut(metric, "{")
	return name
}

// prepare makes a store that shows the old snapshot.
func (f *storeFault) prepare(ctx context.Context, d *drill, kind string) (s *faultyStore, err error) {
	if err := f.possible(); err != nil {
		return nil, err
	}
	s = &faultyStore{d: d}
	if f.signed {
		s.data, err = d.signedSample(ctx)
	} else {
		s.data, err = d.sample(ctx)
	}
	if err != nil {
		return nil, err
	}
	s.old, s.next = s.data.releases[0], s.data.releases[len(s.data.releases)-1]
	if s.dir, err = d.folder("store"); err != nil {
		return nil, err
	}
	if s.kept, err = d.folder("kept"); err != nil {
		return nil, err
	}
	if err := errors.Join(linkTree(s.data.store, s.dir), showIn(s.dir, s.old)); err != nil {
		return nil, err
	}
	if kind == kindWeb {
		s.web, err = d.newWebStore(s.dir)
	}
	if err == nil && f.before != nil {
		err = f.before(s)
	}
	return s, err
}

// serve starts the replica of a store.
func (s *faultyStore) serve(ctx context.Context, signed bool) (*replica, error) {
	settings := serving{args: []string{
		"--snapshot-poll", "1h", "--queue-wait", "20s", "--data-dir", s.kept, "--store-timeout", "2s",
	}}
	if s.web != nil {
		settings.args, settings.env = append(settings.args, s.web.flags...), s.web.env
	} else {
		settings.args = append(settings.args, "--store", s.dir)
	}
	if signed {
		settings.args = append(settings.args, "--require-signature", "--public-key", s.d.key("drill")+".pub")
	}
	if os.Geteuid() == 0 { // whom permissions do not stop
		const nobody = 65534
		if err := os.Chown(s.kept, nobody, nobody); err != nil {
			return nil, err
		}
		settings.adjust = func(cmd *exec.Cmd) {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		}
	}
	return s.d.serve(ctx, settings)
}

// later adds what mends a fault.
func (s *faultyStore) later(mend func() error) { s.mended = append(s.mended, mend) }

// mend undoes what a fault did outside of the store's files.
func (s *faultyStore) mend() error {
	var errs []error
	for i := len(s.mended) - 1; i >= 0; i-- {
		errs = append(errs, s.mended[i]())
	}
	s.mended = nil
	return errors.Join(errs...)
}

// mendAll makes the store whole, with a channel that shows the next snapshot.
func (s *faultyStore) mendAll() error {
	if s.web != nil {
		s.web.mode.Store(answers)
	}
	if err := s.mend(); err != nil {
		return err
	}
	for _, part := range []string{"segments", "manifests", "channels"} {
		if err := os.RemoveAll(filepath.Join(s.dir, part)); err != nil {
			return err
		}
	}
	return errors.Join(linkTree(s.data.store, s.dir), showIn(s.dir, s.next))
}

// path is that of a file of the store.
func (s *faultyStore) path(name string) string { return filepath.Join(s.dir, name) }

// manifest is the file of the next snapshot.
func (s *faultyStore) manifest() string { return s.path("manifests/" + s.next.id + ".json") }

// segment is a file of the next snapshot that the old one does not have.
func (s *faultyStore) segment() (string, error) {
	const table = "conflict_event"
	digest := s.next.tables[table]
	if digest == "" || digest == s.old.tables[table] {
		return "", fmt.Errorf("the snapshots do not differ in %s", table)
	}
	return s.path("segments/" + digest + ".seg"), nil
}

// change replaces a file by a changed one.
func change(path string, with func([]byte) []byte) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return replaceFile(path, with(data))
}
