//go:build !race

package figures_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/reply"
	"hdqs/internal/testkit"
)

// answerRecords returns the records of an answer.
func answerRecords(t *testing.T, target string, got api.Answer) []map[string]json.RawMessage {
	t.Helper()
	var answer struct {
		Data []map[string]json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(got.Body, &answer); err != nil || got.Status != 200 || answer.Data == nil {
		t.Fatalf("%s: %d %v %.300s", target, got.Status, err, got.Body)
	}
	return answer.Data
}

// TestChanges checks what requests for changes have besides rows.
func TestChanges(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 7))
	before, after := apitest.ChangedTables(t, r, 60, 6)
	s := apitest.Changed(t, before, after)
	const path = "/api/v2/coordination-context/funding/changes"
	ask := func(query string, fields ...reply.HeaderField) api.Answer {
		return s.Answer("GET", path+"?app_identifier="+apitest.Identifier+query, fields)
	}
	first := ask("&since=before")
	tag, _ := apitest.Field(first, "Etag")
	exposed, _ := apitest.Field(first, "Access-Control-Expose-Headers")
	if !strings.HasSuffix(exposed, ", "+contract.HeaderChanges) {
		t.Errorf("browsers may read %s", exposed)
	}
	testkit.Equal(t, ask("&since=before", reply.HeaderField{Name: "If-None-Match", Value: tag}).Status, 304, "the tag")
	for range 3 { // rendered, rendered and kept, from the cache
		got := ask("&since=before")
		if totals, _ := apitest.Field(got, contract.HeaderChanges); string(got.Body) != string(first.Body) ||
			totals == "" {
			t.Errorf("the same request again gives another answer, or no totals: %q", totals)
		}
	}
	head := s.Answer("HEAD", path+"?app_identifier="+apitest.Identifier+"&since=before", nil)
	for _, name := range []string{contract.HeaderChanges, "Etag", contract.HeaderTotal, "Link"} {
		want, _ := apitest.Field(first, name)
		if got, _ := apitest.Field(head, name); head.Status != 200 || got != want {
			t.Errorf("HEAD: %d, %s %q, want %q", head.Status, name, got, want)
		}
	}
	testkit.Equal(t, string(ask("&since=after").Body), `{"data":[]}`, "since the current snapshot")
	back := ask("&since=after&snapshot=before")
	totals, _ := apitest.Field(first, contract.HeaderChanges)
	var added, removed, changed int
	fmt.Sscanf(totals, "added=%d, removed=%d, changed=%d", &added, &removed, &changed)
	want := fmt.Sprintf("added=%d, removed=%d, changed=%d", removed, added, changed)
	if got, _ := apitest.Field(back, contract.HeaderChanges); got != want || added+removed+changed == 0 {
		t.Errorf("the other way round: %s, want %s", got, want)
	}
	if other, _ := apitest.Field(back, "Etag"); other == tag {
		t.Errorf("both ways have the tag %s", tag)
	}
	few := ask("&since=before&fields=appeal_code,funding_usd&limit=5")
	for _, record := range answerRecords(t, "fields", few) {
		names := slices.Sorted(maps.Keys(record))
		testkit.EqualLists(t, names, []string{"appeal_code", "change", "funding_usd", "was"}, "two fields")
		testkit.Lacks(t, record["was"], "appeal_name", "a field that was not asked for")
	}
	lines := apitest.Cells(t, ask("&since=before&fields=appeal_code&limit=1&output_format=csv").Body)
	if len(lines) != 2 || !slices.Equal(lines[0], []string{"change", "appeal_code", "was"}) {
		t.Errorf("as CSV: %q", lines)
	}
	second := answerRecords(t, "the second", ask("&since=before&limit=1&offset=1"))
	testkit.Equal(t, fmt.Sprint(second), fmt.Sprint(answerRecords(t, "all", first)[1:2]), "the second")
	link, _ := apitest.Field(ask("&since=before&limit=2"), "Link")
	testkit.Contains(t, link, "since=before", "the link")
	testkit.Contains(t, link, `rel="next"`, "the link")
}

// TestChangesRefusals checks what is answered if there is nothing to compare with.
func TestChangesRefusals(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(2, 7))
	before, after := apitest.ChangedTables(t, r, 10, 6)
	s := apitest.Changed(t, before, after)
	for _, m := range s.Lists.Routes.Mounts {
		path := m.Prefix + contract.EndpointsIn(m.Names)[0].Path + "/changes?app_identifier=" + apitest.Identifier
		for query, want := range map[string]string{
			"":                                   `422 {"detail":[{"type":"missing","loc":["query","since"],"msg":"Field required: the id of`,
			"&since=":                            `422 {"detail":[{"type":"string_pattern_mismatch","loc":["query","since"]`,
			"&since=a%2Fb":                       `422 {"detail":[{"type":"string_pattern_mismatch","loc":["query","since"]`,
			"&since=.hidden":                     `422 {"detail":[{"type":"string_pattern_mismatch","loc":["query","since"]`,
			"&since=no-longer":                   `410 {"detail":"The snapshot in since is not held any more`,
			"&since=before&limit=x":              `422 {"detail":[{"type":"int_parsing","loc":["query","limit"]`,
			"&since=" + strings.Repeat("x", 129): `422 {"detail":[{"type":"string_too_long","loc":["query","since"]`,
		} {
			got := s.Answer("GET", path+query, nil)
			if text := fmt.Sprintf("%d %s", got.Status, got.Body); !strings.HasPrefix(text, want) {
				t.Errorf("%s: %s, want %s", query, text, want)
			}
		}
		target := path + "&since=before"
		answer := s.Answer("GET", target, nil)
		tag, _ := apitest.Field(answer, "Etag")
		s.Answer("GET", target, nil) // which is kept
		s.State.Snapshots.Retained.Lock()
		kept := s.State.Snapshots.Retained.Entries
		s.State.Snapshots.Retained.Entries = nil
		s.State.Snapshots.Retained.Unlock()
		for _, fields := range [][]reply.HeaderField{nil, {{Name: "If-None-Match", Value: tag}}} {
			if got := s.Answer("GET", target, fields); got.Status != 410 {
				t.Errorf("%d for a cached answer about a snapshot that is not held any more", got.Status)
			}
		}
		s.State.Snapshots.Retained.Lock()
		s.State.Snapshots.Retained.Entries = kept
		s.State.Snapshots.Retained.Unlock()
	}
}

// TestChangesOfMissingTables checks snapshots of which one has no table.
func TestChangesOfMissingTables(t *testing.T) {
	t.Parallel()
	tables := apitest.SampleTables(t, 20)
	s := apitest.Changed(t, nil, tables)
	for i := range contract.Endpoints {
		target := contract.Endpoints[i].Path + "/changes?app_identifier=" + apitest.Identifier
		added := s.Answer("GET", target+"&since=before", nil)
		removed := s.Answer("GET", target+"&since=after&snapshot=before", nil)
		for want, got := range map[string]api.Answer{
			"added=20, removed=0, changed=0": added, "added=0, removed=20, changed=0": removed,
		} {
			if totals, _ := apitest.Field(got, contract.HeaderChanges); totals != want || got.Status != 200 {
				t.Errorf("%s: %d %s, want %s", target, got.Status, totals, want)
			}
		}
		if len(answerRecords(t, target, added)) != 20 || len(answerRecords(t, target, removed)) != 20 {
			t.Errorf("%s: not 20 records", target)
		}
	}
}
