package site

import (
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"hdqs/api/browse"
	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/reply"
	"hdqs/api/state"
)

type changelog struct {
	pageHead
	Base    string
	Self    string // address of the feed
	Updated string // the newest change, or the served snapshot
	Served  *statusSnapshot
	Changes []changeOnPage
}

// changeOnPage is a change in the names of a mount.
type changeOnPage struct {
	ID, From, To, Time, Day string
	Tables                  []changedTable
	Stale, Fresh            []pageEndpoint
	Same                    string
	Datasets                []state.DatasetChange
	Count                   string // of datasets, in words
	More                    string // how many others, empty if all are listed
	Base                    string // before links: empty on the page
	Prefix                  string
}

type changedTable struct {
	Lists                     []pageEndpoint // made of the table
	Table                     string         // where there are none
	Before, After, Difference string
}

// onPage is the change for a page below a mount.
func onPage(c *state.Change, m *list.Mount, base string) changeOnPage {
	page := changeOnPage{
		ID: c.ID, From: c.From, To: c.To, Time: c.At.Format(time.RFC3339), Day: c.At.Format(minuteFormat),
		Same: counted(c.Same, "table"), Datasets: c.Datasets, Base: base, Prefix: m.Prefix,
	}
	if c.More > 0 {
		page.More = browse.Count(c.More)
	}
	page.Count = counted(len(c.Datasets)+c.More, "dataset")
	for _, t := range c.Tables {
		x := changedTable{
			Lists: listsOf(m, t.Table), Table: t.Table, Before: browse.Count(t.Before), After: browse.Count(t.After),
		}
		switch d := t.After - t.Before; {
		case t.IsNew:
			x.Difference = "new"
		case t.IsGone:
			x.Difference = "removed"
		case d < 0:
			x.Difference = "\u2212" + browse.Count(-d)
		case d > 0:
			x.Difference = "+" + browse.Count(d)
		default:
			x.Difference = "other values"
		}
		page.Tables = append(page.Tables, x)
	}
	for _, table := range c.Stale {
		page.Stale = append(page.Stale, listsOf(m, table)...)
	}
	for _, table := range c.Fresh {
		page.Fresh = append(page.Fresh, listsOf(m, table)...)
	}
	return page
}

// minuteFormat is a time as pages show it.
const minuteFormat = "2 January 2006, 15:04 UTC"

// listsOf are the endpoints of a table below a mount.
func listsOf(m *list.Mount, table string) []pageEndpoint {
	var all []pageEndpoint
	endpoints := contract.EndpointsIn(m.Names)
	for i := range endpoints {
		if endpoints[i].Table == table {
			all = append(all, newPageEndpoint(m, &endpoints[i]))
		}
	}
	return all
}

// changelogOf is what the page or the feed of a mount shows now.
func (s *Site) changelogOf(m *list.Mount, base string) changelog {
	data := changelog{pageHead: newPageHead(m, "What changed"), Base: base, Self: base + m.Prefix + FeedPath}
	updated := time.Time{}
	if v := s.Acquire(); v != nil {
		now := state.Published{At: v.Published(), Manifest: v.Bound.Snap.Manifest}
		data.Served, updated = newStatusSnapshot(v), now.Time()
		v.Release(s.Log)
	}
	if known := s.History.Load(); known != nil {
		for _, c := range *known {
			data.Changes = append(data.Changes, onPage(c, m, base))
		}
	}
	data.Updated = updated.UTC().Format(time.RFC3339)
	return data
}

// Paths of what changed, and the media type of the feed (RFC 4287).
const (
	ChangelogPath = "/changelog"
	FeedPath      = "/changelog.atom"
	FeedType      = "application/atom+xml; charset=utf-8"
)

func (s *Site) addChangelog(m *list.Mount) {
	head := list.NewPageHead(reply.HtmlType, PagePolicy, reply.LandingKey, s.PageFields()...)
	s.Add(m, ChangelogPath, list.Route{Name: ChangelogPath, Handler: s.Limited(func(ctx *fasthttp.RequestCtx) error {
		return s.answerPage(ctx, "changelog.html", s.changelogOf(m, ""), &head)
	})})
	feed := list.NewPageHead(FeedType, reply.DataPolicy, reply.LandingKey, s.landingFields()...)
	s.Add(m, FeedPath, list.Route{Name: ChangelogPath, Handler: s.Limited(func(ctx *fasthttp.RequestCtx) error {
		body, err := rendered(texts(), "changelog.atom", s.changelogOf(m, s.BaseOf(ctx)))
		return s.sendMade(ctx, &feed, FeedPath, body, err)
	})})
}

// Summary is the change in a sentence.
func (c *changeOnPage) Summary() string {
	verb := " have"
	if len(c.Tables) == 1 {
		verb = " has"
	}
	return "Compared with snapshot " + c.From + ", " + counted(len(c.Tables), "table") + verb + " changed. " +
		c.Same + " with the same records."
}

// Anchor is the id of the change on the page.
func (c *changeOnPage) Anchor() string { return "change-" + c.ID[strings.LastIndexByte(c.ID, ':')+1:] }

// counted is a number with what is counted.
func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return browse.Count(n) + " " + what
}
