package api

import (
	"log/slog"
	"slices"
	"testing"
	"time"

	"hdqs/api/contract"
	"hdqs/snapshot/store"
)

// TestSourceFields checks X-Data-Updated and X-Data-Stale on every kind of successful answer, under
// both sets of names, and that answers of other statuses do not have them.
func TestSourceFields(t *testing.T) {
	t.Parallel()
	s := sampleServer(t, Options{}, 200)
	address := listen(t, s)
	const fresh, stale = "/api/v2/metadata/location", "/api/v2/metadata/org"
	for path, since := range map[string]string{fresh: "", stale: "since=2026-11-18"} {
		for _, prefix := range []string{"", contract.HAPIPrefix} {
			for _, query := range []string{
				"", "&output_format=csv", "&limit=3", "&limit=0", "&snapshot=" + sampleID, "&offset=9999",
			} {
				target := prefix + path + "?app_identifier=" + goodIdentifier + query
				whole := s.Answer("GET", target, nil)
				tag, _ := whole.field("ETag")
				for _, c := range []struct {
					method string
					header []HeaderField
					status int
				}{
					{"GET", nil, 200},
					{"HEAD", nil, 200},
					{"GET", []HeaderField{{"Accept-Encoding", "gzip"}}, 200},
					{"GET", []HeaderField{{"Accept-Encoding", "gzip"}}, 200}, // from the cache
					{"HEAD", []HeaderField{{"Accept-Encoding", "zstd"}}, 200},
					{"GET", []HeaderField{{"If-None-Match", tag}}, 304},
					{"HEAD", []HeaderField{{"If-None-Match", tag}}, 304},
				} {
					got := ask(t, address, c.method, target, c.header)
					day, _ := got.field(contract.HeaderUpdated)
					if got.Status != c.status || day != "2026-11-17" {
						t.Errorf("%s %s %v: %d, updated %q", c.method, target, c.header, got.Status, day)
					}
					if value, has := got.field(contract.HeaderStale); value != since || has != (since != "") {
						t.Errorf("%s %s %v: stale %q, want %q", c.method, target, c.header, value, since)
					}
				}
			}
		}
	}
	for _, target := range []string{stale, stale + "?app_identifier=" + goodIdentifier + "&limit=x", "/docs", "/"} {
		got := ask(t, address, "GET", target, nil)
		_, updated := got.field(contract.HeaderUpdated)
		if _, since := got.field(contract.HeaderStale); updated || since {
			t.Errorf("%s: %d has fields about sources: %v", target, got.Status, got.Header)
		}
	}
}

// TestSourceFieldsAfterSwap checks that a table that becomes stale, and is whole again later, says
// so at each swap, also where answers are cached or revalidated. Its content stays, but its tags
// change while it is stale, so that no cache keeps a field that is no longer true.
func TestSourceFieldsAfterSwap(t *testing.T) {
	t.Parallel()
	s := New(Options{Logger: slog.New(slog.DiscardHandler)})
	tables := sampleTables(t, 30)
	var bodies, tags []string
	for i, since := range []time.Time{{}, sampleStale, {}} {
		id := []string{"one", "two", "three"}[i]
		snap := storeSnapshot(t, id, sampleTime, tables)
		at := slices.IndexFunc(snap.Manifest.Sources, func(x store.TableSource) bool { return x.Table == "sector" })
		snap.Manifest.Sources[at].StaleSince = since
		if err := s.Swap(Release{Snapshot: snap, PublishedAt: publishedTime}); err != nil {
			t.Fatal(err)
		}
		want, earlier := "", 200
		if !since.IsZero() {
			want = "since=2026-11-18"
		}
		if i == 2 {
			earlier = 304
		}
		if i > 0 {
			if got := s.Answer("GET", listTarget, []HeaderField{{"If-None-Match", tags[0]}}); got.Status != earlier {
				t.Errorf("%s, with the tag of the first snapshot: %d", id, got.Status)
			}
		}
		for range 2 { // rendered, then from the cache
			got := s.Answer("GET", listTarget, []HeaderField{{"Accept-Encoding", "gzip"}})
			tag, _ := got.field("ETag")
			value, has := got.field(contract.HeaderStale)
			if value != want || has != (want != "") || got.Status != 200 {
				t.Errorf("%s: %d, stale %q, want %q", id, got.Status, value, want)
			}
			bodies, tags = append(bodies, string(got.Body)), append(tags, tag)
		}
		got := s.Answer("GET", listTarget, []HeaderField{{"If-None-Match", tags[len(tags)-1]}})
		if value, has := got.field(contract.HeaderStale); value != want || has != (want != "") || got.Status != 304 {
			t.Errorf("%s: %d, stale %q, want %q", id, got.Status, value, want)
		}
	}
	if bodies = slices.Compact(bodies); len(bodies) != 1 {
		t.Errorf("%d different bodies, want one", len(bodies))
	}
	if tags[0] != tags[4] || tags[0] == tags[2] || tags[0] != tags[1] || tags[2] != tags[3] {
		t.Errorf("tags %q", tags)
	}
	got := s.Answer("GET", listTarget+"&snapshot=two", nil)
	if value, _ := got.field(contract.HeaderStale); value != "since=2026-11-18" {
		t.Errorf("a snapshot that is kept: %d, stale %q", got.Status, value)
	}
}
