package api

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"

	"hdqs/api/contract"
	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

// tableSources describes where the tables of a snapshot come from. A manifest of format 1 does not
// say.
func tableSources(m *store.Manifest) []store.TableSource {
	if m.Format < 2 {
		return nil
	}
	all := make([]store.TableSource, len(m.Tables))
	for i, ref := range m.Tables {
		all[i] = m.Source(ref.Table)
	}
	return all
}

// sourceFields are the values of the header fields about the source of a table, empty if answers do
// not have the field. They are the same for all lists of the table, with status 200 and 304.
type sourceFields struct{ updated, stale string }

func fieldsOf(s *store.TableSource) (f sourceFields) {
	if !s.Updated.IsZero() {
		f.updated = dayOf(s.Updated)
	}
	if !s.StaleSince.IsZero() {
		f.stale = "since=" + dayOf(s.StaleSince)
	}
	return f
}

// SourceChanged reports whether the header fields about the source of a table differ between two
// snapshots, so that its lists must be purged even if its rows are the same.
func SourceChanged(from, to *store.Manifest, table string) bool {
	before, after := from.Source(table), to.Source(table)
	return fieldsOf(&before) != fieldsOf(&after)
}

// dayOf is the day of a time in UTC.
func dayOf(at time.Time) string { return at.UTC().Format(time.DateOnly) }

// dayFormat is a day as pages show it.
const dayFormat = "2 January 2006"

// period is the time that the rows of a table are about: the earliest start and the latest end of
// their reference periods, zero if no row has one.
type period struct{ from, to time.Time }

func periodOf(seg *snapshot.Segment) (p period) {
	span := func(column string) (least, most time.Time) {
		c, err := seg.Column(column)
		if err != nil {
			return least, most // tables of the catalog's own things have no periods
		}
		first, last, ok := c.Span()
		if !ok {
			return least, most
		}
		return time.UnixMicro(first).UTC(), time.UnixMicro(last).UTC()
	}
	p.from, _ = span("reference_period_start")
	_, p.to = span("reference_period_end")
	return p
}

// join is the period of the rows of both.
func (p period) join(o period) period {
	if p.from.IsZero() || !o.from.IsZero() && o.from.Before(p.from) {
		p.from = o.from
	}
	if o.to.After(p.to) {
		p.to = o.to
	}
	return p
}

// text is empty if nothing is known.
func (p period) text() string {
	switch {
	case p.from.IsZero() && p.to.IsZero():
		return ""
	case p.to.IsZero():
		return "the time from " + p.from.Format(dayFormat)
	case p.from.IsZero():
		return "the time up to " + p.to.Format(dayFormat)
	}
	return p.from.Format(dayFormat) + " to " + p.to.Format(dayFormat)
}

// coverage is the period of an endpoint's rows, unknown for metadata: when a place or a code came
// into use says nothing about figures.
func (b *Bound) coverage(e *contract.Endpoint) period {
	if e.Group() == "metadata" {
		return period{}
	}
	return b.lists[e.Path].period
}

// pageSource is what pages show of the age of rows. A text is empty if it is not known.
type pageSource struct {
	Period     string // that they cover
	Updated    string // day on which their newest source was changed
	StaleSince string // day since which they are older than their source, empty if they are not
}

// sourceOf returns what pages show of an endpoint, without its datasets.
func (b *Bound) sourceOf(e *contract.Endpoint) pageSource {
	s := b.snap.Manifest.Source(e.Table)
	return pageSource{b.coverage(e).text(), dayOnPage(s.Updated), dayOnPage(s.StaleSince)}
}

// sourceOfAll returns what pages show of all tables together.
func (b *Bound) sourceOfAll() pageSource {
	var (
		covered period
		updated time.Time
	)
	for i := range contract.Endpoints {
		e := &contract.Endpoints[i]
		covered = covered.join(b.coverage(e))
		if at := b.snap.Manifest.Source(e.Table).Updated; at.After(updated) {
			updated = at
		}
	}
	return pageSource{Period: covered.text(), Updated: dayOnPage(updated)}
}

// pageDataset is what pages show of a dataset. A text is empty if it is not known.
type pageDataset struct {
	Title, Link, Provider string
	License, LicenseURL   string
	Terms, Caveats        string
	Updated               string
}

// datasetsOf returns the datasets that the rows of an endpoint come from, by title.
func datasetsOf(m *store.Manifest, e *contract.Endpoint) []pageDataset {
	var all []pageDataset
	for _, id := range m.Source(e.Table).Datasets {
		d, ok := m.Dataset(id)
		if !ok {
			d.ID = id
		}
		all = append(all, pageDataset{
			Title:    titleOf(&d),
			Link:     datasetLink(m, &d),
			Provider: d.Publisher, License: cmp.Or(d.License, "licence not stated"), LicenseURL: webLink(d.LicenseURL),
			Terms: d.Terms, Caveats: d.Caveats, Updated: dayOnPage(d.Updated),
		})
	}
	slices.SortFunc(all, func(a, b pageDataset) int {
		return cmp.Or(strings.Compare(a.Title, b.Title), strings.Compare(a.Link, b.Link))
	})
	return all
}

// dayOnPage is the day of a time in UTC, empty for the zero time.
func dayOnPage(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(dayFormat)
}

// webLink returns an address that pages may link to: one of the web, empty for any other.
func webLink(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return address
}

// titleOf is how pages name a dataset.
func titleOf(d *store.Dataset) string { return cmp.Or(d.Title, d.Name, d.ID) }

// datasetLink is the address of a dataset in its catalog, empty if the catalog has none.
func datasetLink(m *store.Manifest, d *store.Dataset) string {
	return webLink(strings.TrimRight(m.CatalogURL, "/") + "/dataset/" + url.PathEscape(cmp.Or(d.Name, d.ID)))
}
