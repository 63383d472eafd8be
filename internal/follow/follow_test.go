package follow

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"hdqs/api"
	"hdqs/internal/fetch"
	"hdqs/internal/replica"
	"hdqs/loader"
	"hdqs/loader/sample"
	"hdqs/snapshot/store"
)

const channel = "stable"

// newStore returns a store with another snapshot of the sample for each time, published in their
// order.
func newStore(t *testing.T, times ...time.Time) (*store.Store, []string) {
	t.Helper()
	st, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, at := range times {
		report, err := loader.Build(t.Context(), loader.Options{
			Catalog: sample.FS, CatalogName: "sample", Store: st, Channel: channel, SnapshotTime: at,
			CatalogURL: "https://" + at.Format("2006-01-02") + ".example.org",
		})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, report.Snapshot)
	}
	return st, ids
}

// followed is a follower of a local store in a synctest bubble, whose polls are events.
type followed struct {
	*Follower
	hangups   chan os.Signal
	polls     chan error // results of polls
	reloading int
	log       bytes.Buffer
}

func newFollowed(st *store.Store) *followed {
	f := &followed{hangups: make(chan os.Signal, 1), polls: make(chan error, 1)}
	log := slog.New(slog.NewTextHandler(&f.log, nil))
	f.Follower = New(Options{
		Server: api.New(api.Options{Logger: log, SkipWarmUp: true}), Source: &Source{Store: st, ChannelName: channel},
		Waiter: NewWaiter(f.hangups, log), Timeout: 10 * time.Second,
		Reloading: func() { f.reloading++ }, Polled: func(_ store.Pointer, err error) { f.polls <- err },
	})
	return f
}

// served returns the id of the snapshot that requests are answered from.
func (f *followed) served() string {
	snap := f.server.Snapshot()
	defer closeSnapshot(snap)
	return snap.Manifest.ID
}

// TestFollow moves and damages a channel while a follower polls it by a fake clock: what it serves,
// when it polls, and that a failed poll keeps the snapshot.
func TestFollow(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	st, ids := newStore(t, day, day.AddDate(0, 0, 1))
	synctest.Test(t, func(t *testing.T) {
		const interval = time.Minute
		f := newFollowed(st)
		ctx, cancel := context.WithCancel(t.Context())
		if err := f.First(ctx); err != nil || f.served() != ids[1] {
			t.Fatalf("serves %s, %v; want %s", f.served(), err, ids[1])
		}
		ended := make(chan struct{})
		go func() { f.Follow(ctx, interval); close(ended) }()
		next := func(atLeast, atMost time.Duration) error {
			t.Helper()
			began := time.Now()
			err := <-f.polls
			if took := time.Since(began); took < atLeast || took > atMost {
				t.Errorf("polled after %s, want %s to %s", took, atLeast, atMost)
			}
			return err
		}
		const soonest, latest = interval * 9 / 10, interval * 11 / 10

		if err := st.Publish(channel, ids[0], time.Now()); err != nil {
			t.Fatal(err)
		}
		if err := next(soonest, latest); err != nil || f.served() != ids[0] {
			t.Errorf("after a rollback: serves %s, %v; want %s", f.served(), err, ids[0])
		}

		path := filepath.Join(st.Dir(), "channels", channel+".json")
		good, err := os.ReadFile(path)
		if err == nil {
			err = os.Truncate(path, 10)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := next(soonest, latest); stageOf(err) != stageChannel || f.served() != ids[0] {
			t.Errorf("a damaged channel: serves %s, %v; want %s and an error of the channel", f.served(), err, ids[0])
		}
		if !strings.Contains(f.log.String(), "the old one stays") {
			t.Errorf("log without the failure:\n%s", &f.log)
		}
		if err := os.WriteFile(path, good, 0o600); err != nil {
			t.Fatal(err)
		}
		f.hangups <- syscall.SIGHUP
		if err := next(0, 0); err != nil || f.reloading != 1 {
			t.Errorf("SIGHUP: %v, %d reloads; want a poll at once", err, f.reloading)
		}

		cancel()
		<-ended
		if err := f.server.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestFollowWithoutInterval: with the interval 0 the channel is read on SIGHUP only.
func TestFollowWithoutInterval(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	st, ids := newStore(t, day, day.AddDate(0, 0, 1))
	synctest.Test(t, func(t *testing.T) {
		f := newFollowed(st)
		ctx, cancel := context.WithCancel(t.Context())
		if err := f.First(ctx); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() { f.Follow(ctx, 0); close(ended) }()
		if err := st.Publish(channel, ids[0], time.Now()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(24 * time.Hour)
		if f.served() != ids[1] || len(f.polls) > 0 {
			t.Errorf("after a day: serves %s, polled %d times", f.served(), len(f.polls))
		}
		f.hangups <- syscall.SIGHUP
		if err := <-f.polls; err != nil || f.served() != ids[0] {
			t.Errorf("after SIGHUP: serves %s, %v; want %s", f.served(), err, ids[0])
		}
		cancel()
		<-ended
		if err := f.server.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestFollowMissingManifest: the old snapshot stays while a file of the next one is missing, and
// the next poll after it is back serves it.
func TestFollowMissingManifest(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	st, ids := newStore(t, day, day.AddDate(0, 0, 1))
	if err := st.Publish(channel, ids[0], day); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		f := newFollowed(st)
		if err := f.First(t.Context()); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(st.Dir(), "manifests", ids[1]+".json")
		if err := errors.Join(st.Publish(channel, ids[1], time.Now()), os.Rename(file, file+"-")); err != nil {
			t.Fatal(err)
		}
		if changed, err := f.Poll(t.Context()); changed || stageOf(err) != stageManifest || f.served() != ids[0] {
			t.Errorf("a missing manifest: changed %v, %v, serves %s; want an error and %s",
				changed, err, f.served(), ids[0])
		}
		if err := os.Rename(file+"-", file); err != nil {
			t.Fatal(err)
		}
		if changed, err := f.Poll(t.Context()); !changed || err != nil || f.served() != ids[1] {
			t.Errorf("the manifest is back: changed %v, %v, serves %s; want %s", changed, err, f.served(), ids[1])
		}
		if err := f.server.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestFirstWaits: a patient follower waits for a store that is away, with pauses that double up to
// a minute, and SIGHUP ends a pause. Another one fails at once.
func TestFirstWaits(t *testing.T) {
	t.Parallel()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := "http://" + closed.Addr().String() + "/"
	closed.Close()
	for _, patient := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			f := newFollowed(nil)
			remote, err := replica.Open(address, fetch.Options{AllowHTTP: true, AllowPrivate: true})
			if err != nil {
				t.Fatal(err)
			}
			st, err := store.Open(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			f.source.Store, f.source.Remote, f.source.Copy = st, remote, replica.NewReplica(remote, st, channel)
			f.options.Patient = patient
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var waits []time.Time
			f.Report = func(step string) {
				if strings.HasPrefix(step, "waiting for the store: ") {
					waits = append(waits, time.Now())
					switch len(waits) {
					case 9:
						f.hangups <- syscall.SIGHUP
					case 10:
						cancel()
					}
				}
			}
			began := time.Now()
			err = f.First(ctx)
			if !patient {
				if !errors.Is(err, replica.ErrUnavailable) || len(waits) > 0 {
					t.Errorf("an impatient follower waited %d times: %v", len(waits), err)
				}
				return
			}
			if !errors.Is(err, context.Canceled) || len(waits) != 10 {
				t.Fatalf("waited %d times, %v; want until the end", len(waits), err)
			}
			tries := waits[0].Sub(began) // how long one failed poll takes
			for i := 1; i < 9; i++ {
				want := min(time.Second<<(i-1), time.Minute)
				if got := waits[i].Sub(waits[i-1]); got < want || got > want+2*tries+time.Second {
					t.Errorf("pause %d: %s, want %s and the poll", i, got, want)
				}
			}
			if got := waits[9].Sub(waits[8]); got > 2*tries+time.Second {
				t.Errorf("after SIGHUP: %s, want a poll at once", got)
			}
		})
	}
}

// TestRefusedError: errors of a missing channel are not absent snapshots, and what the server
// refuses names the snapshot.
func TestRefusedError(t *testing.T) {
	t.Parallel()
	err := swapError("20261120T000000Z-1", fs.ErrInvalid)
	refused, ok := errors.AsType[*RefusedError](err)
	if !ok || refused.ID != "20261120T000000Z-1" || !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("got %v", err)
	}
}
