//go:build !race

package index

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"hdqs/internal/testkit"
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
		p := compilePattern(c.op, c.pattern)
		if got := p.match(lowered(c.text)); got != c.want {
			t.Errorf("%+v: matches: %v", c, got)
		}
		if got := matchTwin(c.op, c.pattern, c.text); got != c.want {
			t.Errorf("%+v: Scan's rule gives %v", c, got)
		}
		for _, texts := range [][]string{{c.text}, {"", c.text, "x"}, {c.text, c.text + "y", "zz"}} {
			f := foldTexts(len(texts), func(i uint32) string { return texts[i] })
			got := newCodeSet(len(texts))
			f.search(p, got)
			for i, text := range texts {
				if want := matchTwin(c.op, c.pattern, text); got.has(uint32(i)) != want {
					t.Errorf("%+v: text %d of %q: search %v, want %v", c, i, texts, got.has(uint32(i)), want)
				}
			}
		}
	}
}

// FuzzMatch: any pattern on any text gives the answer of a regular expression, in time proportional
// to their lengths.
func FuzzMatch(f *testing.F) {
	f.Add("%a_b%", "xxa\xffb", true)
	f.Add("\\", "\\", false)
	f.Add("a%%b", "A\x00B", false)
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
		got := newCodeSet(2)
		foldTexts(2, func(i uint32) string { return []string{text, "other"}[i] }).search(p, got)
		if got.has(0) != want || got.has(1) != matchTwin(op, pattern, "other") {
			t.Fatalf("search: %q in %q is %v", pattern, text, got.has(0))
		}
	})
}
