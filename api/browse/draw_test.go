package browse

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"hdqs/api/chart"
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
		if !slices.Equal(x.Chart.Cut, c.cut) {
			t.Errorf("%d lines, %d months: %q, want %q", c.lines, c.months, x.Chart.Cut, c.cut)
		}
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
		if few := len(c.units) == 4; few != (hollow == 2) {
			t.Errorf("%v: %d hollow marks", c.units, hollow)
		}
		if n := strings.Count(svg, ">2024-"); n < c.labels || strings.Contains(svg, ">2024-01<") != (c.units[0] > 0) {
			t.Errorf("%v: %d months", c.units, n)
		}
	}
}
