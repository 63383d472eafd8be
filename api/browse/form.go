package browse

import (
	"slices"
	"strings"

	"hdqs/api/contract"
	"hdqs/api/lang"
)

// control is one field of the form.
type control struct {
	Name, Label, About string
	Kind               string // text, date, number, select
	Value              string
	Options            []option // of a select
	Suggest, Suggested string   // kind of names that are suggested, and what of them: code or name
	Several            bool     // of which the field takes more than one
	Placeholder        string
	Wrong              string // what is wrong with the value
}

type formGroup struct {
	Title    string
	Controls []control
	InUse    int  // controls that have a value
	Open     bool // one of them is wrong; others would push the figures out of a phone's first screen
}

// form is the filters of an endpoint with their values, places first. wrong has what is wrong with
// a value by the parameter's name. groups are those of countries.
func form(p *contract.Plan, s state, wrong map[string]string, groups []Country) []formGroup {
	l := s.language
	parts := []formGroup{{Title: l.T("Place")}, {Title: l.T("Time")}, {Title: l.T("What")}}
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
		if param.Grouped && !param.List {
			c.choose(l, groups)
		}
		g := &parts[2]
		switch {
		case param.Type == contract.Day || param.Name == latestParam:
			g = &parts[1]
		case isPlace(param.Name):
			g = &parts[0]
		}
		g.Controls = append(g.Controls, *c)
		if g.Open = g.Open || c.Wrong != ""; c.Value != "" {
			g.InUse++
		}
	}
	return slices.DeleteFunc(parts, func(g formGroup) bool { return len(g.Controls) == 0 })
}

func isPlace(name string) bool {
	name = strings.TrimPrefix(strings.TrimPrefix(name, "origin_"), "asylum_")
	return strings.HasPrefix(name, "location_") || strings.HasPrefix(name, "admin") ||
		name == "has_hrp" || name == "in_gho" || contract.IsGroupParam(name)
}

// choose makes the control one of groups of countries. Without any it stays a text.
func (c *control) choose(l *lang.Language, groups []Country) {
	if len(groups) == 0 {
		return
	}
	c.Kind, c.Options = "select", []option{{"", capital(l.T("any")), c.Value == ""}}
	for _, g := range groups {
		c.Options = append(c.Options, option{g.Code, g.Name, g.Code == c.Value})
	}
}

// newControl is the control of a filter. That of a country takes several codes. Other lists of
// values have one only while they are used: they come from links and addresses.
func newControl(e *contract.Endpoint, p *contract.Param, s state, wrong string) *control {
	values := s.values[p.Name]
	l := s.language
	c := &control{Name: p.Name, Label: label(l, p.Name), About: e.Texts().About(p), Kind: "text", Wrong: wrong}
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
		c.Label = l.T("Any of: %s", label(l, field))
		c.Value = strings.Join(values, ",")
	case p.Type == contract.Choice:
		c.Kind = "select"
		c.Options = choices(l, p, c.Value)
		for i := range c.Options[1:] {
			if p.IsLevel() || p.Name == latestParam {
				c.Options[i+1].Label = chipText(l, nil, p, []string{c.Options[i+1].Value})
			}
		}
	case p.Type == contract.Boolean:
		c.Kind = "select"
		c.Options = []option{
			{"", capital(l.T("any")), c.Value == ""},
			{"true", capital(l.T("yes")), isTrue(c.Value)},
			{"false", capital(l.T("no")), c.Value != "" && !isTrue(c.Value)},
		}
	case p.Type == contract.Day:
		c.Placeholder = l.T("2024, 2024-05 or 2024-05-31")
	case p.Type == contract.DateTime:
		c.Placeholder = "2024-05-31"
	case p.Type == contract.Integer || p.Type == contract.Number || p.Type == contract.Exact:
		c.Kind = "number"
	case isCountry(p.Name):
		c.Label = l.T("%s, several", label(l, strings.TrimSuffix(p.Name, "_code")+"_name"))
		c.Suggest, c.Suggested, c.Several = "country", "name", true
		c.Placeholder = l.T("Sudan, or Sudan, Chad")
		codes := splitLists(s.values[p.Name+contract.SeveralSuffix])
		if len(values) > 0 {
			codes = values[len(values)-1:]
		}
		c.Value = s.countryNames(codes)
	default:
		c.Placeholder = p.Example()
		c.suggest(e.Contract(), contract.ContractNames.Name(p.Name))
	}
	return c
}

// countryNames are countries in words, as the form takes them.
func (s state) countryNames(codes []string) string {
	names := make([]string, len(codes))
	for i, code := range codes {
		if names[i] = code; s.called != nil && !strings.Contains(s.called(code), ",") {
			names[i] = s.called(code)
		}
	}
	return strings.Join(names, ", ")
}

// suggest chooses the names that are suggested for a filter in the contract's name.
func (c *control) suggest(e *contract.Endpoint, param string) {
	if e.Group() == "metadata" && (param == "code" || param == "name") {
		param = e.Table + "_" + param
	}
	for prefix, kind := range map[string]string{
		"location_": "country", "origin_location_": "country", "asylum_location_": "country",
		"market_": "market", "commodity_": "commodity", "admin1_": "province", "admin2_": "district",
		"sector_": "sector", "org_": "organisation",
	} {
		if rest, ok := strings.CutPrefix(param, prefix); ok && (rest == "code" || rest == "name" || rest == "acronym") {
			c.Suggest, c.Suggested = kind, strings.Replace(rest, "acronym", "code", 1)
		}
	}
}

// choices are the options of an enumeration, after one for any.
func choices(l *lang.Language, p *contract.Param, chosen string) []option {
	options := []option{{"", capital(l.T("any")), chosen == ""}}
	for _, v := range p.Enum.Values {
		text, code := alone(l, p.Name, v)
		if code != "" {
			text += " (" + code + ")"
		}
		options = append(options, option{v, text, v == chosen})
	}
	return options
}

// pageForm is what chooses records: the forms of filters and of columns, the filters in use, and
// counts.
type pageForm struct {
	Groups  []formGroup
	Keep    []option // parameters that the form of filters sends on
	KeepAll []option // those that the form of columns sends on
	Chips   []chip
	Clear   string // the page without filters; empty if it has none
	Facets  []facet
}
