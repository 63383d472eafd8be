package loader

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"
)

// ownIDs are the ids for which rows of a file count that name no source: what catalog.json says of the file, for the national risk index
// its package, else an id made of the file's name.
func (l *load) ownIDs(file resourceFile) (dataset, resource []byte) {
	if file.id != "" {
		return nil, []byte(file.id)
	}
	if file.role == riskRole {
		if r := l.packages.riskResource(); r != nil {
			return []byte(l.packages.risk.ID), []byte(r.ID)
		}
	}
	sum := sha256.Sum256([]byte(file.role + "/" + plainName(file.path)))
	h := hex.EncodeToString(sum[:16])
	return nil, []byte(strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-"))
}

// listed says which packages, and which of their resources, the metadata lists have.
type listed map[*packageInfo][]*resourceInfo

// listedPackages are the packages and resources that kept rows name, the national risk index, and the list of organisations.
func (l *load) listedPackages() listed {
	out := listed{}
	for _, p := range l.packages.byID {
		if !l.datasets[p.ID] && p != l.packages.risk && p.Name != organisationsPackage {
			continue
		}
		out[p] = nil
		for i := range p.Resources {
			r := &p.Resources[i]
			if l.uses[r.ID] != nil || p == l.packages.risk && r == l.packages.riskResource() {
				out[p] = append(out[p], r)
			}
		}
	}
	return out
}

// settleTimes tells since when each resource is as it is: since this load, unless the store's last snapshot has it in the same form.
func (l *load) settleTimes(out listed) {
	now := time.UnixMicro(l.time).UTC()
	settle := func(id string, s resourceState) {
		s.Since = now
		if old, ok := l.before.Resources[id]; ok && old.sameForm(s) {
			s.Since = old.Since
		}
		l.state.Resources[id] = s
	}
	for id, u := range l.uses {
		settle(id, resourceState{Rows: u.rows, Sum: sumText(u.sum)})
	}
	for _, resources := range out {
		for _, r := range resources {
			s := l.state.Resources[r.ID]
			s.LastModified, s.Size = r.LastModified, strings.Trim(string(r.Size), `"`)
			settle(r.ID, s)
		}
	}
}

// putPackages writes the lists of datasets and of resources.
func (l *load) putPackages(out listed) error {
	datasets, resources := newTableBuilder(tableNamed("dataset")), newTableBuilder(tableNamed("resource"))
	report := &ResourceReport{Role: "package", Path: "packages"}
	for _, p := range l.packages.sorted() {
		kept, ok := out[p]
		if !ok {
			continue
		}
		if why := l.addDataset(datasets, p); why != "" {
			report.drop(&rowFault{file: p.path, reason: why, detail: "package " + p.ID})
			continue
		}
		for _, r := range kept {
			if why := l.addResource(resources, p, r); why != "" {
				report.drop(&rowFault{file: p.path, reason: why, detail: "resource " + r.ID})
			}
		}
	}
	if report.Drops != nil {
		l.report.Resources = append(l.report.Resources, report)
	}
	if err := l.putRows(datasets); err != nil {
		return err
	}
	return l.putRows(resources)
}

func (l *load) addDataset(a *tableBuilder, p *packageInfo) reason {
	why := readTexts(a, map[string]string{
		"dataset_catalog_id":    p.ID,
		"dataset_catalog_stub":  p.Name,
		"dataset_catalog_title": p.Title,
		"catalog_provider_stub": p.Organization.Name,
		"catalog_provider_name": p.Organization.Title,
	})
	if why == "" {
		setLinks(a, l.report.CatalogURL)
		a.commit()
	}
	return why
}

func (l *load) addResource(a *tableBuilder, p *packageInfo, r *resourceInfo) reason {
	modified, ok := r.modified()
	if !ok {
		return badDate
	}
	why := readTexts(a, map[string]string{
		"resource_catalog_id":           r.ID,
		"dataset_catalog_id":            p.ID,
		"name":                          r.Name,
		"format":                        strings.ToLower(r.Format),
		"download_url":                  normalURI(r.URL),
		"dataset_catalog_stub":          p.Name,
		"dataset_catalog_title":         p.Title,
		"dataset_catalog_provider_stub": p.Organization.Name,
		"dataset_catalog_provider_name": p.Organization.Title,
	})
	if why != "" {
		return why
	}
	setLinks(a, l.report.CatalogURL)
	a.column("update_date").setInt(modified)
	a.column("is_hxl").setBool(r.isHXL())
	a.column("api_updated_date").setInt(l.state.Resources[r.ID].Since.UnixMicro())
	a.commit()
	return ""
}

// readTexts sets text columns by name.
func readTexts(a *tableBuilder, values map[string]string) reason {
	for name, value := range values {
		if why := a.column(name).read([]byte(value)); why != "" {
			return why
		}
	}
	return ""
}

// noteUnknownSources tells which resources rows name that no package has. Their rows stay, and count as read by this load.
func (l *load) noteUnknownSources(out listed) {
	known := map[string]bool{}
	for _, resources := range out {
		for _, r := range resources {
			known[r.ID] = true
		}
	}
	var unknown []*sourceUse
	for _, u := range l.uses {
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
	l.report.Notes = append(l.report.Notes,
		fmt.Sprintf("%d resources that rows name are in no package and are not listed: %s", len(unknown), strings.Join(first, ", ")))
}
