package judge

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// judgeFigure judges the chart or map of a page by the table of its figures, and the drawing by
// that table.
func (j *pageJudge) judgeFigure(p *page) {
	f := p.figure
	switch {
	case f == nil:
		if j.s.endpoint.Group != "metadata" {
			j.differs("the page has no figure")
		}
		return
	case f.refused, f.empty:
		j.judgeNoFigure(f)
		return
	}
	u, err := url.Parse(f.source)
	if err != nil {
		j.differs("the figure's request: %v", err)
		return
	}
	list, _ := j.s.root()
	if u.Path != list+"/aggregate" {
		j.differs("the figure is of %s", u.Path)
	}
	asked := u.Query()
	groups, measure := strings.Split(asked.Get("group_by"), ","), asked.Get("measures")
	j.judgeChoice(f, groups, measure)
	for _, name := range []string{"group_by", "measures", "limit"} {
		asked.Del(name)
	}
	want, err := url.ParseQuery(j.filters())
	want.Del("country") // no parameter of a list, so no link repeats it
	if j.s.endpoint.Group == "metadata" {
		want.Del("latest") // nor is this
	}
	if err != nil || asked.Encode() != want.Encode() {
		j.differs("the figure is of %s, the records of %s", asked.Encode(), want.Encode())
	}
	found, status := j.records("/aggregate", u.RawQuery)
	if status != 200 {
		j.differs("the figure is refused with %d, the page has one: %s", status, u.RawQuery)
		return
	}
	j.judgeTable(f, groups, strings.ReplaceAll(measure, ":", "_"), found)
	j.judgeTitles(f)
}

// judgeChoice checks that the figure is what the address asks for, where the form offers it.
func (j *pageJudge) judgeChoice(f *pageFigure, groups []string, measure string) {
	if chosen := j.s.name(j.s.value("measure")); slices.Contains(f.measures, chosen) && chosen != f.measure {
		j.differs("the page shows %s, asked for was %s", f.measure, chosen)
	}
	if chosen := j.s.name(j.s.value("by")); slices.Contains(f.bys, chosen) && chosen != f.by {
		j.differs("the page shows figures by %s, asked for was %s", f.by, chosen)
	}
	if measure != j.measureOf(f.measure) {
		j.differs("the page shows %s as %s", f.measure, measure)
	}
	if e := j.s.endpoint; e.field(inNames(false, f.by)) != nil && groups[0] != f.by {
		j.differs("figures by %s are grouped by %s", f.by, groups)
	}
}

// measureOf is the measure of a page as a request has it.
func (j *pageJudge) measureOf(name string) string {
	switch ours := inNames(false, name); {
	case name == "records":
		return "count"
	case slices.Contains(averaged, ours):
		return "mean:" + name
	}
	return "sum:" + name
}

// judgeNoFigure checks that there is no figure: the sum would be wrong, or no record passes.
func (j *pageJudge) judgeNoFigure(f *pageFigure) {
	by := inNames(false, f.by)
	if j.s.endpoint.field(by) == nil && !slices.Contains(periodParts, by) {
		return // several fields, such as the code and the name of a unit
	}
	of := inNames(false, strings.Replace(j.measureOf(f.measure), f.measure, inNames(false, f.measure), 1))
	found, status := j.records("/aggregate", j.filters(pair{"group_by", by}, pair{"measures", of}))
	switch {
	case f.refused && status != 422:
		j.differs("%s by %s is refused, the interface answers %d", of, by, status)
	case f.refused:
		j.counts.sumsRefused++
	case status != 200 || len(found) > 0:
		j.differs("%s by %s has no figure, the interface answers %d with %d", of, by, status, len(found))
	}
}

// judgeTable compares the table of figures with the groups.
func (j *pageJudge) judgeTable(f *pageFigure, groups []string, figure string, found []map[string]any) {
	type judged struct {
		labels []string
		text   string
	}
	var left []judged
	for _, r := range found {
		g := judged{text: "–"}
		for _, name := range groups {
			g.labels = append(g.labels, j.labels(inNames(false, name), r[name])...)
		}
		if v := r[figure]; v != nil {
			g.text = bareNumber(fmt.Sprint(v))
		}
		left = append(left, g)
	}
	for _, row := range f.rows {
		for i, number := range row.numbers {
			j.counts.figures++
			at := slices.IndexFunc(left, func(g judged) bool {
				return g.text == number && slices.Contains(g.labels, row.label) &&
					(len(row.numbers) == 1 || slices.Contains(g.labels, f.head[i]))
			})
			switch {
			case at >= 0:
				left = slices.Delete(left, at, at+1)
			case number != "–" || len(row.numbers) == 1:
				j.differs("the page says %s of %q, which is wrong", number, row.label)
			}
		}
	}
	if len(left) != f.unlisted {
		j.differs("%d figures are not on the page, which says %d", len(left), f.unlisted)
		for _, g := range left[:min(len(left), 3)] {
			j.differs("    %q %s", g.labels, g.text)
		}
	}
}

// judgeTitles checks that what a bar, an area or a point says is in the table. Points over time say
// the line before the time. A mark of several places is not judged.
func (j *pageJudge) judgeTitles(f *pageFigure) {
	if f.by == "market" {
		return
	}
	for _, title := range f.titles {
		at := strings.LastIndex(title, ":")
		if at < 0 {
			j.differs("the drawing says %q", title)
			continue
		}
		j.counts.titles++
		label, number := spaced(title[:at]), cmp.Or(bareNumber(strings.TrimSpace(title[at+1:])), "–")
		inTable := slices.ContainsFunc(f.rows, func(row pageRow) bool {
			for i, n := range row.numbers {
				whole := row.label == label || len(row.numbers) > 1 && f.head[i]+" "+row.label == label ||
					f.head[i]+" "+row.label == label
				if whole && n == number {
					return true
				}
			}
			return false
		})
		if !inTable {
			j.differs("the drawing says %q, the table does not", title)
		}
	}
}
