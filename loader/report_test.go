//go:build !race

package loader

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"

	"hdqs/snapshot"
)

// TestIncomplete: a report names the tables that made a load partial, each once, with every reason.
func TestIncomplete(t *testing.T) {
	t.Parallel()
	counts := func(c RowCounts) fileCounts { return fileCounts{Rows: c} }
	r := &Report{
		Resources: []*ResourceReport{
			{Role: "funding", Path: "funding/a.csv", fileCounts: counts(RowCounts{Dropped: 1})},
			{
				Role: "funding", Path: "funding/b.csv", fileCounts: counts(RowCounts{Dropped: 2, Read: 5}),
				Faults: []string{"cut off"},
			},
			{
				Role: "rainfall", Path: "rainfall/a.csv",
				fileCounts: counts(RowCounts{InError: 7, Skipped: 7, Read: 20}),
			},
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

// TestLossesOfEmptyRoles: --allow-empty is named only where it mends what is wrong.
func TestLossesOfEmptyRoles(t *testing.T) {
	t.Parallel()
	r := &Report{
		Empty:   []string{"idps", "funding", "rainfall"},
		Refused: []Refusal{{Role: "funding", Path: "funding/a.csv", Why: "funding/a.csv: no header row"}},
	}
	want := []string{
		"no rows: funding; refused: funding/a.csv: no header row",
		"no rows: idps, rainfall; where that is meant, --allow-empty idps,rainfall",
	}
	if got := r.Losses(); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestCountOddTexts counts rows of odd texts, in columns of rows and of groups.
func TestCountOddTexts(t *testing.T) {
	t.Parallel()
	texts := []string{"plain", "B\u200b", "a=b", "", "\ufeffC"}
	codes := []uint32{0, 1, 2, 3, 4, snapshot.NullCode, 1}
	data := &snapshot.TableData{
		Columns: []snapshot.ColumnData{
			{Name: "own", Kind: snapshot.Text, Values: texts, Codes: codes},
			{Name: "plain", Kind: snapshot.Text, Values: []string{"x"}, Codes: make([]uint32, len(codes))},
			{Name: "unused", Kind: snapshot.Text, Values: []string{"x", "\u200b"}, Codes: make([]uint32, len(codes))},
			{Name: "declared", Kind: snapshot.Enum, Values: []string{"\u200b"}, Codes: make([]uint32, len(codes))},
		},
		Groups: []snapshot.GroupData{{
			Codes: []uint32{0, 1, 1, 0, 1},
			Columns: []snapshot.ColumnData{
				{Name: "of tuples", Kind: snapshot.Text, Values: texts, Codes: []uint32{0, 4}},
			},
		}},
	}
	want := []oddTexts{{"own", 3, "B\u200b"}, {"of tuples", 3, "\ufeffC"}}
	if got := countOddTexts(data); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestOddTextsReport loads a file with such a text: the row is kept, and a line says so each time.
func TestOddTextsReport(t *testing.T) {
	t.Parallel()
	files := smallCatalog(t)
	files["idps/a.csv"].Data = bytes.ReplaceAll(files["idps/a.csv"].Data, []byte("Op,BA"), []byte("Op,BA\u200b"))
	st := openStore(t)
	for range 2 {
		r := build(t, st, files, someDay)
		said := strings.Join(r.Losses(), "\n")
		if r.Partial ||
			!strings.Contains(said, `note: kept: odd characters in assessment_type of idps: 2 rows, first: "BA\u200b"`) {
			t.Errorf("partial %t: %s", r.Partial, said)
		}
	}
}
