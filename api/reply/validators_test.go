//go:build !race

package reply_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/internal/testkit"
	"hdqs/snapshot/store"
)

var tagForm = regexp.MustCompile(`^(W/)?"[A-Za-z0-9_-]{22}"$`)

// tagsOf returns the tags of every endpoint in both formats.
func tagsOf(t *testing.T, s *api.Server, rest string, header ...reply.HeaderField) map[string]string {
	t.Helper()
	tags := map[string]string{}
	for i := range contract.Endpoints {
		for _, format := range []string{"", "&output_format=csv"} {
			got := s.Answer("GET", contract.Endpoints[i].Path+"?app_identifier="+apitest.Identifier+rest+format, header)
			tag, _ := apitest.Field(got, "ETag")
			if got.Status != 200 || !tagForm.MatchString(tag) {
				t.Fatalf("%s: %d, tag %q", contract.Endpoints[i].Path, got.Status, tag)
			}
			tags[contract.Endpoints[i].Path+format] = tag
		}
	}
	return tags
}

// TestTagsOfReplicas checks that two servers that opened the same tables from different stores send
// the same tags in every coding, and that no two answers have the same tag.
func TestTagsOfReplicas(t *testing.T) {
	t.Parallel()
	one := apitest.Sample(t, state.Options{}, 300)
	other := apitest.Server(t, state.Options{Identifier: state.ObserveIdentifier, Strict: true},
		apitest.SampleTables(t, 300))
	want := tagsOf(t, one, "")
	for _, accept := range []string{"", "gzip", "zstd", "identity;q=0, *"} {
		for path, tag := range tagsOf(t, other, "", reply.HeaderField{Name: "Accept-Encoding", Value: accept}) {
			opaque, weak := strings.CutPrefix(tag, "W/")
			if opaque != want[path] || weak != (accept != "") { // uncompressed bodies are the same bytes
				t.Errorf("%s, %q: the replicas send the tags %s and %s", path, accept, tag, want[path])
			}
		}
	}
	seen := map[string]string{}
	for _, rest := range []string{"", "&limit=3", "&limit=3&offset=3"} {
		for path, tag := range tagsOf(t, one, rest) {
			if before, twice := seen[tag]; twice {
				t.Errorf("%s and %s have the same tag", before, path+rest)
			}
			seen[tag] = path + rest
		}
	}
}

// TestTagsAfterChange checks that a change of one table changes the tags of exactly the endpoint
// that reads it, and that PurgeKeys returns its key.
func TestTagsAfterChange(t *testing.T) {
	t.Parallel()
	tables := apitest.SampleTables(t, 12)
	s := apitest.Server(t, state.Options{SurrogateKey: true, CacheTag: true}, tables)
	for i, x := range tables {
		before := tagsOf(t, s, "&limit=3")
		x.Rows = x.Rows[:len(x.Rows)-1]
		apitest.Swap(t, s, state.Release{
			Snapshot:    apitest.StoreSnapshot(t, fmt.Sprintf("changed-%d", i), apitest.SampleTime, tables),
			PublishedAt: apitest.PublishedTime,
		})
		after := tagsOf(t, s, "&limit=3")
		for path, tag := range before {
			endpoint := strings.TrimSuffix(path, "&output_format=csv")
			if changed := after[path] != tag; changed != (endpoint == x.Endpoint.Path) {
				t.Errorf("table %s: the tag of %s changed: %v", x.Endpoint.Table, path, changed)
			}
			got := s.Answer("GET", endpoint+"?limit=3&app_identifier="+apitest.Identifier, nil)
			keys, _ := apitest.Field(got, "Surrogate-Key")
			purged := slices.ContainsFunc(reply.PurgeKeys([]string{x.Endpoint.Table}),
				func(key string) bool { return slices.Contains(strings.Fields(keys), key) })
			if purged != (endpoint == x.Endpoint.Path) {
				t.Errorf("table %s: %s with the keys %q is purged: %v", x.Endpoint.Table, endpoint, keys, purged)
			}
		}
	}
}

// TestPurgeKeys checks both key fields, including the location key of lists of exactly one
// location. Answers pinned to a snapshot have no key that is purged after a publish.
func TestPurgeKeys(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{SurrogateKey: true, CacheTag: true}, 12)
	form := regexp.MustCompile(`^all ep-conflict-events tv-[0-9a-f]{12} snap-20261120T0200Z-test( loc-[A-Z0-9-]+)?$`)
	pinned := regexp.MustCompile(`^all tv-[0-9a-f]{12} snap-20261120T0200Z-test$`)
	for query, location := range map[string]string{
		"": "", "&location_code=afg": "AFG", "&location_code=A%25": "", "&location_code=A_G": "",
		"&location_name=Mali":                  "",
		"&location_code=AFG&location_code=MLI": "MLI", "&location_code=": "", "&limit=3": "", "&location_code=-": "",
		"&location_code=..": "", "&location_code__in=afg": "AFG", "&location_code__in=SDN,AFG": "",
		"&location_code__in=SDN,AFG&location_code=SDN": "SDN", "&location_code__in=A%25,AFG": "",
	} {
		target := "/api/v2/coordination-context/conflict-events?app_identifier=" + apitest.Identifier + query
		got := s.Answer("GET", target, nil)
		keys, _ := apitest.Field(got, "Surrogate-Key")
		tags, _ := apitest.Field(got, "Cache-Tag")
		m := form.FindStringSubmatch(keys)
		if m == nil || strings.TrimPrefix(m[1], " loc-") != location || tags != strings.ReplaceAll(keys, " ", ",") {
			t.Errorf("%s: %q, %q", query, keys, tags)
		}
		tag, _ := apitest.Field(got, "ETag")
		if again := s.Answer("GET", target, apitest.Fields("If-None-Match", tag)); again.Status != 304 {
			t.Errorf("%s: %d", query, again.Status)
		} else if again, _ := apitest.Field(again, "Surrogate-Key"); again != keys {
			t.Errorf("%s: the 304 has the keys %q", query, again)
		}
		for _, header := range [][]reply.HeaderField{nil, {{Name: "If-None-Match", Value: tag}}} {
			got := s.Answer("GET", target+"&snapshot=20261120T0200Z-test", header)
			if keys, _ := apitest.Field(got, "Surrogate-Key"); !pinned.MatchString(keys) ||
				got.Status != 200 && header == nil {
				t.Errorf("%s: pinned: %d with keys %q", query, got.Status, keys)
			}
		}
	}
	names := map[string]bool{}
	for i := range contract.Endpoints {
		if names[contract.Endpoints[i].Name()] {
			t.Errorf("two endpoints have the key ep-%s", contract.Endpoints[i].Name())
		}
		names[contract.Endpoints[i].Name()] = true
	}
	plain := apitest.Sample(t, state.Options{}, 3)
	landing := plain.Answer("GET", "/", nil)
	if keys, ok := apitest.Field(landing, "Surrogate-Key"); ok {
		t.Errorf("Surrogate-Key without the option: %q", keys)
	}
}

// TestFreshness checks the effect of the options on Cache-Control.
func TestFreshness(t *testing.T) {
	t.Parallel()
	for want, f := range map[string]reply.Freshness{
		"public, max-age=0, s-maxage=5": {
			MaxAge: -1, SharedMaxAge: 5 * time.Second, StaleWhileRevalidate: -1,
			StaleIfError: -1,
		},
		"public, max-age=60, s-maxage=3600, stale-while-revalidate=86400, stale-if-error=604800": {CDN: "max-age=9"},
	} {
		s := apitest.Sample(t, state.Options{Freshness: f, BaseURL: "https://data.example.org"}, 3)
		for _, target := range []string{apitest.Target, "/docs", "/"} {
			got := s.Answer("GET", target, nil)
			cdn, _ := apitest.Field(got, "CDN-Cache-Control")
			if control, _ := apitest.Field(got, "Cache-Control"); control != want || cdn != f.CDN {
				t.Errorf("%s: %q, %q", target, control, cdn)
			}
		}
		if got := s.Answer("GET", "/nowhere", nil); got.Status != 404 {
			t.Error(got.Status)
		} else if cdn, ok := apitest.Field(got, "CDN-Cache-Control"); ok {
			t.Errorf("CDN-Cache-Control of a 404: %q", cdn)
		}
	}
}

// TestFuturePublish checks publish times in the future, as a clock that is ahead writes them.
// Last-Modified is never in the future and never the time of another snapshot. A time slightly
// ahead is announced once our clock reaches it. A release without a time has no Last-Modified.
func TestFuturePublish(t *testing.T) {
	t.Parallel()
	s := api.New(state.Options{Logger: slog.New(slog.DiscardHandler), SkipWarmUp: true}) // so that a swap takes no time
	modified := func() string {
		return apitest.Header(s.Answer("GET", apitest.Target, nil), "Last-Modified")
	}
	var soon time.Time
	for _, ahead := range []time.Duration{time.Minute, 0, 365 * 24 * time.Hour, 2 * time.Second} {
		snap, at := apitest.StoreSnapshot(t, "x", apitest.SampleTime, apitest.SampleTables(t, 2)), time.Time{}
		if ahead > 0 { // measured from now, because opening the snapshot takes time
			at = time.Now().Add(ahead).Truncate(time.Second).Add(300 * time.Millisecond)
		}
		apitest.Swap(t, s, state.Release{Snapshot: snap, PublishedAt: at})
		soon = at
		early := func() bool { return at.IsZero() || time.Now().Before(at) } // the machine may be busy
		if text := modified(); text != "" && early() {
			t.Errorf("published %v: Last-Modified %q", at, text)
		}
		if got := s.Answer("GET", apitest.Target,
			apitest.Fields("If-Modified-Since", "Fri, 31 Dec 9999 23:59:59 "+
				"GMT")); got.Status != 200 && early() {
			t.Errorf("published %v: %d", at, got.Status)
		}
	}
	address := apitest.Listen(t, s)
	testkit.WaitFor(t, "the time of publication", func() bool {
		got := apitest.Ask(t, address, "GET", apitest.Target, nil)
		date, _ := apitest.Field(got, "Date")
		sent, err := http.ParseTime(date)
		if text, _ := apitest.Field(got, "Last-Modified"); err != nil ||
			text != "" && sent.Before(soon.Truncate(time.Second)) {
			t.Fatalf("Date %q, Last-Modified %q: %v", date, text, err)
		}
		return modified() == soon.UTC().Format(http.TimeFormat)
	})
	testkit.Must(t, s.Shutdown(t.Context()))
	s.State.Announce(soon) // no snapshot is served any more
}

// TestAnnounce checks that announcing a snapshot again changes its Last-Modified, although its rows
// and tags stay the same.
func TestAnnounce(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 3)
	first := s.Answer("GET", apitest.Target, nil)
	s.State.Announce(apitest.PublishedTime.Add(2 * time.Second))
	again := s.Answer("GET", apitest.Target, nil)
	for _, c := range []struct {
		name string
		same bool
	}{{"ETag", true}, {"X-Snapshot-Id", true}, {"Last-Modified", false}} {
		before, _ := apitest.Field(first, c.name)
		if after := apitest.Header(again, c.name); (before == after) != c.same {
			t.Errorf("%s: %q, then %q", c.name, before, after)
		}
	}
	for second, status := range []int{200, 200, 304} {
		since := apitest.PublishedTime.Add(time.Duration(second) * time.Second).Format(http.TimeFormat)
		for _, target := range []string{apitest.Target, apitest.Target + "&snapshot=20261120T0200Z-test"} {
			if got := s.Answer("GET", target, apitest.Fields("If-Modified-Since", since)); got.Status != status {
				t.Errorf("%s, since %s: %d, want %d", target, since, got.Status, status)
			}
		}
	}
}

// TestRollback checks that going back to an earlier snapshot counts as a modification: a client
// that has only a date gets the old rows again, and one that has their tag gets a 304.
func TestRollback(t *testing.T) {
	t.Parallel()
	st := testkit.Value(store.Open(t.TempDir()))(t)
	tables := apitest.SampleTables(t, 6)
	apitest.PutSnapshot(t, st, "a", apitest.SampleTime, tables)
	for _, x := range tables {
		x.Rows = x.Rows[:5]
	}
	apitest.PutSnapshot(t, st, "b", apitest.SampleTime, tables)
	s := apitest.Empty(t, state.Options{})
	var tags, dates []string
	for day, id := range []string{"a", "b", "a"} {
		snap := testkit.Value(st.Snapshots.Open(id))(t)
		apitest.Swap(t, s, state.Release{Snapshot: snap, PublishedAt: apitest.PublishedTime.AddDate(0, 0, day)})
		got := s.Answer("GET", apitest.Target, nil)
		tags, dates = append(tags, apitest.Header(got, "ETag")), append(dates, apitest.Header(got, "Last-Modified"))
	}
	if tags[0] != tags[2] || tags[0] == tags[1] {
		t.Errorf("tags %q, dates %q", tags, dates)
	}
	if got := s.Answer("GET", apitest.Target, apitest.Fields("If-Modified-Since", dates[1])); got.Status != 200 {
		t.Errorf("If-Modified-Since the snapshot that was rolled back: %d", got.Status)
	}
	if got := s.Answer("GET", apitest.Target, apitest.Fields("If-None-Match", tags[0])); got.Status != 304 {
		t.Errorf("If-None-Match with the tag of the first snapshot: %d", got.Status)
	}
}

func TestMain(m *testing.M) { apitest.Main(m) }
