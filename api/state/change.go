package state

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	"hdqs/snapshot/store"
)

// Published is a snapshot that a channel shows or has shown.
type Published struct {
	At       time.Time // when the channel was moved to it, zero if that is not known
	Manifest *store.Manifest
}

// Time is when the snapshot was published, or else loaded.
func (p *Published) Time() time.Time {
	if p.At.IsZero() {
		return p.Manifest.SnapshotTime.UTC()
	}
	return p.At.UTC()
}

// Change is what differs between two snapshots that a channel has shown one after the other. It has
// no memory of their manifests. Stores keep it as JSON, so that names of fields stay.
type Change struct {
	ID       string // a URN that depends on the publication only, so that it is the same everywhere
	From, To string // ids of snapshots
	At       time.Time

	Tables   []tableChange
	Stale    []string // tables that have become older than their sources
	Fresh    []string // tables that no longer are
	Same     int      // tables with the same rows
	Datasets []DatasetChange
	More     int // datasets that are not listed

	Counts RowCounts // of rows that differ; nil if they are not known
}

// RowCounts are the numbers of rows that were added, removed and changed, by table and then by
// country, or by two countries with a blank between them in tables of people from one in another.
// Those of the empty country are of the whole table; others may not be known.
type RowCounts map[string]map[string][3]int

// Of are the numbers of a table: of rows that name one of some countries, or of all if that is nil.
// known is false if only those of all are known.
func (c RowCounts) Of(table string, countries []string) (sum [3]int, known bool) {
	places := c[table]
	if countries == nil {
		sum, known = places[""]
		return sum, c != nil && (known || len(places) == 0)
	}
	isOf := func(code string) bool { return slices.Contains(countries, code) }
	for at, n := range places {
		if slices.ContainsFunc(strings.Fields(at), isOf) {
			for kind := range n {
				sum[kind] += n[kind]
			}
		}
	}
	return sum, c != nil && len(places) != 1
}

type tableChange struct {
	Table         string
	Before, After int // rows
	IsNew, IsGone bool
}

// DatasetChange is a dataset that is new, gone or has another date.
type DatasetChange struct {
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
	c := (&Change{From: from.Manifest.ID, To: to.Manifest.ID}).PublishedAt(to.Time())
	changed, same := store.Compare(from.Manifest, to.Manifest)
	c.Same = len(same)
	for _, t := range changed {
		c.Tables = append(c.Tables, tableChange{
			t.Table, t.Before.Rows, t.After.Rows, t.Before.SHA256 == "", t.After.SHA256 == "",
		})
	}
	for _, ref := range to.Manifest.Tables {
		before, after := from.Manifest.Source(ref.Table), to.Manifest.Source(ref.Table)
		switch {
		case before.StaleSince.IsZero() && !after.StaleSince.IsZero():
			c.Stale = append(c.Stale, ref.Table)
		case !before.StaleSince.IsZero() && after.StaleSince.IsZero():
			c.Fresh = append(c.Fresh, ref.Table)
		}
	}
	c.compareDatasets(from.Manifest, to.Manifest)
	return c
}

// PublishedAt sets the time of the publication, and the id that depends on it.
func (c *Change) PublishedAt(at time.Time) *Change {
	c.At = at
	sum := sha256.Sum256([]byte("hdqs publication\n" + c.To + "\n" + c.At.Format(time.RFC3339Nano)))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80 // version 8 of RFC 9562
	c.ID = fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
	return c
}

// compareDatasets lists the datasets that differ, by title.
func (c *Change) compareDatasets(from, to *store.Manifest) {
	add := func(m *store.Manifest, d *store.Dataset, what string) {
		c.Datasets = append(c.Datasets, DatasetChange{
			Title: TitleOf(d), Link: DatasetLink(m, d), What: what, Day: dayOnPage(d.Updated),
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
	slices.SortFunc(c.Datasets, func(a, b DatasetChange) int {
		return cmp.Or(strings.Compare(a.Title, b.Title), strings.Compare(a.Link, b.Link))
	})
	if more := len(c.Datasets) - mostDatasets; more > 0 {
		c.Datasets, c.More = slices.Clone(c.Datasets[:mostDatasets]), more
	}
}
