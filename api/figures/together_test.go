package figures

import (
	"slices"
	"strings"
	"testing"

	"hdqs/api/contract"
	"hdqs/api/say"
	"hdqs/internal/testkit"
)

// TestTogether: places are asked for together, else those that are right by themselves and then
// each of the others. No question that was refused is asked again.
func TestTogether(t *testing.T) {
	t.Parallel()
	h := contract.AllHeadlines()[0]
	for _, c := range testkit.Cases(t, "testdata/together.txt", ": ", 3) {
		f := &figure{Headline: h, list: h.List(contract.ContractNames), of: map[string]*headline{"none": {}}}
		places, asked := strings.Split(c[0], ""), []string(nil)
		isWrong := func(place string) bool { return strings.Contains(c[1], place) }
		for _, place := range places {
			f.of[place] = new(headline)
		}
		testkit.Must(t, f.together(places, func(places ...string) error {
			asked = append(asked, strings.Join(places, ""))
			isApart := strings.HasSuffix(c[1], "+") && len(places) > 1
			if !isApart && !slices.ContainsFunc(places, isWrong) {
				return nil
			}
			issue := contract.Issue{Text: say.Of("wrong"), Instead: f.all().GroupBy(f.Place)}
			if right := slices.DeleteFunc(slices.Clone(places), isWrong); len(right) > 0 {
				issue.Instead = f.all().Keep(f.Place+contract.SeveralSuffix, right...)
				issue.Instead.Apart = f.Place
			}
			return &contract.Invalid{Issues: []contract.Issue{issue}}
		}))
		slices.Sort(asked[1:]) // they come in any order
		if got := strings.Join(asked, " "); got != c[2] {
			t.Errorf("%s, of which %s are wrong: asked for %s, want %s", c[0], c[1], got, c[2])
		}
		for place, of := range f.of {
			if refused := !of.refusal.IsZero(); refused != isWrong(place) {
				t.Errorf("%s, of which %s are wrong: %s is refused: %t", c[0], c[1], place, refused)
			}
		}
	}
}
