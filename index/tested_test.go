//go:build !race

package index

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"hdqs/internal/tables"
	"hdqs/snapshot"
)

func decimalOf(text string) snapshot.Dec {
	d, ok := snapshot.ParseDec(text)
	if !ok {
		panic(text)
	}
	return d
}

// TestTested compares tests of a caller's own with what they say of each row, on coded columns,
// columns of tuples and columns of numbers without a dictionary.
func TestTested(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	const rows = 20000
	data := &snapshot.TableData{Name: "t", Rows: rows}
	text := snapshot.ColumnData{Name: "text", Kind: snapshot.Text, Index: true, Values: []string{"b", "a", "Ab", ""}}
	ints := snapshot.ColumnData{Name: "ints", Kind: snapshot.Int}
	few := snapshot.ColumnData{Name: "few", Kind: snapshot.Int, Index: true}
	decs := snapshot.ColumnData{Name: "decs", Kind: snapshot.Decimal}
	for range rows {
		text.Codes = append(text.Codes, []uint32{0, 1, 2, 3, snapshot.NullCode}[random.IntN(5)])
		n, d := random.Int64N(1<<20)-1<<19, decimalOf(fmt.Sprintf("%d.%d", random.IntN(1<<20)-1<<19, random.IntN(100)))
		if random.IntN(9) == 0 {
			n, d = snapshot.NullInt, snapshot.Dec{Scale: snapshot.DecNull}
		}
		ints.Ints, decs.Decimals = append(ints.Ints, n), append(decs.Decimals, d)
		few.Ints = append(few.Ints, random.Int64N(7))
	}
	data.Columns = []snapshot.ColumnData{text, ints, few, decs}
	seg := tables.Segment(t, data)
	x, err := Open(seg)
	if err != nil {
		t.Fatal(err)
	}
	column := func(name string) *snapshot.Column {
		c, err := seg.Column(name)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if column("ints").Coded() || column("decs").Coded() || !column("few").Coded() {
		t.Fatal("the columns are not coded as the test needs them")
	}
	for i := range 120 {
		bits := random.Uint64() // which part between two ends passes
		at := func(ends int) bool { return bits>>(ends%64)&1 != 0 }
		test := &Test{Key: fmt.Sprint(i), Null: random.IntN(2) == 0}
		var name string
		var passes func(row uint32) bool
		switch random.IntN(4) {
		case 0:
			name = "text"
			test.Text = func(s string) bool { return at(len(s)) }
			passes = func(row uint32) bool { return test.Text(column(name).Text(row)) }
		case 1, 2:
			name = []string{"ints", "few"}[random.IntN(2)]
			for range random.IntN(5) {
				test.Ints = append(test.Ints, column(name).Int(uint32(random.IntN(rows))))
			}
			test.Int = func(v int64) bool {
				part := 0
				for k, end := range test.Ints {
					if v == end {
						return at(40 + k)
					}
					if v > end {
						part++
					}
				}
				return at(part)
			}
			passes = func(row uint32) bool { return test.Int(column(name).Int(row)) }
		default:
			name = "decs"
			for range random.IntN(5) {
				test.Floats = append(test.Floats, float64(random.IntN(1<<20)-1<<19)+0.5*float64(random.IntN(2)))
			}
			test.Float = func(v float64) bool {
				part := 0
				for k, end := range test.Floats {
					if v == end {
						return at(40 + k)
					}
					if v > end {
						part++
					}
				}
				return at(part)
			}
			passes = func(row uint32) bool { return test.Float(column(name).Dec(row).Float()) }
		}
		var page Page
		q := Query{Filters: []Filter{{Columns: []string{name}, Op: Tested, Test: test}}, Limit: rows}
		if random.IntN(2) == 0 {
			q.Filters = append(q.Filters, Filter{Columns: []string{"few"}, Op: AtLeast, Value: Value{Int: 3}})
		}
		if err := x.Select(&q, &page); err != nil {
			t.Fatal(err)
		}
		got := map[uint32]bool{}
		for _, r := range page.Ranges {
			for row := r.From; row < r.To; row++ {
				got[row] = true
			}
		}
		for row := range uint32(rows) {
			want := test.Null
			if !column(name).IsNull(row) {
				want = passes(row)
			}
			if len(q.Filters) > 1 && column("few").Int(row) < 3 {
				want = false
			}
			if got[row] != want {
				t.Fatalf("test %d of %s: row %d: %t, want %t", i, name, row, got[row], want)
			}
		}
	}
	texts := &Test{Text: func(string) bool { return true }}
	wrong := &Query{Filters: []Filter{{Columns: []string{"ints"}, Op: Tested, Test: texts}}}
	if err := x.Select(wrong, new(Page)); err == nil {
		t.Error("a test of texts was asked of numbers")
	}
}
