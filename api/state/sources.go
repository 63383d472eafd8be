package state

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

// TableSources describes where the tables of a snapshot come from. A manifest of format 1 does not
// say.
func TableSources(m *store.Manifest) []store.TableSource {
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
		f.updated = momentOf(s.Updated)
	}
	if !s.StaleSince.IsZero() {
		f.stale = "since=" + DayOf(s.StaleSince)
	}
	return f
}

// SourceChanged reports whether the header fields about the source of a table differ between two
// snapshots, so that its lists must be purged even if its rows are the same.
func SourceChanged(from, to *store.Manifest, table string) bool {
	before, after := from.Source(table), to.Source(table)
	return fieldsOf(&before) != fieldsOf(&after)
}

// momentOf is a time in UTC to the second. Of some sources only the day is known.
func momentOf(at time.Time) string {
	if at = at.UTC(); at.Equal(at.Truncate(24 * time.Hour)) {
		return DayOf(at)
	}
	return at.Format("2006-01-02T15:04:05Z")
}

// DayOf is the day of a time in UTC.
func DayOf(at time.Time) string { return at.UTC().Format(time.DateOnly) }

// Period is the time that the rows of a table are about: the earliest start and the latest end of
// their reference periods, zero if no row has one.
type Period struct{ From, To time.Time }

func periodOf(seg *snapshot.Segment) (p Period) {
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
	p.From, _ = span("reference_period_start")
	_, p.To = span("reference_period_end")
	return p
}

// Join is the period of the rows of both.
func (p Period) Join(o Period) Period {
	if p.From.IsZero() || !o.From.IsZero() && o.From.Before(p.From) {
		p.From = o.From
	}
	if o.To.After(p.To) {
		p.To = o.To
	}
	return p
}

// Coverage is the period of an endpoint's rows, unknown for metadata: when a place or a code came
// into use says nothing about figures.
func (b *Bound) Coverage(e *contract.Endpoint) Period {
	if e.Group() == "metadata" {
		return Period{}
	}
	return b.Lists[e.Path].period
}

// PageSource is what pages show of the age of rows. A text is empty if it is not known.
type PageSource struct {
	Period     string // that they cover, as ISO 8601 has it
	Updated    string // day on which their newest source was changed
	StaleSince string // day since which they are older than their source, empty if they are not
}

// SourceOf returns what pages show of an endpoint, without its datasets.
func (b *Bound) SourceOf(e *contract.Endpoint) PageSource {
	s := b.Snap.Manifest.Source(e.Table)
	covered := b.Coverage(e).seenOn(b.Snap.Manifest.SnapshotTime)
	return PageSource{covered.Interval(), dayOnPage(s.Updated), dayOnPage(s.StaleSince)}
}

// SourceOfAll returns what pages show of all tables together.
func (b *Bound) SourceOfAll() PageSource {
	var (
		covered Period
		updated time.Time
	)
	for i := range contract.Endpoints {
		e := &contract.Endpoints[i]
		covered = covered.Join(b.Coverage(e))
		if at := b.Snap.Manifest.Source(e.Table).Updated; at.After(updated) {
			updated = at
		}
	}
	covered = covered.seenOn(b.Snap.Manifest.SnapshotTime)
	return PageSource{Period: covered.Interval(), Updated: dayOnPage(updated)}
}

// PageDataset is what pages show of a dataset. A text is empty if it is not known.
type PageDataset struct {
	Title, Link, Provider string
	License, LicenseURL   string
	Terms, Caveats        string
	Updated               string
}

// DatasetsOf returns the datasets that the rows of an endpoint come from, by title.
func DatasetsOf(m *store.Manifest, e *contract.Endpoint) []PageDataset {
	var all []PageDataset
	for _, id := range m.Source(e.Table).Datasets {
		all = append(all, PageDatasetOf(m, id))
	}
	slices.SortFunc(all, func(a, b PageDataset) int {
		return cmp.Or(strings.Compare(a.Title, b.Title), strings.Compare(a.Link, b.Link))
	})
	return all
}

// PageDatasetOf returns a dataset. Of one that the manifest does not have, only the id is known.
func PageDatasetOf(m *store.Manifest, id string) PageDataset {
	d, ok := m.Dataset(id)
	if !ok {
		d.ID = id
	}
	license, address := LicenseOf(m, &d)
	return PageDataset{
		Title: TitleOf(&d), Link: DatasetLink(m, &d), Provider: d.Publisher,
		License: cmp.Or(license, "licence not stated"), LicenseURL: address,
		Terms: d.Terms, Caveats: d.Caveats, Updated: dayOnPage(d.Updated),
	}
}

// LicenseOf is the licence of a dataset and the address of its text, empty where they are not
// known. What catalogs call "Other" are terms that the page of the dataset has.
func LicenseOf(m *store.Manifest, d *store.Dataset) (title, address string) {
	title, address = d.License, contract.WebLink(d.LicenseURL)
	if strings.EqualFold(title, "Other") || title == "hdx-other" {
		return "the provider's own terms", cmp.Or(address, DatasetLink(m, d))
	}
	return title, address
}

// dayOnPage is the day of a time in UTC, empty for the zero time.
func dayOnPage(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return DayOf(at)
}

// TitleOf is how pages name a dataset.
func TitleOf(d *store.Dataset) string { return cmp.Or(d.Title, d.Name, d.ID) }

// DatasetLink is the address of a dataset in its catalog, empty if the catalog has none.
func DatasetLink(m *store.Manifest, d *store.Dataset) string {
	return contract.WebLink(strings.TrimRight(m.CatalogURL, "/") + "/dataset/" + url.PathEscape(cmp.Or(d.Name, d.ID)))
}

// seenOn is the period as it is known on a day: what goes on has no end yet, whatever is planned.
func (p Period) seenOn(day time.Time) Period {
	if p.To.After(day) {
		p.To = time.Time{}
	}
	return p
}

// Interval is the period as ISO 8601 has it, with two dots for an open end.
func (p Period) Interval() string {
	if p.From.IsZero() && p.To.IsZero() {
		return ""
	}
	end := func(at time.Time) string {
		if at.IsZero() {
			return ".."
		}
		return at.Format(time.DateOnly)
	}
	return end(p.From) + "/" + end(p.To)
}

// SourcesPath is the path of what programs ask of the sources of lists: whose they are, under which
// licence, and how old. The parameter list names one.
const SourcesPath = "/sources"

// Sources are the sources of lists in a snapshot.
type Sources struct {
	Snapshot string        `json:"snapshot"`
	Loaded   string        `json:"loaded"`
	Earlier  []string      `json:"earlier"` // ids of snapshots that changes can be asked since
	Lists    []ListSources `json:"lists"`
}

// ListSources are the sources of a list.
type ListSources struct {
	List    string `json:"list"`
	Path    string `json:"path"`
	Title   string `json:"title"`
	Records int    `json:"records"`
	Period  string `json:"period"` // as ISO 8601 has it, with two dots for an open end
	store.TableSource
	Datasets []SourceDataset `json:"datasets"`
}

// SourceDataset is a dataset with its address in the catalog.
type SourceDataset struct {
	store.Dataset
	Link string `json:"link"`
}
