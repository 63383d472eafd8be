package browse

import (
	"net/url"
	"slices"
	"strings"

	"hdqs/api/additivity"
	"hdqs/api/contract"
)

// warning is something that a reader of the records must know.
type warning struct {
	Text  string
	Links []link // what to choose instead
}

type link struct{ Text, Address string }

// sumWarnings are the reasons why the figures of the records must not be added up.
func sumWarnings(q *Question, s state, facets []facet) (all []warning, err error) {
	// The declarations are in the contract's names.
	if !slices.ContainsFunc(q.Plan.Endpoint.Figures, func(f contract.Figure) bool { return f.Use == contract.Added }) {
		return nil, nil
	}
	for _, d := range q.Plan.Endpoint.Dimensions {
		i := slices.IndexFunc(facets, func(f facet) bool { return contract.ContractNames.Name(f.Field) == d.Field })
		if i < 0 {
			continue
		}
		values := facets[i].distinct(s.values)
		if len(values) < 2 {
			continue
		}
		text := mixed(&d, facets[i].Label, values)
		if d.Kind == contract.Levels {
			if text, err = levels(q, s); err != nil {
				return nil, err
			}
		}
		if text == "" {
			continue
		}
		w := warning{text + " Choose one:", linksTo(q.Plan, s, &facets[i])}
		if len(w.Links) == 0 {
			w.Text = text + " No filter keeps one of them. What can be drawn:"
			w.Links = []link{{"number of records", s.with(measureParam, countMeasure)}}
		}
		all = append(all, w)
	}
	return all, nil
}

// levels says what is wrong with adding up rows of several levels, which differs with the data: a
// country can have rows of its own beside those of its units, and so can a first-level unit.
func levels(q *Question, s state) (string, error) {
	groups, _, err := askGroups(q, groupsQuery(s, []string{"location_code", "admin1_code", "admin_level"}, "count"))
	seen := map[string]bool{} // by place: the rows are of the place itself
	for _, r := range groups {
		level, _ := r.Text("admin_level")
		for field, own := range map[string]string{"location_code": "0", "admin1_code": "1"} {
			place, _ := r.Text(field)
			if before, known := seen[place]; known && before != (level == own) {
				return "Several admin levels: the figures of a country contain those of its units.", err
			}
			if place != "" {
				seen[place] = level == own
			}
		}
	}
	return "Several admin levels: no figure contains another, but a single level leaves places out.", err
}

// mixed says what is wrong with adding up rows that have several values of a dimension.
func mixed(d *contract.Dimension, name string, values []string) string {
	v := additivity.Check(d, values)
	switch {
	case v == nil:
	case d.Kind == contract.Overlapping:
		return name + ": some people are counted under several values."
	case v.Total != "":
		return name + ": “" + v.Total + "” contains “" + strings.Join(v.Parts, "”, “") + "”."
	}
	return ""
}

// linksTo are the pages with one value of a facet each.
func linksTo(p *contract.Plan, s state, f *facet) []link {
	if !isFilter(p, f.Field) {
		return nil
	}
	var links []link
	for _, v := range f.all[:min(len(f.all), shownValues)] {
		if v.Link != "" {
			links = append(links, link{v.Label, s.with(f.Field, v.Value, f.Field+contract.SeveralSuffix, "")})
		}
	}
	return links
}

// splitIfList are the values of a parameter, which may be a list.
func splitIfList(name string, values []string) []string {
	if strings.HasSuffix(name, contract.SeveralSuffix) {
		return splitLists(values)
	}
	return values
}

// chips are the parameters in use, each with the page without it.
func chips(p *contract.Plan, s state) []link {
	var all []link
	add := func(name string, values url.Values) {
		if v := values[name]; len(v) > 0 {
			text := label(strings.TrimSuffix(name, contract.SeveralSuffix)) + ": "
			all = append(all, link{text + strings.Join(splitIfList(name, v), ", "), s.with(name, "")})
		}
	}
	for i := range p.Params {
		if len(p.Params[i].Columns) > 0 || p.Params[i].Name == latestParam {
			add(p.Params[i].Name, s.values)
		}
	}
	return all
}
