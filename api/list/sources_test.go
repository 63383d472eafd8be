//go:build !race

package list_test

import (
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/state"
	"hdqs/snapshot/store"
)

// TestSourceFieldsAfterSwap checks that a table that becomes stale, and is whole again later, says
// so at each swap, also where answers are cached or revalidated. Its content stays, but its tags
// change while it is stale, so that no cache keeps a field that is no longer true.
func TestSourceFieldsAfterSwap(t *testing.T) {
	t.Parallel()
	s := api.New(state.Options{Logger: slog.New(slog.DiscardHandler)})
	tables := apitest.SampleTables(t, 30)
	var bodies, tags []string
	for i, since := range []time.Time{{}, apitest.SampleStale, {}} {
		id := []string{"one", "two", "three"}[i]
		snap := apitest.StoreSnapshot(t, id, apitest.SampleTime, tables)
		at := slices.IndexFunc(snap.Manifest.Sources, func(x store.TableSource) bool { return x.Table == "sector" })
		snap.Manifest.Sources[at].StaleSince = since
		apitest.Swap(t, s, state.Release{Snapshot: snap, PublishedAt: apitest.PublishedTime})
		want, earlier := "", 200
		if !since.IsZero() {
			want = "since=2026-11-18"
		}
		if i == 2 {
			earlier = 304
		}
		if i > 0 {
			if got := s.Answer("GET", apitest.Target, apitest.Fields("If-None-Match", tags[0])); got.Status != earlier {
				t.Errorf("%s, with the tag of the first snapshot: %d", id, got.Status)
			}
		}
		for range 2 { // rendered, then from the cache
			got := s.Answer("GET", apitest.Target, apitest.Fields("Accept-Encoding", "gzip"))
			value, has := apitest.Field(got, contract.HeaderStale)
			if value != want || has != (want != "") || got.Status != 200 {
				t.Errorf("%s: %d, stale %q, want %q", id, got.Status, value, want)
			}
			bodies, tags = append(bodies, string(got.Body)), append(tags, apitest.Header(got, "ETag"))
		}
		got := s.Answer("GET", apitest.Target, apitest.Fields("If-None-Match", tags[len(tags)-1]))
		if value, has := apitest.Field(got, contract.HeaderStale); value != want || has != (want != "") ||
			got.Status != 304 {
			t.Errorf("%s: %d, stale %q, want %q", id, got.Status, value, want)
		}
	}
	if bodies = slices.Compact(bodies); len(bodies) != 1 {
		t.Errorf("%d different bodies, want one", len(bodies))
	}
	if tags[0] != tags[4] || tags[0] == tags[2] || tags[0] != tags[1] || tags[2] != tags[3] {
		t.Errorf("tags %q", tags)
	}
	got := s.Answer("GET", apitest.Target+"&snapshot=two", nil)
	if value, _ := apitest.Field(got, contract.HeaderStale); value != "since=2026-11-18" {
		t.Errorf("a snapshot that is kept: %d, stale %q", got.Status, value)
	}
}

// TestKeysOfPages: pages change with the snapshot, and say nothing of sources without one.
func TestKeysOfPages(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{SurrogateKey: true}, 30)
	empty := api.New(state.Options{Logger: slog.New(slog.DiscardHandler)})
	for _, path := range []string{"/", "/docs", "/docs/org"} {
		for _, prefix := range []string{"", contract.HAPIPrefix} {
			page := s.Answer("GET", prefix+path, nil)
			if keys, _ := apitest.Field(page, "Surrogate-Key"); keys != "all landing snap-"+apitest.SampleID {
				t.Errorf("%s%s: keys %q", prefix, path, keys)
			}
		}
		if a := empty.Answer("GET", path, nil); a.Status != 200 || strings.Contains(string(a.Body), "Last update") {
			t.Errorf("%s without a snapshot: %d", path, a.Status)
		}
	}
}
