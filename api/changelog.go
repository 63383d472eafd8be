package api

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/snapshot/store"
)

// Published is a snapshot that a channel shows or has shown.
type Published struct {
	At       time.Time // when the channel was moved to it, zero if that is not known
	Manifest *store.Manifest
}

// time is when the snapshot was published, or else loaded.
func (p *Published) time() time.Time {
	if p.At.IsZero() {
		return p.Manifest.SnapshotTime.UTC()
	}
	return p.At.UTC()
}

// Change is what differs between two snapshots that a channel has shown one after the other. It has
// no memory of their manifests.
type Change struct {
	ID       string // a URN that depends on the publication only, so that it is the same everywhere
	From, To string // ids of snapshots
	At       time.Time

	tables   []tableChange
	stale    []string // tables that have become older than their sources
	fresh    []string // tables that no longer are
	same     int      // tables with the same rows
	datasets []datasetChange
	more     int // datasets that are not listed
}

type tableChange struct {
	table         string
	before, after int // rows
	isNew, isGone bool
}

// datasetChange is a dataset that is new, gone or has another date.
type datasetChange struct {
	Title, Link, What string
	Day               string // of its newest form, empty if it is not known
}

// mostDatasets is how many datasets a change lists, and mostChanges how many changes the server
// keeps.
const (
	mostDatasets = 40
	mostChanges  = 40
)

// NewChange compares two snapshots.
func NewChange(from, to Published) *Change {
	c := &Change{From: from.Manifest.ID, To: to.Manifest.ID, At: to.time()}
	sum := sha256.Sum256([]byte("hdqs publication\n" + c.To + "\n" + c.At.Format(time.RFC3339Nano)))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80 // version 8 of RFC 9562
	c.ID = fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
	changed, same := store.Compare(from.Manifest, to.Manifest)
	c.same = len(same)
	for _, t := range changed {
		c.tables = append(c.tables, tableChange{
			t.Table, t.Before.Rows, t.After.Rows, t.Before.SHA256 == "", t.After.SHA256 == "",
		})
	}
	for _, ref := range to.Manifest.Tables {
		before, after := from.Manifest.Source(ref.Table), to.Manifest.Source(ref.Table)
		switch {
		case before.StaleSince.IsZero() && !after.StaleSince.IsZero():
			c.stale = append(c.stale, ref.Table)
		case !before.StaleSince.IsZero() && after.StaleSince.IsZero():
			c.fresh = append(c.fresh, ref.Table)
		}
	}
	c.compareDatasets(from.Manifest, to.Manifest)
	return c
}

// compareDatasets lists the datasets that differ, by title.
func (c *Change) compareDatasets(from, to *store.Manifest) {
	add := func(m *store.Manifest, d *store.Dataset, what string) {
		c.datasets = append(c.datasets, datasetChange{
			Title: titleOf(d), Link: datasetLink(m, d), What: what, Day: dayOnPage(d.Updated),
		})
	}
	for i := range to.Datasets {
		d := &to.Datasets[i]
		switch old, known := from.Dataset(d.ID); {
		case !known && from.Format >= 2: // the first format had none
			add(to, d, "new")
		case known && !old.Updated.Equal(d.Updated):
			add(to, d, "updated")
		}
	}
	for i := range from.Datasets {
		if _, kept := to.Dataset(from.Datasets[i].ID); !kept {
			add(from, &from.Datasets[i], "no longer used")
		}
	}
	slices.SortFunc(c.datasets, func(a, b datasetChange) int {
		return cmp.Or(strings.Compare(a.Title, b.Title), strings.Compare(a.Link, b.Link))
	})
	if more := len(c.datasets) - mostDatasets; more > 0 {
		c.datasets, c.more = slices.Clone(c.datasets[:mostDatasets]), more
	}
}

// noteChanges adds changes to those that the server knows, the newest first. A snapshot that is
// published without a history is compared with the one that it replaces.
func (s *Server) noteChanges(r *Release, earlier *served) {
	all := slices.Clone(r.Changes)
	if before := earlier; len(all) == 0 && before != nil && before.id != r.Snapshot.Manifest.ID {
		old := Published{before.published(), before.bound.snap.Manifest}
		all = append(all, NewChange(old, Published{r.PublishedAt, r.Snapshot.Manifest}))
	}
	if known := s.history.Load(); known != nil {
		for _, c := range *known {
			if !slices.ContainsFunc(all, func(o *Change) bool { return o.ID == c.ID }) {
				all = append(all, c)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *Change) int { return b.At.Compare(a.At) })
	all = all[:min(len(all), mostChanges)]
	s.history.Store(&all)
}

// changelog is what the page of changes shows.
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
	Datasets                []datasetChange
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
func (c *Change) onPage(m *mount, base string) changeOnPage {
	page := changeOnPage{
		ID: c.ID, From: c.From, To: c.To, Time: c.At.Format(time.RFC3339), Day: c.At.Format(minuteFormat),
		Same: counted(c.same, "table"), Datasets: c.datasets, Base: base, Prefix: m.prefix,
	}
	if c.more > 0 {
		page.More = groupedNumber(c.more)
	}
	page.Count = counted(len(c.datasets)+c.more, "dataset")
	for _, t := range c.tables {
		x := changedTable{
			Lists: listsOf(m, t.table), Table: t.table, Before: groupedNumber(t.before), After: groupedNumber(t.after),
		}
		switch d := t.after - t.before; {
		case t.isNew:
			x.Difference = "new"
		case t.isGone:
			x.Difference = "removed"
		case d < 0:
			x.Difference = "\u2212" + groupedNumber(-d)
		case d > 0:
			x.Difference = "+" + groupedNumber(d)
		default:
			x.Difference = "other values"
		}
		page.Tables = append(page.Tables, x)
	}
	for _, table := range c.stale {
		page.Stale = append(page.Stale, listsOf(m, table)...)
	}
	for _, table := range c.fresh {
		page.Fresh = append(page.Fresh, listsOf(m, table)...)
	}
	return page
}

// minuteFormat is a time as pages show it.
const minuteFormat = "2 January 2006, 15:04 UTC"

// listsOf are the endpoints of a table below a mount.
func listsOf(m *mount, table string) []pageEndpoint {
	var all []pageEndpoint
	endpoints := contract.EndpointsIn(m.names)
	for i := range endpoints {
		if endpoints[i].Table == table {
			all = append(all, newPageEndpoint(m, &endpoints[i]))
		}
	}
	return all
}

// changelogOf is what the page or the feed of a mount shows now.
func (s *Server) changelogOf(m *mount, base string) changelog {
	data := changelog{pageHead: newPageHead(m, "What changed"), Base: base, Self: base + m.prefix + feedPath}
	updated := time.Time{}
	if v := s.acquire(); v != nil {
		now := Published{v.published(), v.bound.snap.Manifest}
		data.Served, updated = newStatusSnapshot(v), now.time()
		v.release(s.log)
	}
	if known := s.history.Load(); known != nil {
		for _, c := range *known {
			data.Changes = append(data.Changes, c.onPage(m, base))
		}
	}
	data.Updated = updated.UTC().Format(time.RFC3339)
	return data
}

// Paths of what changed.
const (
	changelogPath = "/changelog"
	feedPath      = "/changelog.atom"
)

// addChangelog registers the page and the feed of what changed.
func (s *Server) addChangelog(m *mount) {
	full := newHead(s.pageFields(safe("Content-Type", htmlType, "Content-Security-Policy", pagePolicy)...)...)
	bare := newHead(s.pageFields()...)
	s.add(m, changelogPath, route{name: changelogPath, handler: func(ctx *fasthttp.RequestCtx) {
		s.answerPage(ctx, "changelog.html", s.changelogOf(m, ""), full, bare, landingKey)
	}})
	fullFeed := newHead(s.landingFields(safe("Content-Type", feedType)...)...)
	bareFeed := newHead(s.landingFields()...)
	s.add(m, feedPath, route{name: changelogPath, handler: func(ctx *fasthttp.RequestCtx) {
		body, err := feedOf(s.changelogOf(m, s.baseOf(ctx)))
		if err != nil {
			s.logFault(feedPath, err)
			s.answerError(ctx, err)
			return
		}
		s.sendPage(ctx, body, fullFeed, bareFeed, landingKey)
	}})
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
	return groupedNumber(n) + " " + what
}
