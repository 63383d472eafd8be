package site

import (
	"bytes"
	"html/template"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"hdqs/api/browse"
	"hdqs/api/chart"
	"hdqs/api/contract"
	"hdqs/api/country"
	"hdqs/api/figures"
	"hdqs/api/find"
	"hdqs/api/lang"
	"hdqs/api/list"
	"hdqs/api/reply"
	"hdqs/api/state"
)

// countryPath is the path of the list of countries. The pages of countries are below it.
// Its parameter is a part of the names that are listed.
const (
	countryPath = "/country"
	nameParam   = "name"
)

const workbookType = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

// countryPage is what the page of a country shows.
type countryPage struct {
	pageHead
	*country.Page
	Share            *browse.Share
	Snapshot, Loaded string
	Change           *countryChange // nil where none is known
}

// countriesPage is what the list of countries shows, and what the page of an unknown one does.
type countriesPage struct {
	pageHead
	*country.Overview
	Sent   string            // the name that is unknown
	Near   []string          // codes of countries that may be meant
	Filter string            // what the names of those that are listed have in them
	Plans  []listedCountry   // with a response plan
	ByName [][]listedCountry // all, those with one initial together
}

// listedCountry is a country of the list, with its name in the language of the page.
type listedCountry struct {
	*country.Country
	Name, Address string
}

// Initial is the first letter of the name.
func (c listedCountry) Initial() string { return lang.Initial(c.Name) }

// list adds the countries whose codes or names in the language of the page have its text in them,
// else those of which a name in another language has.
func (c *countriesPage) list() {
	var named, all []listedCountry
	if c.Filter != "" && lang.Folded(c.Filter) == "" { // which would be in all names
		return
	}
	others, known := c.Containing(c.Filter), c.NamedWhole(c.Filter)
	for i := range c.Countries {
		at := &c.Countries[i]
		name, address := c.Language.Country(at.Code, at.Name), c.Prefix+countryPath+"/"+at.Code
		if others[at.Code] {
			all = append(all, listedCountry{at, name, address})
		}
		if lang.Contains(name, c.Filter) || at.Code == known {
			named = append(named, listedCountry{at, name, address})
		}
	}
	if len(named) > 0 {
		all = named
	}
	order := lang.Order(c.Language)
	slices.SortStableFunc(all, func(a, b listedCountry) int { return order(a.Name, b.Name) })
	for _, at := range all {
		if at.HasHRP {
			c.Plans = append(c.Plans, at)
		}
		if n := len(c.ByName) - 1; n >= 0 && c.ByName[n][0].Initial() == at.Initial() {
			c.ByName[n] = append(c.ByName[n], at)
		} else {
			c.ByName = append(c.ByName, []listedCountry{at})
		}
	}
}

// countryChange is what the newest snapshot has changed in a country.
type countryChange struct {
	From, Day string
	Anchor    string // on the page of changes
	Lists     []country.Covered
	Records   string // the page of the records that differ, empty where the earlier snapshot is gone
	More      int    // lists that are not named
	Sources   int    // that are new or changed
}

// Keys of what a snapshot keeps for pages of countries.
type (
	overviewKey struct{}
	countryKey  struct {
		place
		code string
	}
	mapKey place
)

func (s *Site) overviewOf(v *state.Served) (*country.Overview, error) {
	return list.MadeOf(v, overviewKey{}, func() (*country.Overview, error) {
		return country.NewOverview(&asker{s, v, s.Lists.Routes.MountIn(contract.ContractNames)})
	})
}

// addCountry registers the pages of countries of a place. Workbooks are in English.
func (p pages) addCountry() {
	countries := p.Site.sharedHead(reply.HtmlType)
	head := p.Site.hostHead(reply.HtmlType)
	card := &figureFile{kind: "png", head: p.Site.hostHead(pngType)}
	book := p.Site.sharedHead(workbookType)
	add := func(path string, answer func(*fasthttp.RequestCtx, *state.Served, *country.Overview) error) {
		p.add(path, countryPath, func(ctx *fasthttp.RequestCtx) error {
			return p.Site.withSnapshot(ctx, snapshotIn(ctx), func(v *state.Served) error {
				all, err := p.Site.overviewOf(v)
				if err != nil {
					return err
				}
				return answer(ctx, v, all)
			})
		}, p.Site.Lists.Admission.Pages)
	}
	add(countryPath, func(ctx *fasthttp.RequestCtx, v *state.Served, all *country.Overview) (err error) {
		page := &countriesPage{pageHead: p.at.head(p.at.T("Countries"), countryPath), Overview: all}
		page.Filter = strings.TrimSpace(string(ctx.QueryArgs().Peek(nameParam)))
		if page.list(); len(page.ByName) == 0 {
			if _, page.Near, err = named(p, v, page.Filter, find.Country); err != nil {
				return err
			}
		}
		return p.answerPage(ctx, "countries.html", page, &countries, nameParam, contract.SnapshotParam)
	})
	add(countryPath+"/"+list.Wildcard, func(ctx *fasthttp.RequestCtx, v *state.Served, all *country.Overview) error {
		_, sent, _ := strings.Cut(reply.PathOf(ctx), countryPath+"/")
		code, isBook := strings.CutSuffix(sent, ".xlsx")
		code, isCard := strings.CutSuffix(code, ".png")
		at := all.Find(code)
		if at == nil {
			return p.answerNoCountry(ctx, v, all, strings.Clone(code), &head)
		}
		if isBook || isCard {
			if err := fileFaults(ctx, p.at, contract.SnapshotParam); err != nil {
				return err
			}
		}
		switch {
		case isBook:
			return p.Site.english(p.at.Mount).answerWorkbook(ctx, v, at, &book)
		case isCard:
			return p.Site.kept(ctx, v, "hdqs-"+at.Code, card, func() ([]byte, error) {
				page, err := p.countryOf(v, at)
				if err != nil {
					return nil, err
				}
				return cardOfCountry(p.at, page, p.shareOf(ctx, page)).PNG()
			})
		}
		return p.answerCountry(ctx, v, at, &head)
	})
}

// answerNoCountry answers for a code that no country has: with a redirect if it is a name, or the
// code in another way, otherwise with the countries that may be meant.
func (p pages) answerNoCountry(
	ctx *fasthttp.RequestCtx, v *state.Served, all *country.Overview, sent string, head *list.PageHead,
) error {
	if c := all.Find(all.NamedWhole(sent)); c != nil {
		reply.Redirect(ctx, fasthttp.StatusSeeOther, p.at.root()+countryPath+"/"+c.Code)
		return nil
	}
	_, near, err := named(p, v, sent, find.Country)
	if err != nil {
		return err
	}
	page := countriesPage{pageHead: p.at.head(p.at.T("No such country"), ""), Overview: all, Sent: sent, Near: near}
	err = p.answerPage(ctx, "countries.html", page, head)
	if ctx.Response.StatusCode() == fasthttp.StatusOK {
		ctx.SetStatusCode(fasthttp.StatusNotFound)
		ctx.Response.Header.Set("Cache-Control", reply.NoStore)
	}
	return err
}

// countryOf is what the page of a country shows of a snapshot. It is made once for each snapshot.
func (p pages) countryOf(v *state.Served, at *country.Country) (*country.Page, error) {
	return list.MadeOf(v, countryKey{p.at, at.Code}, func() (*country.Page, error) {
		all, err := p.Site.overviewOf(v)
		if err != nil {
			return nil, err
		}
		return country.New(&country.Question{
			Prefix: p.at.root(), Root: p.at.Prefix, Language: p.at.Language, Names: p.at.Names,
			Source:   &asker{p.Site, v, p.at.Mount},
			Contract: &asker{p.Site, v, p.Site.Lists.Routes.MountIn(contract.ContractNames)},
			Overview: all, Country: at, Loaded: state.DayOf(v.Bound.Snap.Manifest.SnapshotTime),
			Freshness: func(e *contract.Endpoint) browse.Freshness { return freshnessOf(v, e) },
			Dataset: func(id string) country.Dataset {
				d := state.PageDatasetOf(v.Bound.Snap.Manifest, id)
				return country.Dataset{
					Title: d.Title, Link: d.Link, Provider: d.Provider, License: d.License, LicenseURL: d.LicenseURL,
					Updated: d.Updated,
				}
			},
			Series: func(h *contract.Headline, code string) (map[string]string, error) {
				return figures.SeriesOf(p.Site.Lists, v, h, code)
			},
			Past: func(h *contract.Headline, code string) (value, replaced string, err error) {
				past, err := figures.PastOf(p.Site.Lists, v, h, code)
				if len(past) > 1 {
					value, replaced = past[1].Value, past[0].Published.UTC().Format(time.DateOnly)
				}
				return value, replaced, err
			},
		})
	})
}

func (p pages) answerCountry(
	ctx *fasthttp.RequestCtx, v *state.Served, at *country.Country, head *list.PageHead,
) error {
	page, err := p.countryOf(v, at)
	if err != nil {
		return err
	}
	data := countryPage{
		pageHead: p.at.head(p.at.Country(at.Code, at.Name), countryPath+"/"+url.PathEscape(at.Code)),
		Page:     page, Snapshot: v.Id, Share: p.shareOf(ctx, page),
		Loaded: state.DayOf(v.Bound.Snap.Manifest.SnapshotTime),
	}
	data.Feed = "?" + contract.QueryOf(contract.CountryParam, at.Code)
	data.Change = p.countryChange(v, page)
	return p.answerPage(ctx, "country.html", &data, head, contract.SnapshotParam)
}

// shareOf is what the page of a country says of itself elsewhere.
func (p pages) shareOf(ctx *fasthttp.RequestCtx, page *country.Page) *browse.Share {
	address := p.Site.Lists.Pages.BaseOf(ctx) + p.at.root() + countryPath + "/" + page.Code
	share := &browse.Share{
		Title:   p.at.T("%s: headline figures", p.at.Country(page.Code, page.Name)),
		Address: address, MadeUp: p.at.MadeUp,
		Description: p.at.T(
			"Each figure with its period and provider, the lists that have records, and their sources."),
	}
	if len(page.Tiles) > 0 {
		share.Image = address + ".png"
	}
	return share
}

func (p pages) answerWorkbook(
	ctx *fasthttp.RequestCtx, v *state.Served, at *country.Country, head *list.PageHead,
) error {
	page, err := p.countryOf(v, at)
	if err != nil {
		return err
	}
	var book bytes.Buffer
	if err := page.WriteWorkbook(&book, aboutBook(p.at.Mount, v)); err != nil {
		p.Site.State.LogFault(countryPath, err)
		return err
	}
	return p.Site.sendFile(ctx, head, book.Bytes(), "attachment", "hdqs-"+at.Code+"-"+v.Date+".xlsx")
}

// aboutBook says in a workbook where it is from.
func aboutBook(m *list.Mount, v *state.Served) [][2]string {
	about := [][2]string{{"service", browse.ServiceTitle}, {"snapshot", v.Id}}
	if m.MadeUp {
		about = append(about, [2]string{
			"figures", "These figures are made up. They are a sample to try the program with.",
		})
	}
	return about
}

// mostChanged is how many changed lists a page names: its size is bounded.
const mostChanged = 5

// countryChange is what a snapshot has changed in a country, as far as it is known.
func (p pages) countryChange(v *state.Served, page *country.Page) *countryChange {
	known := p.Site.State.History.Load()
	if known == nil {
		return nil
	}
	i := slices.IndexFunc(*known, func(c *state.Change) bool { return c.To == v.Id })
	if i < 0 {
		return nil
	}
	c := (*known)[i]
	on := onPage(c, p.at, "")
	change := &countryChange{From: c.From, Day: on.Day, Anchor: on.Anchor()}
	for _, d := range c.Datasets {
		is := func(o country.Dataset) bool { return o.Link == d.Link && o.Title == d.Title }
		if slices.ContainsFunc(page.Sources, is) {
			change.Sources++
		}
	}
	for _, t := range c.Tables {
		if n, known := c.Counts.Of(t.Table, []string{page.Code}); known && n == [3]int{} {
			continue
		}
		for _, covered := range page.Coverage {
			if covered.List.Table != t.Table {
				continue
			}
			if len(change.Lists) == mostChanged {
				change.More++
				continue
			}
			change.Lists = append(change.Lists, covered)
		}
	}
	if len(change.Lists) > 0 && p.Site.State.Snapshots.Holds(c.From) {
		change.Records = p.at.root() + changelogPath + "?" +
			contract.QueryOf(contract.SinceParam, c.From, contract.CountryParam, page.Code)
	}
	return change
}

// worldOf is a map that leads to countries, and whose boundaries it has. Countries with a response
// plan stand out. It is empty after an error.
func (p pages) worldOf(v *state.Served) (drawing template.HTML, boundaries string) {
	layer, boundaries := chart.World(), chart.WorldSource(p.at.Language)
	if b := p.Site.State.Options.Boundaries; b != nil && b.Countries != nil {
		layer, boundaries = b.Countries, b.Source
	}
	drawing, err := list.MadeOf(v, mapKey(p.at), func() (template.HTML, error) {
		all, err := p.Site.overviewOf(v)
		if err != nil {
			return "", err
		}
		var targets []chart.Target
		for i := range all.Countries {
			c := &all.Countries[i]
			class := "other"
			if c.HasHRP {
				class = "plan"
			}
			targets = append(targets, chart.Target{
				Code: c.Code, Name: p.at.Country(c.Code, c.Name), Class: class,
				Address: p.at.root() + countryPath + "/" + url.PathEscape(c.Code),
			})
		}
		return chart.Links(layer, targets), nil
	})
	if err != nil {
		p.Site.State.LogFault(countryPath, err)
	}
	return drawing, boundaries
}
