package loader

import (
	"slices"
	"testing"
)

// TestIncomplete: a report names the tables that made a load partial, each once, with every reason.
func TestIncomplete(t *testing.T) {
	t.Parallel()
	r := &Report{
		Resources: []*ResourceReport{
			{Role: "funding", Path: "funding/a.csv", Rows: RowCounts{Dropped: 1}},
			{Role: "funding", Path: "funding/b.csv", Rows: RowCounts{Dropped: 2, Read: 5}, Faults: []string{"cut off"}},
			{Role: "rainfall", Path: "rainfall/a.csv", Rows: RowCounts{InError: 7, Skipped: 7, Read: 20}},
		},
		Refused: []Refusal{{Role: "poverty-rate", Path: "poverty-rate/a.csv"}, {Path: "mystery.csv"}},
		Stale: []Stale{
			{Role: "poverty-rate", Path: "poverty_rate"},
			{Role: "poverty-rate", Path: "poverty_rate"},
			{Role: "package", Path: "packages/a.json"},
		},
		Fetched: &FetchReport{Sources: []SourceReport{
			{Role: "idps", Path: "idps/a.csv", State: SourceRefused},
			{Role: "rainfall", Path: "rainfall/a.csv", State: "unchanged"},
		}},
	}
	want := []string{
		"dataset (stale)", "funding (fault in a file, 3 rows dropped)", "idps (refused)", "mystery.csv (refused)",
		"poverty_rate (refused, stale)", "resource (stale)",
	}
	if got := r.Incomplete(); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got := (&Report{}).Incomplete(); got != nil {
		t.Errorf("a complete load: %q", got)
	}
}
