package loader

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// DefaultCatalogURL is the site that links name when neither Options nor catalog.json tells one.
const DefaultCatalogURL = "https://data.humdata.org"

// Bounds of a catalog's small files, which are held whole.
const (
	maxCatalogJSON = 16 << 20
	maxPackageJSON = 64 << 20
)

// catalog is what a directory holds: files by role, each in load order.
type catalog struct {
	fsys     fs.FS
	name     string
	url      string
	time     time.Time // of catalog.json; zero when it has none
	files    map[string][]resourceFile
	packages []resourceFile
	notes    []string // what was passed over
}

// resourceFile is one file of a catalog, with what catalog.json says of it.
type resourceFile struct {
	role         string
	path         string
	dataset      string
	id           string
	lastModified string
	size         int64
	sha256       string
	plainMD5     string // of the unpacked text, for view dumps that have it beside them
	embedded     bool   // ours, not of the catalog
}

// catalogJSON is the file of that name.
type catalogJSON struct {
	Format       int            `json:"format"`
	CatalogURL   string         `json:"catalog_url"`
	SnapshotTime string         `json:"snapshot_time"`
	Resources    []catalogEntry `json:"resources"`
	Packages     string         `json:"packages"`
}

// time is the time of the load that the file tells, zero when it tells none.
func (m *catalogJSON) time() (time.Time, error) {
	if m.SnapshotTime == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, m.SnapshotTime)
	if err != nil {
		return t, fmt.Errorf("catalog.json: snapshot_time %q is not like 2026-11-21T01:02:00Z", m.SnapshotTime)
	}
	return t, nil
}

type catalogEntry struct {
	Role         string `json:"role"`
	Path         string `json:"path"`
	Dataset      string `json:"dataset"`
	ID           string `json:"id"`
	LastModified string `json:"last_modified"`
	Size         int64  `json:"size"`
	SHA256       string `json:"sha256"`
}

// referenceRoles are the lists that others join; they lie in the folder reference.
var referenceRoles = []string{"location", "pcodes", "org", "org-type", "sector", "market", "commodity", "currency"}

// openCatalog lists a directory: by its catalog.json when that names resources, else by its folders.
func openCatalog(fsys fs.FS, name string) (*catalog, error) {
	c := &catalog{fsys: fsys, name: name, url: DefaultCatalogURL, files: map[string][]resourceFile{}}
	m, err := readCatalogJSON(fsys)
	if err != nil {
		return nil, fmt.Errorf("catalog %s: %w", name, err)
	}
	if m.CatalogURL != "" {
		c.url = strings.TrimRight(m.CatalogURL, "/")
	}
	if c.time, err = m.time(); err != nil {
		return nil, fmt.Errorf("catalog %s: %w", name, err)
	}
	if len(m.Resources) > 0 {
		err = c.take(m.Resources)
	} else {
		err = c.list()
	}
	if err == nil {
		err = c.listPackages(m.Packages)
	}
	if err != nil {
		return nil, fmt.Errorf("catalog %s: %w", name, err)
	}
	for role := range c.files {
		slices.SortStableFunc(c.files[role], byFileName)
	}
	c.preferCSV()
	if len(c.files) == 0 {
		return nil, fmt.Errorf("catalog %s: no file of any known role; folders are named like conflict-events or reference", name)
	}
	return c, nil
}

// riskRole is the role whose files may be workbooks.
const riskRole = "national-risk"

func isWorkbook(p string) bool { return strings.HasSuffix(p, ".xlsx") }

// preferCSV passes the workbook of the national risk index over where its CSV form is there: both have the same rows.
func (c *catalog) preferCSV() {
	books := slices.DeleteFunc(slices.Clone(c.files[riskRole]), func(f resourceFile) bool { return !isWorkbook(f.path) })
	if len(books) == 0 || len(books) == len(c.files[riskRole]) {
		return
	}
	for _, f := range books {
		c.notes = append(c.notes, f.path+" is not read: the same index is there as CSV")
	}
	c.files[riskRole] = slices.DeleteFunc(c.files[riskRole], func(f resourceFile) bool { return isWorkbook(f.path) })
}

// byFileName is the load order of the files of a role: by name, whatever compresses them.
func byFileName(a, b resourceFile) int {
	if n := strings.Compare(plainName(a.path), plainName(b.path)); n != 0 {
		return n
	}
	return strings.Compare(a.path, b.path)
}

// plainName is a file's name without folder and compression.
func plainName(p string) string {
	name := path.Base(p)
	for _, ext := range []string{".gz", ".zst"} {
		if cut, ok := strings.CutSuffix(name, ext); ok {
			return cut
		}
	}
	return name
}

func readCatalogJSON(fsys fs.FS) (m catalogJSON, err error) {
	data, err := readWhole(fsys, "catalog.json", maxCatalogJSON)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("catalog.json: %w", err)
	}
	if m.Format != 0 && m.Format != 1 {
		return m, fmt.Errorf("catalog.json: format %d, this program reads format 1", m.Format)
	}
	return m, nil
}

// take uses the entries of catalog.json.
func (c *catalog) take(entries []catalogEntry) error {
	for _, e := range entries {
		if !fs.ValidPath(e.Path) {
			return fmt.Errorf("catalog.json: path %q of role %q does not stay inside the catalog", e.Path, e.Role)
		}
		f := resourceFile{
			role: e.Role, path: e.Path, dataset: e.Dataset, id: e.ID,
			lastModified: e.LastModified, size: e.Size, sha256: strings.ToLower(e.SHA256),
		}
		switch {
		case e.Role == "package":
			c.packages = append(c.packages, f)
		case slices.Contains(referenceRoles, e.Role), themeOf(e.Role) != nil:
			c.files[e.Role] = append(c.files[e.Role], f)
		default:
			c.notes = append(c.notes, fmt.Sprintf("catalog.json: %s has the unknown role %q and is not read", e.Path, e.Role))
		}
	}
	return nil
}

// list finds the files of each role by the folder they lie in.
func (c *catalog) list() error {
	entries, err := fs.ReadDir(c.fsys, ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := e.Name()
		switch {
		case name == "catalog.json", name == "packages", strings.HasPrefix(name, "."):
		case name == "reference":
			err = c.listReference()
		case themeOf(name) != nil:
			err = c.listRole(name)
		default:
			c.notes = append(c.notes, fmt.Sprintf("%s is no known role and is not read", name))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *catalog) listRole(role string) error {
	entries, err := fs.ReadDir(c.fsys, role)
	if err != nil {
		return err
	}
	for _, e := range entries {
		p := path.Join(role, e.Name())
		switch {
		case strings.HasPrefix(e.Name(), "."):
		case e.IsDir(), !strings.HasSuffix(plainName(p), ".csv") && !(role == riskRole && isWorkbook(p)):
			c.notes = append(c.notes, p+" is no CSV file and is not read")
		default:
			c.files[role] = append(c.files[role], resourceFile{role: role, path: p})
		}
	}
	return nil
}

func (c *catalog) listReference() error {
	entries, err := fs.ReadDir(c.fsys, "reference")
	if err != nil {
		return err
	}
	for _, e := range entries {
		p := path.Join("reference", e.Name())
		role, isCSV := strings.CutSuffix(plainName(p), ".csv")
		switch {
		case strings.HasPrefix(e.Name(), "."):
		case !isCSV, e.IsDir(), !slices.Contains(referenceRoles, role):
			c.notes = append(c.notes, p+" is no known list and is not read")
		default:
			c.files[role] = append(c.files[role], resourceFile{role: role, path: p})
		}
	}
	return nil
}

// listPackages finds the package files that catalog.json's pattern names, by default those of the folder packages.
func (c *catalog) listPackages(pattern string) error {
	if pattern == "" {
		pattern = "packages/*.json"
	}
	paths, err := fs.Glob(c.fsys, pattern)
	if err != nil {
		return fmt.Errorf("catalog.json: packages %q: %w", pattern, err)
	}
	for _, p := range paths {
		if !slices.ContainsFunc(c.packages, func(f resourceFile) bool { return f.path == p }) {
			c.packages = append(c.packages, resourceFile{role: "package", path: p})
		}
	}
	slices.SortStableFunc(c.packages, func(a, b resourceFile) int { return strings.Compare(a.path, b.path) })
	return nil
}
