//go:build !race

package index

import (
	"fmt"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

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
	if kinds < 400 {
		t.Errorf("only %d ways to find patterns were needed: the test shows little", kinds)
	}
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
