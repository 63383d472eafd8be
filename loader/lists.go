package loader

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"unicode/utf8"

	"hdqs/loader/catalogfile"
)

// embedded are the lists that a catalog may leave out: codes and names are facts, kept as the
// taxonomy has them.
//
//go:embed reference/*.csv
var embedded embed.FS

// builtInRows are added to a list unless it has their code: the incumbent's own additions.
var builtInRows = map[string][][2]string{
	"org-type": {{"501", "Civil Society"}, {"502", "Observer"}, {"503", "Development Programme"}, {"504", "Local NGO"}},
	"sector": {
		{"Cash", "Cash programming"},
		{"Hum", "Humanitarian assistance (unspecified)"},
		{"Multi", "Multi-sector (unspecified)"},
		{"Intersectoral", "Intersectoral"},
	},
}

// Columns of the list of locations.
const (
	headerISO3      = "ISO 3166-1 Alpha 3-Codes"
	headerM49       = "M49 English"
	headerPreferred = "Preferred Term"
	headerHRP       = "Has HRP"
	headerGHO       = "In GHO"
	headerStart     = "Reference Period Start"
)

// The columns of the two lists of places.
var (
	locationHeaders = []string{headerISO3, headerPreferred, headerM49, headerHRP, headerGHO, headerStart}
	unitHeaders     = []string{"Location", "Admin Level", "P-Code", "Name", "Parent P-Code", "Valid from date"}
)

// Longest texts of a place, in characters.
const (
	maxPlaceCode = 128
	maxPlaceName = 512
)

// readLocations reads the list of locations: the rows of the taxonomy that have an ISO code, in its
// order.
func (p *pass) readLocations(ctx context.Context) error {
	const role, table = catalogfile.LocationRole, "location"
	fault := cmp.Or(p.plan.kept(role), p.load.notFetched(role))
	if fault == nil || !p.load.previous.hasRows(table) { // a list that was not fetched has an embedded copy
		l := &locationReader{listReader: listReader{headers: locationHeaders, units: p.refs.units}}
		fault = p.readList(ctx, role, l)
		if fault == nil && len(l.unclear) > 0 {
			fault = p.restoreFlags(l.unclear)
		}
	}
	if fault == nil {
		rows := len(p.refs.units.countries)
		fault = cmp.Or(p.noRows(role, rows), p.load.lostRows(role, table, rows))
	}
	return p.useFallback(ctx, fault, p.restoreCountries, table)
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
func (l *listReader) cell(i int) []byte { return l.csv.cells[l.at[i]] }

type locationReader struct {
	listReader
	unclear []unclearFlag
}

// unclearFlag is a flag of a country that is not Y, N or empty.
type unclearFlag struct {
	country string
	path    string
	text    string // the column and its value
	set     func(c *countryUnit, last countryUnit)
}

// readFlag reads a flag of a location. A list that writes flags in another style must not make them
// false: filters by has_hrp and in_gho would hide countries.
func (l *locationReader) readFlag(at int, country string, set func(c *countryUnit, last countryUnit)) bool {
	switch cell := string(l.cell(at)); cell {
	case "Y":
		return true
	case "N", "":
	default:
		fault := l.csv.cellFault(badFlag, l.headers[at], l.cell(at))
		l.report.odd(fault)
		l.unclear = append(l.unclear, unclearFlag{country, l.csv.name, fault.Error(), set})
	}
	return false
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
		code: code, name: name, start: start,
		hasHRP: l.readFlag(3, code, func(c *countryUnit, last countryUnit) { c.hasHRP = last.hasHRP }),
		inGHO:  l.readFlag(4, code, func(c *countryUnit, last countryUnit) { c.inGHO = last.inGHO }),
	})
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
		fault = p.readList(ctx, role, &unitReader{listReader: listReader{headers: unitHeaders, units: p.refs.units}})
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

type unitReader struct {
	listReader
}

func (l *unitReader) readRow() *rowFault {
	u := listedUnit{
		country: string(l.cell(0)), code: string(l.cell(2)), name: string(l.cell(3)), parent: string(l.cell(4)),
	}
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
	underCountry := map[string]int{} // by file
	for _, u := range orphans {
		report := reports[u.fault.file]
		report.Rows.Kept--
		report.skip(u.fault)
		if u.parent == u.country {
			underCountry[u.fault.file]++
		}
	}
	for file, n := range underCountry {
		reports[file].note(fmt.Sprintf("%d units of level 2 name their country as parent and not a unit of level 1; "+
			"they are not used, as in the public service, and rows with their codes are placed at the country", n))
	}
	for _, f := range twice {
		f.reason = codeTwice
		reports[f.file].Rows.Kept--
		reports[f.file].drop(f)
	}
}

// readList reads the files of a list of places.
func (p *pass) readList(ctx context.Context, role string, to rowReader) *listFault {
	for _, file := range p.load.catalog.files[role] {
		wanted, _, _ := headersOf(role)
		report, err := p.load.scan(ctx, file, wanted, nil, to)
		if err != nil {
			return newListFault(role, file.path, "%w", err)
		}
		p.result.report.Resources = append(p.result.report.Resources, report)
	}
	return nil
}

// useEmbedded takes the embedded copies of the lists that the catalog lacks.
func (l *load) useEmbedded() {
	for _, role := range []string{catalogfile.LocationRole, "org-type", "sector"} {
		if len(l.catalog.files[role]) == 0 {
			l.catalog.files[role] = []resourceFile{{role: role, path: "reference/" + role + ".csv", embedded: true}}
			l.report.Notes = append(l.report.Notes, "reference/"+role+".csv is missing; the embedded copy is used")
		}
	}
}

// newJoinTable makes the rows of a list findable, the last of each key, and adds the built-in rows.
func newJoinTable(th *theme, rows *tableBuilder) *joinTable {
	t := &joinTable{rows: rows, at: make(map[string]int, rows.rows)}
	columns := make([]*vector, len(th.joinedBy))
	for i, name := range th.joinedBy {
		columns[i] = rows.column(name)
	}
	var key []byte
	for row := range rows.rows {
		key = key[:0]
		for _, v := range columns {
			key = keyOf(key, []byte(v.text(row)))
		}
		t.at[string(key)] = row
	}
	for _, extra := range builtInRows[th.role] {
		key = keyOf(key[:0], []byte(extra[0]))
		if _, listed := t.at[string(key)]; listed {
			continue
		}
		t.at[string(key)] = rows.rows
		rows.own[0].setString(extra[0])
		rows.own[1].setString(extra[1])
		rows.commit()
	}
	return t
}
