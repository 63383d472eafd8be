package loader

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"hdqs/loader/catalogfile"
	"hdqs/snapshot/store"
)

// packageInfo is one dataset of the catalog. The metadata tables are made of packages.
type packageInfo struct {
	ID           string           `json:"id"`
	Name         catalogfile.Text `json:"name"`
	Title        catalogfile.Text `json:"title"`
	Organization organization     `json:"organization"`
	Resources    resourceInfos    `json:"resources"`

	LicenseID        looseText `json:"license_id"`
	LicenseTitle     looseText `json:"license_title"`
	LicenseURL       looseText `json:"license_url"`
	LicenseOther     looseText `json:"license_other"` // the terms of a license without a name
	Caveats          looseText `json:"caveats"`
	LastModified     looseText `json:"last_modified"`
	MetadataModified looseText `json:"metadata_modified"`

	path string // the file it was read from
}

// maxDescription bounds each text that describes a package, in bytes.
const maxDescription = 1000

// looseText is a text that a package can do without: anything else is empty, and a long one is cut.
type looseText string

// UnmarshalJSON decodes the text.
func (t *looseText) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*t = looseText(strings.Clone(clip(strings.TrimSpace(text), maxDescription)))
	}
	return nil
}

// describe is what the manifest says about the package.
func (p *packageInfo) describe() store.Dataset {
	d := store.Dataset{
		ID: p.ID, Name: clip(string(p.Name), maxDescription), Title: clip(string(p.Title), maxDescription),
		Publisher: clip(string(p.Organization.Title), maxDescription),
		License:   string(cmp.Or(p.LicenseTitle, p.LicenseID)), LicenseURL: licenseLink(string(p.LicenseURL)),
		Terms: string(p.LicenseOther), Caveats: string(p.Caveats),
	}
	if at, ok := parseInstant([]byte(cmp.Or(p.LastModified, p.MetadataModified))); ok {
		d.Updated = time.UnixMicro(at - at%second).UTC()
	}
	return d
}

type organization struct {
	Name  catalogfile.Text `json:"name"`
	Title catalogfile.Text `json:"title"`
}

type resourceInfo struct {
	ID               string           `json:"id"`
	Name             catalogfile.Text `json:"name"`
	Format           catalogfile.Text `json:"format"`
	URL              catalogfile.Text `json:"url"`
	Size             json.RawMessage  `json:"size"` // a number, null, or a text with digits
	LastModified     catalogfile.Text `json:"last_modified"`
	MetadataModified catalogfile.Text `json:"metadata_modified"`
	CheckInfo        json.RawMessage  `json:"fs_check_info"`

	tagged bool // isHXL, of a package that has been read
}

// Bounds of packages. All of them are held in memory, and an object of two bytes takes hundreds
// when it is decoded.
const (
	maxPackageEntries = 5000     // resources of a package
	maxPackageChecks  = 1000     // entries of fs_check_info
	maxPackagesMemory = 32 << 20 // of all packages
	resourceMemory    = 200      // of a resource without its texts
)

// resourceInfos are the resources of a package.
type resourceInfos []resourceInfo

// UnmarshalJSON decodes the list.
func (r *resourceInfos) UnmarshalJSON(data []byte) (err error) {
	*r, err = catalogfile.DecodeList[resourceInfo](data, maxPackageEntries, "the package has", "resources")
	return err
}

// The packages that are listed although no row names them.
const (
	riskPackagePrefix    = "inform-risk-index"
	organisationsPackage = "hdx-hapi-organisations"
)

// packages are the datasets of a catalog by id.
type packages struct {
	byID map[string]*packageInfo
	risk *packageInfo // the one of the national risk index, nil when there is none
}

// readPackages reads all package files. One that cannot be read is refused: its dataset is not
// listed, its rows are kept.
func (l *load) readPackages() *packages {
	found := &packages{byID: map[string]*packageInfo{}}
	memory := 0
	for _, f := range l.catalog.packages {
		data, err := catalogfile.ReadFile(l.catalog.fsys, f.path, catalogfile.MaxBytes)
		var p *packageInfo
		if err == nil {
			if p, err = parsePackage(data); err == nil && memory+p.memory() > maxPackagesMemory {
				err = fmt.Errorf("with this package %d bytes of packages are held, at most %d are allowed",
					memory+p.memory(), maxPackagesMemory)
			}
			if err != nil {
				err = fmt.Errorf("%s: %w", f.path, err)
			}
		}
		if err != nil {
			l.report.refuse(catalogfile.PackageRole, f.path, err)
			continue
		}
		memory += p.memory()
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

// memory is about how many bytes the package takes.
func (p *packageInfo) memory() int {
	n := resourceMemory + len(p.ID) + len(p.Name) + len(p.Title) + len(p.Organization.Name) + len(p.Organization.Title)
	for _, t := range []looseText{
		p.LicenseID, p.LicenseTitle, p.LicenseURL, p.LicenseOther, p.Caveats, p.LastModified, p.MetadataModified,
	} {
		n += len(t)
	}
	for i := range p.Resources {
		r := &p.Resources[i]
		n += resourceMemory + len(r.ID) + len(r.Name) + len(r.Format) + len(r.URL) + len(r.LastModified) +
			len(r.MetadataModified) + len(r.Size) + len(r.CheckInfo)
	}
	return n
}

// sorted are the packages by id.
func (p *packages) sorted() []*packageInfo {
	return slices.SortedFunc(maps.Values(p.byID), func(a, b *packageInfo) int { return cmp.Compare(a.ID, b.ID) })
}

// parsePackage reads a package as the catalog's action package_show answers, with its envelope or
// without.
func parsePackage(data []byte) (*packageInfo, error) {
	var envelope struct {
		Success *bool           `json:"success"`
		Result  json.RawMessage `json:"result"`
	}
	if err := json.Unmarshal(data, &envelope); err != nil {
		return nil, err
	}
	if envelope.Success != nil && !*envelope.Success {
		return nil, fmt.Errorf("the catalog's answer is an error: %s", clip(string(bytes.TrimSpace(data)), 200))
	}
	if len(envelope.Result) > 0 && envelope.Result[0] == '{' {
		data = envelope.Result
	}
	p := &packageInfo{}
	if err := json.Unmarshal(data, p); err != nil {
		return nil, err
	}
	if p.ID == "" {
		return nil, fmt.Errorf("no id in %s", clip(string(data), 80))
	}
	for i := range p.Resources {
		r := &p.Resources[i]
		r.tagged, r.CheckInfo = r.isHXL(), nil // the text is long
	}
	return p, nil
}

// riskResource is the resource of the national risk index: the first workbook but its trend.
func (p *packages) riskResource() *resourceInfo {
	if p.risk == nil {
		return nil
	}
	return p.risk.find(func(r resourceInfo) bool {
		return catalogfile.Form(string(r.Format)) == "xlsx" &&
			!strings.Contains(strings.ToLower(string(r.Name)), "trend")
	})
}

// resource finds a resource in the package that a row names with it.
func (p *packages) resource(dataset, id string) *resourceInfo {
	if info := p.byID[dataset]; info != nil {
		return info.find(func(r resourceInfo) bool { return r.ID == id })
	}
	return nil
}

// find returns the first resource that fits, nil when there is none.
func (p *packageInfo) find(fits func(resourceInfo) bool) *resourceInfo {
	if i := slices.IndexFunc(p.Resources, fits); i >= 0 {
		return &p.Resources[i]
	}
	return nil
}

// modified is the time of the resource's last change, to the second.
func (r *resourceInfo) modified() (t int64, ok bool) {
	t, ok = parseInstant([]byte(cmp.Or(r.LastModified, r.MetadataModified))) // as the catalog itself does
	return t - t%second, ok
}

// isHXL reports whether the catalog found hashtags in the file: true when a sheet of the newest
// successful check has them, false when that check saw no hashtags, true where there was no check,
// as in the incumbent.
func (r *resourceInfo) isHXL() bool {
	info := r.CheckInfo
	var text string
	if json.Unmarshal(info, &text) == nil {
		info = []byte(text) // JSON within JSON
	}
	type sheet struct {
		Tagged bool `json:"is_hxlated"`
	}
	type check struct {
		State     string `json:"state"`
		Timestamp string `json:"timestamp"`
		Response  struct {
			Sheets []sheet `json:"sheets"`
		} `json:"hxl_proxy_response"`
	}
	if info = bytes.TrimSpace(info); len(info) > 0 && info[0] == '{' {
		info = slices.Concat([]byte("["), info, []byte("]"))
	}
	checks, err := catalogfile.DecodeList[check](info, maxPackageChecks, "fs_check_info has", "checks")
	if err != nil {
		return true
	}
	var newest *check
	for i := range checks {
		if c := &checks[i]; c.State == "success" && (newest == nil || c.Timestamp >= newest.Timestamp) {
			newest = c
		}
	}
	if newest == nil {
		return true
	}
	return slices.ContainsFunc(newest.Response.Sheets, func(s sheet) bool { return s.Tagged })
}

// ownIDs are the ids for rows of a file that name no source: what catalog.json says about the file,
// for the national risk index its package, else an id made from the file's name.
func (p *pass) ownIDs(file resourceFile) (dataset, resource []byte) {
	if file.id != "" {
		return nil, []byte(file.id)
	}
	if file.role == catalogfile.RiskRole {
		if r := p.refs.packages.riskResource(); r != nil {
			return []byte(p.refs.packages.risk.ID), []byte(r.ID)
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
	for id, u := range p.result.uses {
		set(id, resourceState{Rows: u.rows, Sum: sumText(u.sum)})
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
	for _, info := range p.refs.packages.sorted() {
		kept, ok := out[info]
		if !ok {
			continue
		}
		if why, detail := p.addDataset(datasets, info); why != "" {
			report.drop(&rowFault{file: info.path, reason: why, detail: "package " + info.ID + detail})
			continue
		}
		for _, r := range kept {
			if why, detail := p.addResource(resources, info, r); why != "" {
				report.drop(&rowFault{file: info.path, reason: why, detail: "resource " + r.ID + detail})
			}
		}
	}
	if report.Drops != nil {
		p.result.report.Resources = append(p.result.report.Resources, report)
	}
	if err := p.result.putRows(datasets); err != nil {
		return err
	}
	return p.result.putRows(resources)
}

// addDataset adds a row, or says why it cannot be used, with more about it after the name of the
// package.
func (p *pass) addDataset(b *tableBuilder, info *packageInfo) (why reason, detail string) {
	why = readTexts(b, map[string]string{
		"dataset_catalog_id":    info.ID,
		"dataset_catalog_stub":  string(info.Name),
		"dataset_catalog_title": string(info.Title),
		"catalog_provider_stub": string(info.Organization.Name),
		"catalog_provider_name": string(info.Organization.Title),
	})
	if why != "" {
		return why, ""
	}
	if wrong := setLinks(b, p.load.report.CatalogURL); wrong != "" {
		return badLink, ": " + wrong
	}
	b.commit()
	return "", ""
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
	why = readTexts(b, map[string]string{
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
	if why != "" {
		return why, ""
	}
	if wrong := setLinks(b, p.load.report.CatalogURL); wrong != "" {
		return badLink, ": " + wrong
	}
	b.column("update_date").setInt(modified)
	b.column("is_hxl").setBool(r.tagged)
	b.column("api_updated_date").setInt(p.result.state.Resources[r.ID].Since.UnixMicro())
	b.commit()
	return "", ""
}

func readTexts(b *tableBuilder, values map[string]string) reason {
	for name, value := range values {
		if why := b.column(name).read([]byte(value)); why != "" {
			return why
		}
	}
	return ""
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
