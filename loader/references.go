package loader

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"unicode/utf8"
)

// embedded are the lists that a catalog may leave out: codes and names are facts, kept as the taxonomy has them.
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

// Headers of the list of locations.
const (
	headerISO3      = "ISO 3166-1 Alpha 3-Codes"
	headerM49       = "M49 English"
	headerPreferred = "Preferred Term"
	headerHRP       = "Has HRP"
	headerGHO       = "In GHO"
	headerStart     = "Reference Period Start"
)

// The columns of the two lists that everything stands on.
var (
	locationHeaders = []string{headerISO3, headerPreferred, headerM49, headerHRP, headerGHO, headerStart}
	unitHeaders     = []string{"Location", "Admin Level", "P-Code", "Name", "Parent P-Code", "Valid from date"}
)

// readLocations reads the list of locations: the rows of the taxonomy that have an ISO code, in its order.
func (l *load) readLocations(ctx context.Context) error {
	fault := cmp.Or(l.held("location"), l.notFetched("location"))
	if fault == nil || !l.hasOld("location") { // what the network does not give, the embedded copy does
		fault = l.readLocationList(ctx)
	}
	if fault == nil {
		fault = l.lost("location", "location", len(l.units.countries))
	}
	return l.standIn(ctx, fault, l.readCountriesBack, "location")
}

func (l *load) readLocationList(ctx context.Context) *listFault {
	wants := locationHeaders
	return l.readList(ctx, "location", wants, func(r *csvReader) func() *rowFault {
		at := positions(r, wants)
		return func() *rowFault {
			code, name := string(r.cells[at[0]]), string(r.cells[at[2]])
			if name == "" {
				name = string(r.cells[at[1]])
			}
			start, ok := parseDay(r.cells[at[5]])
			switch {
			case code == "":
				f := r.fault(noCode, name)
				f.byRule = true // territories that the taxonomy names for other uses
				return f
			case !ok:
				return r.fault(badDate, headerStart+": "+quoted(r.cells[at[5]]))
			case utf8.RuneCountInString(code) > 128 || utf8.RuneCountInString(name) > 512:
				return r.fault(tooLong, quoted(r.raw))
			}
			c := countryUnit{
				code: code, name: name, start: start,
				hasHRP: string(r.cells[at[3]]) == "Y", inGHO: string(r.cells[at[4]]) == "Y",
			}
			if !l.units.addCountry(c) {
				return r.fault(codeTwice, headerISO3+": "+quoted(r.cells[at[0]]))
			}
			return nil
		}
	})
}

// readUnits reads the list of administrative units. They get their places when the whole list is read: parents may follow their children.
func (l *load) readUnits(ctx context.Context) error {
	fault := cmp.Or(l.held("pcodes"), l.notFetched("pcodes"))
	if fault == nil && len(l.catalog.files["pcodes"]) == 0 && !l.opts.AllowNoPCodes {
		fault = &listFault{role: "pcodes", why: fmt.Errorf(
			"catalog %s has no reference/pcodes.csv: every row would fall to its country; allow it to load all the same", l.catalog.name)}
	}
	if fault == nil {
		fault = l.readUnitList(ctx)
	}
	if fault == nil {
		l.placeUnits()
		if len(l.catalog.files["pcodes"]) > 0 {
			fault = cmp.Or(l.lost("pcodes", "admin1", l.units.real[1]), l.lost("pcodes", "admin2", l.units.real[2]))
		}
	}
	return l.standIn(ctx, fault, l.readUnitsBack, "admin1", "admin2")
}

func (l *load) readUnitList(ctx context.Context) *listFault {
	wants := unitHeaders
	return l.readList(ctx, "pcodes", wants, func(r *csvReader) func() *rowFault {
		at := positions(r, wants)
		return func() *rowFault {
			u := listedUnit{
				country: string(r.cells[at[0]]), code: string(r.cells[at[2]]), name: string(r.cells[at[3]]), parent: string(r.cells[at[4]]),
			}
			start, ok := parseDay(r.cells[at[5]])
			level, isInt := parseInt(r.cells[at[1]])
			_, known := l.units.countryOf[u.country]
			switch {
			case !known:
				f := r.fault(unknownLocation, quoted(r.cells[at[0]]))
				f.byRule = true // units are listed for the locations of the list of locations only
				return f
			case !isInt || level != 1 && level != 2:
				return r.fault(unknownLevel, "Admin Level: "+quoted(r.cells[at[1]]))
			case u.code == "":
				return r.fault(noCode, "P-Code of "+quoted(r.cells[at[3]]))
			case !ok:
				return r.fault(badDate, "Valid from date: "+quoted(r.cells[at[5]]))
			case utf8.RuneCountInString(u.code) > 128-2*len(placeholderSuffix) || utf8.RuneCountInString(u.name) > 512:
				return r.fault(tooLong, quoted(r.raw))
			}
			u.level, u.start = int(level), start
			u.fault = r.fault(unknownParent, fmt.Sprintf("%s, parent %s", clip(u.code, 100), clip(u.parent, 100)))
			l.units.seed = append(l.units.seed, u)
			return nil
		}
	})
}

// placeUnits numbers the units and moves those that have no place from kept to skipped or dropped.
func (l *load) placeUnits() {
	reports := map[string]*ResourceReport{}
	for _, r := range l.report.Resources {
		reports[r.Path] = r
	}
	l.units.settle(func(f *rowFault) {
		if f != nil {
			reports[f.file].Rows.Kept--
			reports[f.file].skip(f)
		}
	}, func(f *rowFault) {
		if f != nil {
			f.reason = codeTwice
			reports[f.file].Rows.Kept--
			reports[f.file].drop(f)
		}
	})
}

// readList reads the files of a reference role, or the embedded copy of one that the catalog lacks.
func (l *load) readList(ctx context.Context, role string, wants []string, bind func(*csvReader) func() *rowFault) *listFault {
	for _, file := range l.catalog.files[role] {
		report, err := l.scan(ctx, file, wants, nil, func(r *csvReader, _ *ResourceReport) (func() *rowFault, error) {
			return bind(r), nil
		})
		if err != nil {
			return &listFault{role: role, path: file.path, why: fmt.Errorf("list %s: %w", role, err)}
		}
		l.report.Resources = append(l.report.Resources, report)
	}
	return nil
}

// useEmbedded takes the embedded copies of the lists that the catalog lacks.
func (l *load) useEmbedded() {
	for _, role := range []string{"location", "org-type", "sector"} {
		if len(l.catalog.files[role]) == 0 {
			l.catalog.files[role] = []resourceFile{{role: role, path: "reference/" + role + ".csv", embedded: true}}
			l.report.Notes = append(l.report.Notes, "reference/"+role+".csv is missing; the embedded copy is used")
		}
	}
}

// joinable makes the rows of a list findable, the last of each key. Built-in rows are added first.
func (l *load) joinable(src *source, rows *tableBuilder) {
	list := &joinTable{rows: rows, at: make(map[string]int, rows.rows)}
	columns := make([]*vector, len(src.joinedBy))
	for i, name := range src.joinedBy {
		columns[i] = rows.column(name)
	}
	var key []byte
	for row := range rows.rows {
		key = key[:0]
		for _, v := range columns {
			key = keyOf(key, []byte(v.text(row)))
		}
		list.at[string(key)] = row
	}
	for _, extra := range builtInRows[src.role] {
		key = keyOf(key[:0], []byte(extra[0]))
		if _, listed := list.at[string(key)]; listed {
			continue
		}
		list.at[string(key)] = rows.rows
		rows.own[0].setString(extra[0])
		rows.own[1].setString(extra[1])
		rows.commit()
	}
	l.lists[src.role] = list
}

func positions(r *csvReader, names []string) []int {
	at := make([]int, len(names))
	for i, name := range names {
		at[i] = r.position(name)
	}
	return at
}
