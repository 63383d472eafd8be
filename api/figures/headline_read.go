package figures

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"hdqs/aggregate"
	"hdqs/api/contract"
	"hdqs/api/list"
)

// headlineReader reads figures for a request. Whatever the names of the answer are, it asks in
// those of the contract.
type headlineReader struct {
	s       *list.Lists
	a       *list.Reply
	names   contract.NameSet
	prefix  string // of the requests that records name
	sources map[string]source
	chosen  bool     // some countries are asked for
	codes   []string // theirs
	given   [][2]string
}

// Parameters of the lists that figures are made of.
const (
	groupBy       = "group_by"
	measuresParam = "measures"
	startParam    = "start_date"
	endParam      = "end_date"
)

func newHeadlineReader(s *list.Lists, a *list.Reply) (*headlineReader, error) {
	c := &headlineReader{s: s, a: a, names: a.Request.Names()}
	c.prefix = mountOf(s, c.names).Prefix
	var err error
	if c.sources, err = sourcesOf(s, a.Served); err != nil {
		return nil, err
	}
	places := url.Values{groupBy: {"code"}}
	for _, pair := range editOf(&a.Request).pairs {
		switch name, isPlace := strings.CutPrefix(pair[0], contract.CountryParam); {
		case isPlace:
			places.Set("code"+name, pair[1])
		case pair[0] != "limit" && pair[0] != "output_format":
			c.given = append(c.given, pair)
		}
	}
	if c.chosen = len(places) > 1; !c.chosen {
		return c, nil
	}
	countries, err := askList(s, a.Served, locationsPath, places)
	if err == nil {
		for i := range countries.len() {
			c.codes = append(c.codes, countries.at(i, 0).Text)
		}
	}
	return c, err
}

// dayText is the month of a time.
func dayText(v aggregate.Value) string {
	if v.Kind != aggregate.Time {
		return "an unknown time"
	}
	return time.UnixMicro(v.Int).UTC().Format("2006-01")
}

// figure is a headline figure that is being read.
type figure struct {
	*headlineReader
	*contract.Headline
	list   *contract.Endpoint   // in the contract's names
	window [][2]string          // of NewestMonths
	months map[string]time.Time // of YearApart, by place: the newest one
	of     map[string]*headline
	near   *near // nil until it is needed
}

// without leaves out a parameter.
func without(pairs [][2]string, name string) [][2]string {
	return slices.DeleteFunc(slices.Clone(pairs), func(p [2]string) bool { return p[0] == name })
}

// base are the parameters that choose the rows, but for places.
func (f *figure) base() [][2]string {
	switch f.Newest {
	case contract.NewestEdition:
		return slices.Concat(f.Keep, f.given, [][2]string{{contract.LatestParam, contract.LatestEdition}})
	case contract.NewestMonths:
		return slices.Concat(f.Keep, without(f.given, endParam), f.window)
	}
	return slices.Concat(f.Keep, f.given)
}

// where keeps the places that were asked for, if they are as many as a list may have.
func (f *figure) where() [][2]string {
	switch {
	case !f.chosen || len(f.codes) > contract.MaxValues:
		return nil
	case len(f.codes) == 1:
		return [][2]string{{f.Place, f.codes[0]}}
	}
	return [][2]string{{f.Place + contract.SeveralSuffix, strings.Join(f.codes, ",")}}
}

// ask answers a request for an aggregate of the list.
func (f *figure) ask(pairs [][2]string, groups []string, measures ...string) (answered, error) {
	params := url.Values{measuresParam: {strings.Join(measures, ",")}}
	if len(groups) > 0 {
		params.Set(groupBy, strings.Join(groups, ","))
	}
	for _, pair := range pairs {
		params.Set(pair[0], pair[1])
	}
	if f.a.HasTurn {
		f.a.Pause()
	}
	return askList(f.s, f.a.Served, f.Path, params)
}

// request is a request for an aggregate, in the names of the answer.
func (f *figure) request(pairs [][2]string, groups []string, measures ...string) string {
	d := new(queryEdit)
	for _, pair := range pairs {
		d.pairs = append(d.pairs, [2]string{f.names.Name(pair[0]), pair[1]})
	}
	if len(groups) > 0 {
		d.setList(groupBy, groups)
	}
	d.setList(measuresParam, measures)
	path := f.Headline.List(f.names).Path + "/" + contract.Aggregate.String()
	return f.prefix + path + "?" + d.query()
}

// requests are the requests of which the figure of a place is made.
func (f *figure) requests(place string) []string {
	at := [][2]string{{f.Place, place}}
	base := slices.Concat(at, f.base())
	switch f.Value {
	case contract.Percent:
		return []string{f.request(base, nil, f.Measures[0]), f.request(base, nil, f.Measures[1])}
	case contract.Weighted:
		return []string{f.request(base, []string{f.Weight}, append([]string{"count"}, f.Measures...)...)}
	case contract.MedianChange:
		if f.of[place] == nil {
			return []string{f.request(base, nil, "count", "max:"+contract.PeriodStart)}
		}
		month := f.months[place]
		return []string{
			f.request(slices.Concat(at, f.inMonth(month)), f.MatchedBy(), f.Measures[0]),
			f.request(slices.Concat(at, f.inMonth(month.AddDate(-1, 0, 0))), f.MatchedBy(), f.Measures[0]),
		}
	}
	return []string{f.request(base, nil, f.Measures...)}
}

func monthOf(v aggregate.Value) time.Time {
	at := time.UnixMicro(v.Int).UTC()
	return time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC)
}

// inMonth keeps the rows of a month.
func (f *figure) inMonth(month time.Time) [][2]string {
	text := month.Format("2006-01")
	return slices.Concat(f.Keep, without(f.given, endParam), [][2]string{{startParam, text}, {endParam, text}})
}

// readFacts finds what is known of the rows of each place besides the value.
func (f *figure) readFacts() error {
	f.of, f.months = map[string]*headline{}, map[string]time.Time{}
	if f.chosen && len(f.codes) == 0 {
		return nil
	}
	switch f.Newest {
	case contract.NewestMonths:
		newest, err := f.ask(f.given, nil, "max:"+contract.PeriodStart)
		if err != nil {
			return err
		}
		if newest.at(0, 0).Kind != aggregate.Time {
			return nil
		}
		last := monthOf(newest.at(0, 0))
		f.window = [][2]string{
			{startParam, last.AddDate(0, -11, 0).Format("2006-01")}, {endParam, last.Format("2006-01")},
		}
	case contract.YearApart:
		return f.readNewestMonths()
	}
	return f.readRows(slices.Concat(f.base(), f.where()))
}

// readNewestMonths finds what is known of the newest month of each country.
func (f *figure) readNewestMonths() error {
	newest, err := f.ask(slices.Concat(f.base(), f.where()), []string{f.Place}, "max:"+contract.PeriodStart)
	if err != nil {
		return err
	}
	for i := range newest.len() {
		place, month := newest.at(i, 0).Text, monthOf(newest.at(i, 1))
		f.months[place] = month
		if err := f.readRows(slices.Concat([][2]string{{f.Place, place}}, f.inMonth(month))); err != nil {
			return err
		}
	}
	return nil
}

// readRows adds what is known of rows to their places.
func (f *figure) readRows(pairs [][2]string) error {
	by := []string{f.Place, "resource_catalog_id"}
	hasLevel := f.list.Dimension(levelColumn) != nil || f.list.Figure(levelColumn) != nil
	if hasLevel {
		by = append(by, levelColumn)
	}
	if f.isOpen() {
		by = append(by, contract.PeriodEnd)
	}
	if f.Newest == contract.NewestMonths {
		by = append(by, "month")
	}
	rows, err := f.ask(pairs, by, "count", "min:"+contract.PeriodStart, "max:"+contract.PeriodEnd)
	if err != nil {
		return err
	}
	months := map[string]map[string]bool{}
	for i := range rows.len() {
		place := rows.at(i, 0).Text
		from := f.sources[rows.at(i, 1).Text]
		r, first := f.of[place], false
		if r == nil {
			r, first = &headline{source: from, complete: true, hasRows: true}, true
			f.of[place], months[place] = r, map[string]bool{}
		}
		n := len(by)
		start, end := rows.at(i, n+1), rows.at(i, n+2)
		if hasLevel {
			if level := rows.at(i, 2); first {
				r.level = level
			} else if r.level != level {
				r.level = aggregate.Value{}
			}
		}
		if f.Newest == contract.NewestMonths {
			months[place][rows.at(i, n-1).Text] = true
			provisional := f.list.IsUnfinished(end.Int, from.updated)
			r.complete = r.complete && !provisional
		}
		r.rows += int(rows.at(i, n).Int)
		r.source = r.source.and(from)
		if first || start.Int < r.start.Int {
			r.start = start
		}
		if r.end.Kind == aggregate.Null && !first || end.Kind == aggregate.Null {
			r.end = aggregate.Value{} // open
		} else if first || end.Int > r.end.Int {
			r.end = end
		}
	}
	for place, r := range f.of {
		if r.source.updated != 0 {
			r.updated = aggregate.Value{Kind: aggregate.Time, Int: r.source.updated}
		}
		if f.Newest == contract.NewestMonths {
			r.complete = r.complete && len(months[place]) == monthsOfYear
		}
	}
	return nil
}

// isOpen reports whether periods can have no end.
func (f *figure) isOpen() bool {
	return slices.ContainsFunc(f.list.Fields, func(field contract.Field) bool {
		return field.Name == contract.PeriodEnd && field.Nullable
	})
}

const monthsOfYear = 12
