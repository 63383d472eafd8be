package site

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"hdqs/api/browse"
	"hdqs/api/contract"
	"hdqs/api/figures"
	"hdqs/api/lang"
	"hdqs/api/list"
	"hdqs/api/reply"
	"hdqs/api/state"
)

type changelog struct {
	pageHead
	Base    string
	Self    string // address of the feed
	Of      string // the title of what is not of all, empty for all
	Updated string // the newest change, or the served snapshot
	Served  *statusSnapshot
	Changes []changeOnPage
	Asked   *changesSince // nil for all
	Nowhere string        // what names no country
	Untold  bool          // some changes may be missing, since it is not known whose records they are of
}

// changeOnPage is a change in the names of a mount.
type changeOnPage struct {
	ID, From, To, Time, Day string
	language                *lang.Language
	Tables                  []changedTable
	Stale, Fresh            []pageEndpoint
	Same                    string
	Datasets                []state.DatasetChange
	Count                   string // of datasets, in words
	More                    string // how many others, empty if all are listed
	Base                    string // before links: empty on the page
	Prefix                  string
	Counted                 bool // the numbers of rows are known
	Placed                  bool // it shows what has to do with some countries only
	at                      time.Time
	counts                  state.RowCounts
	Figures                 []revised // headline figures with other values
	MoreFigures             int       // that are not listed
	about                   *about    // which changes are shown
	feed                    string    // address of the feed
}

// since is the day since which changes are shown, empty for all.
func (c *changelog) since() string {
	if c.Asked == nil {
		return ""
	}
	return c.Asked.Since
}

type changedTable struct {
	Lists                     []pageEndpoint // made of the table
	Table                     string         // where there are none
	Before, After, Difference string

	Rows [3]string // that were added, removed and changed
}

// onPage is the change for a page of a place.
func onPage(c *state.Change, p place, base string) changeOnPage {
	page := changeOnPage{
		ID: c.ID, From: c.From, To: c.To, Time: c.At.Format(time.RFC3339), Day: p.Minute(c.At), language: p.Language,
		Same:     p.T("%s tables with the same records.", lang.Count(c.Same)),
		Datasets: c.Datasets, Base: base, Prefix: p.root(), at: c.At, counts: c.Counts,
	}
	if c.More > 0 {
		page.More = browse.Count(c.More)
	}
	page.Count = p.T("%s datasets", lang.Count(len(c.Datasets)+c.More))
	for _, t := range c.Tables {
		x := changedTable{
			Lists: listsOf(p.Mount, t.Table), Table: t.Table,
			Before: browse.Count(t.Before), After: browse.Count(t.After),
		}
		switch d := t.After - t.Before; {
		case t.IsNew:
			x.Difference = p.T("new")
		case t.IsGone:
			x.Difference = p.T("removed")
		case d < 0:
			x.Difference = "\u2212" + browse.Count(-d)
		case d > 0:
			x.Difference = "+" + browse.Count(d)
		default:
			x.Difference = p.T("other values")
		}
		page.Tables = append(page.Tables, x)
	}
	for _, table := range c.Stale {
		page.Stale = append(page.Stale, listsOf(p.Mount, table)...)
	}
	for _, table := range c.Fresh {
		page.Fresh = append(page.Fresh, listsOf(p.Mount, table)...)
	}
	return page
}

// count adds the numbers of rows that differ, of some countries or of all. It reports whether they
// are known of all tables.
func (c *changeOnPage) count(countries []string) bool {
	c.Counted = c.counts != nil
	all := c.Counted
	for i := range c.Tables {
		sum, known := c.counts.Of(c.Tables[i].Table, countries)
		all = all && known
		for kind := range sum {
			if known {
				c.Tables[i].Rows[kind] = browse.Count(sum[kind])
			}
		}
	}
	return all
}

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

// changelogOf is what the page or the feed of a place shows of a snapshot, nil for none.
func (p pages) changelogOf(
	ctx *fasthttp.RequestCtx, v *state.Served, base string, isFeed bool,
) (data changelog, of about, err error) {
	data = changelog{
		pageHead: p.at.head(p.at.T("What changed"), changelogPath), Base: base, Self: base + p.at.Prefix + feedPath,
		Updated: time.Time{}.Format(time.RFC3339),
	}
	if v == nil {
		return data, of, nil
	}
	changes := slices.Clone(*p.Site.State.History.Load())
	now := state.Published{At: v.Published(), Manifest: v.Bound.Snap.Manifest}
	data.Served, data.Updated = newStatusSnapshot(p.at, v), now.Time().UTC().Format(time.RFC3339)
	all, err := p.Site.overviewOf(v)
	if err != nil {
		return data, of, err
	}
	of, err = aboutOf(ctx, v, all, p.at.Names, isFeed)
	if err != nil {
		return data, of, err
	}
	if all.Find(of.code) == nil {
		data.Nowhere = of.code
	}
	data.Of = of.title(p.at, v, all)
	text := func(name string) string { return string(ctx.QueryArgs().Peek(name)) }
	here := contract.QueryOf(contract.SinceParam, text(contract.SinceParam), kindParam, text(kindParam))
	here = strings.TrimRight(changelogPath+"?"+strings.Trim(here+"&"+of.query, "&"), "?")
	data.Head = data.At(cmp.Or(data.Of, data.Title), here)
	if !of.isAll() {
		data.Feed = "?" + of.query
		data.Self += data.Feed
	}
	revisions := figures.RevisionsOf(p.Site.Lists, v)
	for _, c := range withOthers(changes, revisions) {
		change := onPage(c, p.at, base)
		change.about, change.feed = &of, data.Self
		change.revise(p.at, v, figures.RevisionsIn(revisions, c))
		if of.codes != nil {
			data.Untold = !change.count(of.codes) || data.Untold
		}
		if of.restrict(&change) {
			data.Changes = append(data.Changes, change)
		}
	}
	return data, of, nil
}

// withOthers adds publications of which only the figures are known that they have changed.
func withOthers(changes []*state.Change, revisions map[figures.Edition][]figures.Revision) []*state.Change {
	var others []*state.Change
	for edition := range revisions {
		c := (&state.Change{To: edition.Snapshot}).PublishedAt(edition.Published)
		if !slices.ContainsFunc(changes, func(o *state.Change) bool { return o.ID == c.ID }) {
			others = append(others, c)
		}
	}
	byTime := func(a, b *state.Change) int { return b.At.Compare(a.At) }
	slices.SortFunc(others, byTime)
	changes = append(changes, others[:min(len(others), mostEditionsMore)]...)
	slices.SortStableFunc(changes, byTime)
	return changes
}

// Paths of what changed, and the media type of the feed (RFC 4287).
const (
	changelogPath = "/changelog"
	feedPath      = "/changelog.atom"
	feedType      = "application/atom+xml; charset=utf-8"
)

func (p pages) addChangelog() {
	head := p.Site.sharedHead(reply.HtmlType)
	p.add(changelogPath, changelogPath, func(ctx *fasthttp.RequestCtx) error {
		return p.Site.withServed(ctx, func(v *state.Served) error {
			data, of, err := p.changelogOf(ctx, v, "", false)
			if err == nil && v != nil {
				data.Asked, err = p.changesOf(ctx, v, of.group, of.codes)
			}
			if err != nil {
				return err
			}
			if day, err := time.Parse(time.DateOnly, data.since()); err == nil {
				data.Changes = slices.DeleteFunc(data.Changes, func(c changeOnPage) bool { return c.at.Before(day) })
				for i := 0; of.codes == nil && i < len(data.Changes); i++ { // else they are counted
					data.Changes[i].count(nil)
				}
			}
			if a := data.Asked; a != nil && a.Kind != "" && !slices.Contains(contract.ChangeKinds.Values, a.Kind) {
				data.ignore(kindParam + "=" + a.Kind)
			}
			known := append(feedParams, contract.SinceParam, kindParam)
			return p.answerPage(ctx, "changelog.html", &data, &head, known...)
		})
	}, p.Site.Lists.Admission.Pages)
	if !p.at.IsEnglish() {
		return
	}
	feed := p.Site.hostHead(feedType)
	p.add(feedPath, changelogPath, func(ctx *fasthttp.RequestCtx) error {
		return p.Site.withServed(ctx, func(v *state.Served) error {
			data, _, err := p.changelogOf(ctx, v, p.Site.Lists.Pages.BaseOf(ctx), true)
			if err = cmp.Or(err, fileFaults(ctx, p.at, feedParams...)); err != nil {
				return err
			}
			body, err := rendered(texts(), "changelog.atom", data)
			return p.Site.sendMade(ctx, &feed, feedPath, body, err)
		})
	})
}

// Summary is the change in a sentence.
func (c *changeOnPage) Summary() string {
	switch {
	case c.From == "":
		return c.language.T("What else this load changed is not known any more.")
	case c.Placed && len(c.Tables) == 0:
		return ""
	}
	const changed = "Compared with snapshot %[2]s, %[1]s tables have changed."
	return strings.TrimSpace(c.language.T(changed, lang.Count(len(c.Tables)), c.From) + " " + c.Same)
}

// Anchor is the id of the change on the page.
func (c *changeOnPage) Anchor() string { return "change-" + c.ID[strings.LastIndexByte(c.ID, ':')+1:] }
