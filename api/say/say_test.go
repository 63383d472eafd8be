package say

import (
	"strings"
	"testing"
)

// TestText: a text is its format with its arguments, of which some are texts.
func TestText(t *testing.T) {
	t.Parallel()
	many := strings.Split("abcdefghi", "")
	for want, text := range map[string]Text{
		"":                                {},
		"100 % of it":                     Of("100 % of it"),
		"b is at most 3":                  Of("%s is at most %s", "b", 3),
		"rows of a pass. Group by it.":    Join(Text{}, Of("rows of %s pass.", "a"), Text{}, Of("Group by it.")),
		"of a, b and c":                   Of("of %s", And(many[:3])),
		"a":                               And(many[:1]),
		"a, b, c, d, e, f and 3 more":     And(many),
		"(empty) and b":                   And([]string{"", "b"}),
		"a and b has a value that is b %": Of("%s has a value that is %s", And(many[:2]), "b %"),
	} {
		if text.String() != want || text.IsZero() != (want == "") {
			t.Errorf("%q, want %q", text, want)
		}
	}
}
