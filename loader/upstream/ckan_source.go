package upstream

import (
	"context"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"hdqs/internal/fetch"
	"hdqs/loader"
	"hdqs/loader/catalogfile"
)

const (
	// organization publishes the standardized inputs.
	organization = "hdx-hapi"

	// ownDatasets is how the names of its datasets begin: they are all in the result of one search.
	ownDatasets = "hdx-hapi-"

	// organisationsDataset is listed among the packages although no row need name it.
	organisationsDataset = "hdx-hapi-organisations"

	// riskPackage finds the national risk index. It is always published as a workbook, and mostly
	// also as CSV in the form of other themes.
	riskPackage = "name:inform-risk-index*"
)

type ckanSource struct {
	remote
	site     *ckanSite
	found    map[string]*ckanPackage // packages of the organization, by name
	noMirror error                   // why the site is not read as a mirror
}

func (c *ckanSource) kind() string { return "ckan" }

func (c *ckanSource) list(ctx context.Context) (*listing, error) {
	found, err := c.site.search(ctx, "organization:"+organization)
	switch { // of a site that blocks requests it is not known what it is
	case fetch.IsBlocked(c.noMirror) && fetch.IsBlocked(err):
		return nil, c.noMirror
	case fetch.IsBlocked(err):
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("no mirror: %w; no CKAN site: %w", c.noMirror, err)
	}
	c.found = map[string]*ckanPackage{}
	for _, p := range found {
		if p.State == "" || p.State == "active" {
			c.found[p.Name] = p
		}
	}
	l := &listing{catalogURL: c.site.base}
	for _, in := range loader.Inputs() {
		p, err := c.packageOf(ctx, &in)
		if err != nil {
			return nil, err
		}
		if p == nil {
			continue
		}
		for _, r := range pick(&in, p) {
			f := newFile(in.Role, treePath(in.Role, &r), p, &r)
			if md5Hash.MatchString(r.Hash) {
				f.md5 = r.Hash
			}
			l.files = append(l.files, f)
		}
	}
	isRisk := func(f FileState) bool { return f.Role == catalogfile.RiskRole }
	if !slices.ContainsFunc(l.files, isRisk) {
		if err := c.listRiskWorkbook(ctx, l); err != nil {
			return nil, err
		}
	}
	if len(l.files) == 0 {
		return nil, fmt.Errorf("%s: organization %s has none of the datasets that are read", c.site.base, organization)
	}
	return l, nil
}

// newFile is the file of a resource.
func newFile(role, path string, p *ckanPackage, r *ckanResource) FileState {
	f := FileState{
		SourceReport: loader.SourceReport{Role: role, Path: path, LastModified: r.modified()},
		Dataset:      p.Name, ID: r.ID, link: r.URL, size: r.size(),
	}
	f.key = f.newKey()
	return f
}

// listRiskWorkbook adds the workbook of the national risk index: the first one of its package,
// which is also the one in the loader's list of resources.
func (c *ckanSource) listRiskWorkbook(ctx context.Context, l *listing) error {
	found, err := c.site.search(ctx, riskPackage)
	if err != nil || len(found) == 0 {
		return err
	}
	p := slices.MinFunc(found, func(a, b *ckanPackage) int { return strings.Compare(a.Name, b.Name) })
	i := slices.IndexFunc(p.Resources, func(r ckanResource) bool { return strings.EqualFold(r.Format, "xlsx") })
	if i < 0 || !packageID.MatchString(p.Resources[i].ID) {
		return nil
	}
	r := &p.Resources[i]
	l.files = append(l.files, newFile(catalogfile.RiskRole, catalogfile.RiskRole+"/"+r.ID+".xlsx", p, r))
	l.note = "hdx-hapi-national-risk has no CSV file; the workbook of " + p.Name + " is read"
	return nil
}

// packageOf finds the package of an input, nil when the site does not have it.
func (c *ckanSource) packageOf(ctx context.Context, in *loader.Input) (*ckanPackage, error) {
	if p, ok := c.found[in.Dataset]; ok || strings.HasPrefix(in.Dataset, ownDatasets) {
		return p, nil
	}
	p, err := c.site.show(ctx, in.Dataset)
	if err != nil && !fetch.IsBlocked(err) && (in.Optional || isAbsent(err)) {
		p, err = nil, nil
	}
	c.found[in.Dataset] = p
	return p, err
}

func (c *ckanSource) listsPackages() bool { return true }

// packages lists the packages that rows name, and the two that are listed although no row need name
// them: those of the national risk index and of the organisations.
func (c *ckanSource) packages(ctx context.Context, datasets []string, use func(*listing)) error {
	used := map[string]bool{}
	take := func(found []*ckanPackage) {
		l := &listing{texts: map[string][]byte{}}
		for _, p := range found {
			if used[p.ID] || !packageID.MatchString(p.ID) {
				continue
			}
			used[p.ID] = true
			f := FileState{ID: p.ID}
			f.Role, f.Path = catalogfile.PackageRole, "packages/"+p.ID+".json"
			f.key = f.newKey()
			l.files = append(l.files, f)
			l.texts[f.key] = p.raw
		}
		use(l)
	}
	risk, err := c.site.search(ctx, riskPackage)
	if err != nil {
		return err
	}
	take(risk)
	if p := c.found[organisationsDataset]; p != nil {
		take([]*ckanPackage{p})
	}
	for ids := range slices.Chunk(datasets, packagesPerSearch) {
		if err := c.site.byID(ctx, ids, take); err != nil {
			return err
		}
	}
	return nil
}

// pick finds the resources of an input in its package.
func pick(in *loader.Input, p *ckanPackage) []ckanResource {
	var picked []ckanResource
	for _, r := range p.Resources {
		fits := strings.EqualFold(r.Format, "csv") && (r.State == "" || r.State == "active")
		if !fits || in.Named != nil && !in.Named.MatchString(r.Name) {
			continue
		}
		picked = append(picked, r)
		if in.First {
			break
		}
	}
	return picked
}

var (
	unsafeInName = regexp.MustCompile(`[^A-Za-z0-9._-]+`)
	md5Hash      = regexp.MustCompile(`^[0-9a-f]{32}$`)
)

// treePath is where a resource is put in the tree: its published file name orders the files of a
// role, as in any other catalog.
func treePath(role string, r *ckanResource) string {
	if catalogfile.IsReference(role) {
		return path.Join(catalogfile.ReferenceFolder, role+".csv")
	}
	name := r.ID
	if u, err := url.Parse(r.URL); err == nil && strings.HasSuffix(strings.ToLower(u.Path), ".csv") {
		name = path.Base(u.Path)
	}
	name = strings.TrimLeft(unsafeInName.ReplaceAllString(name, "_"), ".")
	if !strings.HasSuffix(name, ".csv") {
		name += ".csv"
	}
	return role + "/" + name
}
