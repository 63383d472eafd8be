//go:build !race

package loader

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"hdqs/internal/testkit"
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

// TestFormulaTexts counts rows of texts that begin like a formula, in columns of rows and of
// groups.
func TestFormulaTexts(t *testing.T) {
	t.Parallel()
	texts := []string{"plain", "=1+1", "+a", "-b", "@c", "\td", "\re", "a=b", "", " =1"}
	codes := []uint32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, snapshot.NullCode, 1}
	data := &snapshot.TableData{
		Columns: []snapshot.ColumnData{
			{Name: "own", Kind: snapshot.Text, Values: texts, Codes: codes},
			{Name: "plain", Kind: snapshot.Text, Values: []string{"x"}, Codes: make([]uint32, len(codes))},
			{Name: "unused", Kind: snapshot.Text, Values: []string{"x", "=2"}, Codes: make([]uint32, len(codes))},
			{Name: "declared", Kind: snapshot.Enum, Values: []string{"-"}, Codes: make([]uint32, len(codes))},
		},
		Groups: []snapshot.GroupData{{
			Codes: []uint32{0, 1, 1, 0, 1},
			Columns: []snapshot.ColumnData{
				{Name: "of tuples", Kind: snapshot.Text, Values: texts, Codes: []uint32{0, 3}},
			},
		}},
	}
	want := []formulaTexts{{"own", 7, "=1+1"}, {"of tuples", 3, "=1+1"}}
	got := countTexts(data, isFormula)
	got[1].First = want[1].First
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestFormulaReport loads a file with such a text: the row is kept, the report counts it by table
// and column. Other tables get no line.
func TestFormulaReport(t *testing.T) {
	t.Parallel()
	files := smallCatalog(t)
	text := strings.ReplaceAll(string(files["idps/a.csv"].Data), "Op,BA", "=Op,BA")
	files["idps/a.csv"] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(text, "=Op,BA", "=Op,BA\u200b"))}
	st := openStore(t)
	for range 2 {
		report := build(t, st, files, someDay)
		if report.Partial {
			t.Error("the load is partial")
		}
		said := strings.Join(report.Losses(), "\n")
		if !strings.Contains(said, `note: kept: odd characters in assessment_type of idps: 2 rows, first: "BA\u200b"`) {
			t.Error(said)
		}
		var found []formulaTexts
		for _, table := range report.Tables {
			if table.Table == "idps" {
				found = table.FormulaTexts
			} else if table.FormulaTexts != nil {
				t.Errorf("table %s: %+v", table.Table, table.FormulaTexts)
			}
		}
		if len(found) != 1 || found[0].Column != "operation" || found[0].First != "=Op" {
			t.Fatalf("got %+v", found)
		}
		var text strings.Builder
		testkit.Must(t, report.WriteText(&text))
		want := `text like a formula of a spreadsheet, table idps, column operation, first: "=Op"`
		if strings.Count(text.String(), "like a formula") != 1 || !strings.Contains(text.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, text.String())
		}
	}
}
