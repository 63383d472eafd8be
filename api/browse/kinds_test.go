package browse

import (
	"strings"
	"testing"

	"hdqs/api/chart"
)

// made are groups with two values each, from lines such as "0-4 f 12".
func made(text string) (groups []group) {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		g := newGroup(nil, f[0], f[0], f[2])
		g.second = f[1]
		groups = append(groups, g)
	}
	return groups
}

// TestDrawKinds: a pyramid has ages in their order, phases have the place with the greatest share
// in crisis first, and a year stands beside the year before.
func TestDrawKinds(t *testing.T) {
	t.Parallel()
	draw := func(text string, how func(*figure, *chart.Chart, []group) bool) string {
		x := &figure{About: new(about)}
		if !how(x, &chart.Chart{ID: "x"}, made(text)) {
			return "nothing"
		}
		var names []string
		for _, row := range x.Data.Rows {
			names = append(names, row[0].Text)
		}
		if x.Chart.Drawing.IsBars() {
			names = nil
			for _, bar := range x.Chart.Drawing.Elements {
				names = append(names, bar.Text+" "+bar.Figure)
			}
		}
		return strings.Join(names, "; ")
	}
	q := new(Question)
	pyramid := func(x *figure, c *chart.Chart, groups []group) bool { return x.drawPyramid(q, c, groups) }
	stack := func(x *figure, c *chart.Chart, groups []group) bool { return x.drawStack(q, c, groups) }
	for _, c := range []struct {
		text string
		how  func(*figure, *chart.Chart, []group) bool
		want string
	}{
		{"60+ f 1\n5-11 m 2\n5-11 f 3\n0-4 f 1\nunknown f 9", pyramid, "0-4; 5-11; 60+; unknown"},
		{"0-4 f 1\n5-9 f 2", pyramid, "nothing"},
		{
			"A 1 70\nA 3 30\nB 2 1\nB 4 1\nC 1 0", stack,
			"B 50 % of 2; A 30 % of 100",
		},
		{
			"2023-12 x 1\n2024-01 x 2\n2024-02 x 3\n2022-05 x 4", (*figure).drawYears,
			"January; February; December",
		},
		{"2024-01 x 2\n2022-01 x 3", (*figure).drawYears, "nothing"},
		{"2024-01 x 2\n2023-01 x 3\n2024-01 y 4", (*figure).drawYears, "nothing"},
	} {
		if got := draw(c.text, c.how); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestEnds: figures of times less than a year apart can be added up; others have their years.
func TestEnds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ends ends
		want string
	}{
		{ends{"A": "2023-12-31T23:59:59", "B": "2024-06-30T23:59:59"}, "A B"},
		{ends{"A": "2021-12-31T23:59:59", "B": "2023-06-30T23:59:59"}, "A, 2021 B, 2023"},
		{ends{"A": "2029-12-31T23:59:59", "B": "2023-06-30T23:59:59"}, "A, 2025 B, 2023"}, // what goes on
		{ends{}, "A B"},
	} {
		groups := made("A x 1\nB x 2")
		c.ends.nameYears(nil, "2025-02-01", groups)
		if got := groups[0].name + " " + groups[1].name; got != c.want {
			t.Errorf("%v: %q, want %q", c.ends, got, c.want)
		}
	}
}
