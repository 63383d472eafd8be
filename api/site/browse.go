package site

import (
	"errors"
	"net/url"
	"strings"

	"github.com/valyala/fasthttp"

	"hdqs/api/browse"
	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/reply"
	"hdqs/api/state"
)

// browsePath is the prefix of the pages of records, below a mount's.
const browsePath = "/browse/"

// view is a page of records: what its route and its place say of it.
type view struct {
	pages    pages
	question browse.Question
}

// name is that of the list in addresses.
func (of *view) name() string { return of.question.Plan.Endpoint.Name() }

// addBrowse registers the pages of records, and returns them by the name of the list.
func (p pages) addBrowse() map[string]*view {
	m := p.at.Mount
	head, heads := p.Site.hostHead(reply.HtmlType), p.Site.newFigureHeads()
	endpoints, counterparts := contract.EndpointsIn(m.Names), contract.EndpointsIn(m.Counterpart.Names)
	views := map[string]*view{}
	for i := range endpoints {
		e := &endpoints[i]
		of := &view{p, browse.Question{
			Head: p.at.head("", "").Head, Plan: m.Lists[contract.PlanKey{Endpoint: e, Kind: contract.Rows}].List(),
			Counterpart: m.Counterpart.Prefix + counterparts[i].Path,
		}}
		p.add(browsePath+e.Name(), browsePath, func(ctx *fasthttp.RequestCtx) error {
			wrong := func(page *browse.Page) []string { return page.Problem.Wrong }
			return of.answerView(ctx, browsePath, "browse.html", &head, wrong)
		}, p.Site.Lists.Admission.Pages)
		views[e.Name()] = of
		of.addFrame(heads)
		of.addFigure(heads)
		if !p.at.IsEnglish() {
			continue // tables have no language
		}
		download := m.Lists[contract.PlanKey{Endpoint: e, Kind: contract.Export}]
		download.Public, download.Name = true, browsePath+browse.DownloadPath[1:]
		p.Site.Lists.Routes.Add(m, browsePath+e.Name()+browse.DownloadPath, download)
	}
	p.addOEmbed(views)
	return views
}

// snapshotIn is the id of the snapshot that a request names, empty for the current one.
func snapshotIn(ctx *fasthttp.RequestCtx) string {
	return string(ctx.QueryArgs().Peek(contract.SnapshotParam))
}

// withSnapshot calls answer with the snapshot of an id, empty for the current one.
func (s *Site) withSnapshot(ctx *fasthttp.RequestCtx, id string, answer func(*state.Served) error) error {
	v, err := s.State.Snapshots.AcquireIn(ctx, id)
	if err != nil {
		return err
	}
	defer v.Release(s.State.Log)
	return answer(v)
}

// withServed calls answer with the current snapshot, nil if there is none yet.
func (s *Site) withServed(ctx *fasthttp.RequestCtx, answer func(*state.Served) error) error {
	v, _ := s.State.Snapshots.AcquireIn(ctx, "")
	if v != nil {
		defer v.Release(s.State.Log)
	}
	return answer(v)
}

// answerView answers with a page that shows what a request asks for. One that has an error is of no
// use to caches.
func (of *view) answerView(
	ctx *fasthttp.RequestCtx, below, template string, head *list.PageHead, errors func(*browse.Page) []string,
) error {
	return of.pages.Site.withSnapshot(ctx, snapshotIn(ctx), func(v *state.Served) error {
		return of.withPage(ctx, v, below, "", func(page *browse.Page) error {
			err := of.pages.answerPage(ctx, template, page, head)
			if len(errors(page)) > 0 && err == nil {
				ctx.SetStatusCode(fasthttp.StatusUnprocessableEntity)
				ctx.Response.Header.Set("Cache-Control", reply.NoStore)
			}
			return err
		})
	})
}

// withPage makes the page that a request asks for, and calls answer with it. A query that says the
// same in another way is redirected to the one that links have, below another path than that of
// pages and with the ending of a file.
func (of *view) withPage(
	ctx *fasthttp.RequestCtx, v *state.Served, below, ending string, answer func(*browse.Page) error,
) error {
	page, clean, err := of.pageOf(ctx, v, string(ctx.URI().QueryString()), below == browse.FigurePath)
	switch {
	case errors.Is(err, browse.ErrAddress):
		return reply.ErrBadRequest
	case err != nil:
		return err
	case clean != nil:
		to := strings.TrimSuffix(of.pages.at.root()+below+of.name()+ending+"?"+clean.Encode(), "?")
		reply.Redirect(ctx, fasthttp.StatusSeeOther, to)
		return nil
	}
	return answer(page)
}

// freshnessOf is how old the records of a list are.
func freshnessOf(v *state.Served, e *contract.Endpoint) browse.Freshness {
	source := v.Bound.SourceOf(e)
	return browse.Freshness{
		Snapshot: v.Id, Loaded: state.DayOf(v.Bound.Snap.Manifest.SnapshotTime),
		Period: source.Period, Updated: source.Updated, StaleSince: source.StaleSince,
	}
}

// pageOf makes the page of a query. all says whether tables of figures have all groups.
func (of *view) pageOf(
	ctx *fasthttp.RequestCtx, v *state.Served, query string, all bool,
) (page *browse.Page, clean url.Values, err error) {
	q := of.question
	e := q.Plan.Endpoint
	q.Query, q.Base, q.AllFigures = query, of.pages.Site.Lists.Pages.BaseOf(ctx), all
	q.MaxExport = of.pages.Site.State.Options.ExportRows
	ask := &asker{of.pages.Site, v, of.pages.at.Mount}
	q.Source, q.Boundaries = ask, of.pages.Site.State.Options.Boundaries
	q.License = func(dataset string) (title, address string) {
		d, _ := v.Bound.Snap.Manifest.Dataset(dataset)
		title, address = state.LicenseOf(v.Bound.Snap.Manifest, &d)
		return q.Language.T(title), address
	}
	q.Freshness = freshnessOf(v, e.Contract())
	if q.Dataset, err = ask.linkedOf(e, q.Base); err != nil {
		return nil, nil, err
	}
	return browse.New(&q)
}
