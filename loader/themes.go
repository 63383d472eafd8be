package loader

import (
	"math"
	"slices"
	"strings"

	"hdqs/loader/catalogfile"
	"hdqs/schema"
)

// themes are all themes, in the order in which manifests and reports list their tables.
var themes = func() []*theme {
	var all []*theme
	var add func(l *schema.List)
	add = func(l *schema.List) {
		all = append(all, newTheme(l))
		for _, other := range schema.Lists {
			if listedAfter[other.Table] == l.Table {
				add(other)
			}
		}
	}
	for _, l := range schema.Lists {
		if listedAfter[l.Table] == "" {
			add(l)
		}
	}
	return all
}()

// listedAfter are tables of which the place in manifests is not that in the specification. The ids
// of snapshots follow from the order.
var listedAfter = map[string]string{"dataset": "market", "resource": "dataset", "returnees": "refugees"}

// dataThemes are the themes of the data endpoints.
var dataThemes = slices.DeleteFunc(slices.Clone(themes), func(th *theme) bool { return th.category == "" })

var tables = func() []*table {
	all := make([]*table, len(themes))
	for i, th := range themes {
		all[i] = th.table
	}
	return all
}()

// joinedLists are the reference lists that the loader reads row by row, in the order in which it
// reads them: a list that another one joins comes first.
var joinedLists = listsOf("org-type", "sector", "currency", "commodity", "org", "market")

func listsOf(roles ...string) (lists []*theme) {
	for _, role := range roles {
		lists = append(lists, themeOf(role))
	}
	return lists
}

// themeOf finds the theme of a role, nil when there is none.
func themeOf(role string) *theme {
	for _, th := range themes {
		if th.role == role && role != "" {
			return th
		}
	}
	return nil
}

// availabilityName is the table that may be derived from the others.
const availabilityName = "data_availability"

// newTheme makes the theme of a list.
func newTheme(l *schema.List) *theme {
	th := &theme{
		list: l, table: tableOf(l), role: l.Source.Role,
		steps: append(stepsOf(l), ownSteps[l.Table]...), checks: ownChecks[l.Table], view: ownViews[l.Table],
	}
	if l.Data() {
		th.category, th.subcategory = l.Group(), l.Source.Subcategory
		for i := range l.Columns {
			c := &l.Columns[i]
			if prefix, is := strings.CutSuffix(c.Name, "location_code"); is {
				th.places = append(th.places, placeGroup{c.Group, prefix})
			}
		}
	}
	return th
}

// stepsOf are the steps that read a row of the files of a list: one for each column of rows and
// each group, in the order in which they are stored, and the one that finds the source. It is nil
// for the lists of places, which have readers of their own (lists.go), and for those that have no
// files.
func stepsOf(l *schema.List) []step {
	switch l.Source.Role {
	case "", catalogfile.LocationRole, catalogfile.UnitRole:
		return nil
	case "org":
		return []step{readColumn(l.Column("acronym")), readColumn(l.Column("name")), readOrgType()}
	}
	var steps []step
	source, seen := []step(nil), map[string]bool{"": true}
	for i := range l.Columns {
		switch c := &l.Columns[i]; {
		case c.Name == "resource_catalog_id":
			source = []step{readIDs()}
		case c.Group == "":
			steps = append(steps, readColumn(c))
		case !seen[c.Group]:
			seen[c.Group] = true
			steps = append(steps, readGroupOf(l, c.Group))
		}
	}
	return append(steps, source...)
}

// readGroupOf is the step that reads a group of a list. Those that places, periods and reference
// lists describe have the names of these.
func readGroupOf(l *schema.List, name string) step {
	var columns []schema.Column
	var names []string
	for _, c := range l.Columns {
		if c.Group == name {
			columns, names = append(columns, c), append(names, c.Name)
		}
	}
	switch name {
	case "place":
		switch {
		case slices.Contains(names, "admin2_ref"):
			return readUnit(unit2Headers, names[len(schema.UnitColumns):])
		case slices.Contains(names, "admin1_ref"):
			return readUnit(unit1Headers, nil)
		}
		return readCountry(name, "")
	case "origin", "asylum":
		return readCountry(name, name+"_")
	case "period":
		return readPeriod(l.Column(periodEnd).Null)
	case "market":
		return readMarket()
	case "commodity", "org", "sector":
		return readListed(name, columns)
	}
	return readGroup(name, names...)
}

// ownSteps are the last steps of tables that have more than their columns say.
var ownSteps = map[string][]step{"refugees": {countStrangers(false)}, "returnees": {countStrangers(true)}}

// ownChecks are the checks of tables that have some.
var ownChecks = map[string][]step{
	"poverty_rate": {
		checkComputed(mpiMismatch, 0.0001, "mpi", func(of []float64) float64 { return of[0] * of[1] / 10_000 },
			"headcount_ratio", "intensity_of_deprivation"), // both are in percent
		checkComputed(severeAbove, 0.01, "headcount_ratio", slices.Max[[]float64],
			"headcount_ratio", "in_severe_poverty"),
	},
	"funding": {checkComputed(shareMismatch, 1, "funding_pct",
		func(of []float64) float64 { return 100 * of[0] / of[1] }, "funding_usd", "requirements_usd")},
	"national_risk": {checkComputed(riskMismatch, 0.2, "overall_risk",
		func(of []float64) float64 { return math.Cbrt(of[0] * of[1] * of[2]) },
		"hazard_exposure_risk", "vulnerability_risk", "coping_capacity_risk")},
}

// ownViews say what is not usual in the dumps of tables.
var ownViews = map[string]view{
	"location":  {needed: "reference_period_start"},
	"admin1":    {hidden: "is_unspecified", needed: "reference_period_start"},
	"admin2":    {hidden: "is_unspecified", needed: "reference_period_start"},
	"commodity": {name: "wfp_commodity_view"},
	"market":    {name: "wfp_market_view"},
	"dataset": {renamed: map[string]string{
		"dataset_catalog_id":    "hdx_id",
		"dataset_catalog_stub":  "hdx_stub",
		"dataset_catalog_title": "title",
	}},
	"resource": {assumed: map[string]bool{"is_hxl": true}, renamed: map[string]string{
		"resource_catalog_id":   "hdx_id",
		"dataset_catalog_title": "dataset_title",
	}},
}

// tableNamed finds the declaration of a table. An unknown name is a programming error.
func tableNamed(name string) *table {
	for _, t := range tables {
		if t.name == name {
			return t
		}
	}
	panic("loader: no table named " + name)
}

// IsDataRole reports whether a role is that of a data theme.
func IsDataRole(role string) bool {
	th := themeOf(role)
	return th != nil && th.category != ""
}

// Inputs are where a CKAN site publishes the files of roles, data themes first.
func Inputs() []schema.Source {
	var data, references []schema.Source
	for _, th := range themes {
		switch {
		case th.list.Source.Dataset == "":
		case th.category != "":
			data = append(data, th.list.Source)
		default:
			references = append(references, th.list.Source)
		}
	}
	return append(data, references...)
}

// headersOf are the columns that the files of a role must have, and those that they may have.
func headersOf(role string) (wanted, optional []string, ok bool) {
	switch role {
	case catalogfile.LocationRole:
		return locationHeaders, slices.Concat(classHeaders[:]...), true
	case catalogfile.UnitRole:
		return unitHeaders, nil, true
	}
	th := themeOf(role)
	if th == nil {
		return nil, nil, false
	}
	wanted, optional = th.headers()
	return wanted, optional, true
}

// AllRoles names every role where roles are listed.
const AllRoles = "all"

// Roles are the roles that losses can be allowed for.
func Roles() []string {
	roles := []string{catalogfile.PackageRole}
	for _, th := range themes {
		if th.role != "" {
			roles = append(roles, th.role)
		}
	}
	return roles
}

func roleOf(table string) string {
	for _, th := range themes {
		if th.table.name == table && th.role != "" {
			return th.role
		}
	}
	if table == "admin2" {
		return catalogfile.UnitRole
	}
	return catalogfile.PackageRole
}

// tablesOf are the tables that a source concerns: the one that its path names, or those that are
// made from its role.
func tablesOf(role, path string) (names []string) {
	for _, th := range themes {
		switch name := th.table.name; {
		case name == path:
			return []string{name}
		case roleOf(name) == role && name != availabilityName:
			names = append(names, name)
		}
	}
	return names
}
