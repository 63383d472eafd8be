package site

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/valyala/fasthttp"

	"hdqs/api/browse"
	"hdqs/api/contract"
	"hdqs/api/country"
	"hdqs/api/figures"
	"hdqs/api/list"
	"hdqs/api/reply"
	"hdqs/api/state"
)

// topicsPath is the path of the page of all lists.
const topicsPath = "/topics"

// addTopics registers the page of all lists, those about the data behind the data last.
func addTopics(p pages) {
	head := p.Site.hostHead(reply.HtmlType)
	p.add(topicsPath, topicsPath, func(ctx *fasthttp.RequestCtx) error {
		return p.Site.withSnapshot(ctx, snapshotIn(ctx), func(v *state.Served) error {
			data := topicsData(newLanding(p.at, v.Bound))
			data.pageHead = p.at.head(p.at.T("Topics"), topicsPath)
			return p.answerPage(ctx, "topics.html", &data, &head, contract.SnapshotParam)
		})
	})
}

// topicsData is what the page of all lists shows.
type topicsData landingData

// sourcesPage is what the page of sources shows: datasets by provider.
type sourcesPage struct {
	pageHead
	Providers []provider
	Datasets  int
}

type provider struct {
	Name     string
	Datasets []sourceOnPage
}

// sourceOnPage is a dataset with the lists that have its records.
type sourceOnPage struct {
	state.PageDataset
	Lists []*contract.Endpoint
}

// newSources lists the datasets of a snapshot by provider, each with its lists.
func newSources(p place, v *state.Served) sourcesPage {
	page := sourcesPage{pageHead: p.head(p.T("Sources"), state.SourcesPath)}
	manifest, at := v.Bound.Snap.Manifest, map[string]int{}
	var all []sourceOnPage
	endpoints := contract.EndpointsIn(p.Names)
	for i := range endpoints {
		e := &endpoints[i]
		if e.Group() == "metadata" {
			continue
		}
		for _, id := range manifest.Source(e.Contract().Table).Datasets {
			k, known := at[id]
			if !known {
				k = len(all)
				at[id], all = k, append(all, sourceOnPage{PageDataset: state.PageDatasetOf(manifest, id)})
			}
			all[k].Lists = append(all[k].Lists, e)
		}
	}
	slices.SortFunc(all, func(a, b sourceOnPage) int {
		return cmp.Or(strings.Compare(a.Provider, b.Provider), strings.Compare(a.Title, b.Title))
	})
	page.Datasets = len(all)
	for _, s := range all {
		if n := len(page.Providers); n == 0 || page.Providers[n-1].Name != s.Provider {
			page.Providers = append(page.Providers, provider{Name: s.Provider})
		}
		last := &page.Providers[len(page.Providers)-1]
		last.Datasets = append(last.Datasets, s)
	}
	return page
}

// addSources registers the sources of a mount: as a page for people, in each language, and as JSON
// for programs, which do not ask for HTML. What Accept chooses is kept by no cache.
func addSources(p pages) {
	page, data := p.Site.hostHead(reply.HtmlType), p.Site.hostHead(contract.JSONType)
	if p.at.IsEnglish() {
		page = headOf(reply.HtmlType, []string{"Cache-Control", reply.NoStore, "Vary", "Accept-Encoding"})
	}
	p.add(state.SourcesPath, state.SourcesPath, func(ctx *fasthttp.RequestCtx) error {
		return p.Site.withSnapshot(ctx, snapshotIn(ctx), func(v *state.Served) error {
			if !p.at.IsEnglish() || strings.Contains(string(ctx.Request.Header.Peek("Accept")), "text/html") {
				sources := newSources(p.at, v)
				return p.answerPage(ctx, "sources-page.html", &sources, &page, contract.SnapshotParam)
			}
			if err := fileFaults(ctx, p.at, listParam, contract.SnapshotParam); err != nil {
				return err
			}
			body, err := json.Marshal(SourcesOf(p.Site.State, p.at.Mount, v, string(ctx.QueryArgs().Peek("list"))))
			return p.Site.sendMade(ctx, &data, state.SourcesPath, body, err)
		})
	})
}

// liveFigure is a headline figure on the start page: of the country where it is greatest.
type liveFigure struct{ Title, Value, Unit, When, Age, Address string }

// liveNames are the figures of the start page, of which the first three with a value are shown.
var liveNames = []string{
	"people_in_need", "people_in_phase_3_or_worse", "internally_displaced", "funding_percent", "overall_risk",
}

// How many figures the start page shows, and how many values that the newest publication has
// changed and lists that have the newest records.
const mostLive, mostNews = 3, 3

// liveKey is the key of what a snapshot keeps for start pages.
type liveKey place

type live struct {
	figures []liveFigure
	newest  string // month of the newest data
	news    []revised
}

// liveOf is what the start page says of the data, nothing after an error.
func liveOf(p pages, v *state.Served) live {
	made, err := list.MadeOf(v, liveKey(p.at), func() (*live, error) {
		made, source := new(live), &asker{p.Site, v, p.at.Mount}
		all, err := p.Site.overviewOf(v)
		if err != nil {
			return nil, err
		}
		loaded := state.DayOf(v.Bound.Snap.Manifest.SnapshotTime)
		lists := all.NewestLists(loaded)
		if len(lists) > 0 {
			made.newest = lists[0].Month(p.at.Language)
		}
		made.news = newsOf(p, v, lists[:min(len(lists), mostNews)])
		for _, name := range liveNames {
			h, e := contract.HeadlineOf(name, p.at.Names)
			answer, err := source.Ask(contract.Ask(e, contract.Figures))
			if err != nil {
				return nil, err
			}
			most, value := -1, 0.0
			for i, r := range answer.Records {
				n, err := strconv.ParseFloat(r.Value("value"), 64)
				if err == nil && (most < 0 || n > value) {
					most, value = i, n
				}
			}
			if most < 0 || value == 0 {
				continue
			}
			r := answer.Records[most]
			c := all.Find(r.Value(contract.CountryParam))
			if c == nil {
				continue
			}
			period, age := browse.When(p.at.Language, h, r.Value("period_start"), r.Value("period_end"),
				r.Value("updated"), freshnessOf(v, h.List(contract.ContractNames)))
			made.figures = append(made.figures, liveFigure{
				Title: browse.Sentence(p.at.Language, p.at.Country(c.Code, c.Name), p.at.T(h.Title), ""),
				Value: p.at.Rounded(r.Value("value")), Unit: p.at.T(h.Unit),
				When: period, Age: age,
				Address: browse.FigurePage(p.at.root(), h, r.Rows),
			})
			if len(made.figures) == mostLive {
				break
			}
		}
		return made, nil
	})
	if err != nil {
		p.Site.State.LogFault("/", err)
		return live{}
	}
	return *made
}

// hasBoth reports whether a value was known before, and is now.
func hasBoth(r figures.Revision) bool { return r.Before != "" && r.After != "" }

// newsOf is what is new: values that the newest publication that did so has changed, one of each
// figure, and the lists with the newest records.
func newsOf(p pages, v *state.Served, lists []country.Dated) (news []revised) {
	var newest figures.Edition
	revisions := figures.RevisionsOf(p.Site.Lists, v)
	for edition, all := range revisions {
		if edition.Published.After(newest.Published) && slices.ContainsFunc(all, hasBoth) {
			newest = edition
		}
	}
	var before *contract.Headline
	for _, r := range revisions[newest] {
		if r.Figure != before && hasBoth(r) && len(news) < mostNews {
			news, before = append(news, revisedOf(p.at, v, r)), r.Figure
		}
	}
	for _, d := range lists {
		e := contract.EndpointOf(d.List.Table, p.at.Names)
		news = append(news, revised{
			Text:    p.at.T("%[1]s: %[2]s", p.at.T(e.Summary), d.Month(p.at.Language)),
			Address: p.at.root() + browsePath + e.Name(),
		})
	}
	return news
}
