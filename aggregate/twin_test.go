package aggregate

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hdqs/index"
	"hdqs/internal/tables"
	"hdqs/internal/testkit"
	"hdqs/snapshot"
)

// The twin answers questions row by row, over decoded values and rationals. It shares only the
// types of questions and values with the package.

// twinValue is a decoded value.
type twinValue struct {
	null   bool
	number *big.Rat // of Int, Decimal, Bool and Time
	text   string
	order  int // of Enum: the declared position
}

// twinTable is a segment whose columns are decoded at their first use.
type twinTable struct {
	seg     *snapshot.Segment
	o       Options
	decoded map[string][]twinValue
}

func (t *twinTable) column(name string) (*snapshot.Column, []twinValue) {
	c, err := t.seg.Column(name)
	if err != nil {
		panic(err)
	}
	if t.decoded[name] == nil {
		values := make([]twinValue, t.seg.Rows())
		for row := range values {
			values[row] = decode(c, uint32(row))
		}
		if t.decoded == nil {
			t.decoded = map[string][]twinValue{}
		}
		t.decoded[name] = values
	}
	return c, t.decoded[name]
}

func decode(c *snapshot.Column, row uint32) twinValue {
	i := row
	if c.Group != nil {
		i = uint32(c.Group.Codes.At(row))
	}
	if c.IsNull(i) {
		return twinValue{null: true}
	}
	switch c.Kind {
	case snapshot.Text:
		return twinValue{text: strings.Clone(c.Text(i))}
	case snapshot.Enum:
		return twinValue{text: strings.Clone(c.Text(i)), order: int(c.Codes().At(i))}
	case snapshot.Decimal:
		r, ok := new(big.Rat).SetString(strings.Clone(c.DecString(c.Dec(i))))
		if !ok {
			panic("not a number: " + c.DecString(c.Dec(i)))
		}
		return twinValue{number: r}
	}
	return twinValue{number: new(big.Rat).SetInt64(c.Int(i))}
}

// compare orders values; null is last.
func (v twinValue) compare(w twinValue) int {
	switch {
	case v.null && w.null:
		return 0
	case v.null:
		return 1
	case w.null:
		return -1
	case v.number != nil:
		return v.number.Cmp(w.number)
	}
	return cmp.Or(cmp.Compare(v.order, w.order), cmp.Compare(v.text, w.text))
}

// text is the value as Value.Append writes it.
func (v twinValue) render(kind snapshot.Kind) string {
	switch {
	case v.null:
		return "null"
	case kind == snapshot.Text || kind == snapshot.Enum:
		return v.text
	case kind == snapshot.Bool:
		return fmt.Sprint(v.number.Sign() != 0)
	case kind == snapshot.Time:
		return time.UnixMicro(v.number.Num().Int64()).UTC().Format("2006-01-02T15:04:05.999999")
	}
	return exactText(v.number)
}

// exactText writes a decimal number in plain digits.
func exactText(r *big.Rat) string {
	n, exact := r.FloatPrec()
	if !exact {
		panic("not a decimal: " + r.String())
	}
	return r.FloatString(n)
}

// twinGroup is the rows of a group.
type twinGroup struct {
	fields []twinValue
	texts  []string
	rows   []uint32
}

// part replaces a time by the number and the text of its part.
func (g Group) twinPart(v twinValue) (twinValue, string) {
	if v.null {
		return v, "null"
	}
	at := time.UnixMicro(v.number.Num().Int64()).UTC()
	quarter := (int(at.Month()) + 2) / 3
	switch g.Part {
	case Year:
		return twinValue{number: big.NewRat(int64(at.Year()), 1)}, fmt.Sprint(at.Year())
	case Quarter:
		number := big.NewRat(int64(10*at.Year()+quarter), 1)
		return twinValue{number: number}, fmt.Sprintf("%s-Q%d", at.Format("2006"), quarter)
	}
	return twinValue{number: big.NewRat(int64(100*at.Year()+int(at.Month())), 1)}, at.Format("2006-01")
}

// answer answers a question as lines of text: the fields of a group, then its measures.
func (t *twinTable) answer(q *Question, rows []uint32) []string {
	byKey := map[string]*twinGroup{}
	var groups []*twinGroup
	if len(q.Groups) == 0 {
		byKey["[]"] = &twinGroup{}
		groups = append(groups, byKey["[]"])
	}
	for _, row := range rows {
		var fields []twinValue
		texts := []string{}
		for _, g := range q.Groups {
			c, values := t.column(g.Column)
			v := values[row]
			text := v.render(c.Kind)
			if g.Part != Whole {
				v, text = g.twinPart(v)
			}
			if g.Classes != nil {
				class, has := g.Classes.Of[v.text]
				v = twinValue{null: v.null || !has, text: class}
				text = v.render(snapshot.Text)
			}
			fields = append(fields, v)
			texts = append(texts, fmt.Sprintf("%t %s", v.null, text))
		}
		key := fmt.Sprintf("%q", texts)
		if byKey[key] == nil {
			byKey[key] = &twinGroup{fields: fields, texts: texts}
			groups = append(groups, byKey[key])
		}
		byKey[key].rows = append(byKey[key].rows, row)
	}
	slices.SortFunc(groups, func(a, b *twinGroup) int {
		for i := range a.fields {
			if c := a.fields[i].compare(b.fields[i]); c != 0 {
				return c
			}
		}
		return 0
	})
	var lines []string
	for _, g := range groups {
		line := []string{}
		for i := range g.fields {
			_, text, _ := strings.Cut(g.texts[i], " ")
			line = append(line, text)
		}
		for _, m := range q.Measures {
			line = append(line, t.measure(m, g.rows))
		}
		lines = append(lines, strings.Join(line, " | "))
	}
	return lines
}

func (t *twinTable) measure(m Measure, rows []uint32) string {
	if m.Func == Count {
		return fmt.Sprint(len(rows))
	}
	if m.Func == Latest {
		return t.latest(m, rows)
	}
	c, all := t.column(m.Column)
	var values []twinValue
	different := map[string]bool{}
	for _, row := range rows {
		if v := all[row]; !v.null {
			values = append(values, v)
			different[v.render(c.Kind)] = true
		}
	}
	if m.Func == Distinct {
		return fmt.Sprint(len(different))
	}
	if len(values) == 0 {
		return "null"
	}
	switch m.Func {
	case Min:
		return slices.MinFunc(values, twinValue.compare).render(c.Kind)
	case Max:
		return slices.MaxFunc(values, twinValue.compare).render(c.Kind)
	}
	sum := new(big.Rat)
	for _, v := range values {
		sum.Add(sum, v.number)
	}
	if m.Func == Sum {
		return exactText(sum)
	}
	f, _ := sum.Quo(sum, big.NewRat(int64(len(values)), 1)).Float64()
	if math.IsInf(f, 0) { // beyond floats: the nearest number of 53 bits, in digits
		return new(big.Float).SetPrec(53).SetRat(sum).Text('f', 0)
	}
	return Value{Kind: Float, Float: f}.String()
}

func (t *twinTable) latest(m Measure, rows []uint32) string {
	if len(rows) == 0 {
		return "null"
	}
	// Both ends of all rows; one that the table does not have is null everywhere.
	ends, starts := make([]twinValue, t.seg.Rows()), make([]twinValue, t.seg.Rows())
	for i := range ends {
		ends[i].null, starts[i].null = true, true
	}
	if t.o.PeriodEnd != "" {
		_, ends = t.column(t.o.PeriodEnd)
	}
	if t.o.PeriodStart != "" {
		_, starts = t.column(t.o.PeriodStart)
	}
	compare := func(a, b uint32) int {
		if c := ends[a].compare(ends[b]); c != 0 {
			return c
		}
		if starts[a].null != starts[b].null { // null is the earliest start
			return -starts[a].compare(starts[b])
		}
		return starts[a].compare(starts[b])
	}
	c, values := t.column(m.Column)
	newest := slices.MaxFunc(rows, compare)
	want := values[newest]
	for _, row := range rows {
		if compare(row, newest) == 0 && values[row].compare(want) != 0 {
			return "differ"
		}
	}
	return want.render(c.Kind)
}

// lines writes a result as the twin does.
func lines(r *Result, q *Question) []string {
	var out []string
	text := func(v Value) string {
		switch v.Kind {
		case Null:
			return "null"
		case Differ:
			return "differ"
		}
		return v.String()
	}
	for i := range r.Len() {
		line := []string{}
		for k := range q.Groups {
			line = append(line, text(r.Group(i, k)))
		}
		for k := range q.Measures {
			line = append(line, text(r.Measure(i, k)))
		}
		out = append(out, strings.Join(line, " | "))
	}
	return out
}

// passingRows are the rows that pass a query, by another index than the one of the Table.
func passingRows(x *index.Index, q *index.Query) ([]uint32, error) {
	var page index.Page
	if err := x.Select(&index.Query{Filters: q.Filters, Limit: x.Rows()}, &page); err != nil {
		return nil, err
	}
	var rows []uint32
	for _, r := range page.Ranges {
		for row := r.From; row < r.To; row++ {
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// generate makes a random table.
func generate(tb testing.TB, r *rand.Rand, rows int) *snapshot.Segment {
	tb.Helper()
	n := 0
	text := func() string {
		n++
		return fmt.Sprintf("%s%d", []string{"", "Zoë ", "日本", "a,\"b\""}[r.IntN(4)], n)
	}
	return tables.Segment(tb, tables.Random(r, rows, text, "sorted", "clustered", "scattered"))
}

// opened is the Table of a segment.
func opened(tb testing.TB, seg *snapshot.Segment, o Options) *Table {
	tb.Helper()
	return testkit.Value(Open(testkit.Value(index.Open(seg, index.Options{}))(tb), seg, o))(tb)
}

// randomQuestion has up to four fields and five measures, and up to three filters. One in sixteen
// has nine fields that are in no group of columns: their keys take more than 64 bits.
func randomQuestion(r *rand.Rand, seg *snapshot.Segment) *Question {
	q := &Question{Query: randomQuery(r, seg)}
	columns, fields := seg.Columns(), seg.Columns()
	n := []int{0, 1, 1, 2, 2, 3, 4}[r.IntN(7)]
	if r.IntN(16) == 0 {
		grouped := func(c *snapshot.Column) bool { return c.Group != nil }
		n, fields = 9, slices.DeleteFunc(slices.Clone(columns), grouped)
	}
	for range n {
		c := fields[r.IntN(len(fields))]
		g := Group{Column: c.Name}
		if c.Kind == snapshot.Time {
			g.Part = Part(r.IntN(4))
		}
		if c.Kind == snapshot.Text && r.IntN(2) == 0 {
			g.Classes = randomClasses(r, c)
		}
		q.Groups = append(q.Groups, g)
	}
	// Numbers without a dictionary, which few columns of few tables have, are read by other code.
	coded := func(c *snapshot.Column) bool { return c.Coded() || c.Kind == snapshot.Time }
	if raw := slices.DeleteFunc(slices.Clone(columns), coded); len(raw) > 0 && r.IntN(2) == 0 {
		columns = raw
	}
	for len(q.Measures) < 1+r.IntN(5) {
		m := Measure{Func: Func(1 + r.IntN(7))}
		if m.Func != Count {
			c := columns[r.IntN(len(columns))]
			for (m.Func == Sum || m.Func == Mean) && c.Kind != snapshot.Int && c.Kind != snapshot.Decimal {
				c = columns[r.IntN(len(columns))]
			}
			m.Column = c.Name
		}
		q.Measures = append(q.Measures, m)
	}
	return q
}

// randomClasses has three of four values of a column, and one that it does not have.
func randomClasses(r *rand.Rand, c *snapshot.Column) *Classes {
	of := map[string]string{"no such text": "none"}
	for i := range uint32(c.Len()) {
		if !c.IsNull(i) && r.IntN(4) > 0 {
			of[strings.Clone(c.Text(i))] = fmt.Sprintf("class %d", r.IntN(4))
		}
	}
	return &Classes{Key: fmt.Sprint(of), Of: of}
}

// randomQuery has up to three filters with values that occur.
func randomQuery(r *rand.Rand, seg *snapshot.Segment) *index.Query {
	q := &index.Query{}
	for range []int{0, 0, 1, 1, 2, 3}[r.IntN(6)] {
		c := seg.Columns()[r.IntN(len(seg.Columns()))]
		row := uint32(r.IntN(seg.Rows()))
		if c.Group != nil {
			row = uint32(c.Group.Codes.At(row))
		}
		if c.IsNull(row) {
			continue
		}
		f := index.Filter{Columns: []string{c.Name}, Op: index.Equal}
		switch c.Kind {
		case snapshot.Text, snapshot.Enum:
			f.Value.Text = c.Text(row)
		case snapshot.Decimal:
			f.Op = []index.Op{index.AtLeast, index.Below, index.AtLeastOrNull}[r.IntN(3)]
			f.Value.Float = float64(r.IntN(2000) - 1000)
		default:
			f.Value.Int = c.Int(row)
			if r.IntN(3) > 0 {
				f.Op = []index.Op{index.AtLeast, index.Below, index.AtLeastOrNull}[r.IntN(3)]
			}
		}
		q.Filters = append(q.Filters, f)
	}
	return q
}

// TestShared compares the answers of a table that several goroutines share, of rows of two chunks,
// with those of one that nobody shares.
func TestShared(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 7))
	seg := generate(t, r, 70_000)
	o := Options{PeriodStart: "start", PeriodEnd: "end"}
	table, alone := opened(t, seg, o), opened(t, seg, o)
	var wait sync.WaitGroup
	for range 3 {
		q := randomQuestion(r, seg)
		answer := testkit.Value(alone.Answer(q))(t)
		want := lines(answer, q)
		for range 2 {
			wait.Go(func() {
				got, err := table.Answer(q)
				if err != nil {
					t.Error(err)
				} else if have := lines(got, q); !slices.Equal(have, want) {
					t.Errorf("%+v: %d groups are not the %d of one alone", q, len(have), len(want))
				}
			})
		}
	}
	wait.Wait()
}

// TestPauses checks that every kind of work pauses at least once for each block of rows: ranges,
// scattered rows, and runs, with measures that can add those and with others.
func TestPauses(t *testing.T) {
	t.Parallel()
	const rows = 70_000
	r := rand.New(rand.NewPCG(1, 2))
	numbers, runs := make([]int64, rows), make([]uint32, rows)
	for i := range numbers {
		numbers[i], runs[i] = r.Int64N(1<<40), uint32(i/10_000)
	}
	data := &snapshot.TableData{Name: "table", Rows: rows, Columns: []snapshot.ColumnData{
		{
			Name: "kind", Kind: snapshot.Enum, Index: true,
			Codes: tables.Codes(r, rows, 2, 2), Values: []string{"v", "w"},
		},
		{Name: "place", Kind: snapshot.Text, Codes: runs, Values: []string{"a", "b", "c", "d", "e", "f", "g"}},
		{Name: "number", Kind: snapshot.Int, Ints: numbers},
	}}
	seg := tables.Segment(t, data)
	table := opened(t, seg, Options{})
	some := &index.Query{Filters: []index.Filter{{
		Op: index.Equal, Columns: []string{"kind"}, Value: index.Value{Text: "v"},
	}}}
	for name, c := range map[string]struct {
		q    Question
		want int
	}{
		"ranges":         {Question{Groups: []Group{{"kind", Whole, nil}}}, rows / blockRows},
		"scattered rows": {Question{Query: some, Groups: []Group{{"kind", Whole, nil}}}, rows / 4 / blockRows},
		"runs":           {Question{Groups: []Group{{"place", Whole, nil}}, Measures: []Measure{{Sum, "number"}}}, 7},
		"long runs": {
			Question{Groups: []Group{{"place", Whole, nil}}, Measures: []Measure{{Distinct, "number"}}},
			rows / blockRows,
		},
	} {
		n := 0
		c.q.Pause = func() { n++ }
		if _, err := table.Answer(&c.q); err != nil || n < c.want {
			t.Errorf("%s: %d pauses, %v; want %d", name, n, err, c.want)
		}
	}
}
