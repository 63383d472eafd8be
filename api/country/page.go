package country

import (
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"hdqs/api/browse"
	"hdqs/api/contract"
	"hdqs/api/lang"
	"hdqs/api/render"
)

// Question is what a page is made from.
type Question struct {
	Prefix    string // of pages
	Root      string // of the interface
	Language  *lang.Language
	Names     contract.NameSet
	Source    browse.Source // in these names
	Contract  browse.Source // in the contract's names
	Overview  *Overview
	Country   *Country
	Loaded    string // day
	Dataset   func(id string) Dataset
	Freshness func(e *contract.Endpoint) browse.Freshness
	Series    func(h *contract.Headline, code string) (map[string]string, error) // a figure over time

	// Past is the value before the present one, and the day of the publication that replaced it.
	Past func(h *contract.Headline, code string) (value, replaced string, err error)
}

// Dataset is a dataset that records are from. A text is empty if it is not known.
type Dataset struct{ Title, Link, Provider, License, LicenseURL, Updated string }

// Page is what a page shows of a country.
type Page struct {
	*Country
	Figures  []Tile // all, as they are declared
	Tiles    []Tile // with a value
	Newest   string // month of the newest record
	Missing  []Tile // without one
	Coverage []Covered
	Sources  []Dataset
	Unnamed  int // files of records that are in no list of files
}

// Covered is what a list has of the country.
type Covered struct {
	*Listed
	Title, Address string
}

// Plans says in words which plans the country is part of.
func (c *Country) Plans() string {
	switch {
	case c.HasHRP && c.IsIn:
		return "It has a humanitarian response plan and is part of the Global Humanitarian Overview."
	case c.HasHRP:
		return "It has a humanitarian response plan, and is not part of the Global Humanitarian Overview."
	case c.IsIn:
		return "It is part of the Global Humanitarian Overview, and has no humanitarian response plan."
	}
	return "It has no humanitarian response plan, and is not part of the Global Humanitarian Overview."
}

// New makes a page.
func New(q *Question) (*Page, error) {
	p := &Page{Country: q.Country}
	all, err := q.tiles()
	if err != nil {
		return nil, err
	}
	p.Figures = all
	slices.SortStableFunc(p.Figures, func(a, b Tile) int { return order(&a) - order(&b) })
	if newest := q.Country.newestDay(q.Loaded); newest != "" {
		p.Newest = q.Language.Period(monthOf(newest))
	}
	for _, t := range all {
		if t.Value == "" {
			p.Missing = append(p.Missing, t)
		} else {
			p.Tiles = append(p.Tiles, t)
		}
	}
	var datasets []string
	for i := range q.Country.Lists {
		l := &q.Country.Lists[i]
		c := Covered{l, q.Language.T(l.List.Summary), q.records(l)}
		switch {
		case strings.HasPrefix(l.Field, "origin"):
			c.Title = q.Language.T("%[1]s: %[2]s", c.Title, q.Language.T("those from here"))
		case strings.HasPrefix(l.Field, "asylum"):
			c.Title = q.Language.T("%[1]s: %[2]s", c.Title, q.Language.T("those who live here"))
		}
		p.Coverage = append(p.Coverage, c)
		for _, resource := range l.resources {
			id, known := q.Overview.datasets[resource]
			if !known {
				p.Unnamed++
			} else if !slices.Contains(datasets, id) {
				datasets = append(datasets, id)
				p.Sources = append(p.Sources, q.Dataset(id))
			}
		}
	}
	slices.SortStableFunc(p.Sources, func(a, b Dataset) int { return strings.Compare(a.Title, b.Title) })
	return p, nil
}

// monthOf is the month of a day, as times.
func monthOf(day string) (start, end string) {
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return day, day
	}
	first := at.AddDate(0, 0, 1-at.Day())
	return first.Format(lang.Instant), first.AddDate(0, 1, 0).Add(-time.Second).Format(lang.Instant)
}

// order is the place of a figure's topic, which is that of its first figure.
func order(t *Tile) int {
	return slices.IndexFunc(contract.Headlines, func(h *contract.Headline) bool {
		return h.List(contract.ContractNames).Texts().GroupTitle() == t.Topic
	})
}

// mostSources is how many sources the page lists; the workbook has all.
const mostSources = 10

// Shown are the sources that the page lists.
func (p *Page) Shown() []Dataset { return p.Sources[:min(len(p.Sources), mostSources)] }

// Hidden is how many others there are.
func (p *Page) Hidden() int { return len(p.Sources) - len(p.Shown()) }

// Months are the newest months of each level, as a table shows them.
func (c *Covered) Months() [levels]string {
	months := c.Listed.Newest
	for i, day := range months {
		months[i] = day[:min(len(day), len("2006-01"))]
	}
	return months
}

// WriteWorkbook writes all figures with their sources as a workbook. about are names and texts that
// its first sheet begins with.
func (p *Page) WriteWorkbook(w io.Writer, about [][2]string) error {
	first := &render.Table{Name: "About", Head: []string{"country", p.Name}}
	for _, pair := range append(about, [2]string{"code", p.Code}, [2]string{"plans", p.Plans()}) {
		first.Rows = append(first.Rows, []any{pair[0], pair[1]})
	}
	figures := &render.Table{Name: "Figures", Head: []string{"figure", "title"}}
	fields := &contract.FigureEndpoints[contract.ContractNames][1].Fields
	for _, f := range *fields {
		figures.Head = append(figures.Head, f.Name)
	}
	figures.Head = append(figures.Head, "reading", "not", "age")
	for _, t := range slices.Concat(p.Tiles, p.Missing) {
		row := []any{t.Name, t.Title}
		for _, f := range *fields {
			row = append(row, cellOf(&t, &f))
		}
		figures.Rows = append(figures.Rows, append(row, t.Reading, t.NotThis, t.Age))
	}
	coverage := &render.Table{Name: "Coverage", Head: []string{
		"list", "title", "field", "admin_level", "newest_period_start",
	}}
	for _, c := range p.Coverage {
		for level, day := range c.Newest {
			if at, err := time.Parse(time.DateOnly, day); err == nil {
				row := []any{c.List.Path, c.Title, c.Field, render.Number(strconv.Itoa(level)), at}
				coverage.Rows = append(coverage.Rows, row)
			}
		}
	}
	sources := &render.Table{Name: "Sources", Head: []string{
		"dataset", "address", "provider", "licence", "licence_address", "updated",
	}}
	for _, d := range p.Sources {
		row := []any{d.Title, d.Link, d.Provider, d.License, d.LicenseURL, render.TimeCell(d.Updated)}
		sources.Rows = append(sources.Rows, row)
	}
	return render.WriteTables(w, first, figures, coverage, sources)
}

// cellOf is a field of a figure's record.
func cellOf(t *Tile, f *contract.Field) any {
	text, has := t.record.Text(f.Name)
	switch {
	case !has:
		return nil
	case f.Name == "request":
		return strings.Join(t.record.Requests, "\n")
	case f.Type == contract.DateTime:
		if at, err := time.Parse(lang.Instant, text); err == nil {
			return at
		}
	case f.Type == contract.Boolean:
		return text == "true"
	case f.Type == contract.Integer || f.Type == contract.Number || f.Type == contract.Exact:
		return render.Number(text)
	}
	return text
}
