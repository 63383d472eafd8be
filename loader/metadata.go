package loader

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"hdqs/loader/catalogfile"
	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

// The packages that are listed although no row names them.
const (
	riskPackagePrefix    = "inform-risk-index"
	organisationsPackage = "hdx-hapi-organisations"
)

// readPackages reads all package files. One that cannot be read is refused: its dataset is not
// listed, its rows are kept.
func (l *load) readPackages() *packages {
	found := &packages{byID: map[string]*packageInfo{}}
	memory := 0
	for _, f := range l.catalog.packages {
		data, err := catalogfile.ReadFile(l.catalog.fsys, f.path, catalogfile.MaxBytes)
		var p *packageInfo
		if err == nil {
			if p, err = parsePackage(data); err == nil {
				memory += len(data) + resourceMemory*len(p.Resources)
			}
			if memory > maxPackagesMemory {
				err = fmt.Errorf("with this package %d bytes of packages are held, at most %d are allowed", memory,
					maxPackagesMemory)
			}
			if err != nil {
				err = fmt.Errorf("%s: %w", f.path, err)
			}
		}
		if err != nil {
			l.report.refuse(catalogfile.PackageRole, f.path, err)
			continue
		}
		if found.byID[p.ID] != nil {
			l.report.Notes = append(l.report.Notes,
				fmt.Sprintf("%s: package %s was read before; this one counts", f.path, p.ID))
		}
		p.path = f.path
		found.byID[p.ID] = p
	}
	for _, p := range found.sorted() {
		if strings.HasPrefix(string(p.Name), riskPackagePrefix) && (found.risk == nil || p.Name < found.risk.Name) {
			found.risk = p
		}
	}
	return found
}

// ownIDs are the ids for rows of a file that name no source: what catalog.json says about the file,
// for the national risk index its package or that of the current snapshot, else an id made from the
// file's name.
func (p *pass) ownIDs(file resourceFile) (dataset, resource []byte) {
	if file.id != "" {
		return nil, []byte(file.id)
	}
	if file.role == catalogfile.RiskRole {
		if r := p.refs.packages.riskResource(); r != nil {
			return []byte(p.refs.packages.risk.ID), []byte(r.ID)
		}
		if was := p.load.previous.state.Roles[file.role].Uses; len(was) == 1 {
			return []byte(was[0].Dataset), []byte(was[0].Resource)
		}
	}
	sum := sha256.Sum256([]byte(file.role + "/" + plainName(file.path)))
	h := hex.EncodeToString(sum[:16])
	return nil, []byte(strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-"))
}

// listed are the packages in the metadata tables, and their resources there.
type listed map[*packageInfo][]*resourceInfo

// listedPackages are the packages and resources that kept rows name, the national risk index, and
// the list of organisations.
func (p *pass) listedPackages() listed {
	out := listed{}
	all := p.refs.packages
	for _, info := range all.byID {
		if !p.result.datasets[info.ID] && info != all.risk && info.Name != organisationsPackage {
			continue
		}
		out[info] = nil
		for i := range info.Resources {
			r := &info.Resources[i]
			if p.result.uses[r.ID] != nil || info == all.risk && r == all.riskResource() {
				out[info] = append(out[info], r)
			}
		}
	}
	return out
}

// setTimes records since when each resource has its present form: since this load, unless the
// previous snapshot has it in the same form.
func (p *pass) setTimes(out listed) {
	now := time.UnixMicro(p.load.time).UTC()
	set := func(id string, s resourceState) {
		old, ok := p.load.previous.state.Resources[id]
		if s.Since = old.Since; !ok || s != old {
			s.Since = now
		}
		p.result.state.Resources[id] = s
	}
	for id, u := range p.result.uses { // what packages say stays until they say something else
		s := p.load.previous.state.Resources[id]
		s.Rows, s.Sum = u.rows, sumText(u.sum)
		set(id, s)
	}
	for _, resources := range out {
		for _, r := range resources {
			s := p.result.state.Resources[r.ID]
			s.LastModified, s.Size = string(r.LastModified), strings.Trim(string(r.Size), `"`)
			set(r.ID, s)
		}
	}
}

func (p *pass) putPackages(out listed) error {
	datasets, resources := newTableBuilder(tableNamed("dataset")), newTableBuilder(tableNamed("resource"))
	report := &ResourceReport{Role: catalogfile.PackageRole, Path: "packages"}
	named := map[catalogfile.Text]string{} // ids by name
	for _, info := range p.refs.packages.sorted() {
		kept, ok := out[info]
		if !ok {
			continue
		}
		if why, detail := p.addDataset(datasets, info); why != "" {
			report.drop(&rowFault{file: info.path, reason: why, detail: "package " + info.ID + detail})
			continue
		}
		if other := named[info.Name]; other != "" {
			report.odd(&rowFault{file: info.path, reason: nameTwice, detail: info.ID + ", as " + other})
		}
		named[info.Name] = info.ID
		for _, r := range kept {
			if why, detail := p.addResource(resources, info, r); why != "" {
				report.drop(&rowFault{file: info.path, reason: why, detail: "resource " + r.ID + detail})
			} else if d := r.doubt; d != nil {
				report.odd(&rowFault{file: info.path, reason: d.reason, detail: "resource " + r.ID + ": " + d.detail})
			}
		}
	}
	if report.Drops != nil || report.Oddities != nil {
		p.result.report.Resources = append(p.result.report.Resources, report)
	}
	why := cmp.Or(p.load.shrunk("dataset", datasets.rows), p.load.shrunk("resource", resources.rows))
	for _, b := range []*tableBuilder{datasets, resources} {
		var err error
		if old, ok := p.load.previous.table(b.table.name); ok && why != nil && !p.load.opts.packagesMayShrink() {
			err = p.load.keepTable(p.result, catalogfile.PackageRole, old.Table, roleState{}, why)
		} else {
			err = p.result.putRows(b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addDataset adds a row, or says why it cannot be used, with more about it after the name of the
// package.
func (p *pass) addDataset(b *tableBuilder, info *packageInfo) (why reason, detail string) {
	return p.addSource(b, map[string]string{
		"dataset_catalog_id":    info.ID,
		"dataset_catalog_stub":  string(info.Name),
		"dataset_catalog_title": string(info.Title),
		"catalog_provider_stub": string(info.Organization.Name),
		"catalog_provider_name": string(info.Organization.Title),
	})
}

// addResource is addDataset for a resource.
func (p *pass) addResource(b *tableBuilder, info *packageInfo, r *resourceInfo) (why reason, detail string) {
	modified, ok := r.modified()
	if !ok {
		return badDate, ""
	}
	link, ok := webLink(string(r.URL))
	if !ok {
		return badLink, ": download_url: " + quoted([]byte(r.URL))
	}
	b.column("update_date").setInt(modified)
	b.column("is_hxl").setBool(r.tagged)
	b.column("api_updated_date").setInt(p.result.state.Resources[r.ID].Since.UnixMicro())
	return p.addSource(b, map[string]string{
		"resource_catalog_id":           r.ID,
		"dataset_catalog_id":            info.ID,
		"name":                          string(r.Name),
		"format":                        strings.ToLower(string(r.Format)),
		"download_url":                  link,
		"dataset_catalog_stub":          string(info.Name),
		"dataset_catalog_title":         string(info.Title),
		"dataset_catalog_provider_stub": string(info.Organization.Name),
		"dataset_catalog_provider_name": string(info.Organization.Title),
	})
}

// addSource adds a row with these texts and the links that follow from them.
func (p *pass) addSource(b *tableBuilder, texts map[string]string) (why reason, detail string) {
	for name, value := range texts {
		if why := b.column(name).read([]byte(value)); why != "" {
			return why, ""
		}
	}
	if wrong := setLinks(b, p.load.report.CatalogURL); wrong != "" {
		return badLink, ": " + wrong
	}
	b.commit()
	return "", ""
}

// noteUnknownSources reports the resources that rows name and no package has. Their rows are kept
// and count as read by this load.
func (p *pass) noteUnknownSources(out listed) {
	known := map[string]bool{}
	for _, resources := range out {
		for _, r := range resources {
			known[r.ID] = true
		}
	}
	var unknown []*sourceUse
	for _, u := range p.result.uses {
		if !known[u.resource] {
			unknown = append(unknown, u)
		}
	}
	if unknown == nil {
		return
	}
	slices.SortFunc(unknown, func(a, b *sourceUse) int {
		return cmp.Or(cmp.Compare(b.rows, a.rows), cmp.Compare(a.resource, b.resource))
	})
	var first []string
	for _, u := range unknown[:min(len(unknown), maxExamples)] {
		first = append(first, fmt.Sprintf("%s (%d rows)", clip(u.resource, 40), u.rows))
	}
	p.result.note(fmt.Sprintf("%d resources that rows name are in no package and are not listed: %s",
		len(unknown), strings.Join(first, ", ")))
}

// addPackages describes the packages and resources that are listed, and the datasets of
// catalog.json that rows name. What packages said stays while they are gone.
func (p *pass) addPackages(out listed) {
	s := &p.result.sources
	for info, resources := range out {
		if len(info.ID) > maxDatasetID {
			continue // no row of the list of datasets either
		}
		s.datasets[info.ID] = info.describe()
		for _, r := range resources {
			at, _ := r.modified()
			s.resources[r.ID] = sourceResource{dataset: info.ID, modified: at - at%second}
		}
	}
	for id, u := range p.result.uses {
		if _, ok := s.resources[id]; !ok && u.dataset != "" {
			at, _ := parseInstant([]byte(p.result.state.Resources[id].LastModified))
			s.resources[id] = sourceResource{dataset: u.dataset, modified: at - at%second}
		}
	}
	s.complete(p.load.catalog.described, p.load.previous)
}

// describeSources makes the manifest's descriptions. A table that is kept from the previous
// snapshot keeps the one it has there.
func (l *load) describeSources(r *result) ([]store.TableSource, []store.Dataset) {
	var described []store.TableSource
	used := map[string]bool{}
	stale := staleTables(r.report.Stale)
	for _, th := range themes {
		s := l.previous.manifest.Source(th.table.name)
		since, isStale := stale[s.Table]
		if !since.whole {
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
	var changed []string
	for _, id := range slices.Sorted(maps.Keys(used)) {
		d, ok := r.sources.datasets[id]
		if ok {
			datasets = append(datasets, d)
		}
		if was, known := l.previous.manifest.Dataset(id); known && was.License != d.License {
			changed = append(changed, clip(fmt.Sprintf("%s: %q, was %q", d.Name, d.License, was.License), 300))
		}
	}
	if changed != nil {
		r.report.odd("licenses have changed: %s", someOf(changed, mostNames))
	}
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
		latest = max(latest, min(from.modified, cmp.Or(published, math.MaxInt64)))
		if _, described := r.sources.datasets[from.dataset]; described {
			seen[from.dataset] = true
		}
	}
	if latest = cmp.Or(latest, published); latest > 0 {
		at = time.UnixMicro(latest).UTC()
	}
	return at, slices.Sorted(maps.Keys(seen))
}

// newestFile is when the newest file of a table was published, 0 when catalog.json does not say.
func (l *load) newestFile(th *theme) int64 {
	latest := int64(0)
	for _, f := range l.catalog.files[roleOf(th.table.name)] {
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

// complete adds what catalog.json says about datasets where their packages say nothing, and what
// the previous snapshot says where neither does.
func (s *sources) complete(described []catalogfile.Dataset, previous *previous) {
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
	for _, d := range previous.manifest.Datasets {
		if _, ok := s.datasets[d.ID]; !ok {
			s.datasets[d.ID] = d
		}
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

// addResourceRows takes from the table of resources what other tables need of it.
func (s *sources) addResourceRows(data *snapshot.TableData) {
	instant := func(column string, row int) int64 {
		if at := rowInt(data, column, row); at != snapshot.NullInt {
			return at
		}
		return 0
	}
	for row := range data.Rows {
		at := instant("update_date", row)
		s.resources[rowText(data, "resource_catalog_id", row)] = sourceResource{
			dataset: rowText(data, "dataset_catalog_id", row), modified: at - at%second,
			updated: instant("api_updated_date", row),
		}
	}
}
