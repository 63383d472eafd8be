//go:build !race

package index

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"hdqs/internal/testkit"
)

// matchCase is a line of testdata/match.txt.
type matchCase struct {
	at            string // file and line
	op            Op
	pattern, text string
	want          bool
}

func readMatchCases(t testing.TB) []matchCase {
	t.Helper()
	file, err := os.Open("testdata/match.txt")
	testkit.Must(t, err)
	defer file.Close()
	var cases []matchCase
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		c := matchCase{at: fmt.Sprintf("match.txt:%d", n)}
		op, rest, _ := strings.Cut(line, " ")
		c.op = map[string]Op{"like": Like, "contains": Contains}[op]
		var bad error
		for _, dst := range []*string{&c.pattern, &c.text} {
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil {
				bad = err
				break
			}
			*dst, _ = strconv.Unquote(quoted)
			rest = strings.TrimPrefix(rest[len(quoted):], " ")
		}
		if bad != nil || c.op == 0 || rest != "yes" && rest != "no" {
			t.Fatalf("%s: cannot read %q", c.at, line)
		}
		c.want = rest == "yes"
		cases = append(cases, c)
	}
	if err := lines.Err(); err != nil || len(cases) == 0 {
		t.Fatal("no cases read", err)
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
			t.Errorf("%s: %q against %q is %v", c.at, c.pattern, c.text, got)
		}
		if got := matchTwin(c.op, c.pattern, c.text); got != c.want {
			t.Errorf("%s: Scan's rule gives %v", c.at, got)
		}
		for _, texts := range [][]string{{c.text}, {"", c.text, "x"}, {c.text, c.text + "y", "zz"}} {
			f := foldTexts(len(texts), func(i uint32) string { return texts[i] })
			got := newCodeSet(len(texts))
			f.search(p, got)
			for i, text := range texts {
				if want := matchTwin(c.op, c.pattern, text); got.has(uint32(i)) != want {
					t.Errorf("%s: text %d of %q: search %v, want %v", c.at, i, texts, got.has(uint32(i)), want)
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
