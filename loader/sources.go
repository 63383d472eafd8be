package loader

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"hdqs/loader/catalogfile"
	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

// describeSources makes the manifest's descriptions. A table that is kept from the previous
// snapshot keeps the one it has there.
func (l *load) describeSources(r *result) ([]store.TableSource, []store.Dataset) {
	var described []store.TableSource
	used := map[string]bool{}
	stale := staleTables(r.report.Stale)
	for _, th := range themes {
		s := store.TableSource{Table: th.table.name}
		since, isStale := stale[s.Table]
		switch {
		case isStale && since.whole && l.previous.manifest != nil:
			s = l.previous.manifest.Source(s.Table)
		case !isStale || !since.whole:
			s.Updated, s.Datasets = l.newest(th, r)
		}
		s.StaleSince, s.StaleWhy = since.Since, since.Why
		for _, id := range s.Datasets {
			used[id] = true
		}
		if !s.Updated.IsZero() || isStale || s.Datasets != nil {
			described = append(described, s)
		}
	}
	var datasets []store.Dataset
	for id := range used {
		d, ok := r.sources.datasets[id]
		if !ok && l.previous.manifest != nil {
			d, ok = l.previous.manifest.Dataset(id)
		}
		if ok {
			datasets = append(datasets, d)
		}
	}
	slices.SortFunc(datasets, func(a, b store.Dataset) int { return strings.Compare(a.ID, b.ID) })
	return described, datasets
}

// newest is when the newest source of a table changed, and the datasets of its rows. A change after
// the table's own files were published is not in them, so it does not count.
func (l *load) newest(th *theme, r *result) (at time.Time, datasets []string) {
	published := l.newestFile(th)
	latest, seen := int64(0), map[string]bool{}
	for _, e := range r.available[th.table.name] {
		from, ok := r.sources.resources[e.resource]
		if !ok {
			continue
		}
		if at := from.modified; published == 0 || at < published {
			latest = max(latest, at)
		} else {
			latest = published
		}
		if _, described := r.sources.datasets[from.dataset]; described {
			seen[from.dataset] = true
		}
	}
	if latest == 0 {
		latest = published
	}
	if latest > 0 {
		at = time.UnixMicro(latest).UTC()
	}
	for id := range seen {
		datasets = append(datasets, id)
	}
	slices.Sort(datasets)
	return at, datasets
}

// newestFile is when the newest file of a table was published, 0 when catalog.json does not say.
func (l *load) newestFile(th *theme) int64 {
	role := th.role
	if th.table.name == "admin2" {
		role = catalogfile.UnitRole
	}
	latest := int64(0)
	for _, f := range l.catalog.files[role] {
		if at, ok := parseInstant([]byte(f.lastModified)); ok {
			latest = max(latest, at-at%second)
		}
	}
	return latest
}

// staleTable is since when a table, or a file of it, is older than its source.
type staleTable struct {
	Stale
	whole bool // the table is that of the previous snapshot
}

// staleTables finds the tables of stale sources. Of several sources of one table the first that
// could not be used counts.
func staleTables(all []Stale) map[string]staleTable {
	found := map[string]staleTable{}
	for _, s := range all {
		for _, table := range tablesOf(s.Role, s.Path) {
			old, ok := found[table]
			whole := old.whole || s.Path == table
			if !ok || s.Since.Before(old.Since) {
				old.Stale = s
			}
			found[table] = staleTable{Stale: old.Stale, whole: whole}
		}
	}
	return found
}

// sameSources reports whether two manifests describe their sources alike. Why one is stale, which
// may contain times and addresses, does not count.
func sameSources(a, b *store.Manifest) bool {
	text := func(m *store.Manifest) []byte {
		all := slices.Clone(m.Sources)
		for i := range all {
			all[i].StaleWhy = ""
		}
		data, _ := json.Marshal(struct {
			Sources  []store.TableSource
			Datasets []store.Dataset
		}{all, m.Datasets})
		return data
	}
	return bytes.Equal(text(a), text(b))
}

// complete adds what catalog.json says about datasets where their packages say nothing.
func (s *sources) complete(described []catalogfile.Dataset) {
	for _, c := range described {
		if c.ID == "" || len(c.ID) > maxDatasetID {
			continue
		}
		d := s.datasets[c.ID]
		d.ID = c.ID
		d.Name = cmp.Or(d.Name, clip(c.Name, maxDescription))
		d.Title = cmp.Or(d.Title, clip(c.Title, maxDescription))
		d.Publisher = cmp.Or(d.Publisher, clip(c.Provider, maxDescription))
		d.License = cmp.Or(d.License, clip(c.License, maxDescription))
		d.LicenseURL = cmp.Or(d.LicenseURL, clip(licenseLink(c.LicenseURL), maxDescription))
		d.Terms = cmp.Or(d.Terms, clip(c.Terms, maxDescription))
		d.Caveats = cmp.Or(d.Caveats, clip(c.Caveats, maxDescription))
		if at, ok := parseInstant([]byte(c.LastModified)); ok && d.Updated.IsZero() {
			d.Updated = time.UnixMicro(at - at%second).UTC()
		}
		s.datasets[c.ID] = d
	}
}

// addDatasetRows takes names and titles from the table of datasets of view dumps.
func (s *sources) addDatasetRows(data *snapshot.TableData) {
	for row := range data.Rows {
		id := rowText(data, "dataset_catalog_id", row)
		s.datasets[id] = store.Dataset{
			ID: id, Name: rowText(data, "dataset_catalog_stub", row),
			Title:     rowText(data, "dataset_catalog_title", row),
			Publisher: rowText(data, "catalog_provider_name", row),
		}
	}
}
