package loader

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"hdqs/loader/catalogfile"
)

// DefaultCatalogURL is the site in links when neither Options nor catalog.json names one.
const DefaultCatalogURL = "https://data.humdata.org"

// Unread is the refusal of what a tree has beside the files that are read. It is nil where that can
// have no rows. Folders end in a slash.
func Unread(other string) *Refusal {
	role, file, _ := strings.Cut(other, "/")
	folder, isFolder := strings.ToLower(role), strings.HasSuffix(other, "/")
	why := "want files in the folder of their list, such as idps, with names that end in .csv, .csv.gz or .csv.zst"
	switch {
	case !IsDataRole(folder) && folder != catalogfile.ReferenceFolder:
		if !isFolder && !catalogfile.IsTable(other) {
			return nil
		}
		folder = ""
	case role != folder:
		why = "want a folder with the name " + folder
	case !isFolder && !catalogfile.MayHaveRows("", file):
		return nil
	case folder == catalogfile.ReferenceFolder:
		why = "want one file for each list, such as " + folder + "/market.csv"
	}
	return &Refusal{folder, other, other + " is not read: " + why}
}

// openCatalog lists a directory: by its catalog.json when that names resources, else by its
// folders.
func openCatalog(fsys fs.FS, name string) (*catalog, error) {
	c := &catalog{fsys: fsys, name: name, url: DefaultCatalogURL, files: map[string][]resourceFile{}}
	m, others, err := catalogfile.Find(fsys, IsDataRole)
	if err == nil {
		c.time, err = m.Time()
	}
	if err == nil {
		err = m.CheckPaths()
	}
	if err != nil {
		return nil, fmt.Errorf("catalog %s: %w", name, err)
	}
	if m.CatalogURL != "" {
		c.url = strings.TrimRight(m.CatalogURL, "/")
	}
	c.described = m.Datasets
	for _, other := range others {
		if refusal := Unread(other); refusal != nil {
			c.unread = append(c.unread, *refusal)
			continue
		}
		c.notes = append(c.notes, other+" is no file of a known role and is not read")
	}
	c.listed = len(m.Resources)
	c.take(m.Resources)
	slices.SortStableFunc(c.packages, func(a, b resourceFile) int { return strings.Compare(a.path, b.path) })
	for _, role := range slices.Sorted(maps.Keys(c.files)) {
		slices.SortStableFunc(c.files[role], func(a, b resourceFile) int {
			return cmp.Or(strings.Compare(plainName(a.path), plainName(b.path)), strings.Compare(a.path, b.path))
		})
		c.noteGaps(role)
	}
	c.preferCSV()
	if len(c.files) == 0 {
		return nil, fmt.Errorf(
			"catalog %s: no file of any known role; folders are named like conflict-events or reference, "+
				"and dumps of views need location_view", name)
	}
	return c, nil
}

// preferCSV leaves out the workbook of the national risk index where its CSV form exists: both have
// the same rows.
func (c *catalog) preferCSV() {
	isBook := func(f resourceFile) bool { return catalogfile.IsWorkbook(f.path) }
	files := c.files[catalogfile.RiskRole]
	tables := slices.DeleteFunc(slices.Clone(files), isBook)
	if len(tables) == 0 {
		return
	}
	for _, f := range files {
		if isBook(f) {
			c.notes = append(c.notes, f.path+" is not read: the same index is there as CSV")
		}
	}
	c.files[catalogfile.RiskRole] = tables
}

// yearsInName matches the years at the end of the name of a file that is one of several.
var yearsInName = regexp.MustCompile(`_((?:19|20)\d\d)(?:_((?:19|20)\d\d))?\.csv$`)

// noteGaps notes the years between those in the names of a role's files of which there is no file.
func (c *catalog) noteGaps(role string) {
	last := 0
	for _, f := range c.files[role] {
		if y := yearsInName.FindStringSubmatch(plainName(f.path)); y != nil {
			from, _ := strconv.Atoi(y[1])
			if last > 0 && from > last+1 {
				c.notes = append(c.notes, fmt.Sprintf("%s: no file of the years %d to %d", role, last+1, from-1))
			}
			last, _ = strconv.Atoi(cmp.Or(y[2], y[1]))
		}
	}
}

func (c *catalog) take(entries []catalogfile.Entry) {
	seen := map[string]bool{}
	for _, e := range entries {
		f := resourceFile{
			role: e.Role, path: e.Path, id: e.ID,
			lastModified: e.LastModified, size: e.Size, sha256: strings.ToLower(e.SHA256),
		}
		switch {
		case seen[e.Path]:
			c.unread = append(c.unread, Refusal{e.Role, e.Path, e.Path + " is not read as role " + e.Role +
				" again: catalog.json lists it before"})
			continue
		case e.Role == catalogfile.PackageRole:
			c.packages = append(c.packages, f)
		case catalogfile.IsReference(e.Role), IsDataRole(e.Role):
			c.files[e.Role] = append(c.files[e.Role], f)
		default:
			c.unread = append(c.unread, Refusal{
				"", e.Path,
				fmt.Sprintf("catalog.json: %s has the unknown role %q and is not read", e.Path, e.Role),
			})
			continue
		}
		seen[e.Path] = true
		if _, ok := parseInstant([]byte(e.LastModified)); e.LastModified != "" && !ok {
			c.notes = append(c.notes, fmt.Sprintf("last_modified of %s is no time and is not used: %q; want one "+
				"such as 2026-03-01T00:00:00Z", e.Path, clip(e.LastModified, 40)))
		}
	}
}
