package loader

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"hdqs/loader/catalogfile"
	"hdqs/snapshot"
)

// view declares how a dump of one of the incumbent's views becomes a table. Most columns have the
// same name in both. Rows are taken as they are, in file order and with duplicates; what the checks
// would drop from a catalog is only reported.
type view struct {
	name    string            // the dump is <name>.csv, possibly compressed; "" is the table's name with _view
	renamed map[string]string // column of the table -> of the dump, where they differ; nil in a data theme: dataRenamed
	hidden  string            // a flag of rows that the table leaves out
	needed  string            // a column whose null drops the row: no record could be printed
	assumed map[string]bool   // flags that older or newer dumps lack, and their value then
}

// dataRenamed are the columns that have other names in the dumps of data themes.
var dataRenamed = map[string]string{
	"resource_catalog_id":   "resource_hdx_id",
	"classification_phase":  "ipc_phase",
	"classification_type":   "ipc_type",
	"api_updated_date":      "hapi_updated_date",
	"stored_admin1_code":    "admin1_code",
	"stored_admin1_name":    "admin1_name",
	"stored_admin2_code":    "admin2_code",
	"stored_admin2_name":    "admin2_name",
	"dataset_catalog_id":    "dataset_hdx_id",
	"dataset_catalog_stub":  "dataset_hdx_stub",
	"dataset_catalog_title": "dataset_title",
}

// viewName is the name of the theme's dump.
func (th *theme) viewName() string {
	if th.view.name != "" {
		return th.view.name
	}
	return th.table.name + "_view"
}

// viewHeader is the dump's name for a column of the table.
func (th *theme) viewHeader(column string) string {
	renamed := th.view.renamed
	if renamed == nil && th.category != "" {
		renamed = dataRenamed
	}
	if name, ok := renamed[column]; ok {
		return name
	}
	return column
}

// viewFile finds the dump of a view, plain before compressed; "" when there is none.
func viewFile(fsys fs.FS, name string) (string, error) {
	for _, ending := range []string{".csv", ".csv.gz", ".csv.zst"} {
		_, err := fs.Stat(fsys, name+ending)
		if err == nil {
			return name + ending, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return "", nil
}

// availabilityName is the table that may be derived from the others.
const availabilityName = "data_availability"

// viewLoad reads a directory of view dumps.
type viewLoad struct {
	*load
	result *result

	updated map[string]int64    // by resource id; set while one table is read
	dumped  *snapshot.TableData // the list of available data, nil without a dump of it; likewise
}

// readViews loads a directory of view dumps.
func (l *load) readViews(ctx context.Context) (*result, error) {
	wrap := func(err error) error { return fmt.Errorf("views %s: %w", l.opts.CatalogName, err) }
	beside, err := catalogfile.ReadCatalog(l.opts.Catalog)
	if err != nil {
		return nil, wrap(err)
	}
	at, err := beside.Time()
	if err != nil {
		return nil, wrap(err)
	}
	if err := l.setTime(at, beside.CatalogURL); err != nil {
		return nil, wrap(err)
	}
	l.catalog = &catalog{
		fsys: l.opts.Catalog, name: l.opts.CatalogName, files: map[string][]resourceFile{}, described: beside.Datasets,
	}
	for _, th := range themes {
		name := th.viewName()
		path, err := viewFile(l.opts.Catalog, name)
		if err != nil {
			return nil, wrap(err)
		}
		if path != "" {
			l.catalog.files[name] = []resourceFile{{role: name, path: path}}
		}
	}
	l.progress.restart(l.catalog)
	v := &viewLoad{load: l, result: newResult(l.opts.Store, l.report), updated: map[string]int64{}}
	size := func(th *theme) int64 { return l.catalog.bytesOf(th.viewName()) }
	if err := largestFirst(ctx, l.opts.Parallel, themes, size, v.readTable); err != nil {
		return nil, err
	}
	if report := v.result.report; len(report.Resources) == 0 {
		return nil, fmt.Errorf("views %s: no dump could be used; the first error: %s",
			l.catalog.name, report.Refused[0].Why)
	}
	if v.result.segments["location"].Rows == 0 {
		return nil, fmt.Errorf("views %s: location_view gives no location; nothing is published", l.catalog.name)
	}
	v.result.sources.complete(beside.Datasets)
	return v.result, v.putAvailability()
}

// readTable makes a table from a dump and writes it. When the dump is refused or missing, or has
// less than half of the rows that the previous snapshot has, the previous table is kept; without a
// previous one the table is empty, and reported.
func (l *viewLoad) readTable(ctx context.Context, th *theme) error {
	rows, report, err := l.readDump(ctx, th)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	name, path := th.viewName(), ""
	if files := l.catalog.files[name]; files != nil {
		path = files[0].path
	}
	l.addReport(th, path, report, err)
	if err != nil || path == "" {
		rows = newTableBuilder(th.table)
	}
	data, found := rows.finish(true)
	if found.Different > 0 {
		report.odd(&rowFault{reason: duplicateRow})
		*report.Oddities[string(duplicateRow)] = Examples{Count: found.Different, First: found.Examples}
	}
	if data.Name == availabilityName { // written when it can be compared with the data
		if err == nil && path != "" {
			l.dumped = data
		}
		return nil
	}
	why := l.shrunk(data.Name, data.Rows)
	if err != nil && why != nil {
		why = fmt.Errorf("refused: %w", err)
	}
	entries := availableIn(data)
	if why == nil && th.category != "" {
		why = l.lostCountries(th, data)
	}
	if why != nil {
		return l.keepTable(th, why)
	}
	switch data.Name {
	case "dataset":
		l.result.mu.Lock()
		l.result.sources.addDatasetRows(data)
		l.result.mu.Unlock()
	case "resource":
		l.addResources(data)
	}
	l.result.mu.Lock()
	l.result.available[data.Name] = entries
	l.result.mu.Unlock()
	return l.result.put(data, duplicateRows{})
}

// keepTable keeps the previous form of a table. It is right beside new ones, as dumps have all
// their joins done: a record prints nothing of another table.
func (l *viewLoad) keepTable(th *theme, why error) error {
	old, _ := l.previous.table(th.table.name)
	fail := func(err error) error {
		return fmt.Errorf("table %s: %w; and the old one cannot be read: %w", old.Table, why, err)
	}
	var entries []available
	if th.category != "" {
		var err error
		if entries, err = l.previous.available(old.Table); err != nil {
			return fail(err)
		}
	}
	if old.Table == "resource" {
		data, err := l.previous.data(old.Table,
			"resource_catalog_id", "dataset_catalog_id", "update_date", "api_updated_date")
		if err != nil {
			return fail(err)
		}
		l.addResources(data)
	}
	r := l.result
	r.mu.Lock()
	defer r.mu.Unlock()
	if old.Table == "dataset" {
		for _, d := range l.previous.manifest.Datasets {
			r.sources.datasets[d.ID] = d
		}
	}
	l.markStale(r, th.viewName(), old.Table, why)
	r.available[old.Table] = entries
	r.keep(old, roleState{})
	return nil
}

// addResources takes from the table of resources what other tables need of it.
func (l *viewLoad) addResources(data *snapshot.TableData) {
	l.result.mu.Lock()
	defer l.result.mu.Unlock()
	for row := range data.Rows {
		id := rowText(data, "resource_catalog_id", row)
		l.result.sources.resources[id] = newSourceResource(
			rowText(data, "dataset_catalog_id", row), rowInt(data, "update_date", row))
		if at := rowInt(data, "api_updated_date", row); at != snapshot.NullInt {
			l.updated[id] = at
		}
	}
}

// addReport reports what came of a dump.
func (l *viewLoad) addReport(th *theme, path string, report *ResourceReport, err error) {
	r := l.result
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err != nil:
		r.report.refuse(th.viewName(), path, err)
	case path != "":
		r.report.Resources = append(r.report.Resources, report)
	case th.table.name != availabilityName:
		r.report.MissingRoles = append(r.report.MissingRoles, th.viewName())
	}
}

// putAvailability writes the list of available data: the dump's, or one derived from the other
// dumps when it has none. When both exist they should agree; a difference is reported and the dump
// is used.
func (l *viewLoad) putAvailability() error {
	var entries []available
	for _, th := range dataThemes {
		entries = append(entries, l.result.available[th.table.name]...)
	}
	derived := availabilityTable(entries, func(resource string) int64 {
		if t, ok := l.updated[resource]; ok {
			return t
		}
		return l.time
	})
	data := derived
	if l.dumped != nil {
		data = l.dumped
		only, more := entriesMissing(l.dumped, derived), entriesMissing(derived, l.dumped)
		if len(only)+len(more) > 0 {
			l.result.note(fmt.Sprintf("data_availability_view differs from what the other views hold: "+
				"%d entries only in it%s, %d only derived%s; the dump stands",
				len(only), examplesOf(only), len(more), examplesOf(more)))
		}
	}
	return l.result.put(data, duplicateRows{})
}

func examplesOf(entries []string) string {
	if len(entries) == 0 {
		return ""
	}
	return " (such as " + clip(strings.Join(entries[:min(len(entries), 2)], "; "), 300) + ")"
}

// entriesMissing describes the entries of a that b lacks.
func entriesMissing(a, b *snapshot.TableData) []string {
	has := map[string]bool{}
	for row := range b.Rows {
		has[describeEntry(b, row)] = true
	}
	var only []string
	for row := range a.Rows {
		if e := describeEntry(a, row); !has[e] {
			has[e] = true // once
			only = append(only, e)
		}
	}
	return only
}

// describeEntry writes the columns of the list's order, which identify an entry.
func describeEntry(data *snapshot.TableData, row int) string {
	var words []string
	for _, name := range tableNamed(availabilityName).order {
		c, at := cellOf(data, name, row)
		if c.Kind == snapshot.Text {
			words = append(words, textAt(c, at))
		} else {
			words = append(words, fmt.Sprint(c.Ints[at]))
		}
	}
	return strings.Join(words, "|")
}

// placeDump says how a dump gives the places of a table. It has the stored units, whether they are
// placeholders, and the provider's names; what is printed, and the level, follow from these by the
// same rule as for any other catalog. The list of available data has only units and level, so there
// the level is read from the dump.
type placeDump struct {
	wanted    []string
	levels    int
	readLevel bool // from admin_level, as there is nothing to derive it from
}

// placeDumpOf is nil for a group that is not a place with units.
func placeDumpOf(t *table, columns []*column) *placeDump {
	p := &placeDump{readLevel: t.name == "data_availability"}
	for _, c := range columns {
		if c.name == "stored_admin1_code" || c.name == "stored_admin2_code" {
			p.levels++
		}
	}
	if p.levels == 0 {
		return nil
	}
	for _, unit := range []string{"admin1", "admin2"}[:p.levels] {
		p.wanted = append(p.wanted, unit+"_code", unit+"_name")
		if !p.readLevel {
			p.wanted = append(p.wanted, unit+"_is_unspecified", "provider_"+unit+"_name")
		}
	}
	p.wanted = append(p.wanted, "admin_level")
	return p
}

// sets reports whether the bound step sets a column.
func (p *placeDump) sets(name string) bool {
	switch strings.TrimPrefix(strings.TrimPrefix(name, "stored_"), "provider_") {
	case "admin1_name", "admin2_name", "admin_level":
		return true
	case "admin1_code", "admin2_code":
		return !strings.HasPrefix(name, "provider_") // a provider's codes are columns like any other
	}
	return false
}

// bind sets a tuple's place. A level in the dump that does not follow from the place is reported.
func (p *placeDump) bind(f *sourceReader, g *tuples) rowStep {
	csv, at, to := f.file.csv, map[string]int{}, newPlaceVectors(g)
	for _, name := range p.wanted {
		at[name] = csv.position(name)
	}
	cell := func(name string) []byte {
		if i, ok := at[name]; ok {
			return csv.cell(i)
		}
		return nil
	}
	text := func(name string) string { return string(cell(name)) }
	owners := map[string]string{} // countries of codes
	return func() *rowFault {
		where := place{
			code1: text("admin1_code"), name1: text("admin1_name"), provider1: text("provider_admin1_name"),
			code2: text("admin2_code"), name2: text("admin2_name"), provider2: text("provider_admin2_name"),
		}
		country := string(csv.cell(csv.position("location_code")))
		for _, code := range []string{where.code1, where.code2} {
			if of, seen := owners[code]; seen && code != "" && of != country {
				f.odd(otherCountry, fmt.Sprintf("code %q of %s, in another row of %s", clip(code, 120), country, of))
			}
			owners[code] = country
		}
		dumped := cell("admin_level")
		level, ok := parseInt(dumped)
		if p.readLevel {
			if !ok || level < 0 || level > 2 {
				return csv.cellFault(badNumber, "admin_level", dumped)
			}
			to.setAt(where, int(level))
			return nil
		}
		for i, placeholder := range []*bool{&where.placeholder1, &where.placeholder2}[:p.levels] {
			header := fmt.Sprintf("admin%d_is_unspecified", i+1)
			if *placeholder, ok = parseFlag(cell(header)); !ok {
				return csv.cellFault(badFlag, header, cell(header))
			}
		}
		to.set(where)
		if derived := to.level.int(g.n); !isLevel(dumped) || level != derived {
			f.odd(levelDiffers, fmt.Sprintf("admin_level: %s, the place is of level %d", quoted(dumped), derived))
		}
		return nil
	}
}

func isLevel(cell []byte) bool { return len(cell) == 1 && cell[0] >= '0' && cell[0] <= '2' }
