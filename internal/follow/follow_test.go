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
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"hdqs/api"
	"hdqs/api/state"
	"hdqs/internal/fetch"
	"hdqs/internal/replica"
	"hdqs/internal/testkit"
	"hdqs/loader"
	"hdqs/loader/sample"
	"hdqs/snapshot/store"
)

const channel = "stable"

// newStore returns a store with another snapshot of the sample for each time, published in their
// order.
func newStore(t *testing.T, times ...time.Time) (*store.Store, []string) {
	t.Helper()
	st := testkit.Value(store.Open(t.TempDir()))(t)
	var ids []string
	for _, at := range times {
		report, err := loader.Build(t.Context(), loader.Options{
			Catalog: sample.FS, CatalogName: "sample", Store: st, Channel: channel, SnapshotTime: at,
			CatalogURL: "https://" + at.Format("2006-01-02") + ".example.org",
		})
		testkit.Must(t, err)
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
		Server: api.New(state.Options{Logger: log, SkipWarmUp: true}), Source: &Source{Store: st, ChannelName: channel},
		Waiter: NewWaiter(f.hangups, log), Timeout: 10 * time.Second,
		Reloading: func() { f.reloading++ }, Polled: func(_ store.Pointer, err error) { f.polls <- err },
	})
	return f
}

// served returns the id of the snapshot that requests are answered from.
func (f *followed) served() string {
	snap := f.server.State.Snapshots.Snapshot()
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

		testkit.Must(t, st.Channels.Publish(channel, ids[0], time.Now()))
		if err := next(soonest, latest); err != nil || f.served() != ids[0] {
			t.Errorf("after a rollback: serves %s, %v; want %s", f.served(), err, ids[0])
		}

		// Clients of other replicas have seen the other snapshot in between.
		current := f.server.State.Snapshots.Current.Load()
		was := current.Published()
		for _, id := range []string{ids[1], ids[0]} {
			testkit.Must(t, st.Channels.Publish(channel, id, time.Now()))
		}
		err := next(soonest, latest)
		if at := current.Published(); err != nil || !at.After(was) ||
			f.server.State.Snapshots.Current.Load() != current {
			t.Errorf("moved away and back: published at %s, before at %s, %v", at, was, err)
		}

		path := filepath.Join(st.Dir(), "channels", channel+".json")
		good, err := os.ReadFile(path)
		if err == nil {
			err = os.Truncate(path, 10)
		}
		testkit.Must(t, err)
		if err := next(soonest, latest); stageOf(err) != stageChannel || f.served() != ids[0] {
			t.Errorf("a damaged channel: serves %s, %v; want %s and an error of the channel", f.served(), err, ids[0])
		}
		testkit.Contains(t, f.log.String(), "the old one stays", "log without the failure:\n%s", &f.log)
		testkit.Must(t, os.WriteFile(path, good, 0o600))
		f.hangups <- syscall.SIGHUP
		if err := next(0, 0); err != nil || f.reloading != 1 {
			t.Errorf("SIGHUP: %v, %d reloads; want a poll at once", err, f.reloading)
		}

		cancel()
		<-ended
		testkit.Is(t, f.server.Shutdown(t.Context()), nil, "Shutdown")
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
		testkit.Must(t, f.First(ctx))
		ended := make(chan struct{})
		go func() { f.Follow(ctx, 0); close(ended) }()
		testkit.Must(t, st.Channels.Publish(channel, ids[0], time.Now()))
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
		testkit.Is(t, f.server.Shutdown(t.Context()), nil, "Shutdown")
	})
}

// TestFollowDamaged damages the next snapshot of a channel. The poll fails at the stage that reads
// the file, the old snapshot stays, and the poll after the file is mended serves the next one.
func TestFollowDamaged(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	st, ids := newStore(t, day)
	next := buildShorter(t, st, day.AddDate(0, 0, 1))
	at := slices.IndexFunc(next.Tables, func(r loader.TableReport) bool { return r.Table == "funding" })
	segment, manifest := "segments/"+next.Tables[at].SHA256+".seg", "manifests/"+next.Snapshot+".json"
	const pointer = "channels/" + channel + ".json"
	half := func(b []byte) []byte { return b[:len(b)/2] }
	foreign := func([]byte) []byte { return []byte(`{"some":"other","program":1}`) }
	longer := func(by int) func([]byte) []byte {
		return func(b []byte) []byte { return append(b, bytes.Repeat([]byte(" "), by)...) }
	}
	later := func(b []byte) []byte { // the version stands after the first magic number and before the last
		b[4]++
		b[len(b)-8]++
		return b
	}
	replaced := func(old, by string) func([]byte) []byte {
		return func(b []byte) []byte { return regexp.MustCompile(old).ReplaceAll(b, []byte(by)) }
	}
	cases := map[string]struct {
		path  string
		stage stage
		with  func([]byte) []byte // nil removes the file
	}{
		"flipped bit in a segment":    {segment, stageSegments, func(b []byte) []byte { b[len(b)/2] ^= 1; return b }},
		"missing segment":             {segment, stageSegments, nil},
		"segment of a later version":  {segment, stageSegments, later},
		"manifest of another program": {manifest, stageManifest, foreign},
		"missing manifest":            {manifest, stageManifest, nil},
		"longer manifest":             {manifest, stageManifest, longer(20 << 20)},
		"truncated pointer":           {pointer, stageChannel, half},
		"missing pointer":             {pointer, stageChannel, nil},
		"longer pointer":              {pointer, stageChannel, longer(1 << 20)},
		"pointer with another digest": {pointer, stageManifest, replaced("[0-9a-f]{64}", strings.Repeat("0", 64))},
		"dangling pointer":            {pointer, stageManifest, replaced(next.Snapshot, "20270101T000000Z-00")},
	}
	synctest.Test(t, func(t *testing.T) {
		testkit.Must(t, st.Channels.Publish(channel, ids[0], day))
		f := newFollowed(st)
		testkit.Must(t, f.First(t.Context()))
		for name, d := range cases {
			testkit.Must(t, st.Channels.Publish(channel, next.Snapshot, day))
			path := filepath.Join(st.Dir(), filepath.FromSlash(d.path))
			good := testkit.ReadFile(t, path)
			if d.with != nil {
				testkit.ReplaceFile(t, path, d.with(bytes.Clone(good)))
			} else {
				testkit.Must(t, os.Remove(path))
			}
			changed, err := f.Poll(t.Context())
			if changed || err == nil || stageOf(err) != d.stage || f.served() != ids[0] {
				t.Errorf("%s: changed %v, %v, serves %s; want an error at the stage %s, and %s",
					name, changed, err, f.served(), d.stage, ids[0])
			}
			testkit.ReplaceFile(t, path, good)
			if changed, err = f.Poll(t.Context()); !changed || err != nil || f.served() != next.Snapshot {
				t.Errorf("%s, mended: changed %v, %v, serves %s", name, changed, err, f.served())
			}
			testkit.Must(t, st.Channels.Publish(channel, ids[0], day))
			if changed, err = f.Poll(t.Context()); !changed || err != nil || f.served() != ids[0] {
				t.Fatalf("%s, back: changed %v, %v, serves %s", name, changed, err, f.served())
			}
		}
		testkit.Is(t, f.server.Shutdown(t.Context()), nil, "Shutdown")
	})
}

// buildShorter publishes the sample without the last row of a table.
func buildShorter(t *testing.T, st *store.Store, at time.Time) *loader.Report {
	t.Helper()
	const funding = "funding/hdx_hapi_funding_global.csv"
	dir := t.TempDir()
	testkit.Must(t, os.CopyFS(dir, sample.FS))
	data := bytes.TrimRight(testkit.ReadFile(t, filepath.Join(dir, funding)), "\n")
	testkit.WriteFile(t, filepath.Join(dir, funding), data[:bytes.LastIndexByte(data, '\n')+1])
	if err := os.Remove(filepath.Join(dir, "catalog.json")); err != nil { // it has the old sum
		t.Fatal(err)
	}
	report, err := loader.Build(t.Context(), loader.Options{
		Catalog: os.DirFS(dir), CatalogName: "sample", Store: st, Channel: channel, SnapshotTime: at,
	})
	testkit.Must(t, err)
	return report
}

// TestFirstWaits: a patient follower waits for a store that is away, with pauses that double up to
// a minute, and SIGHUP ends a pause. Another one fails at once.
func TestFirstWaits(t *testing.T) {
	t.Parallel()
	closed := testkit.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	address := "http://" + closed.Addr().String() + "/"
	closed.Close()
	for _, patient := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			f := newFollowed(nil)
			remote, err := replica.Open(address, fetch.Options{AllowHTTP: true, AllowPrivate: true})
			testkit.Must(t, err)
			st := testkit.Value(store.Open(t.TempDir()))(t)
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
	err = swapError("20261120T000000Z-1", &state.MemoryError{Needed: 40 << 20, Available: 20 << 20, Limit: 48 << 20})
	if want := "--memory-limit to 88.0 MiB, or lower --body-cache"; !strings.Contains(err.Error(), want) {
		t.Errorf("a snapshot that does not fit: %v, want %q", err, want)
	}
}
