package browse

import (
	"slices"

	"hdqs/api/additivity"
	"hdqs/api/contract"
	"hdqs/api/lang"
)

// sumWarnings are the reasons why the figures of the records must not be added up.
func sumWarnings(q *Question, s state, facets []facet) (all []string) {
	// The declarations are in the contract's names.
	if !slices.ContainsFunc(q.Plan.Endpoint.Figures, func(f contract.Figure) bool { return f.Use == contract.Added }) {
		return nil
	}
	for _, d := range q.Plan.Endpoint.Dimensions {
		i := slices.IndexFunc(facets, func(f facet) bool { return contract.ContractNames.Name(f.Field) == d.Field })
		if i < 0 {
			continue
		}
		if text := mixed(q.Language, &d, facets[i].Label, facets[i].distinct(s)); text != "" {
			all = append(all, text)
		}
	}
	return all
}

// saidParts is how many parts of a total are named.
const saidParts = 3

// mixed says what is wrong with adding up rows that have several values of a dimension.
func mixed(l *lang.Language, d *contract.Dimension, name string, values []string) string {
	v := additivity.Check(d, values)
	switch {
	case v == nil:
	case d.Kind == contract.Levels:
		return l.T("Several levels: the figure of a place contains those of its units, where both have records.")
	case d.Kind == contract.Overlapping:
		return l.T("%s: some people are counted under several values.", name)
	case v.Total != "":
		said := make([]string, 0, saidParts+1)
		for _, part := range v.Parts[:min(len(v.Parts), saidParts)] {
			text, _ := worded(l, d.Field, part)
			said = append(said, l.T("“%s”", text))
		}
		if more := len(v.Parts) - saidParts; more > 0 {
			said = append(said, l.T("%s more", lang.Count(more)))
		}
		total, _ := worded(l, d.Field, v.Total)
		return l.T("%[1]s: “%[2]s” contains %[3]s.", name, total, l.List(said))
	}
	return ""
}

// chip is a parameter in use, with the page without it.
type chip struct {
	way
	countries string // in words, if it is theirs
}

func (c chip) Text() string    { return c.text }
func (c chip) Address() string { return c.at.link() }

const severalCountries = contract.CountryParam + contract.SeveralSuffix

// isTime reports whether a parameter says when periods are.
func isTime(name string) bool { return name == "start_date" || name == "end_date" }

// yearOf is the year that an address chooses, empty where it chooses another time or none.
func yearOf(s state) string {
	if year := s.values.Get("start_date"); len(year) == len("2006") && year == s.values.Get("end_date") {
		return year
	}
	return ""
}

// chips are the parameters in use.
func chips(q *Question, s state) []chip {
	var all []chip
	year := yearOf(s)
	for _, name := range append(names(q.Plan), contract.EverybodyParam) {
		if isTime(name) && year != "" {
			if name == "start_date" {
				text := q.Language.T("%[1]s: %[2]s", nounLabel(q.Language, "year"), year)
				all = append(all, chip{way: way{text, widened(q, s, "start_date", "", "end_date", "")}})
			}
			continue
		}
		if values := s.values[name]; len(values) > 0 {
			p := q.Plan.Param(name)
			c := chip{way: way{chipText(q.Language, q.known.named, p, values), widened(q, s, name, "")}}
			if name == contract.CountryParam || name == severalCountries {
				c.countries = valueWords(q.Language, q.known.named[contract.CountryParam], p, values)
			}
			all = append(all, c)
		}
	}
	return all
}
