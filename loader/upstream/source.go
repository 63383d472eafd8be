package upstream

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"hdqs/internal/atomicfile"
	"hdqs/internal/fetch"
	"hdqs/loader"
	"hdqs/loader/catalogfile"
)

// packageID keeps what rows name within what may stand in a search and in a file name.
var packageID = regexp.MustCompile(`^[A-Za-z0-9_-]{8,100}$`)

// IsRemote tells whether SRC of a catalog is read over the network.
func IsRemote(source string) bool {
	return strings.HasPrefix(source, "https://") || strings.HasPrefix(source, "http://") || strings.HasPrefix(source,
		"s3://")
}

// openSource finds out what kind of upstream an address is: a tree with a catalog.json, else a CKAN
// site.
func openSource(ctx context.Context, o Options) (source, error) {
	if !IsRemote(o.Source) {
		return &dirSource{dir: o.Source}, nil
	}
	if strings.HasPrefix(o.Source, "s3://") {
		return openBucket(o)
	}
	base := strings.TrimRight(o.Source, "/")
	client := fetch.New(o.Fetch)
	if o.Offline {
		return &ckanSource{site: &ckanSite{base: base, client: client}}, nil
	}
	tree := &mirrorSource{base: base, client: client, dir: o.Cache}
	err := tree.readCatalog(ctx)
	var status *fetch.StatusError
	switch {
	case err == nil:
		return tree, nil
	case errors.Is(err, fetch.ErrRefused) || ctx.Err() != nil:
		return nil, err
	case errors.As(err, &status) || errors.Is(err, fetch.ErrPage) || errors.Is(err, errNoTree):
	}
	return &ckanSource{site: &ckanSite{base: base, client: client}}, nil
}

// ckanSource is a CKAN site.
type ckanSource struct {
	site  *ckanSite
	found map[string]*ckanPackage // packages of the organization, by name
}

func (c *ckanSource) kind() string         { return "ckan" }
func (c *ckanSource) counts() fetch.Counts { return c.site.client.Counts() }

func (c *ckanSource) list(ctx context.Context) (*listing, error) {
	found, err := c.site.search(ctx, "organization:"+organization)
	if err != nil {
		return nil, err
	}
	c.found = map[string]*ckanPackage{}
	for _, p := range found {
		if p.State == "" || p.State == "active" {
			c.found[p.Name] = p
		}
	}
	l := &listing{catalogURL: c.site.base}
	risk := false
	for _, in := range loader.Inputs() {
		p, err := c.packageOf(ctx, &in)
		if err != nil {
			return nil, err
		}
		if p == nil {
			continue
		}
		for _, r := range pick(&in, p) {
			f := FileState{
				Role: in.Role, Path: treePath(in.Role, &r), Dataset: p.Name, ID: r.ID, LastModified: r.modified(),
				link: r.URL, size: r.size(),
			}
			if md5Hash.MatchString(r.Hash) {
				f.md5 = r.Hash
			}
			f.key = f.newKey()
			l.files = append(l.files, f)
			risk = risk || f.Role == catalogfile.RiskRole
		}
	}
	if !risk {
		if err := c.listRiskWorkbook(ctx, l); err != nil {
			return nil, err
		}
	}
	if len(l.files) == 0 {
		return nil, fmt.Errorf("%s: organization %s has none of the datasets that are read", c.site.base, organization)
	}
	return l, nil
}

// The national risk index is published as a workbook in any case, and as CSV in the form of other
// themes most of the time.
const (
	riskPackage = "name:inform-risk-index*"
)

// listRiskWorkbook adds the workbook of the national risk index: the first one of its package, as
// the lists of resources have it.
func (c *ckanSource) listRiskWorkbook(ctx context.Context, l *listing) error {
	found, err := c.site.search(ctx, riskPackage)
	if err != nil || len(found) == 0 {
		return err
	}
	p := slices.MinFunc(found, func(a, b *ckanPackage) int { return strings.Compare(a.Name, b.Name) })
	for _, r := range p.Resources {
		if !strings.EqualFold(r.Format, "xlsx") {
			continue
		}
		f := FileState{
			Role: catalogfile.RiskRole, Path: catalogfile.RiskRole + "/" + r.ID +
				".xlsx", Dataset: p.Name, ID: r.ID, LastModified: r.modified(),
			link: r.URL, size: r.size(),
		}
		if packageID.MatchString(r.ID) {
			f.key = f.newKey()
			l.files = append(l.files, f)
			l.note = "hdx-hapi-national-risk has no CSV file; the workbook of " + p.Name + " is read"
		}
		return nil
	}
	return nil
}

// packageOf finds the package of an input, nil when the site has none.
func (c *ckanSource) packageOf(ctx context.Context, in *loader.Input) (*ckanPackage, error) {
	if p, ok := c.found[in.Dataset]; ok || strings.HasPrefix(in.Dataset, "hdx-hapi-") {
		return p, nil
	}
	p, err := c.site.show(ctx, in.Dataset)
	if err != nil && (in.Optional || isAbsent(err)) {
		p, err = nil, nil
	}
	c.found[in.Dataset] = p
	return p, err
}

func (c *ckanSource) download(ctx context.Context, f *FileState, w wanted) (fetch.Result, error) {
	q := fetch.Request{URL: f.link, Size: f.size, MD5: f.md5, ETag: w.etag, Part: w.part, Received: w.received}
	return c.site.client.Download(ctx, q, w.to)
}

func (c *ckanSource) listsPackages() bool { return true }

// packages lists the packages that rows name, and the two that are listed though no row need name
// them (sources of national risk and organisations).
func (c *ckanSource) packages(ctx context.Context, datasets []string) (*listing, error) {
	found, err := c.site.byID(ctx, datasets)
	if err != nil {
		return nil, err
	}
	risk, err := c.site.search(ctx, riskPackage)
	if err != nil {
		return nil, err
	}
	for _, p := range risk {
		found[p.ID] = p
	}
	if p := c.found["hdx-hapi-organisations"]; p != nil {
		found[p.ID] = p
	}
	l := &listing{texts: map[string][]byte{}}
	for _, p := range found {
		if !packageID.MatchString(p.ID) {
			continue
		}
		f := FileState{Role: catalogfile.PackageRole, Path: "packages/" + p.ID + ".json", ID: p.ID}
		f.key = f.newKey()
		l.files = append(l.files, f)
		l.texts[f.key] = p.raw
	}
	slices.SortFunc(l.files, func(a, b FileState) int { return strings.Compare(a.Path, b.Path) })
	return l, nil
}

// errNoTree says that an answer is no catalog.json.
var errNoTree = errors.New("no catalog.json of format 1 with resources")

// checkTree refuses a catalog.json that a tree cannot be made from.
func checkTree(c *catalogfile.File) error {
	if c.Format != catalogfile.Format || len(c.Resources) == 0 {
		return errNoTree
	}
	for _, r := range c.Resources {
		if err := r.CheckPath(); err != nil {
			return err
		}
		if r.Path == "." || r.Path == catalogfile.Name {
			return fmt.Errorf("%s: path %q of role %q is not a file of the catalog", catalogfile.Name, r.Path, r.Role)
		}
	}
	return nil
}

// treeListing turns the entries of a tree into files; linkOf is the address of a path. The address
// of a tree is not that of the catalog it was copied from: where catalog.json has none, the loader
// uses its default.
func treeListing(c *catalogfile.File, linkOf func(string) string) *listing {
	l := &listing{catalogURL: c.CatalogURL, snapshotTime: c.SnapshotTime}
	for _, r := range c.Resources {
		f := FileState{
			Role: r.Role, Path: r.Path, Dataset: r.Dataset, ID: r.ID, LastModified: r.LastModified, SHA256: strings.ToLower(r.SHA256),
			link: linkOf(r.Path), size: r.Size,
		}
		f.key = f.newKey()
		l.files = append(l.files, f)
	}
	return l
}

// mirrorSource is a tree below an HTTP address.
type mirrorSource struct {
	base    string
	dir     string
	client  *fetch.Client
	catalog catalogfile.File
}

func (m *mirrorSource) kind() string         { return "mirror" }
func (m *mirrorSource) counts() fetch.Counts { return m.client.Counts() }

// readCatalog asks for catalog.json once: a site that has none must not be asked five times.
func (m *mirrorSource) readCatalog(ctx context.Context) error {
	if err := m.client.JSON(ctx, m.base+"/catalog.json", &m.catalog); err != nil {
		return err
	}
	return checkTree(&m.catalog)
}

func (m *mirrorSource) list(context.Context) (*listing, error) {
	l := treeListing(&m.catalog, func(p string) string {
		return m.base + (&url.URL{Path: "/" + p}).EscapedPath()
	})
	if m.catalog.Packages != "" && !slices.ContainsFunc(l.files,
		func(f FileState) bool { return f.Role == catalogfile.PackageRole }) {
		l.note = fmt.Sprintf("catalog.json names its packages only by the pattern %q, which cannot be listed over HTTP: sources will lack their "+
			"description; a tree that 'hdqs mirror' writes names each of them", m.catalog.Packages)
	}
	return l, nil
}

func (m *mirrorSource) download(ctx context.Context, f *FileState, w wanted) (fetch.Result, error) {
	q := fetch.Request{URL: f.link, Size: f.size, SHA256: f.SHA256, ETag: w.etag, Part: w.part, Received: w.received}
	return m.client.Download(ctx, q, w.to)
}

func (m *mirrorSource) listsPackages() bool { return false }

func (m *mirrorSource) packages(context.Context, []string) (*listing, error) { return &listing{}, nil }

const locationPath = "reference/location.csv"

// writeTree links the files into a new tree, writes catalog.json last, and puts the tree in the old
// one's place.
func (s *syncRun) writeTree() error {
	next, err := os.MkdirTemp(s.options.Cache, ".tree-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(next)
	c := catalogfile.File{Format: catalogfile.Format, CatalogURL: s.url, SnapshotTime: s.snapshotTime}
	remembered := savedListing{Source: s.options.Source, CatalogURL: s.url}
	taken := map[string]bool{}
	for _, f := range s.summary.Files {
		if f.SHA256 == "" || f.State == Refused || taken[f.Path] {
			continue
		}
		taken[f.Path] = true
		if err := s.cache.link(f.SHA256, filepath.Join(next, filepath.FromSlash(path.Clean(f.Path)))); err != nil {
			return err
		}
		entry := catalogfile.Entry{
			Role: f.Role, Path: f.Path, Dataset: f.Dataset, ID: f.ID,
			LastModified: f.LastModified, Size: f.Bytes, SHA256: f.SHA256,
		}
		if f.Role == catalogfile.RiskRole && s.from.kind() == "ckan" {
			entry.Dataset, entry.ID = "", "" // its rows belong to the workbook's resource, which the loader finds among the packages
		}
		c.Resources = append(c.Resources, entry)
		remembered.Files = append(remembered.Files, f)
	}
	if len(c.Resources) == 0 {
		return ErrUnreachable
	}
	if s.options.Location != "" && !taken[locationPath] {
		data, err := os.ReadFile(s.options.Location)
		if err != nil {
			return err
		}
		if err := errors.Join(os.MkdirAll(filepath.Join(next, "reference"), 0o755),
			atomicfile.Write(filepath.Join(next, locationPath), data)); err != nil {
			return err
		}
		sum := sha256.Sum256(data)
		c.Resources = append(c.Resources,
			catalogfile.Entry{
				Role: "location", Path: locationPath, Size: int64(len(data)),
				SHA256: hex.EncodeToString(sum[:]),
			})
	}
	data, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		return err
	}
	if err := atomicfile.Write(filepath.Join(next, "catalog.json"), data); err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	s.summary.Inputs = hex.EncodeToString(sum[:])
	memory, err := json.MarshalIndent(remembered, "", " ")
	if err != nil {
		return err
	}
	if err := atomicfile.Write(filepath.Join(s.options.Cache, lastListing), memory); err != nil {
		return err
	}
	tree := filepath.Join(s.options.Cache, "tree")
	if err := errors.Join(os.Chmod(next, 0o755), os.RemoveAll(tree), os.Rename(next, tree)); err != nil {
		return err
	}
	s.summary.Dir = tree
	return nil
}
