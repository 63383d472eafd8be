package loader

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"hdqs/loader/catalogfile"
	"hdqs/snapshot/store"
)

// packages are the datasets of a catalog by id.
type packages struct {
	byID map[string]*packageInfo
	risk *packageInfo // the one of the national risk index, nil when there is none
}

// sorted are the packages by id.
func (p *packages) sorted() []*packageInfo {
	return slices.SortedFunc(maps.Values(p.byID), func(a, b *packageInfo) int { return cmp.Compare(a.ID, b.ID) })
}

// resource finds a resource in the package that a row names with it.
func (p *packages) resource(dataset, id string) *resourceInfo {
	if info := p.byID[dataset]; info != nil {
		return info.find(func(r resourceInfo) bool { return r.ID == id })
	}
	return nil
}

// datasetOf is the dataset that has an id, as its own or as that of a resource; "" when none has.
func (p *packages) datasetOf(id string) string {
	for _, info := range p.sorted() {
		if info.ID == id || p.resource(info.ID, id) != nil {
			return info.ID
		}
	}
	return ""
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

// packageInfo is one dataset of the catalog. The metadata tables are made of packages.
type packageInfo struct {
	ID           string           `json:"id"`
	Name         catalogfile.Text `json:"name"`
	Title        catalogfile.Text `json:"title"`
	Organization organization     `json:"organization"`
	Resources    resourceInfos    `json:"resources"`

	LicenseID        catalogfile.Text `json:"license_id"`
	LicenseTitle     catalogfile.Text `json:"license_title"`
	LicenseURL       catalogfile.Text `json:"license_url"`
	LicenseOther     catalogfile.Text `json:"license_other"` // the terms of a license without a name
	Caveats          catalogfile.Text `json:"caveats"`
	LastModified     catalogfile.Text `json:"last_modified"`
	MetadataModified catalogfile.Text `json:"metadata_modified"`

	path string // the file it was read from
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
		r.doubt, r.PackageID, r.URLType = p.doubtOf(r), "", ""
	}
	return p, nil
}

// doubtOf says in what a resource contradicts its package, or that a text of theirs is empty.
func (p *packageInfo) doubtOf(r *resourceInfo) *rowFault {
	switch own, url := "/dataset/"+p.ID+"/resource/"+r.ID+"/", string(r.URL); {
	case r.PackageID != "" && string(r.PackageID) != p.ID:
		return &rowFault{reason: otherDataset, detail: "package_id " + quoted([]byte(r.PackageID))}
	case r.URLType == "upload" && strings.Contains(url, "/resource/") && !strings.Contains(url, own):
		return &rowFault{reason: otherDataset, detail: "url " + quoted([]byte(url)) + ", want it to have " + own}
	case p.Name == "", p.Title == "", r.Name == "", r.Format == "":
		return &rowFault{reason: noText, detail: "a name, title or format of dataset " + p.ID}
	}
	return nil
}

// describe is what the manifest says about the package.
func (p *packageInfo) describe() store.Dataset {
	text := func(t catalogfile.Text) string { return clip(strings.TrimSpace(string(t)), maxDescription) }
	d := store.Dataset{
		ID: p.ID, Name: text(p.Name), Title: text(p.Title), Publisher: text(p.Organization.Title),
		License: text(cmp.Or(p.LicenseTitle, p.LicenseID)), LicenseURL: licenseLink(text(p.LicenseURL)),
		Terms: text(p.LicenseOther), Caveats: text(p.Caveats),
	}
	if at, ok := parseInstant([]byte(cmp.Or(p.LastModified, p.MetadataModified))); ok {
		d.Updated = time.UnixMicro(at - at%second).UTC()
	}
	return d
}

// find returns the first resource that fits, nil when there is none.
func (p *packageInfo) find(fits func(resourceInfo) bool) *resourceInfo {
	if i := slices.IndexFunc(p.Resources, fits); i >= 0 {
		return &p.Resources[i]
	}
	return nil
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
	PackageID        catalogfile.Text `json:"package_id"`
	URLType          catalogfile.Text `json:"url_type"`

	tagged bool      // isHXL, of a package that has been read
	doubt  *rowFault // likewise
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

// resourceInfos are the resources of a package.
type resourceInfos []resourceInfo

// UnmarshalJSON decodes the list.
func (r *resourceInfos) UnmarshalJSON(data []byte) (err error) {
	*r, err = catalogfile.DecodeList[resourceInfo](data, maxPackageEntries, "the package has", "resources")
	return err
}

// maxDescription bounds each text that describes a package, in bytes.
const maxDescription = 1000

// Bounds of packages. All of them are held in memory, and an object of two bytes takes hundreds
// when it is decoded.
const (
	maxPackageEntries = 5000     // resources of a package
	maxPackageChecks  = 1000     // entries of fs_check_info
	maxPackagesMemory = 64 << 20 // of all packages; 1,700 of those published
	resourceMemory    = 400      // of a resource without its texts
)

// maxDatasetID is longer than any dataset's id: it bounds what a hostile file can make CheckFile
// keep.
const maxDatasetID = 100
