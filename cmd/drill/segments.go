package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"
)

// damaged is a replica whose served files are changed in place, under load.
type damaged struct {
	*replica
	data     *dataset
	segments string // the folder of the served files
	load     *running
	// detected is set once the replica has noticed a change. Answers to requests that were sent
	// later must not have a wrong row.
	detected                    atomic.Bool
	sound, refused, torn, early atomic.Int64 // early: wrong answers and errors before the detection
}

// segments changes files of served tables. The process lives, a table is refused rather than
// answered with wrong rows, and it comes back with the file.
func segments(ctx context.Context, d *drill, t *table) error {
	for _, part := range []struct {
		name string
		run  func(context.Context, *drill, *table) error
	}{
		{"files truncated", truncation},
		{"files copied over", copyOver},
		{"bits flipped", bitRot},
		{"bits flipped in the kept copy", keptBitRot},
	} {
		if err := part.run(ctx, d, t); err != nil {
			t.fail(part.name, err)
		}
		d.processes.killAll(false)
	}
	return ctx.Err()
}

// serveDamaged starts a replica on a copy of the sample, whose files are its own.
func serveDamaged(ctx context.Context, d *drill, scrub string) (*damaged, error) {
	data, err := d.sample(ctx)
	if err != nil {
		return nil, err
	}
	store, err := d.folder("damaged")
	if err != nil {
		return nil, err
	}
	if err := errors.Join(os.CopyFS(store, os.DirFS(data.store)), showIn(store, data.releases[0])); err != nil {
		return nil, err
	}
	r, err := d.serve(ctx, serving{args: patientFlags("--store", store, "--scrub", scrub)})
	if err != nil {
		return nil, err
	}
	s := &damaged{replica: r, data: data, segments: filepath.Join(store, "segments")}
	s.start(ctx)
	return s, nil
}

// start begins the load.
func (s *damaged) start(ctx context.Context) {
	check := func(ctx context.Context, client *http.Client, turn int) (verdict, string) {
		n, late := turn%len(s.data.requests), s.detected.Load()
		a, err := ask(ctx, client, s.public, s.data.requests[n])
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			s.torn.Add(1) // cut short, which clients see
			return good, ""
		case err == nil && a.status == http.StatusServiceUnavailable && a.header.Get("Cache-Control") == "no-store":
			s.refused.Add(1)
			return good, ""
		}
		v, what := s.data.judge(n, a, err)
		if (v == wrong || a.status == http.StatusInternalServerError) && !late {
			s.early.Add(1)
			return good, ""
		}
		if v == good {
			s.sound.Add(1)
		}
		return v, what
	}
	s.load = load{clients: 4, pause: time.Millisecond, check: check}.start(ctx)
}

// files are the served files.
func (s *damaged) files() (paths []string, err error) {
	for _, digest := range s.data.releases[0].tables {
		paths = append(paths, filepath.Join(s.segments, digest+".seg"))
	}
	return paths, nil
}

// whole is the undamaged content of a file.
func (s *damaged) whole(path string) ([]byte, error) {
	return os.ReadFile(filepath.Join(s.data.store, "segments", filepath.Base(path)))
}

// refusedTables is the number of tables that are refused now.
func (s *damaged) refusedTables() float64 {
	m, err := s.metrics()
	if err != nil {
		return 0
	}
	n, _ := m.sum(metricRefused)
	return n
}

// awaitSound waits until every request has its right answer again. From then on no answer may be
// wrong.
func (s *damaged) awaitSound(ctx context.Context) error {
	client := newClient(1)
	defer client.CloseIdleConnections()
	for n, q := range s.data.requests {
		last := ""
		err := waitFor(ctx, "the right answer to "+q.path, func() bool {
			a, err := ask(ctx, client, s.public, q)
			var v verdict
			v, last = s.data.judge(n, a, err)
			return v == good || !s.alive()
		})
		if err != nil || !s.alive() {
			return fmt.Errorf("%w, %s; alive: %v; the log:\n%s", err, last, s.alive(), s.log.last())
		}
	}
	s.detected.Store(true)
	return s.load.answered(ctx, 100)
}

// end stops the load and adds a row.
func (s *damaged) end(ctx context.Context, t *table, name, metric string, moved float64, note string) error {
	s.load.stop()
	code, err := s.stop(ctx)
	if err != nil {
		return err
	}
	figure := fmt.Sprintf("%d sound, %d refused, %d cut short, %d bad before noticed%s; %s; exit code %d",
		s.sound.Load(), s.refused.Load(), s.torn.Load(), s.early.Load(), note, s.load.counts(), code)
	ok := s.load.clean() && moved > 0 && code == 0
	t.add(name, figure, "alive, 0 wrong once noticed, heals", metric, ok)
	return nil
}

// truncation truncates all served files, and writes them again in place.
func truncation(ctx context.Context, d *drill, t *table) error {
	s, err := serveDamaged(ctx, d, "0")
	if err != nil {
		return err
	}
	faults, err := s.watch(metricFault)
	if err != nil {
		return err
	}
	rounds := d.times(10, 2)
	for round := range rounds {
		paths, err := s.files()
		if err != nil {
			return err
		}
		s.detected.Store(false)
		refused := s.refused.Load() + s.torn.Load()
		for _, path := range paths {
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			if err := os.Truncate(path, info.Size()/2*int64(round%2)); err != nil {
				return err
			}
		}
		err = waitFor(ctx, "refusals", func() bool {
			return !s.alive() || s.refused.Load()+s.torn.Load() >= refused+20
		})
		if err != nil || !s.alive() {
			return fmt.Errorf("%w; alive: %v; the log:\n%s", err, s.alive(), s.log.last())
		}
		if err := s.mend(paths); err != nil {
			return err
		}
		if err := s.awaitSound(ctx); err != nil {
			return err
		}
	}
	return s.end(ctx, t, fmt.Sprintf("files truncated %d times", rounds), metricFault, faults.by(), "")
}

// mend writes the right content into files, in place, and makes the replica look.
func (s *damaged) mend(paths []string) error {
	for _, path := range paths {
		whole, err := s.whole(path)
		if err != nil {
			return err
		}
		if err := os.WriteFile(path, whole, 0o644); err != nil {
			return err
		}
	}
	return s.signal(syscall.SIGHUP)
}

// copyOver copies the store over itself again and again, as `cp -r` does: each file is emptied and
// then written. Whether a request meets that moment is chance.
func copyOver(ctx context.Context, d *drill, t *table) error {
	s, err := serveDamaged(ctx, d, "200ms")
	if err != nil {
		return err
	}
	writes, err := s.watch(metricWrite)
	if err != nil {
		return err
	}
	faults, err := s.watch(metricFault)
	if err != nil {
		return err
	}
	copies := d.times(120, 20)
	for range copies {
		paths, err := s.files()
		if err != nil {
			return err
		}
		before := s.load.asked.Load()
		for _, path := range paths {
			whole, err := s.whole(path)
			if err != nil {
				return err
			}
			if err := os.WriteFile(path, whole, 0o644); err != nil {
				return err
			}
		}
		err = waitFor(ctx, "some more answers", func() bool { return !s.alive() || s.load.asked.Load() > before+10 })
		if err != nil || !s.alive() {
			return fmt.Errorf("%w; alive: %v; the log:\n%s", err, s.alive(), s.log.last())
		}
	}
	if err := waitFor(ctx, "the writes to be noticed", func() bool { return writes.by() > 0 }); err != nil {
		return err
	}
	if err := s.awaitSound(ctx); err != nil {
		return err
	}
	note := fmt.Sprintf(", %.0f writes and %.0f faults noticed", writes.by(), faults.by())
	return s.end(ctx, t, fmt.Sprintf("files copied over %d times", copies), metricWrite, writes.by(), note)
}

// flipBits changes 64 bits of a file in place. As when a disk or memory loses bits, the file's time
// of change stays.
func flipBits(path string) error {
	before, err := os.Stat(path)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 64 {
		bit := random.IntN(8 * len(data))
		data[bit/8] ^= 1 << (bit % 8)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, 0)
	return errors.Join(err, f.Close(), os.Chtimes(path, time.Time{}, before.ModTime()))
}

// bitRot flips bits of a served file. The next scrub notices, and the table is refused until the
// file is whole.
func bitRot(ctx context.Context, d *drill, t *table) error {
	s, err := serveDamaged(ctx, d, "300ms")
	if err != nil {
		return err
	}
	faults, err := s.watch(metricChecksum)
	if err != nil {
		return err
	}
	rounds := d.times(10, 2)
	var slowest time.Duration
	for range rounds {
		path := filepath.Join(s.segments, s.data.releases[0].tables["conflict_event"]+".seg")
		s.detected.Store(false)
		if err := flipBits(path); err != nil {
			return err
		}
		began := time.Now()
		err := waitFor(ctx, "the table to be refused", func() bool { return !s.alive() || s.refusedTables() > 0 })
		if err != nil || !s.alive() {
			return fmt.Errorf("%w; alive: %v; the log:\n%s", err, s.alive(), s.log.last())
		}
		slowest = max(slowest, time.Since(began))
		s.detected.Store(true)
		if err := s.load.answered(ctx, 200); err != nil {
			return err
		}
		if err := s.mend([]string{path}); err != nil {
			return err
		}
		if err := s.awaitSound(ctx); err != nil {
			return err
		}
	}
	note := fmt.Sprintf(", within %.2f s", slowest.Seconds())
	return s.end(ctx, t, fmt.Sprintf("bits flipped %d times, --scrub 300ms", rounds), metricChecksum, faults.by(), note)
}

// keptBitRot flips bits of a replica's copy of a remote store. It downloads the file again by
// itself.
func keptBitRot(ctx context.Context, d *drill, t *table) error {
	f, err := (&storeFault{}).prepare(ctx, d, kindWeb)
	if err != nil {
		return err
	}
	defer f.web.stop()
	args := patientFlags("--data-dir", f.kept, "--scrub", "300ms")
	r, err := d.serve(ctx, serving{env: f.web.env, args: append(args, f.web.flags...)})
	if err != nil {
		return err
	}
	s := &damaged{replica: r, data: f.data, segments: filepath.Join(f.kept, "store", "segments")}
	faults, err := s.watch(metricChecksum)
	if err != nil {
		return err
	}
	s.start(ctx)
	rounds := d.times(5, 1)
	for round := range rounds {
		path := filepath.Join(s.segments, s.data.releases[0].tables["conflict_event"]+".seg")
		s.detected.Store(false)
		if err := flipBits(path); err != nil {
			return err
		}
		err := waitFor(ctx, "the damage to be noticed", func() bool {
			return !s.alive() || faults.by() > float64(round)
		})
		if err != nil {
			return err
		}
		s.detected.Store(true)
		if err := s.awaitSound(ctx); err != nil {
			return err
		}
	}
	name := fmt.Sprintf("bits of the kept copy flipped %d times", rounds)
	return s.end(ctx, t, name, metricChecksum, faults.by(), "")
}
