//go:build !race

package aggregate

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hdqs/index"
	"hdqs/internal/tables"
	"hdqs/internal/testkit"
	"hdqs/snapshot"
)

// TestRandomQuestionsAgainstTwin compares answers with those of the twin.
func TestRandomQuestionsAgainstTwin(t *testing.T) {
	t.Parallel()
	questions := 5000
	if testing.Short() {
		questions = 200
	}
	seed := testkit.Seed()
	const large = 9000 // enough that some columns have no dictionary
	sizes := []int{large, 1, 7, 100, 100, 100, 900, 900, 900, 2000, 2000}
	const perTable = 25
	for i := range questions / perTable {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		rows := sizes[i%len(sizes)]
		if rows < large {
			rows = 1 + r.IntN(rows)
		}
		seg := generate(t, r, rows)
		if err := compareQuestions(t, seg, r, perTable); err != nil {
			t.Fatalf("seed %d, table %d of %d rows: %v", seed, i, rows, err)
		}
	}
}

// compareQuestions asks a table and its twin random questions.
func compareQuestions(t *testing.T, seg *snapshot.Segment, r *rand.Rand, questions int) error {
	t.Helper()
	other := testkit.Value(index.Open(seg, index.Options{CacheBytes: -1}))(t)
	groups := []string{"", "sorted_", "scattered_"}
	group := groups[r.IntN(len(groups))]
	o := Options{PeriodStart: group + "start", PeriodEnd: group + "end"}
	switch r.IntN(5) {
	case 0:
		o.PeriodStart = ""
	case 1:
		o.PeriodEnd = "clustered_end"
	}
	table := opened(t, seg, o)
	byHand := &twinTable{seg: seg, o: o}
	for k := range questions {
		q := randomQuestion(r, seg)
		if r.IntN(3) == 0 { // a question asked again finds what it made at first
			q.Groups = nil
		}
		rows, err := passingRows(other, q.Query)
		if err != nil {
			return err
		}
		if err := compareAnswer(table, byHand, q, rows); err != nil {
			return fmt.Errorf("question %d: %w\n%+v\nfilters %+v", k, err, q, q.Query)
		}
		if err := compareCounts(table, byHand, q, rows); err != nil {
			return fmt.Errorf("counts %d: %w\n%+v\nfilters %+v", k, err, q, q.Query)
		}
	}
	return nil
}

func compareAnswer(table *Table, byHand *twinTable, q *Question, rows []uint32) error {
	got, err := table.Answer(q)
	if err != nil {
		return err
	}
	return compareLines(lines(got, q), byHand.answer(q, rows))
}

// compareCounts counts by each field of a question, and compares the first of the groups with the
// most rows with a plain sort.
func compareCounts(table *Table, byHand *twinTable, q *Question, rows []uint32) error {
	all, err := table.Count(q.Query, q.Groups...)
	if err != nil {
		return err
	}
	for i, r := range all {
		one := &Question{Groups: q.Groups[i : i+1], Measures: []Measure{{Func: Count}}}
		if err := compareLines(lines(r, one), byHand.answer(one, rows)); err != nil {
			return fmt.Errorf("by %v: %w", q.Groups[i], err)
		}
		order := make([]int, r.Len())
		for k := range order {
			order[k] = k
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(r.Rows(b), r.Rows(a)) })
		n := min(len(order), 1+len(rows)%7)
		if top := r.Top(n); !slices.Equal(top, order[:n]) {
			return fmt.Errorf("by %v: the first %d are %v, want %v", q.Groups[i], n, top, order[:n])
		}
	}
	return nil
}

func compareLines(have, want []string) error {
	if !slices.Equal(have, want) {
		for i := range max(len(have), len(want)) {
			switch {
			case i >= len(have):
				return fmt.Errorf("%d groups, want %d; missing: %s", len(have), len(want), want[i])
			case i >= len(want):
				return fmt.Errorf("%d groups, want %d; too many: %s", len(have), len(want), have[i])
			case have[i] != want[i]:
				return fmt.Errorf("group %d\n have %s\n want %s", i, have[i], want[i])
			}
		}
	}
	return nil
}

// TestManyDistinct counts the values of so many groups that their bits would take too much memory,
// of a value that is null, and of groups in long runs whose keys are too many for ids.
func TestManyDistinct(t *testing.T) {
	t.Parallel()
	const rows, groups = 24_000, 8000
	group := snapshot.ColumnData{Name: "group", Kind: snapshot.Text, Codes: make([]uint32, rows)}
	value := snapshot.ColumnData{Name: "value", Kind: snapshot.Text, Codes: make([]uint32, rows)}
	for i := range uint32(rows) {
		group.Codes[i], value.Codes[i] = i%groups, i/2
		if i%7 == 0 {
			value.Codes[i] = snapshot.NullCode
		}
		if i < groups {
			group.Values = append(group.Values, fmt.Sprint("g", i))
		}
		value.Values = append(value.Values, fmt.Sprint("v", i))
	}
	data := &snapshot.TableData{Name: "many", Rows: rows, Columns: []snapshot.ColumnData{group, value}}
	var inRuns []Group
	for _, length := range []int64{64, 96, 160} {
		c := snapshot.ColumnData{Name: fmt.Sprint("runs of ", length), Kind: snapshot.Int}
		for i := range int64(rows) {
			c.Ints = append(c.Ints, i/length)
		}
		data.Columns = append(data.Columns, c)
		inRuns = append(inRuns, Group{c.Name, Whole, nil})
	}
	seg := tables.Segment(t, data)
	table := opened(t, seg, Options{})
	if words := table.columns["value"].values().n/64 + 1; words*groups <= maxBits {
		t.Fatalf("%d words for each of %d groups are not too many", words, groups)
	}
	all := make([]uint32, rows)
	for i := range all {
		all[i] = uint32(i)
	}
	for _, groups := range [][]Group{{{"group", Whole, nil}}, inRuns} {
		q := &Question{Query: &index.Query{}, Groups: groups, Measures: []Measure{{Distinct, "value"}}}
		testkit.Must(t, compareAnswer(table, &twinTable{seg: seg}, q, all))
	}
}

// TestExactTexts adds up numbers without a dictionary, some of which are too exact for 64 bits.
func TestExactTexts(t *testing.T) {
	t.Parallel()
	const rows = 24_000
	c := snapshot.ColumnData{Name: "value", Kind: snapshot.Decimal}
	c.Texts = []string{"0." + strings.Repeat("0", 30) + "1"}
	all := make([]uint32, rows)
	for i := range all {
		all[i] = uint32(i)
		d, _ := snapshot.ParseDec(fmt.Sprintf("%d.01", i))
		if i%1000 == 7 {
			d = snapshot.Dec{Scale: snapshot.DecText}
		}
		c.Decimals = append(c.Decimals, d)
	}
	seg := tables.Segment(t, &snapshot.TableData{Name: "exact", Rows: rows, Columns: []snapshot.ColumnData{c}})
	q := &Question{Query: &index.Query{}, Measures: []Measure{{Sum, "value"}, {Min, "value"}, {Max, "value"}}}
	testkit.Must(t, compareAnswer(opened(t, seg, Options{}), &twinTable{seg: seg}, q, all))
}

// TestFullBytes asks for everything that a table can keep, and compares what it keeps with what it
// counts and with the estimate.
func TestFullBytes(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 3))
	seg := generate(t, r, 50_000)
	table := opened(t, seg, Options{})
	for _, c := range seg.Columns() {
		q := &Question{Groups: []Group{{c.Name, Whole, nil}}, Measures: []Measure{{Min, c.Name}}}
		if c.Kind == snapshot.Int || c.Kind == snapshot.Decimal {
			q.Measures = append(q.Measures, Measure{Sum, c.Name})
		}
		testkit.Value(table.Answer(q))(t)
	}
	kept := table.inputs.Bytes()
	for _, c := range table.columns {
		kept += 4 * int64(len(c.coding.codes)+len(c.coding.at))
		if n := c.numeric; n != nil {
			for _, table := range n.tables {
				kept += 8 * int64(len(table))
			}
			kept += 8*int64(len(n.counted)+len(n.prefix)) + 4*int64(len(n.some)+len(n.prefixSome))
			kept += oddBytes * int64(len(n.odd))
		}
	}
	if n := table.Bytes(); n < kept || n > kept+kept/10+int64(2000*len(table.columns)) {
		t.Errorf("a table keeps %d bytes, but counts %d", kept, n)
	}
	if most := FullBytes(seg); kept > most || kept < most/20 {
		t.Errorf("a table keeps %d bytes, %d are estimated", kept, most)
	}
}
