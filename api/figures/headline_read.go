package figures

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"hdqs/aggregate"
	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/say"
	"hdqs/api/state"
)

// headlineReader reads figures for a request. Whatever the names of the answer are, it asks in
// those of the contract.
type headlineReader struct {
	s       *list.Lists
	a       *list.Reply
	names   contract.NameSet
	prefix  string // of the requests that records name
	sources map[string]source
	answers map[string]answered // by question; nil if they are not kept for other figures

	chosen bool               // some countries are asked for
	codes  []string           // theirs
	given  *contract.Question // filters besides the countries
}

// Parameters of the lists that figures are made of.
const (
	monthPart   = "month"
	newestStart = "max:" + contract.PeriodStart
)

const monthsOfYear = 12

func newHeadlineReader(s *list.Lists, a *list.Reply) (c *headlineReader, err error) {
	c = &headlineReader{s: s, a: a, names: a.Request.Scanned.Names(), given: a.Request.Question.Copy()}
	c.prefix = s.Routes.MountIn(c.names).Prefix
	places := aggregateOf(locationsPath).GroupBy("code")
	for _, of := range [][2]string{{contract.CountryParam, "code"}, {contract.GroupParam, contract.GroupParam}} {
		for _, suffix := range []string{"", contract.SeveralSuffix} {
			if param := of[0] + suffix; c.given.Has(param) {
				places.Keep(of[1]+suffix, c.given.Texts(param)...)
				c.given.Drop(param)
				c.chosen = true
			}
		}
	}
	if !c.chosen {
		return c, nil
	}
	countries, err := askList(s, a.Served, places)
	if err == nil {
		for i := range countries.len() {
			c.codes = append(c.codes, countries.at(i, 0).Text)
		}
	}
	return c, err
}

// readerOf reads figures of some countries, or of all, without a request.
func readerOf(s *list.Lists, v *state.Served, codes ...string) *headlineReader {
	given := contract.Ask(&contract.FigureEndpoints[contract.ContractNames][0], contract.Figures)
	return &headlineReader{s: s, a: &list.Reply{Served: v}, given: given, chosen: codes != nil, codes: codes}
}

// figure is a headline figure that is being read.
type figure struct {
	*headlineReader
	*contract.Headline
	list    *contract.Endpoint     // in the contract's names
	filters *contract.Question     // those of the declaration
	base    *contract.Question     // what chooses the rows, but for places
	byMonth map[time.Time][]string // of YearApart that is computed: places by their newest month
	future  map[string]bool        // places with rows that start after the snapshot's day, which are left out

	hasFuture bool // some place of the list has such rows

	of  map[string]*headline // places with rows
	why map[string]say.Text  // places without rows, and why; nil until it is known
	// What exists besides these rows, in words, of places and of all; nil until it is needed.
	alike, otherKinds map[string]say.Text
	everywhere        say.Text

	others aggregate.Value // countries on the other side, of figures that have one
}

// read returns the records of a figure: of the countries that were asked for, or of all that have
// rows, by code.
func (c *headlineReader) read(h *contract.Headline) (records [][]any, err error) {
	f, err := newFigure(c, h)
	if err != nil {
		return nil, err
	}
	places := f.codes
	if !f.chosen {
		places = slices.Sorted(maps.Keys(f.of))
	}
	for _, place := range places {
		record, err := f.record(place)
		if err != nil {
			return nil, err
		}
		records = append(records, record)
	}
	return records, nil
}

// newFigure reads a figure of the countries that were asked for, or of all: as the publication of
// the snapshot has kept it, or else computed.
func newFigure(c *headlineReader, h *contract.Headline) (*figure, error) {
	f := &figure{
		headlineReader: c, Headline: h, list: h.List(contract.ContractNames),
		future: map[string]bool{}, of: map[string]*headline{},
	}
	f.filters = h.Question(contract.ContractNames)
	f.base = f.filters.Copy().Add(c.given)
	var err error
	if f.sources, err = sourcesOf(c.s, c.a.Served); err != nil {
		return nil, err
	}
	if kept := keptIn(c, h); kept != nil {
		return f, kept.restore(f)
	}
	return f, computeFigure(f)
}

// computeFigure finds the rows and values of a figure.
func computeFigure(f *figure) (err error) {
	if f.chosen && len(f.codes) == 0 {
		return nil
	}
	if err := f.readRows(); err != nil || len(f.of) == 0 {
		return err
	}
	if err := f.readValues(); err != nil {
		return err
	}
	return f.readExtents()
}

// all asks for all rows of the list.
func (f *figure) all() *contract.Question { return contract.Ask(f.list, contract.Aggregate) }

// in restricts a question to places. A refusal of several says which of them are right.
func (f *figure) in(q *contract.Question, places ...string) *contract.Question {
	if q = q.Copy(); len(places) != 1 {
		q.Apart = f.Place
	}
	if places == nil {
		return q
	}
	return q.KeepAll(f.Place, places)
}

// between restricts a question to the rows of some months, up to the snapshot's day.
func (f *figure) between(q *contract.Question, first, last time.Time) *contract.Question {
	until := last.Format("2006-01")
	if today := f.today().Format(time.DateOnly); len(f.future) > 0 && strings.HasPrefix(today, until) {
		until = today
	}
	return q.Copy().Keep(contract.StartParam, first.Format("2006-01")).Keep(contract.EndParam, until)
}

// today is the day of the snapshot.
func (f *figure) today() time.Time {
	return f.a.Served.Bound.Snap.Manifest.SnapshotTime.UTC().Truncate(24 * time.Hour)
}

// dropFuture leaves rows that start after the snapshot's day out of a question, unless the request
// says until when.
func (f *figure) dropFuture(q *contract.Question) {
	if f.hasFuture && !f.given.Has(contract.EndParam) {
		q.Keep(contract.EndParam, f.today().Format(time.DateOnly))
	}
}

// futureKey is the key of what a snapshot keeps of the future of a list.
type futureKey struct{ path string }

// leaveOutFuture restricts the figure to rows that start on the snapshot's day or before: one wrong
// digit in a year would otherwise be the newest of its place for as long as it stands. It notes the
// places that have later rows, since only their requests need the end date.
func (f *figure) leaveOutFuture() (err error) {
	tomorrow := f.today().AddDate(0, 0, 1)
	from := tomorrow.Format(time.DateOnly) // and what started before, and has not ended
	isLater := func(v aggregate.Value) bool { return v.Kind == aggregate.Time && v.Int >= tomorrow.UnixMicro() }
	f.hasFuture, err = list.MadeOf(f.a.Served, futureKey{f.Path}, func() (bool, error) {
		rows, err := f.ask(f.all().Keep(contract.StartParam, from), nil, newestStart)
		return err == nil && isLater(rows.at(0, 0)), err
	})
	if err != nil || !f.hasFuture {
		return err
	}
	of := f.in(f.base, f.codes...)
	if f.Newest == contract.NewestMonths || f.isOfWholeList() {
		of = f.all().Add(f.given)
	}
	rows, err := f.ask(of.Keep(contract.StartParam, from), []string{f.Place}, newestStart)
	for i := 0; err == nil && i < rows.len(); i++ {
		if isLater(rows.at(i, 1)) {
			f.future[rows.at(i, 0).Text] = true
			f.base.Keep(contract.EndParam, f.today().Format(time.DateOnly))
		}
	}
	return err
}

// isOfWholeList reports whether the newest period is that of the list, whatever the place.
func (f *figure) isOfWholeList() bool { return f.list.Edition != nil && f.list.Edition.Whole }

// ask asks for groups of the list.
func (f *figure) ask(q *contract.Question, groups []string, measures ...string) (found answered, err error) {
	if f.a.HasTurn {
		f.a.Pause()
	}
	q = q.Copy().GroupBy(groups...).Measure(measures...)
	key := q.Plan().Name() + "?" + q.Text()
	found, has := f.answers[key]
	if !has {
		found, err = askList(f.s, f.a.Served, q)
		if f.answers != nil && err == nil {
			f.answers[key] = found
		}
	}
	return found, err
}

// request is a request for groups, in the names of the answer.
func (f *figure) request(q *contract.Question, groups []string, measures ...string) *contract.Question {
	return q.In(f.names).GroupBy(groups...).Measure(measures...)
}

// requests are the requests of which the figure of a place is made.
func (f *figure) requests(place string) (requests []*contract.Question) {
	rows := f.in(f.base, place)
	if f.Newest != contract.NewestMonths && !f.future[place] && (len(f.future) == 0 || !f.isOfWholeList()) {
		rows.Drop(contract.EndParam).Add(f.given)
	}
	h := f.of[place]
	switch {
	case f.Newest == contract.YearApart && h == nil:
		return []*contract.Question{f.request(rows, nil, "count", "max:"+contract.PeriodStart)}
	case f.Newest == contract.YearApart:
		month, _ := time.Parse("2006-01", h.Month)
		for years := range 2 {
			of := month.AddDate(-years, 0, 0)
			by := append(f.MatchedBy(), monthPart)
			requests = append(requests, f.request(f.between(rows, of, of), by, f.Measures...))
		}
	case f.Weight != "":
		return []*contract.Question{f.request(rows, []string{f.Weight}, append([]string{"count"}, f.Measures...)...)}
	default:
		for _, measure := range f.Measures {
			requests = append(requests, f.request(rows, nil, measure))
		}
	}
	return requests
}

// monthOf is the month of a time.
func monthOf(v aggregate.Value) time.Time {
	year, month, _ := time.UnixMicro(v.Int).UTC().Date()
	return time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
}

// monthText is the month of a time in words.
func monthText(v aggregate.Value) say.Text {
	if v.Kind != aggregate.Time {
		return say.Of("an unknown time")
	}
	return say.Of(monthOf(v).Format("2006-01"))
}

// readRows finds which rows the figure is made of, and what is known of them besides the value.
func (f *figure) readRows() error {
	if err := f.leaveOutFuture(); err != nil {
		return err
	}
	switch f.Newest {
	case contract.NewestEdition:
		f.base.Edition = true
	case contract.NewestMonths:
		until := f.all().Add(f.given)
		if len(f.future) > 0 {
			until.Keep(contract.EndParam, f.today().Format(time.DateOnly))
		}
		f.base.Drop(contract.EndParam)
		rows, err := f.ask(until, nil, newestStart)
		if err != nil || rows.at(0, 0).Kind != aggregate.Time {
			return err
		}
		last := monthOf(rows.at(0, 0))
		f.base = f.between(f.base, last.AddDate(0, 1-monthsOfYear, 0), last)
	case contract.YearApart:
		rows, err := f.ask(f.in(f.base, f.codes...), []string{f.Place}, newestStart)
		f.byMonth = map[time.Time][]string{}
		for i := 0; err == nil && i < rows.len(); i++ {
			month := monthOf(rows.at(i, 1))
			f.byMonth[month] = append(f.byMonth[month], rows.at(i, 0).Text)
		}
		for month, places := range f.byMonth {
			of := f.between(f.in(f.base, places...), month, month)
			err = cmp.Or(err, f.describe(of, month.Format("2006-01")))
		}
		return err
	}
	return f.describe(f.in(f.base, f.codes...), "")
}

// describe finds what is known of the rows of places besides the value: of a month, or of all if it
// is empty.
func (f *figure) describe(q *contract.Question, month string) error {
	by := []string{f.Place, "resource_catalog_id", contract.PeriodEnd}
	if f.Newest != contract.NewestEdition {
		by = append(by, monthPart)
	}
	measures := []string{"count", "min:" + contract.PeriodStart}
	if f.list.Units() != nil {
		measures = append(measures, "min:"+levelColumn, "max:"+levelColumn)
	}
	rows, err := f.ask(q, by, measures...)
	if err != nil {
		return err
	}
	for i := range rows.len() {
		place, from := rows.at(i, 0).Text, rows.at(i, 1).Text
		if place == "" {
			continue // rows of a level that are of no unit
		}
		if month != "" && rows.at(i, 3).Text != month {
			continue // a price of the month before that ends in this one
		}
		measure := func(k int) aggregate.Value { return rows.at(i, len(by)+k) }
		of := span{Start: storedOf(measure(1)), End: storedOf(rows.at(i, 2))}
		if len(measures) > 2 && measure(2) == measure(3) {
			of.Level = storedOf(measure(2))
		}
		h := f.of[place]
		if h == nil {
			h = &headline{span: of, Month: month, seen: map[string]bool{}}
			f.of[place] = h
		}
		if !slices.Contains(h.Sources, from) {
			h.Sources = append(h.Sources, from)
		}
		h.Rows += int(measure(0).Int)
		if h.Start == "" || of.Start != "" && of.Start < h.Start {
			h.Start = of.Start
		}
		if of.End == "" || h.End != "" && of.End > h.End { // null: open
			h.End = of.End
		}
		if of.Level != h.Level {
			h.Level = ""
		}
		h.Provisional = h.Provisional || f.list.IsUnfinished(rows.at(i, 2).Int, f.sources[from].updated)
		if len(by) > 3 {
			h.seen[rows.at(i, 3).Text] = true
			h.Months = len(h.seen)
		}
	}
	return nil
}
