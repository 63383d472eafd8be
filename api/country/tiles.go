package country

import (
	"html/template"
	"math"
	"slices"
	"strconv"
	"time"

	"hdqs/api/browse"
	"hdqs/api/chart"
	"hdqs/api/contract"
	"hdqs/api/lang"
	"hdqs/api/say"
	"hdqs/api/textual"
)

// Tile is a headline figure of a country. A text is empty if it is not known.
type Tile struct {
	*contract.Headline
	Value, Exact string // rounded, and as the interface answers; empty without a value
	Period       string
	Coverage     string
	Provider     string
	Mark         string // what is not complete
	Age          string // that it is old
	Change       string // against the year before
	Before       string // the figure of that year
	Was          string // what an earlier publication had
	Topic        string // of its list
	Covered      string // without a value: other countries that its list has
	Spark        template.HTML
	View         string   // address of the records
	API          string   // address of the same figure
	Reason       say.Text // why there is no value, and what exists nearest

	record textual.Record
}

// The fields of a record of a figure.
const (
	valueField    = "value"
	startField    = "period_start"
	endField      = "period_end"
	providerField = "provider"
	unitsField    = "units"
)

// tiles are all headline figures of the country.
func (q *Question) tiles() ([]Tile, error) {
	figures := &contract.FigureEndpoints[q.Names][0]
	answer, err := q.Source.Ask(contract.Ask(figures, contract.Figures).Keep(contract.CountryParam, q.Country.Code))
	if err != nil {
		return nil, err
	}
	var all []Tile
	for _, r := range answer.Records {
		name := r.Value("figure")
		h, _ := contract.HeadlineOf(name, q.Names)
		t := Tile{
			Headline: h, record: r, Exact: r.Value(valueField),
			API: q.Root + contract.FiguresPath + "/" + name + "?" +
				contract.QueryOf(contract.CountryParam, q.Country.Code),
		}
		t.Topic = t.List(contract.ContractNames).Texts().GroupTitle()
		t.Reason = browse.Reason(q.Language, t.List(q.Names), r, q.Language.Country(q.Country.Code, q.Country.Name))
		if t.View = q.view(&t); t.Exact == "" {
			t.Covered = q.covered(&t)
		} else {
			t.Value, t.Provider = q.Language.Rounded(t.Exact), r.Value(providerField)
			t.Period, t.Age = browse.When(q.Language, t.Headline, r.Value(startField), r.Value(endField),
				r.Value("updated"), q.Freshness(h.List(contract.ContractNames)))
			units := r.Value(unitsField)
			t.Coverage = coverageText(q.Language, r.Value(levelField), units, r.Value("units_known"))
			if t.Mark = browse.PartOf(q.Language, t.Headline, r); t.OutOfFilters != "" && t.Mark != "" {
				t.Coverage, t.Mark = t.Mark, "" // not the whole country, whatever the level
			}
			if err := q.addSeries(&t); err != nil {
				return nil, err
			}
			if err := q.addOthers(&t); err != nil {
				return nil, err
			}
			if value, replaced, err := q.Past(t.Headline, q.Country.Code); err != nil {
				return nil, err
			} else if value != "" {
				if t.Was = q.Language.Rounded(value); t.Was == t.Value {
					t.Was = q.Language.Number(value)
				}
				t.Was = lang.Until(q.Language, t.Was, replaced)
			}
		}
		all = append(all, t)
	}
	return all, nil
}

// mostCovered is how many other countries a missing figure names, and how many of the other side a
// partial one does.
const mostCovered = 3

// covered names other countries of the list of a figure, empty for none.
func (q *Question) covered(t *Tile) string {
	var names []string
	for i := range q.Overview.Countries {
		c := &q.Overview.Countries[i]
		if slices.ContainsFunc(c.Lists, func(l Listed) bool { return l.List.Path == t.Path && l.Field == t.Place }) {
			names = append(names, q.Language.Country(c.Code, c.Name))
		}
	}
	return q.some(names)
}

// some names a few of several things.
func (q *Question) some(names []string) string {
	if more := len(names) - mostCovered; more > 0 {
		names = append(names[:mostCovered:mostCovered], q.Language.T("%s more", lang.Count(more)))
	}
	return q.Language.List(names)
}

// addOthers names the countries of the other side of a figure that has few of them.
func (q *Question) addOthers(t *Tile) error {
	if t.LeastOthers == 0 || t.record.Value("complete") != "false" {
		return nil
	}
	asked := t.record.Rows.In(contract.ContractNames).As(contract.Aggregate).GroupBy(t.Other).Measure("count")
	answer, err := q.Contract.Ask(asked)
	if err != nil {
		return err
	}
	var names []string
	for _, r := range answer.Records {
		if c := q.Overview.Find(r.Value(t.Other)); c != nil {
			names = append(names, q.Language.Country(c.Code, c.Name))
		}
	}
	slices.Sort(names)
	t.Mark = q.Language.T("only in %s", q.some(names))
	return nil
}

// addChange adds the change against the year before: of a figure of a year, or of 12 months against
// the 12 before them. known are the figures over time.
func (q *Question) addChange(t *Tile, known map[string]string) (err error) {
	end := t.record.Value(endField)
	if len(end) < len("2006-01") || t.Mark != "" {
		return nil
	}
	now, wrong := strconv.ParseFloat(t.Exact, 64)
	before, label, lacking := 0.0, "", ""
	switch last, failed := time.Parse("2006-01", end[:len("2006-01")]); {
	case wrong != nil || failed != nil:
		return nil
	case t.Series == "year":
		label = strconv.Itoa(last.Year() - 1)
		if before, wrong = strconv.ParseFloat(known[label], 64); wrong != nil {
			return nil
		}
		if lacking, err = q.lacking(t, before, label, strconv.Itoa(last.Year())); err != nil {
			return err
		}
	case t.Series == "month":
		for back := 12; back < 24; back++ {
			month, err := strconv.ParseFloat(known[last.AddDate(0, -back, 0).Format("2006-01")], 64)
			if err != nil {
				return nil // a month is missing
			}
			before += month
		}
		label = q.Language.T("the 12 months before")
	}
	if before > 0 {
		change := (now - before) / before * 100
		sign := ""
		switch {
		case math.Abs(change) < 0.05:
			change = 0
		case change > 0:
			sign = "+"
		}
		t.Change = sign + q.Language.Number(strconv.FormatFloat(change, 'f', 1, 64)) + "\u00a0%"
		t.Before = q.Language.T("%[1]s: %[2]s", label, q.Language.Rounded(strconv.FormatFloat(before, 'f', -1, 64)))
		if lacking != "" {
			t.Before += "." + lacking
		}
	}
	return nil
}

// lacking names the countries of the other side of a figure that have records of one of two years
// only, if the change that the page shows would be another one with them.
func (q *Question) lacking(t *Tile, whole float64, before, last string) (string, error) {
	rows := t.record.Rows.In(contract.ContractNames).Drop(contract.LatestParam)
	place := browse.SummedPlace(rows)
	if place == "" || !t.IsPlain() {
		return "", nil
	}
	nameOf := func(code string) string {
		if c := q.Overview.Find(code); c != nil {
			return q.Language.Country(code, c.Name)
		}
		return code
	}
	const shown = 0.0005 // of the figure: the change has one decimal
	by := []string{t.Series, place}
	return browse.Lacking(q.Language, q.Contract, rows, by, t.Measures[0], before, last, shown*whole, nameOf)
}

// view is the page of the records that a figure is made of. Without a figure it is the page of all
// records of the country, and without records it is empty.
func (q *Question) view(t *Tile) string {
	if t.Exact == "" {
		is := func(l Listed) bool { return l.List.Path == t.Path && l.Field == t.Place }
		if i := slices.IndexFunc(q.Country.Lists, is); i >= 0 {
			return q.records(&q.Country.Lists[i])
		}
		return ""
	}
	return browse.FigurePage(q.Prefix, t.Headline, t.record.Rows)
}

// records is the page of all records that a list has of the country.
func (q *Question) records(l *Listed) string {
	name := contract.EndpointOf(l.List.Table, q.Names).Name()
	return q.Prefix + "/browse/" + name + "?" + contract.QueryOf(q.Names.Name(l.Field), q.Country.Code)
}

// mostMonths is how many months a line shows, and leastPoints how many figures it needs.
const (
	mostMonths  = 36
	leastPoints = 3
)

// addSeries adds the figures of earlier years or months, if they can be compared: of the same
// admin level, and of as many units.
func (q *Question) addSeries(t *Tile) error {
	known, err := q.Series(t.Headline, q.Country.Code)
	if err != nil {
		return err
	}
	var points []chart.Point
	var labels []string
	if t.Series == "month" {
		newest, err := time.Parse(time.DateOnly, q.Overview.newest[t.Path])
		if err != nil {
			return nil
		}
		for back := mostMonths - 1; back >= 0; back-- {
			labels = append(labels, newest.AddDate(0, -back, 1-newest.Day()).Format("2006-01"))
		}
	} else if end := t.record.Value(startField); len(end) > 4 && len(known) > 0 {
		last, _ := strconv.Atoi(end[:4])
		for year := last - mostMonths + 1; year <= last; year++ {
			labels = append(labels, strconv.Itoa(year))
		}
	}
	all := 0
	for _, label := range labels {
		text, has := known[label]
		if !has && len(points) == 0 {
			continue
		}
		v, _ := strconv.ParseFloat(text, 64)
		if points = append(points, chart.Point{Value: v, Text: q.Language.Rounded(text), Known: has}); has {
			all++
		}
	}
	changing := t.record.Value("complete") == "false"
	switch {
	case t.Mark != "":
		changing = false
	case changing:
		t.Mark = q.Language.T("preliminary: the newest months can still change")
	}
	if err := q.addChange(t, known); err != nil {
		return err
	}
	for len(points) > 0 && !points[len(points)-1].Known {
		points, labels = points[:len(points)-1], labels[:len(labels)-1]
	}
	if all >= leastPoints {
		first, last := points[0].Text, points[len(points)-1].Text
		text := map[string]string{
			"month": "By month: %[1]s in %[2]s, %[3]s in %[4]s", "year": "By year: %[1]s in %[2]s, %[3]s in %[4]s",
		}[t.Series]
		said := q.Language.T(text, first, labels[len(labels)-len(points)], last, labels[len(labels)-1])
		t.Spark = chart.Spark(said, points, changing)
	}
	return nil
}
