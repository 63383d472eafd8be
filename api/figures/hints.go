package figures

import (
	"slices"
	"strings"

	"hdqs/aggregate"
	"hdqs/api/contract"
	"hdqs/api/say"
	"hdqs/index"
)

// hints are what an answer takes in or leaves out that its request does not say. units selects the
// rows of the request.
func (c *checker) hints(r *contract.Question, units *index.Query) (all []say.Text, err error) {
	add := func(hint say.Text, failed error) {
		if !hint.IsZero() {
			all = append(all, hint)
		}
		if err == nil {
			err = failed
		}
	}
	add(c.periodsHint(r))
	add(c.excess(r, units))
	for _, f := range r.Filters {
		add(c.nameHint(r, r.Plan().Params[f.Param].Name))
	}
	add(c.levelHint(r))
	if c.nests {
		add(say.Of("Places of some groups contain those of others, so the groups are not to be added up."), nil)
	}
	return all, err
}

// nameHint is for a filter by a name that places of several codes have, or have as a part of
// theirs, unless the groups tell them apart.
func (c *checker) nameHint(r *contract.Question, param string) (hint say.Text, err error) {
	name := strings.TrimSuffix(param, contract.SeveralSuffix)
	place, isName := placeNames[name]
	e := c.plan.Endpoint
	code := place + "_code"
	if !isName || name != param || !e.HasField(name) || c.isGrouped(r, name) || c.isGrouped(r, code) {
		return hint, err
	}
	rows, err := c.adder.Table.Answer(&aggregate.Question{
		Query: c.query(r), Pause: c.pause, Groups: []aggregate.Group{{Column: code}, {Column: name}},
		Measures: []aggregate.Measure{{Func: aggregate.Count}},
	})
	if err != nil {
		return hint, tooMany(err)
	}
	var codes []string
	meant, value := "", strings.Join(r.Texts(param), ",")
	for i := range rows.Len() {
		text := rows.Group(i, 0).Text
		if text == "" || contract.IsPlaceholder(text) {
			continue
		}
		if codes = append(codes, text); meant == "" && strings.EqualFold(rows.Group(i, 1).Text, value) {
			meant = text
		}
	}
	if codes = slices.Compact(codes); len(codes) < 2 {
		return hint, nil
	}
	if meant == "" {
		meant = codes[0]
	}
	many := "%s: %s places: %s; %s=%s is one"
	if !strings.HasPrefix(name, "admin") {
		many = "%s: %s countries: %s; %s=%s is one"
	}
	sent := contract.QueryOf(param, value) // in letters that a header can have
	return say.Of(many, sent, len(codes), strings.Join(codes[:min(len(codes), maxNamed)], ", "), code, meant), nil
}

// maxNamed is how many codes of places a hint names.
const maxNamed = 6

// placeNames are the fields with names of places, with what their codes begin with.
var placeNames = map[string]string{
	"location_name": "location", "admin1_name": "admin1", "admin2_name": "admin2",
	"origin_location_name": "origin_location", "asylum_location_name": "asylum_location",
}

// levelHint is for a level that leaves countries out which have rows of other levels.
func (c *checker) levelHint(r *contract.Question) (hint say.Text, err error) {
	param := levelColumn
	levels := r.Texts(param)
	if levels == nil {
		param += contract.SeveralSuffix
		levels = r.Texts(param)
	}
	if levels == nil || r.Coarsest || c.plan.Endpoint.Units() == nil {
		return hint, nil
	}
	whole := r.Copy().Drop(levelColumn, levelColumn+contract.SeveralSuffix)
	whole.Latest, whole.Edition = false, false
	country := aggregate.Group{Column: countryColumn}
	all, err := c.counts(whole, country)
	if err != nil {
		return hint, err
	}
	some, err := c.counts(r, country)
	if err != nil || some[0].Len() == 0 {
		return hint, err
	}
	has := valuesOf(some[0])
	left := slices.DeleteFunc(valuesOf(all[0]), func(code string) bool { return slices.Contains(has, code) })
	if len(left) == 0 {
		return hint, nil
	}
	hint = say.Of("%s=%s leaves out %s, which have other levels", param, strings.Join(levels, ","),
		shortened(left))
	if lowest, _ := lowestGroup(r); lowest == 0 && r.Plan().Param(levelColumn).Takes(contract.Coarsest) {
		hint = say.Of("%s; %s=%s has all", hint, levelColumn, contract.Coarsest)
	}
	return hint, nil
}

// shortened are codes, of many only the first two.
func shortened(codes []string) say.Text {
	if len(codes) <= 3 {
		return say.And(codes)
	}
	return say.Of("%s and %s", strings.Join(codes[:2], ", "), say.Of("%s more", len(codes)-2))
}

// unitsByName returns the name field by which a request groups places, if nothing in the groups
// says in which country each is; empty otherwise.
func unitsByName(r *contract.Question) (name string) {
	e := r.Endpoint()
	if !e.HasField(countryColumn) {
		return ""
	}
	for _, g := range r.Groups {
		if g.Class != contract.NoClass {
			continue
		}
		switch field := e.Fields[g.Field].Name; field {
		case countryColumn, "location_name", "location_ref":
			return ""
		case "admin1_name", "admin2_name", "provider_admin1_name", "provider_admin2_name", "market_name":
			name = field
		}
	}
	return name
}

// periodsHint is for sums that are correct but easy to misread: the newest rows of several places
// may be of different periods.
func (c *checker) periodsHint(r *contract.Question) (hint say.Text, err error) {
	e := c.plan.Endpoint
	for i := range e.Dimensions {
		d := &e.Dimensions[i]
		if d.Kind != contract.Stock || !r.Latest && !r.Edition || !adds(r) || c.isGrouped(r, d.Field) {
			continue
		}
		counts, err := c.counts(r, aggregate.Group{Column: d.Field})
		if err != nil || counts[0].Len() < 2 {
			return hint, err
		}
		values := valuesOf(counts[0])
		return say.Of("The newest rows are of %s periods, which start from %s to %s; group by %s to tell them "+
			"apart.", len(values), values[0], values[len(values)-1], e.Names().Name(d.Field)), nil
	}
	return hint, nil
}

// adds reports whether a request asks for a sum or mean.
func adds(r *contract.Question) bool {
	return slices.ContainsFunc(r.Measures, func(m contract.Measure) bool {
		return m.Func == aggregate.Sum || m.Func == aggregate.Mean
	})
}
