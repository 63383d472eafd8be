package loader

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"hdqs/loader/catalogfile"
	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

// sources is what a load knows about where rows come from: the manifest tells it to whoever shows
// the tables.
type sources struct {
	resources map[string]sourceResource // by id
	datasets  map[string]store.Dataset  // by id
}

// sourceResource is the dataset of a resource, and when it changed last.
type sourceResource struct {
	dataset  string
	modified int64 // to the second; 0 when it is not known
}

func newSourceResource(dataset string, modified int64) sourceResource {
	if modified == snapshot.NullInt {
		modified = 0
	}
	return sourceResource{dataset: dataset, modified: modified - modified%second}
}

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

// tablesOf are the tables that a source concerns: the one that its path names, or those that are
// made from its role.
func tablesOf(role, path string) (names []string) {
	for _, th := range themes {
		switch name := th.table.name; {
		case name == path:
			return []string{name}
		case roleOf(name) == role && name != availabilityName:
			names = append(names, name)
		}
	}
	return names
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

// addPackages describes the packages and resources that are listed, and the datasets of
// catalog.json that rows name.
func (p *pass) addPackages(out listed) {
	s := &p.result.sources
	for info, resources := range out {
		if len(info.ID) > maxDatasetID {
			continue // no row of the list of datasets either
		}
		s.datasets[info.ID] = info.describe()
		for _, r := range resources {
			at, _ := r.modified()
			s.resources[r.ID] = newSourceResource(info.ID, at)
		}
	}
	for id, u := range p.result.uses {
		if _, ok := s.resources[id]; !ok && u.dataset != "" {
			s.resources[id] = sourceResource{dataset: u.dataset}
		}
	}
	s.complete(p.load.catalog.described)
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

// licenseLink is a link to a license, empty when it is no link that a page can show.
func licenseLink(uri string) string {
	link, ok := webLink(uri)
	if !ok || len(link) > maxURI {
		return ""
	}
	return link
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

// available is an entry of the list of available data: a theme has rows about a place, from a
// resource. Units are those stored, without regard to what providers call them; a level that the
// theme does not have is empty.
type available struct {
	theme                      *theme
	locationCode, locationName string
	code1, name1, code2, name2 string
	level                      int64
	resource                   string
}

// availableIn lists the entries of a table, each once. Only data themes have entries. It only
// reads data, so tables may be listed concurrently.
func availableIn(data *snapshot.TableData) []available {
	var list []available
	for _, th := range dataThemes {
		if th.table.name != data.Name {
			continue
		}
		seen := map[available]bool{}
		for _, place := range th.places {
			for _, a := range th.availableAt(data, place) {
				if !seen[a] {
					seen[a] = true
					list = append(list, a)
				}
			}
		}
	}
	return list
}

// availableAt goes through the rows once. A row mostly has the place and the resource of the one
// before, so few pairs are looked up.
func (th *theme) availableAt(data *snapshot.TableData, place placeGroup) []available {
	var group *snapshot.GroupData
	for i := range data.Groups {
		if data.Groups[i].Name == place.group {
			group = &data.Groups[i]
		}
	}
	resources := columnData(data.Columns, "resource_catalog_id")
	var list []available
	seen := map[uint64]bool{}
	last := ^uint64(0)
	for row, tuple := range group.Codes {
		pair := uint64(tuple)<<32 | uint64(resources.Codes[row])
		if pair == last {
			continue
		}
		last = pair
		if !seen[pair] {
			seen[pair] = true
			a := th.availablePlace(group.Columns, place.prefix, int(tuple))
			a.resource = textAt(resources, row)
			list = append(list, a)
		}
	}
	return list
}

func (th *theme) availablePlace(columns []snapshot.ColumnData, prefix string, tuple int) available {
	textOf := func(name string) string { return textAt(columnData(columns, name), tuple) }
	a := available{
		theme: th, locationCode: textOf(prefix + "location_code"), locationName: textOf(prefix + "location_name"),
		code1: textOf("stored_admin1_code"), name1: textOf("stored_admin1_name"),
		code2: textOf("stored_admin2_code"), name2: textOf("stored_admin2_name"),
	}
	if level := columnData(columns, "admin_level"); level != nil {
		a.level = level.Ints[tuple]
	}
	return a
}

// columnData finds a column, nil when there is none of that name.
func columnData(columns []snapshot.ColumnData, name string) *snapshot.ColumnData {
	for i := range columns {
		if columns[i].Name == name {
			return &columns[i]
		}
	}
	return nil
}

// cellOf finds a column of rows or of a group, and the position in it of a row's value.
func cellOf(data *snapshot.TableData, name string, row int) (c *snapshot.ColumnData, at int) {
	if c := columnData(data.Columns, name); c != nil {
		return c, row
	}
	for i := range data.Groups {
		g := &data.Groups[i]
		if c := columnData(g.Columns, name); c != nil {
			return c, int(g.Codes[row])
		}
	}
	return nil, 0
}

func rowText(data *snapshot.TableData, name string, row int) string {
	return textAt(cellOf(data, name, row))
}

func rowInt(data *snapshot.TableData, name string, row int) int64 {
	c, at := cellOf(data, name, row)
	return c.Ints[at]
}

// textAt is the text at a position, "" for null and for a column that is not there.
func textAt(c *snapshot.ColumnData, i int) string {
	if c == nil || c.Codes[i] == snapshot.NullCode {
		return ""
	}
	return c.Values[c.Codes[i]]
}

// availabilityTable makes the list of available data from the entries of all themes. updated is
// when a resource was last read in a new form. Entries that differ only in their resource become
// one when these times are equal.
func availabilityTable(entries []available, updated func(resource string) int64) *snapshot.TableData {
	b := newTableBuilder(tableNamed("data_availability"))
	category, subcategory, date := b.column("category"), b.column("subcategory"), b.column("api_updated_date")
	places := b.group("place")
	setPlace := newPlaceVectors(places)
	type entry struct {
		available
		updated int64
	}
	seen := make(map[entry]bool, len(entries))
	var key []byte
	for _, e := range entries {
		at := updated(e.resource)
		e.resource = ""
		if seen[entry{e, at}] {
			continue
		}
		seen[entry{e, at}] = true
		category.setString(e.theme.category)
		subcategory.setString(e.theme.subcategory)
		date.setInt(at)
		key = appendTexts(key[:0], e.locationCode, e.locationName, e.code1, e.name1, e.code2, e.name2)
		key = append(key, byte(e.level))
		places.put(key, func() {
			places.column("location_code").setString(e.locationCode)
			places.column("location_name").setString(e.locationName)
			setPlace.setAt(place{code1: e.code1, name1: e.name1, code2: e.code2, name2: e.name2}, int(e.level))
		})
		b.commit()
	}
	data, _ := b.finish(true)
	return data
}

// appendTexts appends texts so that different lists of texts give different bytes.
func appendTexts(key []byte, texts ...string) []byte {
	for _, s := range texts {
		key = binary.AppendUvarint(key, uint64(len(s)))
		key = append(key, s...)
	}
	return key
}
