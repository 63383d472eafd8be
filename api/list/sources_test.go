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
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/snapshot/store"
)

// TestSourceFields checks X-Data-Updated and X-Data-Stale on every kind of successful answer, under
// both sets of names, and that answers of other statuses do not have them.
func TestSourceFields(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 200)
	address := apitest.Listen(t, s)
	const fresh, stale = "/api/v2/metadata/location", "/api/v2/metadata/org"
	for path, since := range map[string]string{fresh: "", stale: "since=2026-11-18"} {
		for _, prefix := range []string{"", contract.HAPIPrefix} {
			for _, query := range []string{
				"", "&output_format=csv", "&limit=3", "&limit=0", "&snapshot=" + apitest.SampleID, "&offset=9999",
			} {
				target := prefix + path + "?app_identifier=" + apitest.Identifier + query
				whole := s.Answer("GET", target, nil)
				tag, _ := apitest.Field(whole, "ETag")
				for _, c := range []struct {
					method string
					header []reply.HeaderField
					status int
				}{
					{"GET", nil, 200},
					{"HEAD", nil, 200},
					{"GET", apitest.Fields("Accept-Encoding", "gzip"), 200},
					{"GET", apitest.Fields("Accept-Encoding", "gzip"), 200}, // from the cache
					{"HEAD", apitest.Fields("Accept-Encoding", "zstd"), 200},
					{"GET", apitest.Fields("If-None-Match", tag), 304},
					{"HEAD", apitest.Fields("If-None-Match", tag), 304},
				} {
					got := apitest.Ask(t, address, c.method, target, c.header)
					newest := apitest.Header(got, contract.HeaderUpdated)
					if got.Status != c.status || newest != "2026-11-17T23:59:59Z" {
						t.Errorf("%s %s %v: %d, updated %q", c.method, target, c.header, got.Status, newest)
					}
					if value, has := apitest.Field(got, contract.HeaderStale); value != since || has != (since != "") {
						t.Errorf("%s %s %v: stale %q, want %q", c.method, target, c.header, value, since)
					}
				}
			}
		}
	}
	for _, target := range []string{stale, stale + "?app_identifier=" + apitest.Identifier + "&limit=x", "/docs", "/"} {
		got := apitest.Ask(t, address, "GET", target, nil)
		_, updated := apitest.Field(got, contract.HeaderUpdated)
		if _, since := apitest.Field(got, contract.HeaderStale); updated || since {
			t.Errorf("%s: %d has fields about sources: %v", target, got.Status, got.Header)
		}
	}
}

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
