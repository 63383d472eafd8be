package site

import (
	"cmp"
	"html/template"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/valyala/fasthttp"

	"hdqs/api/browse"
	"hdqs/api/chart"
	"hdqs/api/contract"
	"hdqs/api/country"
	"hdqs/api/figures"
	"hdqs/api/find"
	"hdqs/api/lang"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/api/textual"
)

// comparePath is the path of the page that compares countries, and groups of them. Its parameters
// are a figure, names, and whether it is for each 1,000 people.
const (
	comparePath  = "/compare"
	figureParam  = "figure"
	countryParam = "country"
	headParam    = "per"
	perHead      = "1000"
)

// How many places a page compares.
const leastCompared, mostCompared = 2, 6

// populationFigure is the figure of the people that a figure is shared among.
const populationFigure = "population"

// comparePage is what the page shows.
type comparePage struct {
	pageHead
	Figures   []*contract.Headline
	Chosen    string // names of places, as the field has them
	Names     string // of places, as the title has them
	Unknown   string // names of none
	Meant     []meant
	TooMany   bool
	HasGroups bool // of the example
	PerHead   bool
	NoPeople  string // places of which the people are not known
	IsCounted bool   // the figure can be for each 1,000 people
	Figure    *contract.Headline
	Sentence  string // the title of the figure
	Unit      string
	Second    string // the unit and the sources
	Rows      []compared
	Chart     template.HTML
	Page      *browse.Page // the view of the figure, nil without figures to compare
	Lines     any          // the figure over time for each 1,000 people, nil without
}

// meant is a country that is not compared, and has a name that was sent. Without one, it may be
// meant.
type meant struct{ Text, Name, Address string }

// compared is the figure of a country, or of a group of them. A text is empty if it is not known.
type compared struct {
	Name, Address                         string
	Value, Exact, Period, Age, Head, Part string
	People                                string // the years of the population that Head is of
	Reason                                template.HTML

	key          string   // the code, or the slug of a group
	codes        []string // of the country, or of those in the group
	isGroup      bool
	from         string // of how many countries of the group it is, empty if of all
	year         string // in which its period ends
	sources      []string
	number, head float64
	people       map[string]map[string]string // by country and year, of those in codes
}

// addCompare registers the page. views are the pages of lists by name.
func addCompare(p pages, views map[string]*view) {
	head := p.Site.hostHead(reply.HtmlType)
	p.add(comparePath, comparePath, func(ctx *fasthttp.RequestCtx) error {
		return p.Site.withSnapshot(ctx, snapshotIn(ctx), func(v *state.Served) error {
			all, err := p.Site.overviewOf(v)
			if err != nil {
				return err
			}
			page, err := newCompare(p, v, ctx, all)
			if err == nil && len(page.Rows) > 0 {
				fresh := freshnessOf(v, page.Figure.List(contract.ContractNames))
				err = page.fill(p.at, &asker{p.Site, v, p.at.Mount}, fresh,
					func(h *contract.Headline, code string) (map[string]string, error) {
						return figures.SeriesOf(p.Site.Lists, v, h, code)
					})
			}
			isGroup := func(c compared) bool { return c.isGroup }
			if err == nil && page.Chart != "" && !page.PerHead && !slices.ContainsFunc(page.Rows, isGroup) {
				of := views[page.Figure.List(p.at.Names).Name()]
				place := p.at.Names.Name(page.Figure.Place) + contract.SeveralSuffix
				query := contract.QueryOf(figureParam, page.Figure.Name, place, page.keys())
				page.Page, _, err = of.pageOf(ctx, v, query, false)
			}
			if err != nil {
				return err
			}
			known := []string{figureParam, countryParam, headParam, contract.SnapshotParam}
			return p.answerPage(ctx, "compare.html", page, &head, known...)
		})
	}, p.Site.Lists.Admission.Pages)
}

// newCompare reads what an address asks to compare.
func newCompare(
	p pages, v *state.Served, ctx *fasthttp.RequestCtx, all *country.Overview,
) (page *comparePage, err error) {
	args := ctx.QueryArgs()
	page = &comparePage{
		Figures: contract.Headlines, Figure: contract.Headlines[0], PerHead: string(args.Peek(headParam)) == perHead,
	}
	h, _ := contract.HeadlineOf(string(args.Peek(figureParam)), contract.ContractNames)
	page.Figure = cmp.Or(h, page.Figure)
	places, isUnknown := args.PeekMulti(countryParam), h == nil && args.Has(figureParam)
	if isUnknown {
		places = nil // another figure of them would answer another question
	}
	var chosen, names, unknown []string
	also := map[string][]string{} // by name: all that have it; by "": what may be meant
	for _, sent := range places {
		texts := strings.Split(lang.Commas.Replace(string(sent)), ",")
		if all.Named(string(sent)) != "" { // a name can have a comma
			texts = []string{string(sent)}
		}
		for _, text := range texts {
			text = strings.TrimSpace(text)
			var near []string
			if text != "" && all.Find(text) == nil {
				if also[text], near, err = named(p, v, text, find.Country, find.Group); err != nil {
					return nil, err
				}
			}
			c := comparedOf(p, v, all, page.Figure, text, also[text])
			isSame := func(other compared) bool { return other.key == c.key }
			switch {
			case text == "" || slices.ContainsFunc(page.Rows, isSame):
			case c.codes == nil:
				if len(also[text]) == 0 {
					unknown, also[""] = append(unknown, text), append(also[""], near...)
				}
			case len(page.Rows) == mostCompared:
				page.TooMany = true
			default:
				page.Rows, names = append(page.Rows, c), append(names, c.Name)
				if c.isGroup && all.NamedWhole(c.Name) != "" { // in the field, the name is a country
					c.Name = c.key
				}
				chosen = append(chosen, c.Name)
			}
		}
	}
	page.HasGroups = v.Bound.Groups.Group("western-africa") != nil
	page.Chosen, page.Names, page.Unknown = strings.Join(chosen, ", "), p.at.List(names), p.at.List(unknown)
	here := func(keys string) string {
		return comparePath + "?" + contract.QueryOf(figureParam, page.Figure.Name, countryParam, keys)
	}
	page.pageHead = p.at.head(p.at.T("Compare countries"), here(page.keys()))
	if isUnknown {
		page.ignore(figureParam + "=" + string(args.Peek(figureParam)))
	}
	if sent := string(args.Peek(headParam)); sent != "" && !page.PerHead {
		page.ignore(headParam + "=" + sent)
	}
	for _, text := range slices.Sorted(maps.Keys(also)) {
		for _, code := range also[text] {
			c := comparedOf(p, v, all, page.Figure, code, nil)
			isHere := slices.ContainsFunc(page.Rows, func(other compared) bool { return other.key == c.key })
			if !isHere && len(page.Rows) < mostCompared {
				address := p.at.root() + here(strings.TrimPrefix(page.keys()+","+c.key, ","))
				page.Meant = append(page.Meant, meant{text, c.Name, address})
			}
		}
	}
	return page, nil
}

// keys are the codes of all places.
func (c *comparePage) keys() string {
	var all []string
	for i := range c.Rows {
		all = append(all, c.Rows[i].key)
	}
	return strings.Join(all, ",")
}

// comparedOf is the country or group that a text names, without codes if it names none. The slug of
// a group is that group. Of all that has the text as its whole name, a group goes before a country
// of which it is only the beginning: "Caribbean" is not the Caribbean Netherlands.
func comparedOf(
	p pages, v *state.Served, all *country.Overview, h *contract.Headline, text string, whole []string,
) (c compared) {
	g, code := v.Bound.Groups.Group(text), all.NamedWhole(text)
	for _, slug := range whole {
		if g == nil && code == "" {
			g = v.Bound.Groups.Group(slug)
		}
	}
	if g != nil {
		param := p.at.Names.Name(strings.TrimSuffix(h.Place, contract.CountryParam) + contract.GroupParam)
		address := p.at.root() + browsePath + h.List(p.at.Names).Name() + "?" + contract.QueryOf(param, g.Slug)
		return compared{
			Name: p.at.Group(g.Slug, g.Name), Address: address, key: g.Slug, codes: g.Members, isGroup: true,
		}
	}
	if code = cmp.Or(code, all.Named(text)); code == "" {
		return c
	}
	name, address := p.at.Country(code, all.Find(code).Name), p.at.root()+countryPath+"/"+code
	return compared{Name: name, Address: address, key: code, codes: []string{code}}
}

// named are the codes of the places of some kinds that have a text as their whole name, and of
// those that a search for it finds.
func named(p pages, v *state.Served, text string, kinds ...find.Kind) (codes, near []string, err error) {
	for _, kind := range kinds {
		q := find.Query{Text: text, Kind: kind.String(), Limit: mostCompared, Brief: true, Language: p.at.Language}
		found, err := p.Site.Finder.Find(v, p.at.Mount, q)
		if err != nil {
			return nil, nil, err
		}
		for _, r := range found.Results {
			if r.Whole && found.Instead == "" && !slices.Contains(codes, r.Code) {
				codes = append(codes, r.Code)
			}
			if !slices.Contains(near, r.Code) {
				near = append(near, r.Code)
			}
		}
	}
	if near == nil {
		near = v.Bound.NearCodes(text)
	}
	return codes, near, nil
}

// seriesOf is a figure of a country by month or year.
type seriesOf func(h *contract.Headline, code string) (map[string]string, error)

// fill asks for the figure of all countries, and for their people.
func (c *comparePage) fill(p place, source browse.Source, fresh browse.Freshness, series seriesOf) error {
	var codes []string // of countries, of which it is said why they have no figure
	for i := range c.Rows {
		if !c.Rows[i].isGroup {
			codes = append(codes, c.Rows[i].key)
		}
	}
	ask := func(name string) (map[string]textual.Record, error) {
		_, e := contract.HeadlineOf(name, p.Names)
		records := map[string]textual.Record{}
		all := contract.Ask(e, contract.Figures)
		for _, q := range []*contract.Question{all, all.Copy().KeepAll(contract.CountryParam, codes)} {
			answer, err := source.Ask(q)
			if err != nil {
				return nil, err
			}
			for _, r := range answer.Records {
				records[r.Value(contract.CountryParam)] = r
			}
		}
		return records, nil
	}
	figures, err := ask(c.Figure.Name)
	if err != nil {
		return err
	}
	function, _, _ := strings.Cut(c.Figure.Measures[0], ":")
	isSum := c.Figure.IsPlain() && function == "sum"
	c.IsCounted = isSum && c.Figure.Name != populationFigure
	c.PerHead = c.PerHead && c.IsCounted
	if c.PerHead {
		people, err := ask(populationFigure)
		if err != nil {
			return err
		}
		for i := range c.Rows {
			if err := c.Rows[i].addPeople(people, series); err != nil {
				return err
			}
		}
	}
	var without []string
	for i := range c.Rows {
		if c.Rows[i].fill(p, c.Figure, isSum, figures, fresh); c.PerHead && c.Rows[i].Head == "" {
			without = append(without, c.Rows[i].Name)
		}
	}
	c.NoPeople = p.List(without)
	c.PerHead = c.PerHead && len(without) < len(c.Rows)
	if c.draw(p); c.PerHead {
		return c.drawLines(p, series)
	}
	return nil
}

// addPeople adds the population of the countries: of one by year, of a group as it is newest.
func (c *compared) addPeople(newest map[string]textual.Record, series seriesOf) error {
	c.people = map[string]map[string]string{}
	for _, code := range c.codes {
		r := newest[code]
		value, start := r.Value("value"), r.Value("period_start")
		if value == "" || len(start) < len("2006") {
			continue
		}
		if c.people[code] = map[string]string{start[:len("2006")]: value}; c.isGroup {
			continue
		}
		h, _ := contract.HeadlineOf(populationFigure, contract.ContractNames)
		known, err := series(h, code)
		if err != nil {
			return err
		}
		maps.Copy(c.people[code], known)
	}
	return nil
}

// heads is the population of a country in the year that is nearest to a time, and that year.
func (c *compared) heads(code, at string) (heads float64, year string) {
	near := func(year string) int {
		a, _ := strconv.Atoi(at[:min(len(at), len("2006"))])
		b, _ := strconv.Atoi(year)
		return max(a-b, b-a)
	}
	of := c.people[code]
	if len(of) == 0 {
		return math.NaN(), ""
	}
	year = slices.MinFunc(slices.Sorted(maps.Keys(of)), func(a, b string) int { return cmp.Compare(near(a), near(b)) })
	heads, err := strconv.ParseFloat(of[year], 64)
	if err != nil || heads <= 0 {
		return math.NaN(), ""
	}
	return heads, year
}

// yearsText are some years in words: the first and the last.
func yearsText(p place, years []string) string {
	if slices.Sort(years); len(years) == 0 || years[0] == years[len(years)-1] {
		return strings.Join(years[:min(len(years), 1)], "")
	}
	return p.T("%s to %s", years[0], years[len(years)-1])
}

// drawLines draws the figure of countries over time, for each 1,000 of the people of the nearest
// year that is known.
func (c *comparePage) drawLines(p place, series seriesOf) error {
	var lines []browse.Line
	var of []string
	for i := range c.Rows {
		row := &c.Rows[i]
		if row.isGroup || row.Head == "" {
			continue
		}
		known, err := series(c.Figure, row.key)
		if err != nil {
			return err
		}
		line, years := browse.Line{Name: row.Name, Values: map[string]float64{}}, []string(nil)
		for at, text := range known {
			number, err := strconv.ParseFloat(text, 64)
			if heads, year := row.heads(row.key, at); err == nil && year != "" {
				line.Values[at], years = number/heads*1000, append(years, year)
			}
		}
		if len(line.Values) > 0 {
			lines, of = append(lines, line), append(of, p.T("%[1]s, %[2]s", row.Name, yearsText(p, years)))
		}
	}
	if len(lines) >= leastCompared {
		c.Lines = browse.Lines(p.Language, c.Figure, c.Unit, strings.Join(of, p.T(";")+" "), lines)
	}
	return nil
}

// fill adds the figure, which of a group is the sum of those of its countries, if it can be added
// up and they are of one time.
func (c *compared) fill(
	p place, h *contract.Headline, isSum bool, figures map[string]textual.Record, fresh browse.Freshness,
) {
	var known []textual.Record
	var years []string
	var start, end, updated string
	sum, heads := new(big.Rat), 0.0
	c.number = math.Inf(-1) // without a figure it is the last
	for _, code := range c.codes {
		r := figures[code]
		value, isNumber := new(big.Rat).SetString(r.Value("value"))
		if !isNumber {
			c.Reason = said(p.Language, browse.Reason(p.Language, h.List(p.Names), r, c.Name))
			continue
		}
		if from := r.Value("period_start"); start == "" || from < start {
			start = from
		}
		end, updated = max(end, r.Value("period_end")), max(updated, r.Value("updated"))
		known = append(known, r)
		c.sources = append(c.sources, cmp.Or(r.Value("provider"), p.T("source not listed in this copy")))
		sum.Add(sum, value)
		n, year := c.heads(code, r.Value("period_end"))
		heads, years = heads+n, append(years, year)
	}
	c.Part = browse.Parts(p.Language, h, known)
	if c.isGroup {
		if c.Reason = ""; len(known) < len(c.codes) {
			c.from = p.T("from %[1]s of %[2]s countries", lang.Count(len(known)), lang.Count(len(c.codes)))
			c.Part = strings.TrimSuffix(p.T("%[1]s; %[2]s", c.from, c.Part), p.T(";")+" ")
		}
		if !isSum || !browse.OneTime(known) {
			const why = "Its figures of several countries, or of times more than a year apart, are not added up"
			known, c.Reason = nil, template.HTML(template.HTMLEscapeString(p.T(why))) //nolint:gosec // escaped
		}
	}
	if len(known) == 0 {
		return
	}
	c.Exact = strings.TrimSuffix(strings.TrimRight(sum.FloatString(contract.HeadlineDigits), "0"), ".")
	if !c.isGroup {
		c.Exact = known[0].Value("value")
	}
	c.Value = p.Rounded(c.Exact)
	c.number, _ = sum.Float64()
	c.Period, c.Age = browse.When(p.Language, h, start, end, updated, fresh)
	if c.year = min(end, fresh.Loaded)[:min(len(end), len("2006"))]; heads > 0 {
		c.People = yearsText(p, years)
		c.head = c.number / heads * 1000
		c.Head = browse.Number(p.Language, strconv.FormatFloat(c.head, 'f', 9, 64))
	}
}

// draw draws bars of the countries that have a figure, the greatest first.
func (c *comparePage) draw(p place) {
	if c.Unit = p.T(c.Figure.Unit); c.PerHead {
		c.Unit = p.T("%s for each 1,000 people", c.Unit)
	}
	var sources []string
	for i := range c.Rows {
		if c.Rows[i].Value != "" {
			sources = append(sources, c.Rows[i].sources...)
		}
	}
	slices.Sort(sources)
	c.Second = strings.TrimSuffix(p.T("%[1]s; %[2]s", c.Unit, p.List(slices.Compact(sources))), p.T(";")+" ")
	slices.SortStableFunc(c.Rows, func(a, b compared) int {
		if c.PerHead {
			return cmp.Compare(b.head, a.head)
		}
		return cmp.Compare(b.number, a.number)
	})
	when := c.Rows[0].Period
	if slices.ContainsFunc(c.Rows, func(row compared) bool { return row.Value != "" && row.Period != when }) {
		when = ""
	}
	c.Sentence = browse.Sentence(p.Language, c.Names, p.T(c.Figure.Title), when)
	var bars []chart.Bar
	for i := range c.Rows {
		row := &c.Rows[i]
		bar := chart.Bar{Name: row.Name, Value: row.number, Text: row.Value}
		if when == "" {
			bar.After = []string{row.year}
		}
		if c.PerHead {
			bar.Value, bar.Text = row.head, row.Head
		}
		if bar.Text != "" {
			if row.from != "" {
				bar.Text = p.T("%[1]s (%[2]s)", bar.Text, row.from)
			}
			bars = append(bars, bar)
		}
	}
	if len(bars) == 0 {
		return
	}
	c.Chart = chart.Bars(&chart.Chart{
		ID: "compared", Title: c.Sentence, Unit: c.Unit, Language: p.Language,
	}, bars).HTML()
}
