// Package country makes the pages about one country: its headline figures, which lists have records
// of it, and where these are from. Nothing here defines a figure: all are answers of the interface.
package country

import (
	"slices"
	"strconv"
	"strings"

	"hdqs/api/browse"
	"hdqs/api/contract"
	"hdqs/api/lang"
	"hdqs/api/textual"
)

// Overview is which records a snapshot has of each country.
type Overview struct {
	Countries []Country // by name
	byCode    map[string]int
	places    lang.Places
	newest    map[string]string // the newest month of a list, by path
	datasets  map[string]string // by resource
}

// Country is a country with the lists that have records of it.
type Country struct {
	Code, Name   string
	HasHRP, IsIn bool // it has a response plan; it is in the overview of plans
	Lists        []Listed
}

// Listed is what a list has of a country.
type Listed struct {
	List      *contract.Endpoint // in the contract's names
	Field     string             // with the country
	Records   int
	Newest    [levels]string // day on which the newest period begins, by level; empty without records
	resources []string
}

// levels are those of countries, and of their first-level and second-level units.
const levels = 3

// NewOverview asks which records there are. source answers in the contract's names.
func NewOverview(source browse.Source) (*Overview, error) {
	o := &Overview{byCode: map[string]int{}, newest: map[string]string{}, datasets: map[string]string{}}
	locations, err := askAll(source, allOf("location"))
	if err != nil {
		return nil, err
	}
	for _, r := range locations {
		c := Country{HasHRP: r.Value("has_hrp") == "true", IsIn: r.Value("in_gho") == "true"}
		c.Code, c.Name = r.Value("code"), r.Value("name")
		o.Countries = append(o.Countries, c)
	}
	slices.SortStableFunc(o.Countries, func(a, b Country) int { return strings.Compare(a.Name, b.Name) })
	for i := range o.Countries {
		o.byCode[o.Countries[i].Code] = i
		o.places.Add(o.Countries[i].Code, o.Countries[i].Name)
	}
	files, err := askAll(source, allOf("resource").Select(resourceField, "dataset_catalog_id"))
	if err != nil {
		return nil, err
	}
	for _, r := range files {
		o.datasets[r.Value(resourceField)] = r.Value("dataset_catalog_id")
	}
	for i := range contract.Endpoints {
		e := &contract.Endpoints[i]
		if !e.HasPeriod() || e.Group() == "metadata" {
			continue
		}
		for _, field := range e.CountryFields() {
			if err := o.add(source, e, field); err != nil {
				return nil, err
			}
		}
	}
	return o, nil
}

const (
	resourceField = "resource_catalog_id"
	levelField    = "admin_level"
)

// add adds what a list has of all countries.
func (o *Overview) add(source browse.Source, e *contract.Endpoint, field string) error {
	groups := []string{field, resourceField}
	if e.UnitLevels() > 0 {
		groups = append(groups, levelField)
	}
	const start = contract.PeriodStart
	asked := contract.Ask(e, contract.Aggregate).GroupBy(groups...).Measure("count", "max:"+start)
	records, err := askAll(source, asked)
	for _, r := range records {
		at, known := o.byCode[r.Value(field)]
		if !known {
			continue
		}
		c := &o.Countries[at]
		if n := len(c.Lists); n == 0 || c.Lists[n-1].List != e || c.Lists[n-1].Field != field {
			c.Lists = append(c.Lists, Listed{List: e, Field: field})
		}
		l := &c.Lists[len(c.Lists)-1]
		n, _ := strconv.Atoi(r.Value("count"))
		l.Records += n
		day := r.Value("max_" + start)
		day = day[:min(len(day), len("2006-01-02"))]
		level, _ := strconv.Atoi(r.Value(levelField))
		level = min(level, levels-1)
		l.Newest[level] = max(l.Newest[level], day)
		o.newest[e.Path] = max(o.newest[e.Path], day)
		if id := r.Value(resourceField); !slices.Contains(l.resources, id) {
			l.resources = append(l.resources, id)
		}
	}
	return err
}

// Dated is a list with the day on which its newest records begin.
type Dated struct {
	List *contract.Endpoint // in the contract's names
	Day  string
}

// NewestLists are the lists with the day of their newest records that do not begin after a day, the
// newest first.
func (o *Overview) NewestLists(loaded string) (all []Dated) {
	for i := range o.Countries {
		for _, l := range o.Countries[i].Lists {
			newest := ""
			for _, day := range l.Newest {
				if day <= loaded {
					newest = max(newest, day)
				}
			}
			at := slices.IndexFunc(all, func(d Dated) bool { return d.List == l.List })
			if at < 0 {
				at, all = len(all), append(all, Dated{List: l.List})
			}
			all[at].Day = max(all[at].Day, newest)
		}
	}
	slices.SortStableFunc(all, func(a, b Dated) int { return strings.Compare(b.Day, a.Day) })
	return slices.DeleteFunc(all, func(d Dated) bool { return d.Day == "" })
}

// Month is the month of the newest records, in words.
func (d Dated) Month(l *lang.Language) string { return l.Period(monthOf(d.Day)) }

// newestDay is the day on which the newest records of the country begin, unless that is after the
// load, as projects can.
func (c *Country) newestDay(loaded string) (newest string) {
	for i := range c.Lists {
		for _, day := range c.Lists[i].Newest {
			if day <= loaded {
				newest = max(newest, day)
			}
		}
	}
	return newest
}

// Find returns the country with a code, nil without one.
func (o *Overview) Find(code string) *Country {
	at, known := o.byCode[code]
	if !known {
		return nil
	}
	return &o.Countries[at]
}

// Named returns the code of a country that a text names in any language, empty if it names none.
func (o *Overview) Named(text string) string { return o.places.Find(text) }

// NamedWhole is Named without names of which the text is only the beginning.
func (o *Overview) NamedWhole(text string) string { return o.places.Known(text) }

// Containing are the codes of countries of which the code or a name in any language has a text in
// it.
func (o *Overview) Containing(text string) map[string]bool { return o.places.Containing(text) }

// What are the lists with records of the country, in a few words each.
func (c *Country) What() (names []string) {
	for i := range c.Lists {
		if name := c.Lists[i].List.Texts().ShortName(); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// allOf asks for all records of a table.
func allOf(table string) *contract.Question {
	return contract.Ask(contract.EndpointOf(table, contract.ContractNames), contract.Rows)
}

// askAll asks for the records of all pages.
func askAll(source browse.Source, q *contract.Question) (all []textual.Record, err error) {
	for {
		answer, err := source.Ask(q.Page(len(all), contract.MaxLimit))
		if err != nil {
			return nil, err
		}
		if all = append(all, answer.Records...); len(answer.Records) == 0 || len(all) >= answer.Total {
			return all, nil
		}
	}
}
