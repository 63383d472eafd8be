package browse

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"hdqs/api/contract"
)

// A page that refuses something has links to pages that do not. Each is asked before it is offered.

// maxWays is how many links to a figure there are, maxTries how many pages are asked for it.
const (
	maxWays  = 3
	maxTries = 6
)

// withRecords are the links to pages that have records.
func withRecords(q *Question, links ...link) []link {
	return slices.DeleteFunc(links, func(l link) bool {
		_, query, _ := strings.Cut(l.Address, "?")
		values, _ := url.ParseQuery(query)
		answer, err := q.Source.Ask(q.Plan.Endpoint, contract.Rows, state{values: values}.question())
		return err != nil || answer.Total == 0
	})
}

// withFigure are links to pages that have the figure which would be wrong on that of s. The refusal
// names a request in which nothing is wrong: the links have its filters, and one value of each
// field that it groups by. If that is not enough, as where a field has no filter, they are about
// one country, and then about one year.
func withFigure(q *Question, s state, m measure, b *by, instead string) ([]link, error) {
	_, query, _ := strings.Cut(instead, "?")
	right, _ := url.ParseQuery(query)
	e, base := q.Plan.Endpoint, state{path: s.path, values: s.copy("offset", rowParam)}
	for name, all := range right {
		if !s.values.Has(name) && (isFilter(q.Plan, name) || name == latestParam) {
			base.values[name] = all
		}
	}
	var fields []string
	for _, field := range strings.Split(right.Get("group_by"), ",") {
		if d := e.Dimension(contract.ContractNames.Name(field)); d != nil && d.Kind == contract.Stock {
			base.values.Set(latestParam, "true")
		} else if isFilter(q.Plan, field) && !slices.Contains(b.fields, field) {
			fields = append(fields, field)
		}
	}
	for i := range e.Fields {
		if f := &e.Fields[i]; isCountry(f.Name) {
			for _, more := range [][]string{nil, {f.Name}, {f.Name, "year"}} {
				ways, err := withValues(q, s, base, m, b, slices.Concat(fields, more))
				if err != nil || len(ways) > 0 {
					return ways, err
				}
			}
			break
		}
	}
	return nil, nil
}

// withValues are links to pages with the figure and with one value of some fields each, those with
// the most records first.
func withValues(q *Question, s, base state, m measure, b *by, fields []string) (ways []link, err error) {
	found, _, err := askGroups(q, groupsQuery(base, fields, "count"))
	size := func(r Record) int {
		text, _ := r.Text("count")
		n, _ := strconv.Atoi(text)
		return n
	}
	slices.SortStableFunc(found, func(x, y Record) int { return cmp.Compare(size(y), size(x)) })
	for _, r := range found[:min(len(found), maxTries)] {
		next := state{path: base.path, values: maps.Clone(base.values)}
		for _, field := range fields {
			text, _ := r.Text(field)
			switch {
			case text == "": // no filter can ask for it
			case field != "year":
				next.values.Set(field, text)
				next.values.Del(field + contract.SeveralSuffix)
			case !s.values.Has("start_date") && !s.values.Has("end_date"):
				next.values["start_date"], next.values["end_date"] = []string{text}, []string{text}
			}
		}
		groups, total, err := askGroups(q, groupsQuery(next, b.fields, m.request()))
		if _, isWrong := problems(err); err != nil && !isWrong {
			return nil, err
		}
		if len(groups) > 0 && len(groups) == total && len(ways) < maxWays {
			old := chips(q.Plan, s)
			var texts []string
			for _, c := range chips(q.Plan, next) {
				if !slices.ContainsFunc(old, func(o link) bool { return o.Text == c.Text }) {
					texts = append(texts, c.Text)
				}
			}
			ways = append(ways, link{strings.Join(texts, ", "), next.with()})
		}
	}
	return ways, err
}
