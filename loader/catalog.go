package loader

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"hdqs/loader/catalogfile"
)

// DefaultCatalogURL is the site in links when neither Options nor catalog.json names one.
const DefaultCatalogURL = "https://data.humdata.org"

// catalog lists the files of a directory by role, each role in load order.
type catalog struct {
	fsys     fs.FS
	name     string
	url      string
	time     time.Time // of catalog.json; zero when it has none
	files    map[string][]resourceFile
	packages []resourceFile

	described []catalogfile.Dataset // what catalog.json says about datasets

	notes []string // what is not read
}

// resourceFile is one file of a catalog, with what catalog.json says about it.
type resourceFile struct {
	role         string
	path         string
	dataset      string
	id           string
	lastModified string
	size         int64
	sha256       string
	plainMD5     string // of the unpacked text, for view dumps with a hash file
	embedded     bool   // one of the loader's own lists
}

// openCatalog lists a directory: by its catalog.json when that names resources, else by its
// folders.
func openCatalog(fsys fs.FS, name string) (*catalog, error) {
	c := &catalog{fsys: fsys, name: name, url: DefaultCatalogURL, files: map[string][]resourceFile{}}
	m, err := readCatalogJSON(fsys)
	if err != nil {
		return nil, fmt.Errorf("catalog %s: %w", name, err)
	}
	if m.CatalogURL != "" {
		c.url = strings.TrimRight(m.CatalogURL, "/")
	}
	c.described = m.Datasets
	if c.time, err = m.Time(); err != nil {
		return nil, fmt.Errorf("catalog %s: %w", name, err)
	}
	if len(m.Resources) > 0 {
		err = c.take(m)
	} else {
		err = c.list()
	}
	if err == nil {
		err = c.listPackages(m.PackagePattern())
	}
	if err != nil {
		return nil, fmt.Errorf("catalog %s: %w", name, err)
	}
	files := len(c.packages)
	for role := range c.files {
		slices.SortStableFunc(c.files[role], byFileName)
		files += len(c.files[role])
	}
	if files > catalogfile.MaxFiles {
		err := &catalogfile.TooManyError{What: "there are", Limit: catalogfile.MaxFiles, Unit: "files"}
		return nil, fmt.Errorf("catalog %s: %w", name, err)
	}
	c.preferCSV()
	if len(c.files) == 0 {
		return nil, fmt.Errorf(
			"catalog %s: no file of any known role; folders are named like conflict-events or reference", name)
	}
	return c, nil
}

// preferCSV leaves out the workbook of the national risk index where its CSV form exists: both have
// the same rows.
func (c *catalog) preferCSV() {
	books := slices.DeleteFunc(slices.Clone(c.files[catalogfile.RiskRole]),
		func(f resourceFile) bool { return !catalogfile.IsWorkbook(f.path) })
	if len(books) == 0 || len(books) == len(c.files[catalogfile.RiskRole]) {
		return
	}
	for _, f := range books {
		c.notes = append(c.notes, f.path+" is not read: the same index is there as CSV")
	}
	c.files[catalogfile.RiskRole] = slices.DeleteFunc(c.files[catalogfile.RiskRole],
		func(f resourceFile) bool { return catalogfile.IsWorkbook(f.path) })
}

// byFileName is the load order of the files of a role: by name without compression.
func byFileName(a, b resourceFile) int {
	if n := strings.Compare(plainName(a.path), plainName(b.path)); n != 0 {
		return n
	}
	return strings.Compare(a.path, b.path)
}

// plainName is a file's name without folder and compression.
func plainName(p string) string { return catalogfile.TrimCompression(path.Base(p)) }

// readCatalogJSON reads catalog.json, which is empty when there is none.
func readCatalogJSON(fsys fs.FS) (*catalogfile.File, error) {
	data, err := catalogfile.ReadFile(fsys, catalogfile.Name, catalogfile.MaxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return &catalogfile.File{}, nil
	}
	if err != nil {
		return nil, err
	}
	m, err := catalogfile.Parse(data)
	if err != nil {
		return nil, err
	}
	if m.Format != 0 && m.Format != catalogfile.Format {
		return nil, fmt.Errorf("catalog.json: format %d, this program reads format %d", m.Format, catalogfile.Format)
	}
	return m, nil
}

// take uses the entries of catalog.json.
func (c *catalog) take(m *catalogfile.File) error {
	if err := m.CheckPaths(); err != nil {
		return err
	}
	for _, e := range m.Resources {
		f := resourceFile{
			role: e.Role, path: e.Path, dataset: e.Dataset, id: e.ID,
			lastModified: e.LastModified, size: e.Size, sha256: strings.ToLower(e.SHA256),
		}
		switch {
		case e.Role == catalogfile.PackageRole:
			c.packages = append(c.packages, f)
		case catalogfile.IsReference(e.Role), dataTheme(e.Role) != nil:
			c.files[e.Role] = append(c.files[e.Role], f)
		default:
			c.notes = append(c.notes,
				fmt.Sprintf("catalog.json: %s has the unknown role %q and is not read", e.Path, e.Role))
		}
	}
	return nil
}

// list finds the files of each role by their folders.
func (c *catalog) list() error {
	entries, err := fs.ReadDir(c.fsys, ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := e.Name()
		switch {
		case name == catalogfile.Name, name == "packages", strings.HasPrefix(name, "."):
		case name == catalogfile.ReferenceFolder:
			err = c.listReference()
		case dataTheme(name) != nil:
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
		case e.IsDir(), !strings.HasSuffix(plainName(p), ".csv") &&
			!(role == catalogfile.RiskRole && catalogfile.IsWorkbook(p)):
			c.notes = append(c.notes, p+" is no CSV file and is not read")
		default:
			c.files[role] = append(c.files[role], resourceFile{role: role, path: p})
		}
	}
	return nil
}

func (c *catalog) listReference() error {
	entries, err := fs.ReadDir(c.fsys, catalogfile.ReferenceFolder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		p := path.Join(catalogfile.ReferenceFolder, e.Name())
		role, isCSV := strings.CutSuffix(plainName(p), ".csv")
		switch {
		case strings.HasPrefix(e.Name(), "."):
		case !isCSV, e.IsDir(), !catalogfile.IsReference(role):
			c.notes = append(c.notes, p+" is no known list and is not read")
		default:
			c.files[role] = append(c.files[role], resourceFile{role: role, path: p})
		}
	}
	return nil
}

// listPackages finds the package files that catalog.json's pattern matches.
func (c *catalog) listPackages(pattern string) error {
	paths, err := fs.Glob(c.fsys, pattern)
	if err != nil {
		return fmt.Errorf("catalog.json: packages %q: %w", pattern, err)
	}
	listed := map[string]bool{}
	for _, f := range c.packages {
		listed[f.path] = true
	}
	for _, p := range paths {
		if !listed[p] {
			c.packages = append(c.packages, resourceFile{role: catalogfile.PackageRole, path: p})
		}
	}
	slices.SortStableFunc(c.packages, func(a, b resourceFile) int { return strings.Compare(a.path, b.path) })
	return nil
}
