//go:build !race

package upstream

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io/fs"
	"maps"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"hdqs/internal/ckantest"
	"hdqs/internal/generator"
	"hdqs/internal/testkit"
	"hdqs/loader"
	"hdqs/loader/catalogfile"
	"hdqs/snapshot/store"
)

// A loss is something that a catalog had and has no more. The largest file of the role is changed,
// or all of them where every is set.
type loss struct {
	name  string
	every bool
	data  func(t *testing.T, old []byte, country string) []byte // the new content; nil: the same

	gone    bool   // the file, or the dataset, is not there
	renamed string // what changed its name: resource, dataset, form or same

	kept  bool // the table is that of the snapshot before
	fewer bool // the table has fewer rows than before

	says string // one of these words is in the reason, separated by a bar
}

func headerOnly(_ *testing.T, old []byte, _ string) []byte { return old[:bytes.IndexByte(old, '\n')+1] }

// aQuarter keeps one row of four.
func aQuarter(t *testing.T, old []byte, _ string) []byte {
	return filtered(t, old, func(i int, _, _ []string) bool { return i%4 == 0 })
}

// twoThirds drops one row of three, but none that is the first of a country.
func twoThirds(t *testing.T, old []byte, _ string) []byte {
	seen := map[string]bool{}
	return filtered(t, old, func(i int, head, row []string) bool {
		keep := i%3 != 0
		for _, code := range goodRow(head, row) {
			keep = keep || !seen[code]
			seen[code] = true
		}
		return keep
	})
}

func withoutCountry(t *testing.T, old []byte, country string) []byte {
	return filtered(t, old, func(_ int, head, row []string) bool {
		return !slices.Contains(countriesOf(head, row), country)
	})
}

// countriesOf are the countries that a row may be placed in: those that it names, and those of its
// units and its market.
func countriesOf(head, row []string) (codes []string) {
	for i, name := range head {
		switch {
		case strings.HasSuffix(name, "location_code"):
			codes = append(codes, row[i])
		case name == "admin1_code", name == "admin2_code", name == "market_code":
			codes = append(codes, owners()[row[i]]...)
		}
	}
	return codes
}

// owners are the countries of units and markets, by code.
var owners = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for _, l := range []struct{ path, column string }{{"pcodes", "P-Code"}, {"market", "market_code"}} {
		rows, _ := csv.NewReader(bytes.NewReader(generated(nil)["reference/"+l.path+".csv"].Data)).ReadAll()
		at := slices.Index(rows[0], l.column)
		for _, row := range rows[1:] {
			all[row[at]] = append(all[row[at]], row[0])
			for i, name := range rows[0] {
				if name == "admin1_code" || name == "admin2_code" {
					all[row[at]] = append(all[row[at]], all[row[i]]...)
				}
			}
		}
	}
	return all
})

// generated is a small generated catalog with the files of these roles; nil: of all.
func generated(roles []string) fstest.MapFS {
	files := fstest.MapFS{}
	dir, err := os.MkdirTemp("", "losses-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if _, err := generator.Write(dir, generator.Options{Seed: 1, Small: true, Roles: roles}); err != nil {
		panic(err)
	}
	err = fs.WalkDir(os.DirFS(dir), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, p))
		files[p] = &fstest.MapFile{Data: data}
		return err
	})
	if err != nil {
		panic(err)
	}
	return files
}

// goodRow are the countries of a row that its provider has not marked in error, and whose units are
// of the country that it names.
func goodRow(head, row []string) []string {
	if bad := slices.Index(head, "error"); bad >= 0 && row[bad] != "" {
		return nil
	}
	codes := countriesOf(head, row)
	elsewhere := func(c string) bool { return c != codes[0] }
	for i, name := range head {
		placed := name == "admin1_code" || name == "admin2_code" || name == "market_code"
		if of := owners()[row[i]]; placed && row[i] != "" && (len(of) == 0 || slices.ContainsFunc(of, elsewhere)) {
			return nil
		}
	}
	return codes
}

func filtered(t *testing.T, data []byte, keep func(i int, head, row []string) bool) []byte {
	t.Helper()
	rows := testkit.Value(csv.NewReader(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff")))).ReadAll())(t)
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	for i, row := range rows {
		if i == 0 || keep(i-1, rows[0], row) {
			_ = w.Write(row)
		}
	}
	w.Flush()
	return out.Bytes()
}

// gone are the reasons of a file that is gone: for the list of risks, a workbook is read instead.
const gone = "any more|no more|could not be fetched"

var losses = []loss{
	{name: "nothing"},
	{name: "file gone", gone: true, kept: true, says: gone},
	{name: "resource renamed", renamed: "resource", kept: true},
	{name: "dataset renamed", every: true, renamed: "dataset", kept: true, says: gone},
	{name: "file in another form", renamed: "form", kept: true, says: gone + "|is not read"},
	{name: "files of one name", every: true, renamed: "same"},
	{name: "more than half of the rows gone", every: true, data: aQuarter, kept: true, says: "fell from"},
	{name: "more than half of the rows of a file gone", data: aQuarter, kept: true, says: "fell from"},
	{name: "a third of the rows gone", every: true, data: twoThirds, fewer: true},
	{name: "one country gone", every: true, data: withoutCountry, kept: true, says: "has no row any more of"},
	{name: "header changed", kept: true, data: func(_ *testing.T, old []byte, _ string) []byte {
		return bytes.ReplaceAll(old, []byte("reference_period_start"), []byte("start"))
	}},
	{name: "no row", data: headerOnly, kept: true},
	{name: "no byte", kept: true, data: func(*testing.T, []byte, string) []byte { return nil }},
}

// world is a generated catalog of one role, and a store that it has been loaded into. It has the
// list of risks too, since a site without it is asked for a workbook.
type world struct {
	mu    sync.Mutex
	role  string
	files fstest.MapFS
	store *store.Store
	first *loader.Report
	paths []string // of the role's files
	least string   // the country with the fewest rows
}

func newWorld(t *testing.T, role string) *world {
	t.Helper()
	w := &world{role: role, files: generated([]string{role, catalogfile.RiskRole})}
	rows := map[string]int{}
	for p, f := range w.files {
		if path.Dir(p) == role {
			w.paths = append(w.paths, p)
			filtered(t, f.Data, func(_ int, head, row []string) bool {
				for _, code := range goodRow(head, row) {
					rows[code]++
				}
				return true
			})
		}
	}
	codes := slices.Sorted(maps.Keys(rows))
	w.least = slices.MinFunc(codes, func(a, b string) int { return rows[a] - rows[b] })
	var err error
	if w.store, err = store.Open(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	return w
}

// change returns the paths that a loss concerns, and their new content.
func (w *world) change(t *testing.T, l loss) map[string][]byte {
	t.Helper()
	changed := map[string][]byte{}
	size := func(p string) int { return len(w.files[p].Data) }
	largest := slices.MaxFunc(w.paths, func(a, b string) int { return size(a) - size(b) })
	for _, p := range w.paths {
		if data := w.files[p].Data; p == largest || l.every {
			if l.data != nil {
				data = l.data(t, data, w.least)
			}
			changed[p] = data
		}
	}
	return changed
}

func (w *world) build(
	t *testing.T, files fs.FS, s *Summary, channel string, n int, change func(*loader.Options),
) *loader.Report {
	t.Helper()
	o := loader.Options{
		Catalog: files, CatalogName: "test", Store: w.store, Channel: channel, Parallel: 1,
		SnapshotTime: somewhere.Add(time.Duration(n) * time.Hour),
		AllowEmpty:   slices.DeleteFunc(generator.Roles(), func(role string) bool { return role == w.role }),
	}
	if s != nil {
		o.Fetched = &s.FetchReport
	}
	if change != nil {
		change(&o)
	}
	r := testkit.Value(loader.Build(t.Context(), o))(t)
	return r
}

func (w *world) loadDirectory(
	t *testing.T, l loss, channel string, n int, change func(*loader.Options),
) *loader.Report {
	t.Helper()
	files := maps.Clone(w.files)
	delete(files, "catalog.json")
	for p, data := range w.change(t, l) {
		files[p] = &fstest.MapFile{Data: data}
		switch {
		case l.gone:
			delete(files, p)
		case l.renamed == "resource":
			delete(files, p)
			files[p+".old"] = &fstest.MapFile{Data: data}
		case l.renamed == "form":
			delete(files, p)
			files[strings.TrimSuffix(p, ".csv")+".parquet"] = &fstest.MapFile{Data: data}
		case l.renamed == "dataset":
			delete(files, p)
			files["x"+p] = &fstest.MapFile{Data: data}
		}
	}
	return w.build(t, files, nil, channel, n, change)
}

// loadSite reads a CKAN site that has had no loss yet when withCache is set.
func (w *world) loadSite(
	t *testing.T, l loss, channel string, n int, change func(*loader.Options), cache string,
) *loader.Report {
	t.Helper()
	site := &ckantest.Site{Files: w.files, Override: map[string][]byte{}, Modified: map[string]string{}}
	server := httptest.NewServer(site)
	defer server.Close()
	changed := w.change(t, l)
	paths := slices.Sorted(maps.Keys(changed))
	for p, data := range changed {
		if l.data != nil {
			site.Override[p], site.Modified[p] = data, "2026-11-22T00:00:00"
		}
	}
	site.Edit = func(pkg map[string]any) {
		resources, _ := pkg["resources"].([]any)
		pkg["resources"] = slices.DeleteFunc(resources, func(r any) bool {
			resource := r.(map[string]any)
			link := fmt.Sprint(resource["url"])
			if !slices.ContainsFunc(paths, func(p string) bool { return strings.HasSuffix(link, "?path="+p) }) {
				return false
			}
			switch l.renamed {
			case "resource":
				plural := strings.NewReplacer("Events", "Event", "Prices", "Price")
				resource["name"] = plural.Replace(fmt.Sprint(resource["name"]))
			case "form":
				resource["format"] = "Parquet"
			case "same":
				resource["url"] = strings.Replace(link, path.Base(link[:strings.Index(link, "?")]), "data.csv", 1)
			case "dataset":
				return true // other roles have files in the dataset of prices
			}
			return l.gone
		})
	}
	o := Options{Source: server.URL, Cache: cache, Fetch: testFetch()}
	last := filepath.Join(cache, lastListing)
	if data, err := os.ReadFile(last); err == nil { // of another server of the same site
		old := regexp.MustCompile(`http://127\.0\.0\.1:\d+`)
		testkit.Must(t, os.WriteFile(last, old.ReplaceAll(data, []byte(server.URL)), 0o644))
	}
	opts := loader.Options{}
	if change != nil {
		change(&opts)
	}
	o.AllowShrink = opts.AllowShrink
	s := mustSync(t, o)
	return w.build(t, os.DirFS(s.Dir), s, channel, n, func(o *loader.Options) {
		o.CatalogURL = "https://site.example"
		if change != nil {
			change(o)
		}
	})
}

// TestLosses loads catalogs that have lost something, of each theme and in each way, after a whole
// one. No row may vanish without a word: rows that are gone are kept as stale, or the load is
// partial and says which. What is kept stays so until the loss is allowed.
func TestLosses(t *testing.T) {
	t.Parallel()
	some := []string{"conflict-events", "food-prices-market-monitor", "humanitarian-needs", catalogfile.RiskRole}
	for _, role := range generator.Roles() {
		isSome := slices.Contains(some, role)
		if isSome || !testing.Short() {
			t.Run("directory/"+role, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, role)
				w.checkLosses(t, w.loadDirectory, w.loadDirectory, !testing.Short())
			})
		}
		for _, withCache := range []bool{true, false} {
			if role == some[0] || isSome && withCache {
				t.Run(fmt.Sprintf("site, cache %t/%s", withCache, role), func(t *testing.T) {
					t.Parallel()
					checkSite(t, role, withCache)
				})
			}
		}
	}
}

// checkSite is checkLosses for a CKAN site.
func checkSite(t *testing.T, role string, withCache bool) {
	w := newWorld(t, role)
	fresh := func(t *testing.T, l loss, channel string, n int, o func(*loader.Options)) *loader.Report {
		t.Helper()
		return w.loadSite(t, l, channel, n, o, t.TempDir())
	}
	again := fresh
	if withCache {
		cache := t.TempDir()
		w.loadSite(t, losses[0], "unused", 0, nil, cache)
		again = func(t *testing.T, l loss, channel string, n int, o func(*loader.Options)) *loader.Report {
			t.Helper()
			mine := t.TempDir()
			testkit.Must(t, os.CopyFS(mine, os.DirFS(cache)))
			return w.loadSite(t, l, channel, n, o, mine)
		}
	}
	w.checkLosses(t, fresh, again, false)
}

// loadFunc loads a catalog with a loss into a channel, as the n-th load.
type loadFunc func(t *testing.T, l loss, channel string, n int, change func(*loader.Options)) *loader.Report

// checkLosses checks all losses. first reads a catalog that has not been read before; twice also
// loads each loss a second time.
func (w *world) checkLosses(t *testing.T, first, again loadFunc, twice bool) {
	t.Helper()
	w.first = first(t, losses[0], "stable", 0, nil)
	if w.first.Partial {
		t.Fatalf("the whole catalog is partial: %q", w.first.Losses())
	}
	for _, l := range losses {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			channel := strings.ReplaceAll(l.name, " ", "-")
			testkit.Must(t, w.publish(channel))
			for n := 1; n <= 2 && (n == 1 || twice); n++ {
				w.checkLoss(t, l, n, again(t, l, channel, n, nil))
			}
			if l.kept {
				r := again(t, l, channel, 3, func(o *loader.Options) {
					o.AllowShrink, o.AllowEmpty = []string{w.role}, []string{w.role}
				})
				if slices.ContainsFunc(r.Stale, func(s loader.Stale) bool {
					return !strings.Contains(s.Why, "header") && !strings.Contains(s.Why, "empty body")
				}) {
					t.Errorf("a loss that is allowed: %q", r.Losses())
				}
			}
			r := first(t, l, channel+"-first", 1, nil)
			rows, said := tableIn(r, w.role).Rows, strings.Join(r.Losses(), "\n")
			if rows == 0 && (!r.Partial ||
				!slices.Contains(r.Empty, w.role) || !strings.Contains(said, "no rows: "+w.role)) {
				t.Errorf("no row at a first load: partial %t, %q", r.Partial, said)
			}
			if (l.renamed == "form" || l.renamed == "resource" && rows < tableIn(w.first, w.role).Rows) &&
				(!r.Partial || r.Files.Unread == 0 || !strings.Contains(said, "refused: ")) {
				t.Errorf("a file that is not read at a first load: partial %t, %q", r.Partial, said)
			}
			if l.renamed == "dataset" && rows > 0 {
				t.Errorf("%d rows of a dataset with another name", rows)
			}
		})
	}
}

// publish makes a channel show the whole catalog.
func (w *world) publish(channel string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.store.Channels.Publish(channel, w.first.Snapshot, somewhere)
}

// checkLoss checks the n-th load with a loss.
func (w *world) checkLoss(t *testing.T, l loss, n int, r *loader.Report) {
	t.Helper()
	before, now := tableIn(w.first, w.role), tableIn(r, w.role)
	said := strings.Join(r.Losses(), "\n")
	m := testkit.Value(w.store.Snapshots.Manifest(r.Snapshot))(t)
	switch {
	case l.fewer && n == 1 && w.role != catalogfile.RiskRole: // which has one row of a country
		if now.Rows >= before.Rows || !r.Partial || !strings.Contains(said, fmt.Sprintf(
			"fewer rows: %s: %d rows, %d before", now.Table, now.Rows, before.Rows)) {
			t.Errorf("%d rows of %d, partial %t, %q", now.Rows, before.Rows, r.Partial, said)
		}
	case now.SHA256 != before.SHA256 && !l.fewer:
		t.Errorf("load %d: the table has changed, %d rows of %d; %q", n, now.Rows, before.Rows, said)
	case !l.kept || l.renamed == "resource" && said == "": // some roles take resources of any name
		if r.Partial != (said != "") {
			t.Errorf("load %d: partial %t, %q", n, r.Partial, said)
		}
	case !slices.ContainsFunc(strings.Split(l.says, "|"), func(why string) bool { return strings.Contains(said, why) }):
		t.Errorf("load %d: %q is not in %q", n, l.says, said)
	case !r.Partial || !strings.Contains(said, "stale since 2026-11-21T02:02:00Z: ") ||
		!m.Source(now.Table).StaleSince.Equal(somewhere.Add(time.Hour)) ||
		!slices.ContainsFunc(r.Incomplete(), func(s string) bool { return strings.HasPrefix(s, now.Table+" (") }):
		t.Errorf("load %d: partial %t, %q, %q, source %+v", n, r.Partial, said, r.Incomplete(), m.Source(now.Table))
	}
}
