package loader

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"hdqs/snapshot"
)

// view declares how a dump of one of the incumbent's views becomes a table. Most columns have the same name in both; a row is taken as it
// is, in file order, without looking for doubles, and what our checks would drop from a catalog is only reported.
type view struct {
	name    string            // the dump is <name>.csv, also compressed
	table   string            //
	renamed map[string]string // column of the table -> of the dump, where they differ
	hidden  string            // a flag of rows that the table leaves out
	needed  string            // a column whose null drops the row: no record could be printed
	assumed map[string]bool   // flags that older or newer dumps lack, and what they are then
}

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

// views are all dumps, by the table they become.
var views = []*view{
	{name: "location_view", table: "location", needed: "reference_period_start"},
	{name: "admin1_view", table: "admin1", hidden: "is_unspecified", needed: "reference_period_start"},
	{name: "admin2_view", table: "admin2", hidden: "is_unspecified", needed: "reference_period_start"},
	{name: "currency_view", table: "currency"},
	{name: "org_view", table: "org"},
	{name: "org_type_view", table: "org_type"},
	{name: "sector_view", table: "sector"},
	{name: "wfp_commodity_view", table: "commodity"},
	{name: "wfp_market_view", table: "market", renamed: dataRenamed},
	{name: "dataset_view", table: "dataset", renamed: map[string]string{
		"dataset_catalog_id":    "hdx_id",
		"dataset_catalog_stub":  "hdx_stub",
		"dataset_catalog_title": "title",
		"catalog_provider_stub": "hdx_provider_stub",
		"catalog_provider_name": "hdx_provider_name",
	}},
	{name: "resource_view", table: "resource", assumed: map[string]bool{"is_hxl": true}, renamed: map[string]string{
		"resource_catalog_id":           "hdx_id",
		"dataset_catalog_id":            "dataset_hdx_id",
		"dataset_catalog_stub":          "dataset_hdx_stub",
		"dataset_catalog_title":         "dataset_title",
		"dataset_catalog_provider_stub": "dataset_hdx_provider_stub",
		"dataset_catalog_provider_name": "dataset_hdx_provider_name",
		"api_updated_date":              "hapi_updated_date",
	}},
	{name: "data_availability_view", table: "data_availability", renamed: dataRenamed},
	{name: "operational_presence_view", table: "operational_presence", renamed: dataRenamed},
	{name: "funding_view", table: "funding", renamed: dataRenamed},
	{name: "conflict_event_view", table: "conflict_event", renamed: dataRenamed},
	{name: "national_risk_view", table: "national_risk", renamed: dataRenamed},
	{name: "refugees_view", table: "refugees", renamed: dataRenamed},
	{name: "returnees_view", table: "returnees", renamed: dataRenamed},
	{name: "humanitarian_needs_view", table: "humanitarian_needs", renamed: dataRenamed},
	{name: "idps_view", table: "idps", renamed: dataRenamed},
	{name: "food_security_view", table: "food_security", renamed: dataRenamed},
	{name: "food_price_view", table: "food_price", renamed: dataRenamed},
	{name: "poverty_rate_view", table: "poverty_rate", renamed: dataRenamed},
	{name: "rainfall_view", table: "rainfall", renamed: dataRenamed},
	{name: "population_view", table: "population", renamed: dataRenamed},
}

// isViews tells whether a directory holds view dumps rather than a catalog.
func isViews(fsys fs.FS) bool {
	path, err := viewFile(fsys, "location_view")
	return err == nil && path != ""
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

// viewLoad is what the dumps that are read at the same time share.
type viewLoad struct {
	*load
	updated map[string]int64    // by resource id
	dumped  *snapshot.TableData // the list of what there is, nil without a dump of it
}

// readViews loads a directory of view dumps.
func (l *load) readViews(ctx context.Context) error {
	beside, err := readCatalogJSON(l.opts.Catalog)
	if err != nil {
		return fmt.Errorf("views %s: %w", l.opts.CatalogName, err)
	}
	at, err := beside.time()
	if err != nil {
		return fmt.Errorf("views %s: %w", l.opts.CatalogName, err)
	}
	l.setTime(at, beside.CatalogURL)
	l.catalog = &catalog{fsys: l.opts.Catalog, name: l.opts.CatalogName, files: map[string][]resourceFile{}}
	for _, v := range views {
		path, err := viewFile(l.opts.Catalog, v.name)
		if err != nil {
			return fmt.Errorf("views %s: %w", l.opts.CatalogName, err)
		}
		if path != "" {
			l.catalog.files[v.name] = []resourceFile{{role: v.name, path: path}}
		}
	}
	l.progress.measure(l.catalog)
	all := &viewLoad{load: l, updated: map[string]int64{}}
	if err := all.readAll(ctx); err != nil {
		return err
	}
	return all.putAvailability()
}

// readAll reads the dumps.
func (l *viewLoad) readAll(ctx context.Context) error {
	size := func(v *view) int64 { return l.catalog.bytesOf(v.name) }
	if err := largestFirst(ctx, l.opts.Parallel, views, size, l.readTable); err != nil {
		return err
	}
	if len(l.report.Resources) == 0 {
		return fmt.Errorf("views %s: no dump could be used, the first because %s", l.catalog.name, l.report.Refused[0].Why)
	}
	return nil
}

// readTable makes a table of a dump and writes it. A dump that is missing or refused is an empty table, and reported.
func (l *viewLoad) readTable(ctx context.Context, v *view) error {
	rows, report, err := v.read(ctx, l.load)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	path := ""
	if files := l.catalog.files[v.name]; files != nil {
		path = files[0].path
	}
	if err != nil || path == "" {
		rows = newTableBuilder(tableNamed(v.table))
	}
	data, found := rows.finish(true)
	list := availableIn(data)

	l.mu.Lock()
	switch {
	case err != nil:
		l.report.refuse(v.name, path, err)
	case path != "":
		l.report.Resources = append(l.report.Resources, report)
	case v.table != "data_availability":
		l.report.MissingRoles = append(l.report.MissingRoles, v.name)
	}
	l.available[v.table] = list
	switch v.table {
	case "resource":
		ids, times := columnData(data.Columns, "resource_catalog_id"), columnData(data.Columns, "api_updated_date")
		for row, at := range times.Ints {
			if at != snapshot.NullInt {
				l.updated[textAt(ids, row)] = at
			}
		}
	case "data_availability":
		if err == nil && path != "" {
			l.dumped = data
		}
	}
	l.mu.Unlock()

	if v.table == "data_availability" {
		return nil // written when it can be held against the data
	}
	return l.put(data, found)
}

// putAvailability writes the list of what there is: the dump's, or one derived from the other dumps when it has none. When both
// exist they should tell the same; a difference is reported and the dump stands.
func (l *viewLoad) putAvailability() error {
	var entries []available
	for _, v := range views {
		entries = append(entries, l.available[v.table]...)
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
		if only, more := compareLists(l.dumped, derived), compareLists(derived, l.dumped); len(only)+len(more) > 0 {
			l.report.Notes = append(l.report.Notes, fmt.Sprintf(
				"data_availability_view differs from what the other views hold: %d entries only in it%s, %d only derived%s; the dump stands",
				len(only), examplesOf(only), len(more), examplesOf(more)))
		}
	}
	return l.put(data, duplicateRows{})
}

func examplesOf(entries []string) string {
	if len(entries) == 0 {
		return ""
	}
	return " (such as " + clip(strings.Join(entries[:min(len(entries), 2)], "; "), 300) + ")"
}

// compareLists gives the entries of a that b lacks, in words.
func compareLists(a, b *snapshot.TableData) []string {
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

// describeEntry writes what the contract's order of this list looks at, which is all that tells entries apart.
func describeEntry(data *snapshot.TableData, row int) string {
	var words []string
	for _, name := range tableNamed("data_availability").order {
		c, at := columnData(data.Columns, name), row
		if c == nil {
			g := &data.Groups[0]
			c, at = columnData(g.Columns, name), int(g.Codes[row])
		}
		if c.Kind == snapshot.Text {
			words = append(words, textAt(c, at))
		} else {
			words = append(words, fmt.Sprint(c.Ints[at]))
		}
	}
	return strings.Join(words, "|")
}
