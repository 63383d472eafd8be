package generator

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"sort"
	"sync"

	"golang.org/x/sync/errgroup"
)

// Options select the catalog to write. The same options give the same bytes.
type Options struct {
	Seed     uint64
	Scale    float64  // 0: the sample; 1: about twelve million rows; in between: less of everything
	Small    bool     // a few rows of each theme, instead of Scale; for tests that load a catalog many times
	Roles    []string // roles of the themes to write; nil: all
	Edited   int      // one row in so many differs from the same catalog without edits; 0: none
	Compress bool     // write the files of themes as .gz
}

// Roles are the roles of the themes that the generator has rows for.
func Roles() []string {
	roles := make([]string, len(themes))
	for i, t := range themes {
		roles[i] = t.role
	}
	return roles
}

func (o Options) themes() ([]*theme, error) {
	if o.Roles == nil {
		return themes, nil
	}
	var some []*theme
	for _, t := range themes {
		if slices.Contains(o.Roles, t.role) {
			some = append(some, t)
		}
	}
	for _, role := range o.Roles {
		if !slices.ContainsFunc(some, func(t *theme) bool { return t.role == role }) {
			return nil, fmt.Errorf("generator: no theme has the role %q", role)
		}
	}
	return some, nil
}

// Count is the number of rows of a theme: all, those that a loader drops because upstream marked
// them as faulty, those that it drops as duplicates of a later row, and those that it keeps.
type Count struct {
	Role                           string
	Rows, Marked, Duplicates, Kept int
}

// The address and time of every generated catalog.
const (
	CatalogURL   = "https://catalog.example.org"
	SnapshotTime = "2026-11-21T01:02:00Z"
)

type manifest struct {
	Format       int             `json:"format"`
	CatalogURL   string          `json:"catalog_url"`
	SnapshotTime string          `json:"snapshot_time"`
	Resources    []manifestEntry `json:"resources,omitempty"`
	Packages     string          `json:"packages,omitempty"`
}

type manifestEntry struct {
	Role         string `json:"role"`
	Path         string `json:"path"`
	Dataset      string `json:"dataset,omitempty"`
	ID           string `json:"id,omitempty"`
	LastModified string `json:"last_modified,omitempty"`
	Size         int64  `json:"size"`
	SHA256       string `json:"sha256"`
}

// Write writes the directory catalog and returns the row counts of its themes, in order.
func Write(dir string, o Options) ([]Count, error) {
	some, err := o.themes()
	if err != nil {
		return nil, err
	}
	w := newWorld(o)
	m := manifest{Format: 1, CatalogURL: CatalogURL, SnapshotTime: SnapshotTime, Packages: "packages/*.json"}
	counts := make([]Count, len(some))
	var mu sync.Mutex
	var jobs errgroup.Group
	jobs.SetLimit(runtime.GOMAXPROCS(0))
	for i, t := range some {
		counts[i].Role = t.role
		for _, f := range t.filesOf(w) {
			jobs.Go(func() error {
				c, done, err := t.writeFile(dir, f, o)
				if err != nil {
					return err
				}
				e := manifestEntry{Role: t.role, Path: done.path, Size: done.size, SHA256: done.sha256}
				if !t.unnamed { // rows of the national risk have no ids: a loader takes them from its package
					e.Dataset, e.ID = t.dataset, uuid(o.Seed, "published/"+f.name)
					e.LastModified = "2026-11-20T09:31:02"
				}
				mu.Lock()
				defer mu.Unlock()
				counts[i].Add(c)
				m.Resources = append(m.Resources, e)
				return nil
			})
		}
	}
	if err := jobs.Wait(); err != nil {
		return nil, err
	}
	lists, err := w.writeLists(dir)
	if err != nil {
		return nil, err
	}
	m.Resources = append(m.Resources, lists...)
	if err := w.packages.write(dir, !o.Small && o.Roles == nil); err != nil {
		return nil, err
	}
	order := map[string]int{}
	for i, t := range themes {
		order[t.role] = i + 1
	}
	sort.SliceStable(m.Resources, func(i, j int) bool {
		a, b := m.Resources[i], m.Resources[j]
		if order[a.Role] != order[b.Role] {
			return order[a.Role] < order[b.Role]
		}
		return order[a.Role] > 0 && a.Path < b.Path
	})
	return counts, writeManifest(dir, m)
}

func writeManifest(dir string, m manifest) error {
	text, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return err
	}
	_, err = writeWhole(dir, "catalog.json", append(text, '\n'))
	return err
}

// Add adds another count.
func (c *Count) Add(d Count) {
	c.Rows, c.Marked, c.Duplicates, c.Kept = c.Rows+d.Rows, c.Marked+d.Marked, c.Duplicates+d.Duplicates, c.Kept+d.Kept
}

// addRow counts a row, and marks the source of one that a loader keeps.
func (c *Count) addRow(r *row) (kept bool) {
	c.Rows++
	switch {
	case r.fault != "":
		c.Marked++
	case r.duplicate:
		c.Duplicates++
	default:
		c.Kept++
		if !r.src.used.Load() {
			r.src.used.Store(true)
			r.src.dataset.used.Store(true)
		}
	}
	return r.fault == "" && !r.duplicate
}

func (t *theme) writeFile(dir string, f file, o Options) (c Count, done written, err error) {
	s, err := create(dir, t.role+"/"+f.name, o.Compress)
	if err != nil {
		return c, done, err
	}
	header := t.header
	if f.moved { // the second half of the columns to the front, and an unknown one
		half := len(header) / 2
		header = slices.Concat(header[half:], []string{"made_up"}, header[:half])
	}
	columns := bind(header, putCSV, t.printers)
	if t.byteOrderMark {
		s.buf, s.ends = append(s.buf, "\ufeff"...), "\r\n"
	}
	s.row(header...)
	if f.tagged {
		s.row(csvHeaders["TAGS"]...)
	}
	rows := f.rows
	if o.Edited > 0 {
		rows = edited(rows, o.Edited, newRandom(o.Seed, "edits/"+t.role+"/"+f.name))
	}
	rows(func(r *row) {
		c.addRow(r)
		s.put(columns, r)
		s.flush(false)
	})
	done, err = s.close()
	return c, done, err
}
