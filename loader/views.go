package loader

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"hdqs/loader/catalogfile"
	"hdqs/snapshot"
)

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
	v := &viewLoad{load: l, result: newResult(l.opts.Store, l.report)}
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
	v.result.sources.complete(beside.Datasets, l.previous)
	return v.result, v.putAvailability()
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

// viewLoad reads a directory of view dumps.
type viewLoad struct {
	*load
	result *result
	dumped *snapshot.TableData // the list of available data, nil without a dump of it
}

// readTable makes a table from a dump and writes it. When the dump is refused or missing, or has
// less than half of the rows or values that the previous snapshot has, the previous table is kept;
// without a previous one the table is empty, and reported.
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
	var lost error
	if l.previous.hasRows(th.table.name) && (th.category != "" || slices.Contains(joinedLists, th)) {
		lost = l.lostValues(l.result, th, rows, nil)
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
	why := cmp.Or(l.shrunk(data.Name, data.Rows), lost)
	if err != nil && why != nil {
		why = fmt.Errorf("refused: %w", err)
	}
	entries := availableIn(data)
	if why == nil && th.category != "" {
		why = l.lostCountries(th, data)
	}
	if why != nil {
		// It is right beside new ones: a record of a dump prints nothing of another table.
		return l.keepTable(l.result, name, data.Name, roleState{}, why)
	}
	l.result.mu.Lock()
	switch data.Name {
	case "dataset":
		l.result.sources.addDatasetRows(data)
	case "resource":
		l.result.sources.addResourceRows(data)
	}
	l.result.available[data.Name] = entries
	l.result.mu.Unlock()
	return l.result.put(data, duplicateRows{})
}

// readDump reads the dump of a theme. It returns nothing when there is none; an error refuses the
// dump.
func (l *load) readDump(ctx context.Context, th *theme) (*tableBuilder, *ResourceReport, error) {
	files := l.catalog.files[th.viewName()]
	if files == nil {
		return nil, nil, nil
	}
	file := files[0]
	sum, err := readHashFile(l.catalog.fsys, th.viewName()+".hash")
	if err != nil {
		return nil, nil, err
	}
	file.plainMD5 = sum
	v := &viewReader{
		sourceReader: *newSourceReader(th.table, th.viewSteps(), &references{now: l.time}), th: th,
		addLinks: linkForms[th.table.name] != nil, site: l.report.CatalogURL,
	}
	wanted, optional := headersOfSteps(v.steps)
	if th.view.hidden != "" {
		wanted = append(wanted, th.view.hidden)
	}
	report, err := l.scan(ctx, file, wanted, append(optional, unusedViewHeaders...), v)
	return v.rows, report, err
}

// maxHashFile bounds the small file with a dump's sum.
const maxHashFile = 4096

// readHashFile reads the md5 that may be beside a dump, "" when there is none. A file name may
// follow it.
func readHashFile(fsys fs.FS, path string) (string, error) {
	data, err := catalogfile.ReadFile(fsys, path, maxHashFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	words := strings.Fields(string(data))
	if len(words) == 0 {
		return "", fmt.Errorf("%s: empty", path)
	}
	sum := strings.ToLower(words[0])
	if b, err := hex.DecodeString(sum); err != nil || len(b) != 16 {
		return "", fmt.Errorf("%s: %q is no md5", path, clip(sum, 40))
	}
	return sum, nil
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
// dumps when it has none.
func (l *viewLoad) putAvailability() error {
	if l.dumped != nil {
		return l.result.put(l.dumped, duplicateRows{})
	}
	derived := availabilityTable(l.result.available, func(resource string) int64 {
		if at := l.result.sources.resources[resource].updated; at > 0 {
			return at
		}
		s := l.previous.state.Resources[resource] // no dump lists it: since it was seen first
		if s.Since.IsZero() {
			s.Since = l.report.SnapshotTime
		}
		l.result.state.Resources[resource] = s
		return s.Since.UnixMicro()
	})
	return l.result.put(derived, duplicateRows{})
}
