package site

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"

	"hdqs/api/browse"
	"hdqs/api/contract"
	"hdqs/api/country"
	"hdqs/api/figures"
	"hdqs/api/say"
	"hdqs/api/state"
)

// about is which changes a page or feed shows: of a country, a group of them, and a list. What is
// empty is not asked for.
type about struct {
	query string // as an address has it
	group string // its slug
	code  string
	codes []string // of the country or group; nil for all
	list  *contract.Endpoint
}

// feedParams are the parameters of aboutOf.
var feedParams = []string{contract.CountryParam, contract.GroupParam, listParam}

// aboutOf reads which changes a page or feed shows. What is not known is an error: a feed of all
// changes would look as if it were that of a country. A page says itself that it knows no such
// country.
func aboutOf(
	ctx *fasthttp.RequestCtx, v *state.Served, all *country.Overview, names contract.NameSet, isFeed bool,
) (a about, err error) {
	text := func(name string) string { return strings.Clone(strings.TrimSpace(string(ctx.QueryArgs().Peek(name)))) }
	place, group, list := text(contract.CountryParam), text(contract.GroupParam), text(listParam)
	unknown := func(param, sent, want string) error {
		return &contract.Invalid{Issues: []contract.Issue{{
			Type: "value_error", Param: param, Input: sent, Text: say.Of("%s: want %s", param, want),
		}}}
	}
	if place != "" {
		switch code := all.Named(place); {
		case all.Find(place) != nil:
			a.code = place
		case code != "":
			a.code = code
		case isFeed:
			return a, unknown(contract.CountryParam, place, "the code or name of a country, such as SDN")
		default:
			a.code = place
		}
		a.codes = []string{a.code}
	}
	if group != "" {
		g := v.Bound.Groups.Group(group)
		if g == nil {
			return a, unknown(contract.GroupParam, group, "a group of countries, as GET /api/v2/groups lists them")
		}
		a.group = g.Slug
		if a.codes = slices.Clone(g.Members); a.code != "" {
			a.codes = slices.DeleteFunc(a.codes, func(code string) bool { return code != a.code })
		}
	}
	if list != "" {
		endpoints := contract.EndpointsIn(names)
		at := slices.IndexFunc(endpoints, func(e contract.Endpoint) bool { return e.Name() == list })
		if at < 0 {
			return a, unknown(listParam, list, "the name of a list, such as conflict-events")
		}
		a.list = &endpoints[at]
	}
	a.query = contract.QueryOf(contract.GroupParam, a.group, listParam, list, contract.CountryParam, a.code)
	return a, nil
}

// title says of what the changes are, empty for all.
func (a *about) title(at place, v *state.Served, all *country.Overview) string {
	var names []string
	if c := all.Find(a.code); c != nil {
		names = append(names, at.Country(c.Code, c.Name))
	}
	if a.group != "" {
		names = append(names, at.Group(a.group, v.Bound.Groups.Group(a.group).Name))
	}
	if a.list != nil {
		names = append(names, at.T(a.list.Summary))
	}
	if names == nil {
		return ""
	}
	return at.T("%[1]s: %[2]s", at.T("What changed"), strings.Join(names, "; "))
}

// isAll reports whether all changes are shown.
func (a *about) isAll() bool { return a.query == "" }

// How many values of headline figures a change names.
const (
	mostRevisions    = 12
	mostRevisionsOf  = 200
	mostEditionsMore = 40 // publications of which nothing else is known
)

// revised is a value of a headline figure that a publication has changed, in words.
type revised struct{ Text, Address string }

// revise adds the values of headline figures that a change has to do with.
func (c *changeOnPage) revise(at place, v *state.Served, all []figures.Revision) {
	a := c.about
	most := mostRevisions
	if !a.isAll() {
		most = mostRevisionsOf
	}
	for _, r := range all {
		if a.codes != nil && !slices.Contains(a.codes, r.Place) ||
			a.list != nil && r.Figure.Path != a.list.Contract().Path {
			continue
		}
		if len(c.Figures) == most {
			c.MoreFigures++
			continue
		}
		c.Figures = append(c.Figures, revisedOf(at, v, r))
	}
}

// revisedOf is a value that a publication has changed, with the page of its country.
func revisedOf(at place, v *state.Served, r figures.Revision) revised {
	name := ""
	if listed := v.Bound.Country(r.Place); listed != nil {
		name = listed.Name
	}
	before, after := valuesOf(at, r)
	return revised{
		Text: at.T("%[1]s, %[2]s: %[3]s → %[4]s", at.T(r.Figure.Title), at.Country(r.Place, name), before,
			after),
		Address: at.root() + countryPath + "/" + url.PathEscape(r.Place),
	}
}

// valuesOf are both values, rounded unless they would look the same.
func valuesOf(at place, r figures.Revision) (before, after string) {
	before, after = at.Rounded(r.Before), at.Rounded(r.After)
	if before == after {
		before, after = at.Number(r.Before), at.Number(r.After)
	}
	none := at.T("not known")
	return cmp.Or(before, none), cmp.Or(after, none)
}

// shows reports whether a change of a table has to do with what is shown.
func (a *about) shows(c *changeOnPage, table string) bool {
	n, _ := c.counts.Of(table, a.codes)
	return (a.list == nil || a.list.Table == table) && (a.codes == nil || n != [3]int{})
}

// restrict leaves out of a change what has nothing to do with what is shown. It reports whether
// something is left.
func (a *about) restrict(c *changeOnPage) bool {
	if a.isAll() {
		return true
	}
	c.Tables = slices.DeleteFunc(c.Tables, func(t changedTable) bool { return !a.shows(c, t.Table) })
	c.Placed, c.Same, c.Stale, c.Fresh, c.Datasets = a.codes != nil, "", nil, nil, nil
	return len(c.Figures) > 0 || len(c.Tables) > 0
}

// Others is how many more values of headline figures there are, empty for none.
func (c *changeOnPage) Others() string {
	if c.MoreFigures == 0 {
		return ""
	}
	return browse.Count(c.MoreFigures)
}

// EntryID is the id of the change in a feed: entries of other feeds, which say less or more, have
// other ids.
func (c *changeOnPage) EntryID() string {
	if c.about.isAll() {
		return c.ID
	}
	return c.feed + "#" + c.Anchor()
}

// Title is what a change is called in a feed of a country, group or list.
func (c *changeOnPage) Title() string {
	if c.about.isAll() || len(c.Figures) == 0 {
		return "Snapshot " + c.To
	}
	title := c.Figures[0].Text
	if more := len(c.Figures) + c.MoreFigures - 1; more > 0 {
		title += " (and " + browse.Count(more) + " more)" // feeds are in English
	}
	return title
}
