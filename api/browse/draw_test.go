package browse

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"hdqs/api/chart"
	"hdqs/api/say"
	"hdqs/internal/testkit"
)

// TestDrawTime: a chart of more lines or months than can be read draws those with the greatest
// figures and the newest months, and says so. More than three lines have a chart each. The table
// begins with what is drawn, as the script expects, and has all lines.
func TestDrawTime(t *testing.T) {
	t.Parallel()
	months := func(n int) (all []string) {
		for at := time.Date(1999, 12, 1, 0, 0, 0, 0, time.UTC); len(all) < n; at = at.AddDate(0, 1, 0) {
			all = append(all, at.Format("2006-01"))
		}
		return all
	}
	for _, c := range []struct {
		lines, months int
		all           bool // the address asks for all months
		cut           []string
	}{
		{1, 9, false, nil},
		{1, 37, false, []string{"The newest 36 of 37 months are shown."}},
		{chart.Classes, maxLabels, true, nil},
		{maxPanels + 2, 24, false, []string{"The 12 with the greatest figures of 14 are drawn. The table has all."}},
		{2, maxLabels + 9, true, []string{"The newest 600 of 609 months are shown."}},
	} {
		var groups []group
		all := months(c.months)
		for i, month := range all {
			for line := range c.lines {
				// The last line has the largest figures, but only in the last month.
				if line > 0 && line == c.lines-1 && i < len(all)-1 {
					continue
				}
				g := group{value: month, number: float64(line + 1), text: "1", known: true}
				if c.lines > 1 {
					g.second = fmt.Sprintf("L%02d", line)
				}
				groups = append(groups, g)
			}
		}
		x, b := new(figure), by{value: "month", fields: []string{"month", "location_code"}}
		b.fields = b.fields[:min(c.lines, 2)]
		s, most := state{path: "/browse/x", values: url.Values{}}, newestMonths
		if c.all {
			s.values.Set(spanParam, "all")
			most = maxLabels
		}
		m := measure{name: "events", function: "sum", label: "Events"}
		x.drawTime(new(Question), &chart.Chart{ID: "figure"}, s, groups, m, &b)
		testkit.EqualLists(t, x.Chart.Cut, c.cut, "%d lines, %d months", c.lines, c.months)
		drawn, drawing := min(c.lines, maxPanels), string(x.Chart.Drawing.HTML())
		if n := strings.Count(drawing, `class="line `); n != drawn || len(x.Data.Rows) != min(c.months, most) {
			t.Errorf("%d lines, %d months: %d are drawn, %d rows", c.lines, c.months, n, len(x.Data.Rows))
		}
		if last := x.Data.Rows[len(x.Data.Rows)-1][0].Text; last != all[len(all)-1] ||
			!strings.Contains(drawing, strings.Join(c.cut, " ")) {
			t.Errorf("the last month is %s, or the description does not say what was left out", last)
		}
		if c.lines == 1 {
			continue
		}
		want := make([]string, c.lines)
		for i := range want {
			want[i] = fmt.Sprintf("L%02d", i)
		}
		isCut := len(c.cut) > 0 && most == newestMonths && c.lines == 1
		if x.Chart.OverTime != (c.lines <= chart.Together) || (x.Chart.Whole.Address != "") != isCut {
			t.Errorf("%d lines, %d months: a script draws them: %v, all: %+v",
				c.lines, c.months, x.Chart.OverTime, x.Chart.Whole)
		}
		if c.lines > maxPanels {
			slices.Reverse(want)
		}
		if !slices.Equal(x.Data.Head[1:], want) || len(x.Chart.Lines) > chart.Together {
			t.Errorf("%d lines: %q, want %q", c.lines, x.Data.Head[1:], want)
		}
	}
}

// TestAxis: an axis has each month or year between the first and the last group.
func TestAxis(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		by, first, last string
		labels          int
	}{
		{"year", "2024", "2024", 1},
		{"year", "0998", "1002", 5},
		{"year", "9990", "9999", 10},
		{"month", "2023-11", "2024-02", 4},
		{"month", "0999-12", "1000-01", 2},
		{"month", "9999-11", "9999-12", 2},
		{"month", "", "2024-02", 1},
		{"month", "2024-02", "", 1},
		{"month", "", "", 0},
	} {
		labels := axis([]group{{value: c.first}, {value: c.last}}, c.by)
		if len(labels) != c.labels || c.labels > 1 && (labels[0] != c.first || labels[c.labels-1] != c.last) {
			t.Errorf("from %q to %q: %q", c.first, c.last, labels)
		}
	}
}

// TestDrawTimeFewReports: a drawing begins with its first figure. Marks of times in which fewer
// than half of the units reported are hollow, and the text says what that means.
func TestDrawTimeFewReports(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		units  []int // that reported, month by month, of 34; 0 for no figure
		labels int
		text   string
	}{
		{[]int{0, 0, 34, 0, 34}, 3, ""},
		{[]int{0, 17, 34}, 2, "In the time with the fewest reports, 17 of 34"},
		{[]int{33, 34}, 2, "33 of 34 provinces or districts have data"},
		{
			[]int{16, 0, 3, 34},
			4,
			"Hollow: fewer than half of the provinces or districts reported, at the least 3 of 34",
		},
	} {
		var groups []group
		for i, units := range c.units {
			month := fmt.Sprintf("2024-%02d", i+1)
			groups = append(groups, group{value: month, text: "1", known: units > 0, units: units, allUnits: 34})
			if units == 0 {
				groups[i].allUnits = 0
			}
		}
		x, b := new(figure), by{value: "month", fields: []string{"month"}}
		s := state{path: "/browse/x", values: url.Values{}}
		x.drawTime(new(Question), &chart.Chart{ID: "figure"}, s, groups, measure{label: "People"}, &b)
		if !strings.HasPrefix(x.Limit.Coverage, c.text) || (x.Limit.Coverage == "") != (c.text == "") {
			t.Errorf("%v: %s", c.units, x.Limit.Coverage)
		}
		svg := string(x.Chart.Drawing.HTML())
		hollow := strings.Count(svg, `changing"`)
		testkit.Equal(t, len(c.units) == 4, (hollow == 2), "%v: %d hollow marks", c.units, hollow)
		if n := strings.Count(svg, ">2024-"); n < c.labels || strings.Contains(svg, ">2024-01<") != (c.units[0] > 0) {
			t.Errorf("%v: %d months", c.units, n)
		}
	}
	if text := unitsText(nil, say.Coverage{All: 70}, false); !strings.HasSuffix(text, "not in the list of units.") {
		t.Error(text)
	}
}

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
		testkit.Equal(t, draw(c.text, c.how), c.want, "")
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
		testkit.Equal(t, groups[0].name+" "+groups[1].name, c.want, "%v", c.ends)
	}
}
