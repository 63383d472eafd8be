package browse

import (
	"strings"

	"hdqs/api/contract"
)

// control is one field of the form.
type control struct {
	Name, Label, About string
	Kind               string // text, date, number, select
	Value              string
	Options            []option // of a select
	List               string   // id of a list of suggestions, of a text
	Placeholder        string
	Wrong              string // what is wrong with the value
}

type option struct {
	Value, Label string
	Selected     bool
}

// formGroup is a part of the form.
type formGroup struct {
	Title    string
	Controls []control
	Open     bool // one of its controls has a value
}

// words of parameter and field names that are written otherwise in labels.
var words = map[string]string{
	"admin1": "admin 1", "admin2": "admin 2", "api": "API", "gho": "GHO", "hrp": "HRP", "hxl": "HXL", "id": "ID",
	"idps": "IDPs", "lat": "latitude", "lon": "longitude", "max": "below", "min": "from", "mpi": "MPI",
	"org": "organisation", "pct": "%", "ref": "number",
	"stub": "short name", "url": "URL", "usd": "US$", "hdx": "HDX", "ipc": "IPC",
}

// whole names that are written otherwise in labels.
var wholeNames = map[string]string{
	"start_date": "Periods that end on or after", "end_date": "Periods that start on or before",
	"location_code": "Country code", "location_name": "Country",
	"origin_location_code": "Origin code", "origin_location_name": "Origin",
	"asylum_location_code": "Asylum code", "asylum_location_name": "Country of asylum",
	"reference_period_start": "Period from", "reference_period_end": "Period to",
	"min_age": "Youngest age", "max_age": "Oldest age", "from_cods": "From COD", "latest": "Which records",
}

// label is a name in words.
func label(name string) string {
	if text, ok := wholeNames[name]; ok {
		return text
	}
	parts := strings.Split(name, "_")
	for i, part := range parts {
		if word, ok := words[part]; ok {
			parts[i] = word
		}
	}
	text := strings.Join(parts, " ")
	return strings.ToUpper(text[:1]) + text[1:]
}

// form is the filters of an endpoint with their values, places first. wrong has what is wrong with
// a value by the parameter's name.
func form(p *contract.Plan, s state, wrong map[string]string) []formGroup {
	groups := []formGroup{{Title: "Place"}, {Title: "Time"}, {Title: "What"}}
	for i := range p.Params {
		param := &p.Params[i]
		if len(param.Columns) == 0 && param.Name != latestParam {
			continue
		}
		list := param.Name + contract.SeveralSuffix
		c := newControl(p.Endpoint, param, s, wrong[param.Name]+wrong[list])
		if c == nil {
			continue
		}
		g := &groups[2]
		switch {
		case param.Type == contract.Day || param.Name == latestParam:
			g = &groups[1]
		case isPlace(param.Name):
			g = &groups[0]
		}
		g.Controls = append(g.Controls, *c)
		g.Open = g.Open || c.Value != "" || c.Wrong != ""
	}
	full := groups[:0]
	for _, g := range groups {
		if len(g.Controls) > 0 {
			full = append(full, g)
		}
	}
	return full
}

// isPlace reports whether a filter is about a place.
func isPlace(name string) bool {
	name = strings.TrimPrefix(strings.TrimPrefix(name, "origin_"), "asylum_")
	return strings.HasPrefix(name, "location_") || strings.HasPrefix(name, "admin") ||
		name == "has_hrp" || name == "in_gho"
}

// newControl is the control of a filter. That of a country takes several codes. Other lists of
// values have one only while they are used: they come from links and addresses.
func newControl(e *contract.Endpoint, p *contract.Param, s state, wrong string) *control {
	values := s.values[p.Name]
	c := &control{Name: p.Name, Label: label(p.Name), About: e.About(p), Kind: "text", Wrong: wrong}
	if len(values) > 0 {
		c.Value = values[len(values)-1]
	}
	switch {
	case p.Earlier && len(values) == 0:
		return nil // start_date and admin1_name do the same
	case p.List:
		field := strings.TrimSuffix(p.Name, contract.SeveralSuffix)
		if len(values) == 0 || isCountry(field) && len(s.values[field]) == 0 {
			return nil
		}
		c.Label = "Any of: " + label(strings.TrimSuffix(p.Name, contract.SeveralSuffix))
		c.Value = strings.Join(values, ",")
	case p.Type == contract.Choice:
		c.Kind = "select"
		c.Options = choices(p.Enum.Values, c.Value)
	case p.Type == contract.Boolean:
		c.Kind = "select"
		c.Options = []option{
			{"", "any", c.Value == ""},
			{"true", "yes", isTrue(c.Value)},
			{"false", "no", c.Value != "" && !isTrue(c.Value)},
		}
	case p.Type == contract.Day:
		c.Placeholder = "2024, 2024-05 or 2024-05-31"
	case p.Type == contract.DateTime:
		c.Placeholder = "2024-05-31"
	case p.Type == contract.Integer || p.Type == contract.Number || p.Type == contract.Exact:
		c.Kind = "number"
	case isCountry(p.Name):
		c.Label += "s"
		c.List, c.Placeholder = listOf(p.Name), "AFG or AFG, SDN, TCD"
		if len(values) == 0 {
			c.Value = joinList(splitLists(s.values[p.Name+contract.SeveralSuffix]), ", ")
		}
	default:
		c.List = listOf(p.Name)
		c.Placeholder = p.Example()
	}
	return c
}

// choices are the options of an enumeration, after one for any.
func choices(values []string, chosen string) []option {
	options := []option{{"", "any", chosen == ""}}
	for _, v := range values {
		options = append(options, option{v, v, v == chosen})
	}
	return options
}

// isTrue reports whether a flag that the interface accepts is set.
func isTrue(text string) bool {
	switch strings.ToLower(text) {
	case "1", "true", "t", "y", "yes", "on":
		return true
	}
	return false
}

// Ids of the lists of suggestions.
const (
	countryCodes = "country-codes"
	countryNames = "country-names"
)

// listOf is the list of suggestions for a text filter, empty without one.
func listOf(name string) string {
	switch {
	case isCountry(name):
		return countryCodes
	case strings.HasSuffix(name, "location_name"):
		return countryNames
	}
	return ""
}
