package site

import (
	"cmp"
	"html/template"
	"slices"
	"strconv"
	"strings"

	"github.com/valyala/fasthttp"

	"hdqs/api/browse"
	"hdqs/api/chart"
	"hdqs/api/contract"
	"hdqs/api/country"
	"hdqs/api/reply"
	"hdqs/api/state"
)

// comparePath is the path of the page that compares countries. Its parameters are a figure, names
// of countries, and whether it is for each 1,000 people.
const (
	comparePath  = "/compare"
	figureParam  = "figure"
	countryParam = "country"
	headParam    = "per"
	perHead      = "1000"
)

// How many countries a page compares.
const leastCompared, mostCompared = 2, 6

// populationFigure is the figure of the people that a figure is shared among.
const populationFigure = "population"

// comparePage is what the page shows.
type comparePage struct {
	pageHead
	Figures   []figureChoice
	All       []countryName
	Chosen    string // names of countries, as the field has them
	Unknown   string // names of no country
	TooMany   bool
	PerHead   bool
	IsCounted bool // the figure can be for each 1,000 people
	Figure    *contract.Headline
	Unit      string
	Rows      []compared
	Chart     template.HTML
	Page      *browse.Page // the view of the figure over time, nil without figures to compare
}

type figureChoice struct {
	Name, Title string
	Selected    bool
}

type countryName struct{ Code, Name string }

// compared is a country's figure. A text is empty if it is not known.
type compared struct {
	countryName
	Value, Exact, Period, Age, Head string
	Reason                          template.HTML
	number, head                    float64
}

// addCompare registers the page. views are the pages of lists by name.
func addCompare(p pages, views map[string]*view) {
	head := p.Site.hostHead(reply.HtmlType)
	p.add(comparePath, comparePath, func(ctx *fasthttp.RequestCtx) error {
		return p.Site.withSnapshot(snapshotIn(ctx), func(v *state.Served) error {
			all, err := p.Site.overviewOf(v)
			if err != nil {
				return err
			}
			page, codes := newCompare(p.at, ctx, all)
			if len(codes) >= leastCompared {
				source := &asker{p.Site, v, p.at.Mount}
				err = page.fill(p.at, source, codes, state.DayOf(v.Bound.Snap.Manifest.SnapshotTime))
			}
			if err == nil && page.Chart != "" {
				of := views[page.Figure.List(p.at.Names).Name()]
				place := p.at.Names.Name(page.Figure.Place) + contract.SeveralSuffix
				query := contract.QueryOf(figureParam, page.Figure.Name, place, strings.Join(codes, ","))
				page.Page, _, err = of.pageOf(ctx, v, query, false)
			}
			if err != nil {
				return err
			}
			return p.answerPage(ctx, "compare.html", page, &head)
		})
	}, p.Site.Lists.Admission.Pages)
}

// newCompare reads what an address asks to compare.
func newCompare(p place, ctx *fasthttp.RequestCtx, all *country.Overview) (page comparePage, codes []string) {
	args := ctx.QueryArgs()
	page = comparePage{Figure: &contract.Headlines[0], PerHead: string(args.Peek(headParam)) == perHead}
	for i := range contract.Headlines {
		h := &contract.Headlines[i]
		if h.Name == string(args.Peek(figureParam)) {
			page.Figure = h
		}
	}
	for i := range contract.Headlines {
		h := &contract.Headlines[i]
		page.Figures = append(page.Figures, figureChoice{h.Name, p.T(h.Title), h == page.Figure})
	}
	for i := range all.Countries {
		c := &all.Countries[i]
		page.All = append(page.All, countryName{c.Code, p.Country(c.Code, c.Name)})
	}
	var names, unknown []string
	for _, sent := range args.PeekMulti(countryParam) {
		texts := strings.Split(string(sent), ",")
		if all.Named(string(sent)) != "" { // a name can have a comma
			texts = []string{string(sent)}
		}
		for _, text := range texts {
			text = strings.TrimSpace(text)
			switch code := all.Named(text); {
			case text == "" || slices.Contains(codes, code):
			case code == "":
				unknown = append(unknown, text)
			case len(codes) == mostCompared:
				page.TooMany = true
			default:
				codes, names = append(codes, code), append(names, p.Country(code, all.Find(code).Name))
			}
		}
	}
	page.Chosen, page.Unknown = strings.Join(names, ", "), p.List(unknown)
	here := contract.QueryOf(figureParam, page.Figure.Name, countryParam, strings.Join(codes, ","))
	page.pageHead = p.head(p.T("Compare countries"), strings.TrimSuffix(comparePath+"?"+here, "?"))
	return page, codes
}

// fill asks for the figure of each country, and for its people.
func (c *comparePage) fill(p place, source browse.Source, codes []string, loaded string) error {
	ask := func(name string) (*browse.Answer, error) {
		_, e := contract.HeadlineOf(name, p.Names)
		return source.Ask(contract.Ask(e, contract.Figures).KeepAll(contract.CountryParam, codes))
	}
	answer, err := ask(c.Figure.Name)
	if err != nil {
		return err
	}
	function, _, _ := strings.Cut(c.Figure.Measures[0], ":")
	c.IsCounted = c.Figure.IsPlain() && function == "sum" && c.Figure.Name != populationFigure
	people := map[string]float64{}
	if c.PerHead = c.PerHead && c.IsCounted; c.PerHead {
		counted, err := ask(populationFigure)
		if err != nil {
			return err
		}
		for _, r := range counted.Records {
			people[r.Value(contract.CountryParam)], _ = strconv.ParseFloat(r.Value("value"), 64)
		}
	}
	for _, r := range answer.Records {
		code := r.Value(contract.CountryParam)
		at := slices.IndexFunc(c.All, func(n countryName) bool { return n.Code == code })
		row := compared{countryName: c.All[at], Exact: r.Value("value")}
		if row.Exact == "" {
			row.Reason = said(p.Language, r.Reason)
		} else {
			row.number, _ = strconv.ParseFloat(row.Exact, 64)
			row.Value = p.Rounded(row.Exact)
			row.Period, row.Age = browse.When(p.Language, c.Figure, r.Value("period_start"), r.Value("period_end"),
				r.Value("updated"), loaded)
			if n := people[code]; n > 0 {
				row.head = row.number / n * 1000
				row.Head = browse.Number(p.Language, strconv.FormatFloat(row.head, 'f', 6, 64))
			}
		}
		c.Rows = append(c.Rows, row)
	}
	c.draw(p)
	return nil
}

// draw draws bars of the countries that have a figure, the greatest first.
func (c *comparePage) draw(p place) {
	if c.Unit = p.T(c.Figure.Unit); c.PerHead {
		c.Unit = p.T("%s for each 1,000 people", c.Unit)
	}
	slices.SortStableFunc(c.Rows, func(a, b compared) int {
		if c.PerHead {
			return cmp.Compare(b.head, a.head)
		}
		return cmp.Compare(b.number, a.number)
	})
	var bars []chart.Bar
	for i := range c.Rows {
		row := &c.Rows[i]
		bar := chart.Bar{Name: p.T("%[1]s, %[2]s", row.Name, row.Period), Value: row.number, Text: row.Value}
		if c.PerHead {
			bar.Value, bar.Text = row.head, row.Head
		}
		if bar.Text != "" {
			bars = append(bars, bar)
		}
	}
	if len(bars) == 0 {
		return
	}
	drawn := chart.Bars(&chart.Chart{
		ID: "compared", Title: p.T("%[1]s: %[2]s", c.Chosen, p.T(c.Figure.Title)), Unit: c.Unit, Language: p.Language,
	}, bars)
	c.Chart = drawn.HTML()
}
