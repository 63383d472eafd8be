package site

import (
	"slices"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"hdqs/api/browse"
	"hdqs/api/contract"
	"hdqs/api/lang"
	"hdqs/api/list"
	"hdqs/api/reply"
	"hdqs/api/state"
)

// statusPath is the path of the page about what is served.
const statusPath = "/status"

// statusKept is how long the page is used once it is made, here and in caches.
const statusKept = 5 * time.Second

// statusData is what the page shows. Whatever /readyz has comes from there.
type statusData struct {
	pageHead
	State    string // in words
	Now      statusTime
	Served   *statusSnapshot // nil without one
	Poll     *statusPoll     // nil before the first
	Held     []string        // replaced snapshots that still answer
	Groups   []statusGroup
	Stale    []statusTable
	Datasets int
}

// statusTime is a time as people and programs read it.
type statusTime struct{ Time, Text, Age string }

func newStatusTime(p place, at, now time.Time) (t statusTime) {
	if at.IsZero() {
		return t
	}
	t.Time, t.Text = at.UTC().Format(time.RFC3339), p.Minute(at)
	t.Age = ageText(p, now.Sub(at))
	return t
}

type statusSnapshot struct {
	ID, Catalog       string
	Loaded, Published statusTime // Published is Loaded where it is not known
}

func newStatusSnapshot(at place, v *state.Served) *statusSnapshot {
	m, now := v.Bound.Snap.Manifest, time.Now()
	p := state.Published{At: v.Published(), Manifest: m}
	return &statusSnapshot{
		m.ID, m.CatalogURL, newStatusTime(at, m.SnapshotTime, now), newStatusTime(at, p.Time(), now),
	}
}

// statusPoll is the last poll of the store. Its error is for operators: it can name hosts and
// files.
type statusPoll struct {
	statusTime
	Outcome string
}

type statusGroup struct {
	Title  string
	Tables []statusTable
}

type statusTable struct {
	pageEndpoint
	Changed statusTime // its newest source
}

// statusPage is a rendered page, for a few seconds.
type statusPage struct {
	sync.Mutex
	content *list.PageContent
	of      *state.Served
	until   time.Time
}

func (p pages) addStatus() {
	head := list.NewPageHead(reply.HtmlType, PagePolicy, reply.LandingKey,
		"Cache-Control", "public, max-age=5", "Vary", "Accept-Encoding")
	kept := new(statusPage)
	p.route(statusPath, statusPath, func(ctx *fasthttp.RequestCtx) error {
		made, err := p.statusContent(ctx, kept)
		if err != nil {
			p.Site.State.LogFault(statusPath, err)
			return err
		}
		return p.Site.Lists.Pages.Send(ctx, &head, made)
	})
}

// statusContent is the page as it is now, or was a few seconds ago with the same snapshot. So many
// requests cost no more than one.
func (p pages) statusContent(ctx *fasthttp.RequestCtx, kept *statusPage) (*list.PageContent, error) {
	kept.Lock()
	defer kept.Unlock()
	v, _ := p.Site.State.Snapshots.AcquireIn(ctx, "")
	if v != nil {
		defer v.Release(p.Site.State.Log)
	}
	if kept.of == v && time.Now().Before(kept.until) {
		return kept.content, nil
	}
	page, err := rendered(pagesIn(p.at.Language), "status.html", p.statusOf(v))
	if err != nil {
		return nil, err
	}
	kept.content, kept.of, kept.until = list.NewContent(page), v, time.Now().Add(statusKept)
	return kept.content, nil
}

// statusOf is what the page of a place shows of a snapshot, nil for none.
func (p pages) statusOf(v *state.Served) statusData {
	r, now := p.Site.State.ReadinessOf(v), time.Now()
	data := statusData{
		pageHead: p.at.head(p.at.T("Status of the service"), statusPath), Now: newStatusTime(p.at, now, now),
		State: "Requests are answered.",
	}
	switch {
	case r.Snapshot == "":
		data.State = "No data is loaded yet."
	case !r.Ready:
		data.State = "This replica is about to end, or has just begun."
	}
	if poll := r.LastPoll; poll != nil {
		data.Poll = &statusPoll{newStatusTime(p.at, poll.At, now), poll.Outcome}
	}
	data.Held = p.Site.State.Snapshots.Retained.Ids()
	if v == nil {
		return data
	}
	data.Served = newStatusSnapshot(p.at, v)
	manifest := v.Bound.Snap.Manifest
	data.Datasets = len(manifest.Datasets)
	for _, g := range pageGroups(p.at.Mount, nil) {
		data.Groups = append(data.Groups, statusGroup{Title: g.Title})
	}
	endpoints := contract.EndpointsIn(p.at.Names)
	for i := range endpoints {
		e := endpoints[i].Contract()
		t := statusTable{
			pageEndpoint: newPageEndpoint(p.at.Mount, &endpoints[i]),
			Changed:      newStatusTime(p.at, manifest.Source(e.Table).Updated, now),
		}
		t.Rows, t.Source = browse.Count(v.Bound.Lists[e.Path].Rows), v.Bound.SourceOf(e)
		t.Datasets = state.DatasetsOf(manifest, e)
		if t.Source.StaleSince != "" {
			data.Stale = append(data.Stale, t)
		}
		at := slices.IndexFunc(data.Groups, func(g statusGroup) bool { return g.Title == e.Texts().GroupTitle() })
		data.Groups[at].Tables = append(data.Groups[at].Tables, t)
	}
	return data
}

// ageText says how long ago something was, in the largest whole unit.
func ageText(p place, d time.Duration) string {
	for _, u := range []struct {
		length time.Duration
		text   string
	}{{24 * time.Hour, "%s days ago"}, {time.Hour, "%s hours ago"}, {time.Minute, "%s minutes ago"}} {
		if d >= u.length {
			return p.T(u.text, lang.Count(d/u.length))
		}
	}
	return p.T("%s seconds ago", lang.Count(max(0, d)/time.Second))
}
