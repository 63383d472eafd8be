package upstream

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"hdqs/internal/fetch"
	"hdqs/loader"
	"hdqs/loader/catalogfile"
	"hdqs/schema"
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
	*fetch.Client
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
	l := &listing{catalogURL: c.site.base}
	c.found = map[string]*ckanPackage{}
	for _, p := range found {
		if isThere(p.State) {
			c.found[string(p.Name)] = p
			l.addFault(p)
		}
	}
	var read []*ckanPackage
	for _, in := range loader.Inputs() {
		p, err := c.packageOf(ctx, l, &in)
		if err != nil {
			return nil, err
		}
		if p == nil {
			continue
		}
		if !slices.Contains(read, p) {
			read = append(read, p)
		}
		for _, r := range pick(&in, p) {
			l.files = append(l.files, newFile(in.Role, treePath(in.Role, r), p, r))
		}
	}
	isRisk := func(f FileState) bool { return f.Role == catalogfile.RiskRole }
	if !slices.ContainsFunc(l.files, isRisk) {
		p, err := c.listRiskWorkbook(ctx, l)
		if err != nil {
			return nil, err
		}
		read = append(read, p)
	}
	if len(l.files) == 0 {
		err := fmt.Errorf("%s: organization %s has none of the datasets that are read", c.site.base, organization)
		if len(l.unread) > 0 {
			err = fmt.Errorf("%w; %s: %s", err, l.unread[0].Path, l.unread[0].Why)
		}
		return nil, err
	}
	separatePaths(l.files)
	for _, p := range found { // a part of a dataset, such as hdx-hapi-idps-2
		isPart := func(in schema.Source) bool { return strings.HasPrefix(string(p.Name), in.Dataset+"-") }
		if isThere(p.State) && slices.ContainsFunc(loader.Inputs(), isPart) && !slices.Contains(read, p) {
			read = append(read, p)
		}
	}
	for _, p := range read {
		l.addUnread(p)
	}
	return l, nil
}

// refuse reports something that is in the list and cannot be used. It has no role: the files of a
// role that can be used are.
func (l *listing) refuse(path, why string) {
	l.unread = append(l.unread, FileState{
		SourceReport: loader.SourceReport{Path: path, State: loader.SourceRefused, Why: why},
	})
}

// addFault reports a package that cannot be read, or not whole.
func (l *listing) addFault(p *ckanPackage) {
	if p != nil && p.fault != nil {
		l.refuse(string(cmp.Or(p.Name, p.ID, "a package")), "its description cannot be read: "+p.fault.Error())
	}
}

// addUnread reports the tables of a package that no role takes: a renamed file, a second one, or
// one in another form would otherwise be missing without a word.
func (l *listing) addUnread(p *ckanPackage) {
	for i := range p.Resources {
		r := &p.Resources[i]
		if !r.taken && isThere(r.State) && catalogfile.MayHaveRows(string(r.Format), r.fileName()) {
			name := cmp.Or(string(r.Name), r.fileName())
			l.refuse(string(p.Name+"/"+r.ID),
				fmt.Sprintf("no role takes %.200q (format %.40q); its rows are not loaded", name, string(r.Format)))
		}
	}
}

// newFile is the file of a resource.
func newFile(role, path string, p *ckanPackage, r *ckanResource) FileState {
	f := FileState{
		SourceReport: loader.SourceReport{Role: role, Path: path, LastModified: r.modified()},
		Dataset:      string(p.Name), ID: string(r.ID), link: string(r.URL), size: r.size(),
		hash: strings.ToLower(strings.TrimSpace(string(r.Hash))),
	}
	if md5Hash.MatchString(f.hash) {
		f.md5 = f.hash
	}
	f.key = f.newKey()
	return f
}

// listRiskWorkbook adds the workbook of the national risk index: the first one of its package,
// which is also the one in the loader's list of resources.
func (c *ckanSource) listRiskWorkbook(ctx context.Context, l *listing) (*ckanPackage, error) {
	found, err := c.site.search(ctx, riskPackage)
	if err != nil || len(found) == 0 {
		return &ckanPackage{}, err
	}
	p := slices.MinFunc(found, func(a, b *ckanPackage) int { return cmp.Compare(a.Name, b.Name) })
	for i := range p.Resources {
		p.Resources[i].taken = informTrend.MatchString(string(p.Resources[i].Name))
	}
	i := slices.IndexFunc(p.Resources, func(r ckanResource) bool { return r.form() == "xlsx" && !r.taken })
	if i >= 0 && packageID.MatchString(string(p.Resources[i].ID)) {
		r := &p.Resources[i]
		r.taken = true
		l.files = append(l.files, newFile(catalogfile.RiskRole, catalogfile.RiskRole+"/"+string(r.ID)+".xlsx", p, r))
		l.note = fmt.Sprintf("hdx-hapi-national-risk has no CSV file; the workbook of %s is read", p.Name)
	}
	return p, nil
}

// packageOf finds the package of an input, nil when the site does not have it.
func (c *ckanSource) packageOf(ctx context.Context, l *listing, in *schema.Source) (*ckanPackage, error) {
	if p, ok := c.found[in.Dataset]; ok || strings.HasPrefix(in.Dataset, ownDatasets) {
		return p, nil
	}
	p, err := c.site.show(ctx, in.Dataset)
	if err != nil && !fetch.IsBlocked(err) && (in.Optional || isAbsent(err)) {
		p, err = nil, nil
	}
	c.found[in.Dataset] = p
	l.addFault(p)
	return p, err
}

// packages lists the packages that rows name, and the two that are listed although no row need name
// them: those of the national risk index and of the organisations.
func (c *ckanSource) packages(ctx context.Context, datasets []string, use func(*listing)) error {
	used := map[catalogfile.Text]bool{}
	take := func(found []*ckanPackage) {
		l := &listing{texts: map[string][]byte{}}
		for _, p := range found {
			if !packageID.MatchString(string(p.ID)) && p.fault == nil {
				p.fault = fmt.Errorf("its id %.100q is not a name of 8 to 100 letters and digits", p.ID)
			}
			f := FileState{ID: string(p.ID)}
			f.Role, f.Path = catalogfile.PackageRole, "packages/"+f.ID+".json"
			f.key = f.newKey()
			switch {
			case used[p.ID]:
			case !packageID.MatchString(f.ID):
				l.addFault(p)
			case p.fault != nil:
				f.State, f.Why = loader.SourceStale, p.fault.Error()
				l.files = append(l.files, f)
			default:
				l.files = append(l.files, f)
				l.texts[f.key] = p.raw
			}
			used[p.ID] = p.ID != ""
		}
		use(l)
	}
	risk, err := c.site.search(ctx, riskPackage)
	if err != nil {
		return err
	}
	take(risk)
	p := c.found[organisationsDataset]
	if c.found == nil { // they could not be listed
		if p, err = c.site.show(ctx, organisationsDataset); err != nil {
			return err
		}
	}
	if p != nil {
		take([]*ckanPackage{p})
	}
	for ids := range slices.Chunk(datasets, packagesPerSearch) {
		if err := c.site.byID(ctx, ids, take); err != nil {
			return err
		}
	}
	return nil
}

// pick finds the resources of an input in its package, and marks those that need not be read, such
// as the second of two that are equal.
func pick(in *schema.Source, p *ckanPackage) (picked []*ckanResource) {
	for i := range p.Resources {
		r := &p.Resources[i]
		fits := r.form() == "csv" && isThere(r.State) && (in.Named == nil || in.Named.MatchString(string(r.Name)))
		again := *r
		again.taken = true
		switch {
		case slices.ContainsFunc(picked, func(p *ckanResource) bool { return *p == again }):
			r.taken = true
		case fits && (!in.First || len(picked) == 0):
			r.taken = true
			picked = append(picked, r)
		case in.Left != nil && in.Left.MatchString(string(r.Name)):
			r.taken = true
		}
	}
	return picked
}

var (
	unsafeInName = regexp.MustCompile(`[^A-Za-z0-9._-]+`)
	md5Hash      = regexp.MustCompile(`^[0-9a-f]{32}$`)
	informTrend  = regexp.MustCompile(`(?i)trend`) // earlier years of the index
)

// maxFileName leaves room for an id and endings in the 255 bytes that file systems allow.
const maxFileName = 110

// treePath is where a resource is put in the tree: its published file name orders the files of a
// role, as in any other catalog.
func treePath(role string, r *ckanResource) string {
	if catalogfile.IsReference(role) {
		return path.Join(catalogfile.ReferenceFolder, role+".csv")
	}
	name := string(r.ID)
	if file := r.fileName(); strings.HasSuffix(strings.ToLower(file), ".csv") {
		name = file
	}
	name = strings.TrimLeft(unsafeInName.ReplaceAllString(name, "_"), ".")
	if len(name) > maxFileName {
		name = nameOf(string(r.ID))
	}
	if !strings.HasSuffix(name, ".csv") {
		name += ".csv"
	}
	return role + "/" + name
}

// separatePaths puts the ids of resources into their paths where files would have one path, on some
// disks also one in another case: publishers call many files data.csv. Others keep their paths.
func separatePaths(files []FileState) {
	wanted := map[string]int{}
	for _, f := range files {
		wanted[strings.ToLower(f.Path)]++
	}
	for i := range files {
		f := &files[i]
		if wanted[strings.ToLower(f.Path)] > 1 {
			id, ending := unsafeInName.ReplaceAllString(f.ID, "_"), path.Ext(f.Path)
			f.Path = strings.TrimSuffix(f.Path, ending) + "_" + id[:min(len(id), maxFileName)] + ending
			f.key = f.newKey()
		}
	}
}
