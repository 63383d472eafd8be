package loader

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"unicode/utf8"

	"hdqs/loader/catalogfile"
	"hdqs/snapshot"
)

// readLocations reads the list of locations: the rows of the taxonomy that have an ISO code, in its
// order.
func (p *pass) readLocations(ctx context.Context) error {
	const role, table = catalogfile.LocationRole, "location"
	fault := cmp.Or(p.plan.kept(role), p.load.notFetched(role))
	if fault == nil || !p.load.previous.hasRows(table) { // a list that was not fetched has an embedded copy
		l := &locationReader{listReader: listReader{headers: locationHeaders, units: p.refs.units}}
		fault = p.readList(ctx, role, l)
		if fault == nil && l.unclear != nil {
			fault = newListFault(role, l.unclear.file, "%w", l.unclear)
		}
	}
	if fault == nil {
		rows := len(p.refs.units.countries)
		fault = cmp.Or(p.noRows(role, rows), p.load.lostRows(role, table, rows), p.lostFlags(role, table))
	}
	return p.useFallback(ctx, fault, p.restoreCountries, table)
}

// lostFlags is the fault of a list in which no country has a flag any more: filters by it would
// hide all rows.
func (p *pass) lostFlags(role, table string) *listFault {
	data, err := p.load.previous.data(table, restoredColumns[table]...)
	if err != nil || len(p.load.catalog.files[role]) == 0 || p.load.opts.mayShrink(role) { // no list to compare
		return nil
	}
	was, now := countriesIn(data), p.refs.units.countries
	for i, header := range flagHeaders {
		isSet := func(c countryUnit) bool { return c.flags[i] }
		if slices.ContainsFunc(was, isSet) && !slices.ContainsFunc(now, isSet) {
			return newListFault(role, p.load.catalog.files[role][0].path, "no country has the flag %q any more; "+
				"--allow-shrink=%s accepts it", header, role)
		}
	}
	return nil
}

// readUnits reads the list of administrative units. They are numbered when the whole list has been
// read, since parents may follow their children.
func (p *pass) readUnits(ctx context.Context) error {
	const role = catalogfile.UnitRole
	files := p.load.catalog.files[role]
	fault := cmp.Or(p.plan.kept(role), p.load.notFetched(role))
	if fault == nil && len(files) == 0 && !p.load.opts.AllowNoPCodes {
		fault = &listFault{role: role, why: fmt.Errorf(
			"catalog %s has no reference/pcodes.csv: every row would fall to its country; "+
				"--allow-no-pcodes loads all the same", p.load.catalog.name)}
	}
	if fault == nil {
		l := listReader{headers: unitHeaders, units: p.refs.units}
		fault = p.readList(ctx, role, &unitReader{listReader: l})
	}
	if fault == nil {
		p.numberUnits()
		if len(files) > 0 {
			real := p.refs.units.real
			if !p.load.opts.AllowNoPCodes {
				fault = p.noRows(role, real[1])
			}
			fault = cmp.Or(fault, p.load.lostRows(role, "admin1", real[1]), p.load.lostRows(role, "admin2", real[2]))
		}
	}
	return p.useFallback(ctx, fault, p.restoreUnits, "admin1", "admin2")
}

// readList reads the files of a list of places.
func (p *pass) readList(ctx context.Context, role string, to rowReader) *listFault {
	var read []*ResourceReport
	for _, file := range p.load.catalog.files[role] {
		wanted, _, _ := headersOf(role)
		report, err := p.load.scan(ctx, file, wanted, nil, to)
		if err != nil {
			return newListFault(role, file.path, "%w", err)
		}
		read = append(read, report)
	}
	p.result.report.Resources = append(p.result.report.Resources, read...)
	p.result.state.Roles[role] = roleState{Files: filesOf(read)}
	return nil
}

// noRows is the fault of a list of places without a row that can be used. Each row of the catalog
// is placed with it, so an empty one is as bad as none.
func (p *pass) noRows(role string, rows int) *listFault {
	files := p.load.catalog.files[role]
	if rows > 0 || len(files) == 0 {
		return nil
	}
	path := files[len(files)-1].path
	return newListFault(role, path, "%s has no row that can be used", path)
}

// lostRows is the fault of a list that has less than half of its previous rows.
func (l *load) lostRows(role, table string, rows int) *listFault {
	if err := l.shrunk(table, rows); err != nil {
		return newListFault(role, "", "%w", err)
	}
	return nil
}

// listReader finds the columns of a list of places.
type listReader struct {
	headers []string
	units   *units
	csv     *csvReader
	report  *ResourceReport
	at      []int
}

func (l *listReader) open(r *csvReader, report *ResourceReport) error {
	l.csv, l.report, l.at = r, report, make([]int, len(l.headers))
	for i, name := range l.headers {
		l.at[i] = r.position(name)
	}
	return nil
}

func (l *listReader) skipMarked() {}

func (l *listReader) rowsHeld() int { return len(l.units.countries) + len(l.units.listed) }

// placeMemory is about how many bytes a country or a unit takes. There are 33,000 of them.
const placeMemory = 400

func (l *listReader) distinctHeld() int { return l.rowsHeld() * placeMemory }

// cell is the value of the column at this position of headers.
func (l *listReader) cell(i int) []byte { return l.csv.cell(l.at[i]) }

// Longest texts of a place, in characters.
const (
	maxPlaceCode = 128
	maxPlaceName = 512
)

type locationReader struct {
	listReader
	unclear *rowFault // of the first flag that is not Y, N or empty
}

// readFlags reads the flags of a location. A list that writes them in another style must not make
// them false: filters by has_hrp and in_gho would hide countries.
func (l *locationReader) readFlags() (flags [len(flagColumns)]bool) {
	for i := range flags {
		switch cell := l.cell(firstFlag + i); string(cell) {
		case "Y":
			flags[i] = true
		case "N", "":
		default:
			l.unclear = cmp.Or(l.unclear, l.csv.fault(badFlag, flagHeaders[i]+": "+quoted(cell)+", want Y, N or none"))
		}
	}
	return flags
}

func (l *locationReader) readRow() *rowFault {
	code, name := string(l.cell(0)), string(l.cell(2))
	if name == "" {
		name = string(l.cell(1))
	}
	start, ok := parseDay(l.cell(5))
	switch {
	case code == "":
		f := l.csv.fault(noCode, name)
		f.byRule = true // territories that the taxonomy lists for other uses
		return f
	case !ok:
		return l.csv.cellFault(badDate, headerStart, l.cell(5))
	case utf8.RuneCountInString(code) > maxPlaceCode || utf8.RuneCountInString(name) > maxPlaceName:
		return l.csv.fault(tooLong, quoted(l.csv.raw))
	}
	if _, twice := l.units.countryOf[code]; twice {
		return l.csv.cellFault(codeTwice, headerISO3, l.cell(0))
	}
	l.units.addCountry(countryUnit{
		code: code, name: name, start: start, flags: l.readFlags(), classes: l.readClasses(),
	})
	return nil
}

// readClasses reads the classes of a country: of each the first header that has one.
func (l *locationReader) readClasses() (classes [len(classColumns)]string) {
	for i, headers := range classHeaders {
		for _, header := range headers {
			at := l.csv.position(header)
			if at < 0 || classes[i] != "" {
				continue
			}
			switch cell := l.csv.cells[at]; {
			case isEmptyWord(cell):
				l.report.odd(l.csv.cellFault(emptyAsWord, header, cell))
			case utf8.RuneCount(cell) > classLimits[i]:
				l.report.odd(l.csv.cellFault(tooLong, header, cell))
			default:
				classes[i] = string(cell)
			}
		}
	}
	return classes
}

type unitReader struct {
	listReader
}

func (l *unitReader) readRow() *rowFault {
	country, parent := bytes.TrimSpace(l.cell(0)), bytes.TrimSpace(l.cell(4))
	u := listedUnit{country: string(country), code: string(l.cell(2)), name: string(l.cell(3)), parent: string(parent)}
	start, ok := parseDay(l.cell(5))
	level, isInt := parseInt(l.cell(1))
	_, known := l.units.countryOf[u.country]
	switch {
	case !known:
		f := l.csv.fault(unknownLocation, quoted(l.cell(0)))
		f.byRule = true // only units of listed locations are used
		return f
	case !isInt || level != 1 && level != 2:
		return l.csv.cellFault(unknownLevel, unitHeaders[1], l.cell(1))
	case u.code == "":
		return l.csv.fault(noCode, "P-Code of "+quoted(l.cell(3)))
	case !ok:
		return l.csv.cellFault(badDate, unitHeaders[5], l.cell(5))
	case utf8.RuneCountInString(u.code) > maxPlaceCode-2*len(placeholderSuffix),
		utf8.RuneCountInString(u.name) > maxPlaceName:
		return l.csv.fault(tooLong, quoted(l.csv.raw))
	}
	if name := l.cell(3); isEmptyWord(name) {
		l.report.odd(l.csv.cellFault(emptyAsWord, unitHeaders[3], name))
	}
	if len(country) < len(l.cell(0)) || len(parent) < len(l.cell(4)) { // the unit would be lost
		l.report.odd(l.csv.fault(blankAround, fmt.Sprintf("%q, parent %q", l.cell(0), l.cell(4))))
	}
	u.level, u.start = int(level), start
	u.fault = l.csv.fault(unknownParent, fmt.Sprintf("%s, parent %s", clip(u.code, 100), clip(u.parent, 100)))
	l.units.listed = append(l.units.listed, u)
	return nil
}

// numberUnits numbers the units. Those that get no number are counted as skipped or dropped instead
// of kept.
func (p *pass) numberUnits() {
	reports := map[string]*ResourceReport{}
	for _, r := range p.result.report.Resources {
		reports[r.Path] = r
	}
	orphans, twice := p.refs.units.number()
	for _, u := range orphans {
		report := reports[u.fault.file]
		report.Rows.Kept--
		report.skip(u.fault)
	}
	for _, f := range twice {
		f.reason = codeTwice
		reports[f.file].Rows.Kept--
		reports[f.file].drop(f)
	}
}

// restoreCountries rebuilds the list of locations from the table that was made of it.
func (p *pass) restoreCountries(previous []*snapshot.TableData) error {
	p.refs.units = newUnits()
	for _, c := range countriesIn(previous[0]) {
		if !p.refs.units.addCountry(c) {
			return fmt.Errorf("table location has %q twice", c.code)
		}
	}
	return nil
}

// countriesIn reads the table of locations.
func countriesIn(data *snapshot.TableData) (countries []countryUnit) {
	for row := range data.Rows {
		c := countryUnit{
			code: rowText(data, "code", row), name: rowText(data, "name", row), start: rowInt(data, periodStart, row),
		}
		for i, name := range flagColumns {
			c.flags[i] = rowInt(data, name, row) == 1
		}
		for i, name := range classColumns {
			c.classes[i] = rowText(data, name, row)
		}
		countries = append(countries, c)
	}
	return countries
}

// restoreUnits rebuilds the list of units from the tables of both levels, each in the order of the
// file that it was made from. Units of locations that are not listed any more are left out.
func (p *pass) restoreUnits(previous []*snapshot.TableData) error {
	p.refs.units = p.refs.units.withoutUnits()
	for i, data := range previous {
		for row := range data.Rows {
			u := listedUnit{
				level: i + 1, code: rowText(data, "code", row), name: rowText(data, "name", row),
				country: rowText(data, "location_code", row), parent: rowText(data, "admin1_code", row),
				start: rowInt(data, periodStart, row),
			}
			if _, known := p.refs.units.countryOf[u.country]; known {
				p.refs.units.listed = append(p.refs.units.listed, u)
			}
		}
	}
	p.numberUnits()
	return nil
}

// tables makes the three tables of places. Placeholders are not in them.
func (u *units) tables() (location, admin1, admin2 *tableBuilder) {
	location = newTableBuilder(tableNamed("location"))
	admin1, admin2 = newTableBuilder(tableNamed("admin1")), newTableBuilder(tableNamed("admin2"))
	classified := slices.ContainsFunc(u.countries, func(c countryUnit) bool { return c.classes != noClasses })
	for i, c := range u.countries {
		setUnit(location, int32(i), c.code, c.name, c.start)
		for i, name := range flagColumns {
			location.column(name).setBool(c.flags[i])
		}
		if classified {
			setClasses(location.group("classes"), c.classes)
		}
		location.commit()
	}
	for i, a := range u.level1[:u.real[1]] {
		setUnit(admin1, int32(i), a.code, a.name, a.start)
		u.setCountry(admin1, a.country)
		admin1.commit()
	}
	for i, a := range u.level2[:u.real[2]] {
		setUnit(admin2, int32(i), a.code, a.name, a.start)
		u.setCountry(admin2, a.country)
		g, p := admin2.group("admin1"), u.level1[a.parent]
		g.put(fmt.Append(nil, a.parent), func() {
			g.column("admin1_ref").setInt(ref(a.parent))
			g.column("admin1_code").setString(p.code)
			g.column("admin1_name").setString(p.name)
		})
		admin2.commit()
	}
	return location, admin1, admin2
}

// setUnit sets the columns that the three tables of places share. Periods have no end.
func setUnit(a *tableBuilder, at int32, code, name string, start int64) {
	a.column("id").setInt(ref(at))
	a.column("code").setString(code)
	a.column("name").setString(name)
	a.column("from_cods").setBool(true)
	g := a.group("period")
	g.put(fmt.Append(nil, start), func() {
		g.column(periodStart).setInt(start)
		g.column(periodEnd).setNull()
	})
}

// noClasses are those of a country that its list says nothing of.
var noClasses [len(classColumns)]string

func setClasses(g *tuples, classes [len(classColumns)]string) {
	g.put(fmt.Appendf(nil, "%q", classes), func() {
		for i, name := range classColumns {
			if to := g.column(name); classes[i] == "" {
				to.setNull()
			} else {
				to.setString(classes[i])
			}
		}
	})
}

func (u *units) setCountry(a *tableBuilder, country int32) {
	g, c := a.group("location"), u.countries[country]
	g.put([]byte(c.code), func() {
		g.column("location_ref").setInt(ref(country))
		g.column("location_code").setString(c.code)
		g.column("location_name").setString(c.name)
	})
}

// Columns of the list of locations.
const (
	headerISO3      = "ISO 3166-1 Alpha 3-Codes"
	headerM49       = "M49 English"
	headerPreferred = "Preferred Term"
	headerStart     = "Reference Period Start"
)

// The flags of a country: their columns and headers.
var flagColumns, flagHeaders = [...]string{"has_hrp", "in_gho"}, [...]string{"Has HRP", "In GHO"}

const firstFlag = 3 // in locationHeaders

// The columns of the two lists of places.
var (
	locationHeaders = []string{headerISO3, headerPreferred, headerM49, flagHeaders[0], flagHeaders[1], headerStart}
	unitHeaders     = []string{"Location", "Admin Level", "P-Code", "Name", "Parent P-Code", "Valid from date"}
)

// The classes of a country: their columns, the headers that have them, the first one first, and how
// many characters they may have. The list has the short forms of names for fewer countries.
var (
	classColumns = [...]string{"region", "subregion", "intermediate_region", "income_group", "name_ru", "name_zh"}
	classHeaders = [len(classColumns)][]string{
		{"Region Name"},
		{"Sub-region Name"},
		{"Intermediate Region Name"},
		{"World Bank Income Level"},
		{"Russian Short", "M49 Russian"},
		{"Chinese Short", "M49 Chinese"},
	}
	classLimits = [len(classColumns)]int{128, 128, 128, 128, maxPlaceName, maxPlaceName}
)
