package state_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/internal/testkit"
	"hdqs/snapshot/store"
)

// TestPinAcrossSwap checks that during a swap the snapshot being replaced and its replacement are
// found by their pins at every moment.
func TestPinAcrossSwap(t *testing.T) {
	t.Parallel()
	s := apitest.Empty(t, state.Options{SkipWarmUp: true})
	release := func(id string) state.Release {
		return state.Release{
			Snapshot:    apitest.StoreSnapshot(t, id, apitest.SampleTime, []*apitest.Table{apitest.Locations(1, nil)}),
			PublishedAt: apitest.PublishedTime,
		}
	}
	apitest.Swap(t, s, release("a"))
	const settle = 50 * time.Millisecond // long enough for the other goroutine to block
	bound := testkit.Value(state.Bind(release("b").Snapshot))(t)
	s.State.Snapshots.Retained.Lock()
	found := make(chan *state.Served, 1)
	go func() { found <- s.State.Snapshots.AcquirePinned("b") }()
	time.Sleep(settle)
	snapshots := s.State.Snapshots
	snapshots.Retained.Keep(snapshots.Current.Swap(s.State.NewServed(bound, apitest.PublishedTime)), time.Hour,
		s.State.Log)
	s.State.Snapshots.Retained.Unlock()
	if v := <-found; v == nil {
		t.Error("b was not found although it became current during the search")
	} else {
		v.Release(s.State.Log)
	}

	next := release("c")
	s.State.Snapshots.Retained.Lock()
	swapped := make(chan error, 1)
	go func() { swapped <- s.State.Swap(next) }()
	time.Sleep(settle)
	testkit.Equal(t, s.State.Snapshots.CurrentID(), "b", "became current before the previous snapshot was retained")
	s.State.Snapshots.Retained.Unlock()
	testkit.Must(t, <-swapped)
}

// TestKeepPrevious checks that a replaced snapshot answers its pin for the time in the options and
// is then closed, and that at most two are retained.
func TestKeepPrevious(t *testing.T) {
	t.Parallel()
	var snapshots []*store.Snapshot
	for _, n := range []int{0, 1, 2, 3, 4, 3} {
		snapshots = append(
			snapshots,
			apitest.StoreSnapshot(t, fmt.Sprintf("s%d", n), apitest.SampleTime,
				[]*apitest.Table{apitest.Locations(n+1, nil)}),
		)
	}
	api.New(
		state.Options{Logger: slog.New(slog.DiscardHandler)}) // creates the shared encoders outside the synctest bubble
	synctest.Test(t, func(t *testing.T) {
		s := api.New(state.Options{
			Logger: slog.New(slog.DiscardHandler), KeepPrevious: time.Minute,
			Identifier: state.IgnoreIdentifier,
		})
		swap := func(n int) *state.Served {
			apitest.Swap(t, s, state.Release{Snapshot: snapshots[n], PublishedAt: apitest.PublishedTime})
			return s.State.Snapshots.Current.Load()
		}
		check := func(id string, status int) {
			t.Helper()
			got := s.Answer("GET", "/api/v2/metadata/location?snapshot="+id, nil)
			control, _ := apitest.Field(got, "Cache-Control")
			current := s.State.Snapshots.CurrentID()
			name, _ := apitest.Field(got, contract.HeaderSnapshot)
			switch {
			case got.Status != status:
				t.Errorf("%s: %d, want %d", id, got.Status, status)
			case status == 200 && (control != reply.ImmutableKept || name != id):
				t.Errorf("%s: %q, %s", id, control, name)
			case status == 410 && (control != reply.NoStore || name != current ||
				!bytes.Contains(got.Body, []byte(`"snapshot":"`+current+`"`))):
				t.Errorf("%s: %q, %s, %s", id, control, name, got.Body)
			}
		}
		check("s0", 503)
		first := swap(0)
		check("s0", 200)
		check("s1", 410)
		second := swap(1)
		check("s0", 200)
		time.Sleep(30 * time.Second)
		swap(2)
		check("s0", 200)
		check("s1", 200)
		time.Sleep(31 * time.Second)
		check("s0", 410) // its minute is over
		check("s1", 200)
		swap(3)
		swap(4)
		check("s1", 410) // two others have been retained since
		check("s2", 200)
		check("s3", 200)
		check("s4", 200)
		swap(5) // s3 again
		check("s3", 200)
		check("s2", 200) // a snapshot that is current again does not count as retained
		check("s4", 200)
		if first.Refs.Load() != 0 || second.Refs.Load() != 0 {
			t.Errorf("references are left: %d, %d", first.Refs.Load(), second.Refs.Load())
		}
		testkit.Must(t, s.Shutdown(t.Context()))
		check("s3", 503)
		time.Sleep(2 * time.Minute)
	})
}

// TestStrict checks that a server with the option Strict refuses unknown parameters.
func TestStrict(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{Strict: true}, 3)
	if got := s.Answer("GET", apitest.Target+"&snapshot=20261120T0200Z-test&limit=1", nil); got.Status != 200 {
		t.Errorf("known parameters: %d %s", got.Status, got.Body)
	}
	if got := s.Answer("GET", apitest.Target+"&b=1&a=2", nil); got.Status != 422 ||
		bytes.Count(got.Body, []byte("extra_forbidden")) != 2 {
		t.Errorf("unknown parameters: %d %s", got.Status, got.Body)
	}
}

func TestMain(m *testing.M) { apitest.Main(m) }
