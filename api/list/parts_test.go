//go:build !race

package list_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

// partTargets are requests whose answers can be read in parts.
func partTargets() []string {
	const points = "/api/v2/food-security-nutrition-poverty/food-prices-market-monitor"
	var all []string
	for _, path := range []string{points, contract.HAPIPrefix + points} {
		for _, format := range []string{"json", "csv", "geojson", "ndjson"} {
			all = append(all, path+"?output_format="+format)
		}
		for _, format := range apitest.Plan(points).Endpoint.ExportFormats() {
			all = append(all, path+"/export?output_format="+format.Name)
		}
		all = append(all, path+"/aggregate?group_by=location_code,year", path+"/facets?of=price&output_format=csv")
	}
	for i := range all {
		all[i] += "&app_identifier=" + apitest.Identifier
	}
	return all
}

// TestParts reads answers in parts, over HTTP and from another server with the same tables. Put
// together they must be the whole, with its tag and the length that HEAD gives.
func TestParts(t *testing.T) {
	t.Parallel()
	tables := apitest.SampleTables(t, 700)
	address := apitest.Listen(t, apitest.Server(t, state.Options{}, tables))
	other := apitest.Server(t, state.Options{CacheBytes: -1}, tables)
	random := rand.New(rand.NewPCG(5, 206))
	for _, target := range partTargets() {
		whole := apitest.Ask(t, address, "GET", target, nil)
		tag, length := apitest.Header(whole, "ETag"), len(whole.Body)
		if whole.Status != 200 || !strings.HasPrefix(tag, `"`) || apitest.Header(whole, "Accept-Ranges") != "bytes" ||
			length < 100 {
			t.Errorf("%s: %d, %d bytes, tag %s, Accept-Ranges %q", target, whole.Status, length, tag,
				apitest.Header(whole, "Accept-Ranges"))
			continue
		}
		head := apitest.Ask(t, address, "HEAD", target, nil)
		if got := apitest.Header(head, "Content-Length"); !strings.Contains(target, "=arrow") &&
			got != strconv.Itoa(length) {
			t.Errorf("HEAD %s: Content-Length %q, want %d", target, got, length)
		}
		testkit.Equal(t, apitest.Header(head, "ETag"), tag, "HEAD %s: tag", target)
		var together []byte
		for n := 0; len(together) < length; n++ {
			from := len(together)
			to := min(length, from+1+random.IntN(length/3))
			field := reply.HeaderField{Name: "Range", Value: fmt.Sprintf("bytes=%d-%d", from, to-1)}
			got := apitest.Ask(t, address, "GET", target, []reply.HeaderField{field, {Name: "If-Range", Value: tag}})
			if n%2 == 1 {
				got = other.Answer("GET", target, []reply.HeaderField{field})
			}
			want := fmt.Sprintf("bytes %d-%d/%d", from, to-1, length)
			if at := apitest.Header(got, "Content-Range"); got.Status != 206 || at != want ||
				apitest.Header(got, "ETag") != tag {
				t.Fatalf("%s, %s: %d, Content-Range %q, want %q", target, field.Value, got.Status, at, want)
			}
			together = append(together, got.Body...)
		}
		if !bytes.Equal(together, whole.Body) {
			t.Errorf("%s: the parts are not the whole", target)
		}
	}
}

// TestPartsAfterSwap checks that parts of two snapshots cannot be taken for one file: once a table
// has changed, a part is sent only if the request says of what.
func TestPartsAfterSwap(t *testing.T) {
	t.Parallel()
	tables := apitest.SampleTables(t, 40)
	s := apitest.Server(t, state.Options{}, tables)
	changed, same := tables[0].Endpoint.Path, tables[1].Endpoint.Path
	part := reply.HeaderField{Name: "Range", Value: "bytes=5-9"}
	status := func(path, query string, more ...reply.HeaderField) int {
		return s.Answer("GET", path+"?app_identifier="+apitest.Identifier+query, append(more, part)).Status
	}
	old := apitest.Header(s.Answer("GET", changed+"?app_identifier="+apitest.Identifier, nil), "ETag")
	if got := status(changed, ""); got != 206 {
		t.Fatalf("before: %d", got)
	}
	tables[0].Rows = tables[0].Rows[:39]
	for _, id := range []string{"20261121T0200Z-test", "20261121T0300Z-test"} { // the second one changes nothing
		next := apitest.StoreSnapshot(t, id, apitest.SampleTime, tables)
		apitest.Swap(t, s, state.Release{Snapshot: next, PublishedAt: apitest.PublishedTime})
		now := apitest.Header(s.Answer("GET", changed+"?app_identifier="+apitest.Identifier, nil), "ETag")
		for what, c := range map[string][2]int{
			"of what did not change":  {status(same, ""), 206},
			"without a condition":     {status(changed, ""), 200},
			"of an export":            {status(changed+"/export", ""), 200},
			"of the snapshot":         {status(changed, "&snapshot="+id), 206},
			"of the one before":       {status(changed, "&snapshot="+apitest.SampleID), 206},
			"with the tag":            {status(changed, "", reply.HeaderField{Name: "If-Range", Value: now}), 206},
			"with the tag before":     {status(changed, "", reply.HeaderField{Name: "If-Range", Value: old}), 200},
			"if it is the one before": {status(changed, "", reply.HeaderField{Name: "If-Match", Value: old}), 412},
		} {
			testkit.Equal(t, c[0], c[1], "%s: a part %s", id, what)
		}
	}
}

// TestPartsOfLongExports checks that exports beyond the bound are sent as before.
func TestPartsOfLongExports(t *testing.T) {
	t.Parallel()
	const path = "/api/v2/metadata/currency"
	s := apitest.SampleOf(t, state.Options{}, path, list.MaxPartRows+1)
	for query, want := range map[string]int{"": 200, "&limit=20000": 206} {
		target := path + "/export?app_identifier=" + apitest.Identifier + query
		got := s.Answer("GET", target, apitest.Fields("Range", "bytes=0-9"))
		ranges := map[int]string{200: "none", 206: "bytes"}[want]
		if has := apitest.Header(got, "Accept-Ranges"); got.Status != want || has != ranges {
			t.Errorf("%s: %d, Accept-Ranges %s, want %d, %s", query, got.Status, has, want, ranges)
		}
	}
}
