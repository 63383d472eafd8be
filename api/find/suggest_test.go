package find_test

import (
	"encoding/json"
	"strings"
	"testing"

	"hdqs/api/apitest"
	"hdqs/api/find"
	"hdqs/api/state"
)

// TestSuggestions: the field of a search gets names of a kind, as JSON.
func TestSuggestions(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 30)
	for query, most := range map[string]int{
		"q=a": 8, "q=a&kind=province": 8, "q=refugees&kind=list": 2, "q=": 0, "q=...": 0, "q=%20": 0, "q=of": 8,
		"": 0,
	} {
		a := s.Answer("GET", "/search/suggest?"+query, nil)
		var found find.Answer
		err := json.Unmarshal(a.Body, &found)
		if n := len(found.Results); a.Status != 200 || err != nil || n > most || n == 0 && most > 0 {
			t.Errorf("%s: %d %v, %d results, want 1 to %d", query, a.Status, err, n, most)
		}
		for _, r := range found.Results {
			if _, kind, _ := strings.Cut(query, "kind="); kind == "province" && r.Kind != kind {
				t.Errorf("%s: a %s", query, r.Kind)
			}
		}
	}
}

// TestIndexMemory: an index of names takes no more memory than was counted before a swap, and the
// snapshot that is replaced keeps none.
func TestIndexMemory(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 500)
	v := s.State.Snapshots.Acquire()
	var counted int64
	for _, l := range v.Bound.Lists {
		counted += find.FullBytes(l)
	}
	size := find.BuildIndex(s.Files.Lists, v).Bytes()
	if size > counted+fixedIndex {
		t.Errorf("the index has %d bytes, %d were counted", size, counted)
	}
	s.Answer("GET", "/search?q=a", nil)
	apitest.Swap(t, s, state.Release{Snapshot: apitest.SampleSnapshot(t, 30), PublishedAt: apitest.PublishedTime})
	kept := 0
	v.Kept.Range(func(any, any) bool { kept++; return true })
	if v.Release(s.State.Log); kept > 0 {
		t.Errorf("the replaced snapshot keeps %d values", kept)
	}
}

// fixedIndex is the memory of the names that do not depend on the data: of lists and fields.
const fixedIndex = 256 << 10

// TestSides: no address of an answer about people or money from a country is of the other side.
func TestSides(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 500)
	for _, of := range []string{"refugees", "returnees", "idps", "funding", "refugees and returnees"} {
		for _, country := range []string{"AFG", "SDN", "SSD", "TCD"} {
			for _, path := range []string{"/search/suggest?q=", "/search?q=", "/fr/search?q="} {
				a := s.Answer("GET", path+strings.ReplaceAll(of, " ", "+")+"+from+"+country, nil)
				others := []string{"asylum_location_code=" + country, "idps?location_code", "funding?location_code"}
				for _, wrong := range others {
					if body := string(a.Body); a.Status != 200 || strings.Contains(body, wrong) {
						t.Errorf("%s from %s at %s: %d, with %s", of, country, path, a.Status, wrong)
					}
				}
			}
		}
	}
}

func TestMain(m *testing.M) { apitest.Main(m) }
