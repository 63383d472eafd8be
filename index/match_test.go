//go:build !race

package index

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"hdqs/internal/testkit"
	"hdqs/snapshot"
)

// matchCase is a line of testdata/match.txt.
type matchCase struct {
	op            Op
	pattern, text string
	want          bool
}

func readMatchCases(t testing.TB) (cases []matchCase) {
	t.Helper()
	for line := range strings.Lines(string(testkit.ReadFile(t, "testdata/match.txt"))) {
		if line == "\n" || line[0] == '#' {
			continue
		}
		var c matchCase
		var op, want string
		_, err := fmt.Sscanf(line, "%s %q %q %s\n", &op, &c.pattern, &c.text, &want)
		c.op, c.want = map[string]Op{"like": Like, "contains": Contains}[op], want == "yes"
		if err != nil || c.op == 0 || !c.want && want != "no" {
			t.Fatalf("cannot read %q: %v", line, err)
		}
		cases = append(cases, c)
	}
	return cases
}

// matchTwin matches as Scan does.
func matchTwin(op Op, pattern, text string) bool {
	return !strings.Contains(pattern, "\x00") && likeRegexp(op, pattern).MatchString(strings.Map(unicode.ToLower, text))
}

func lowered(text string) string { return string(appendFold(nil, text)) }

// sortFolded sorts texts so that a search may look up how they begin.
func sortFolded(texts []string) {
	slices.SortFunc(texts, func(a, b string) int { return strings.Compare(lowered(a), lowered(b)) })
}

func TestMatchCases(t *testing.T) {
	t.Parallel()
	for _, c := range readMatchCases(t) {
		testkit.Equal(t, compilePattern(c.op, c.pattern).match(lowered(c.text)), c.want, "%+v: matches", c)
		testkit.Equal(t, matchTwin(c.op, c.pattern, c.text), c.want, "%+v: Scan's rule", c)
	}
}

// FuzzMatch: any pattern on any text gives the answer of a regular expression, in time proportional
// to their lengths.
func FuzzMatch(f *testing.F) {
	f.Add("%a_b%", "xxa\xffb", true)
	f.Add("\\", "\\", false)
	f.Add("a%%b", "A\x00B", false)
	for _, c := range readMatchCases(f) {
		f.Add(c.pattern, c.text, c.op == Contains)
	}
	f.Fuzz(func(t *testing.T, pattern, text string, contains bool) {
		if len(pattern) > 300 { // the regular expression grows with it
			return
		}
		op := Like
		if contains {
			op = Contains
		}
		want := matchTwin(op, pattern, text)
		p := compilePattern(op, pattern)
		if got := p.match(lowered(text)); got != want {
			t.Fatalf("%q against %q is %v", pattern, text, got)
		}
		for _, texts := range [][]string{{text}, {text, "other"}, {"", text, "x"}, {text, text + "y", "zz"}} {
			got := newCodeSet(len(texts))
			foldTexts(len(texts), func(i uint32) string { return texts[i] }).search(p, got)
			for i, one := range texts {
				if got.has(uint32(i)) != matchTwin(op, pattern, one) {
					t.Fatalf("search: %q in text %d of %q is %v", pattern, i, texts, got.has(uint32(i)))
				}
			}
		}
	})
}

// TestSearchOfManyPatterns compares the passes that look for many patterns with a search for each
// of them.
func TestSearchOfManyPatterns(t *testing.T) {
	t.Parallel()
	kinds := 0
	r := testkit.Random(t)
	for range 200 {
		texts := make([]string, 1+r.IntN(300))
		for i := range texts {
			texts[i] = randomText(r, textLetters, 14)
			if r.IntN(4) == 0 {
				texts[i] = fmt.Sprintf("AF%04d", r.IntN(400))
			}
		}
		if r.IntN(2) == 0 {
			sortFolded(texts)
		}
		f := foldTexts(len(texts), func(i uint32) string { return texts[i] })
		values := make([]Value, manyLiterals+r.IntN(100))
		for i := range values {
			values[i].Text = texts[r.IntN(len(texts))]
			runes := []rune(values[i].Text)
			cut := r.IntN(len(runes) + 1)
			switch r.IntN(9) {
			case 0:
				values[i].Text = strings.ToUpper(values[i].Text)
			case 1:
				values[i].Text = randomText(r, patternLetters, 6)
			case 2:
				values[i].Text = string(runes[:cut]) + "%"
			case 3:
				values[i].Text = "%" + string(runes[cut:])
			case 4:
				values[i].Text = "%" + string(runes[cut/2:cut]) + "%"
			case 5:
				values[i].Text = string(runes[:cut]) + "_" + string(runes[min(cut+1, len(runes)):])
			case 6:
				values[i].Text = string(runes[:cut/2]) + "%" + string(runes[cut:])
			}
		}
		op := []Op{Like, Contains}[r.IntN(2)]
		want, got := newCodeSet(len(texts)), newCodeSet(len(texts))
		for _, v := range values {
			f.search(compilePattern(op, v.Text), want)
		}
		p := compilePatterns(op, values, f.sorted)
		for _, n := range []int{len(p.literals), len(p.windows), len(p.single)} {
			kinds += min(n, 1)
		}
		f.searchAny(&p, newTextSlots(f), got)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("codes %x, want %x, of op %d %+v in %q", got, want, op, values, texts)
		}
	}
	testkit.AtLeast(t, kinds, 400, "ways to find patterns were needed: the test shows little")
}

// TestKeysOfSeveralValues checks that filters with different values have different keys, however
// the values are divided.
func TestKeysOfSeveralValues(t *testing.T) {
	t.Parallel()
	r := testkit.Random(t)
	seg := randomSegment(t, r, 100)
	x := opened(t, seg, Options{})
	texts := func(all ...string) (values []Value) {
		for _, text := range all {
			values = append(values, Value{Text: text})
		}
		return values
	}
	seen := map[string]string{}
	for _, f := range []Filter{
		{Value: Value{Text: "a"}},
		{Values: texts("a")},
		{Values: texts("b"), Value: Value{Text: "a"}},
		{Values: texts("a", "b")},
		{Values: texts("ab")},
		{Values: texts("a", "b", "c")},
		{Values: texts("ab", "c")},
		{Values: texts("a", "bc")},
		{Values: []Value{{Int: 1}, {Int: 2}}},
		{Values: []Value{{Int: 1, Beyond: 1}, {Int: 2}}},
	} {
		f.Op, f.Columns = Like, []string{"text0"}
		key, text := string(x.appendKey(nil, &f)), fmt.Sprintf("%+v", f)
		if other, has := seen[key]; has {
			t.Errorf("%s and %s have the same key", text, other)
		}
		seen[key] = text
	}
}

// partOf is 2n for what lies before the n-th of some ends and after the one before, and 2n+1 for
// that end itself, but for what comes twice among the ends.
func partOf[N int64 | float64](v N, ends []N) (part int) {
	for k, end := range ends {
		switch {
		case v == end:
			return 2*k + 1
		case v > end:
			part += 2
		}
	}
	return part
}

// floatOf is a decimal, which may be kept as its text.
func floatOf(c *snapshot.Column, at uint32) float64 {
	v, _ := strconv.ParseFloat(c.DecString(c.Dec(at)), 64)
	return v
}

// randomTest is a test of a column that passes values at random, and what it says of each row.
func randomTest(r *rand.Rand, c *snapshot.Column, key string) (*Test, func(at uint32) bool) {
	bits := r.Uint64() // which part between two ends passes
	passes := func(part int) bool { return bits>>(part%64)&1 != 0 }
	test := &Test{Key: key, Null: r.IntN(2) == 0}
	somewhere := func() uint32 { return uint32(r.IntN(c.Len())) }
	switch c.Kind {
	case snapshot.Text, snapshot.Enum:
		test.Text = func(s string) bool { return passes(len(s)) }
		return test, func(at uint32) bool { return test.Text(c.Text(at)) }
	case snapshot.Decimal:
		for range r.IntN(5) {
			if at := somewhere(); !c.IsNull(at) {
				test.Floats = append(test.Floats, floatOf(c, at))
			}
		}
		test.Float = func(v float64) bool { return passes(partOf(v, test.Floats)) }
		return test, func(at uint32) bool { return test.Float(floatOf(c, at)) }
	}
	for range r.IntN(5) {
		test.Ints = append(test.Ints, c.Int(somewhere()))
	}
	test.Int = func(v int64) bool { return passes(partOf(v, test.Ints)) }
	return test, func(at uint32) bool { return test.Int(c.Int(at)) }
}

// TestTested compares tests of a caller's own with what they say of each row, on random tables.
func TestTested(t *testing.T) {
	t.Parallel()
	r := testkit.Random(t)
	for _, rows := range []int{1, 100, 20_000, 20_000, 70_000} {
		seg := randomSegment(t, r, rows)
		plain := testkit.Value(seg.Column("plain"))(t)
		if rows >= 20_000 && plain.Coded() {
			t.Fatal("no numbers without a dictionary")
		}
		x := opened(t, seg, Options{})
		other := Query{Filters: []Filter{number(AtLeast, 1, "level")}, Limit: rows}
		var page, passing Page
		if count := testkit.Value(seg.Column("count"))(t); !count.Coded() { // a list of numbers and a bound of them
			some := Filter{Columns: []string{"count"}, Op: Equal}
			for row := range uint32(40) {
				some.Values = append(some.Values, Value{Int: count.Int(row)})
			}
			both := &Query{Filters: []Filter{some, number(AtLeast, 1<<18, "count")}, Limit: rows}
			testkit.Must(t, compare(x, seg, both, &page, &passing))
		}
		testkit.Must(t, Scan(seg, &other, &passing))
		for i, c := range seg.Columns() {
			test, passes := randomTest(r, c, fmt.Sprint(i))
			q := Query{Filters: []Filter{{Columns: []string{c.Name}, Op: Tested, Test: test}}, Limit: rows}
			among := []Range{{0, uint32(rows)}}
			if r.IntN(2) == 0 {
				q.Filters, among = append(q.Filters, other.Filters...), passing.Ranges
			}
			var want []uint32
			for _, row := range listRanges(among) {
				at := row
				if c.Group != nil {
					at = uint32(c.Group.Codes.At(row))
				}
				if c.IsNull(at) && test.Null || !c.IsNull(at) && passes(at) {
					want = append(want, row)
				}
			}
			testkit.Must(t, x.Select(&q, &page))
			if got := listRanges(page.Ranges); !slices.Equal(got, want) {
				t.Fatalf("%s of %d rows: %d rows pass, want %d", c.Name, rows, len(got), len(want))
			}
		}
	}
	x := opened(t, randomSegment(t, r, 10), Options{})
	texts := &Test{Text: func(string) bool { return true }}
	wrong := &Query{Filters: []Filter{{Columns: []string{"count"}, Op: Tested, Test: texts}}}
	if err := x.Select(wrong, new(Page)); err == nil {
		t.Error("a test of texts was asked of numbers")
	}
}
