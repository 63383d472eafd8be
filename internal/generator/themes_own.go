package generator

import (
	"math"
	"slices"
	"strings"

	"hdqs/schema"
)

// withColumns adds the themes of the lists that have no rows of their own in this package, and sets
// the columns of all: those of headers.txt and views.txt, or those that follow from what is
// declared.
func withColumns(all []*theme) []*theme {
	for _, l := range schema.Lists {
		if !l.Data() {
			continue
		}
		at := slices.IndexFunc(all, func(t *theme) bool { return t.role == l.Source.Role })
		isMade := at >= 0
		if !isMade {
			rows := func(w *world, emit func(*row)) { ownRows(w, l, emit) }
			all, at = append(all, &theme{role: l.Source.Role, rows: rows}), len(all)
		}
		t := all[at]
		t.view, t.dataset, t.printers = l.Table, l.Source.Dataset, printersOf(l, isMade)
		t.header, t.viewHeader = csvHeaders[t.role], viewHeaders[t.view]
		if t.header == nil {
			t.header = fileColumns(l)
		}
		if t.viewHeader == nil {
			t.viewHeader = viewColumns(l)
		}
		for i := range l.Columns {
			if c := &l.Columns[i]; c.Added && isMade {
				t.header, t.viewHeader = with(t.header, c.FileHeader()), with(t.viewHeader, schema.HAPIName(c.Name))
			}
		}
	}
	return all
}

// with is a header with a column, last if it is not there.
func with(header []string, column string) []string {
	if slices.Contains(header, column) {
		return header
	}
	return append(slices.Clone(header), column)
}

// ownRows emits three months of some places of each level that a list has.
func ownRows(w *world, l *schema.List, emit func(*row)) {
	src, n := w.packages.source("displacement-tracking", 0), 0
	isCountry := l.Column("admin_level") == nil
	for i, home := range w.deep[:min(3, len(w.deep))] {
		places := w.placesOf(home, 0)
		if l.Column("admin1_ref") != nil {
			places = append(places, w.placesOf(home, 1)...)
		}
		if l.Column("admin2_ref") != nil {
			places = append(places, w.placesOf(home, 2)...)
		}
		for _, at := range places {
			for m := 1; m <= 3; m++ {
				r := row{
					at: at, src: src, asylum: w.deep[(i+1)%len(w.deep)], count: n, age: allAges,
					org: w.orgs[n%len(w.orgs)], sector: sectors[n%len(sectors)],
					commodity: w.commodities[n%len(w.commodities)], market: w.markets[n/3%len(w.markets)],
				}
				r.start, r.end = month(lastYear-1, m)
				if isCountry {
					r.home = home
				}
				if l.Column("market_code") != nil {
					r.at = r.market.at
				}
				if n++; l.Column("market_code") != nil && n > 3*len(w.markets) {
					return // a market has one row a month
				}
				emit(&r)
			}
		}
	}
}

// fileColumns are the headers of the files of a list, as most of the public ones have them.
func fileColumns(l *schema.List) []string {
	var place, own []string
	switch {
	case l.Column("origin_location_code") != nil:
		place = append(countryColumns("origin_"), countryColumns("asylum_")...)
	case l.Column("admin2_ref") != nil:
		place = csvHeaders["ADM"]
	case l.Column("admin1_ref") != nil:
		place = append(countryColumns(""), "provider_admin1_name", "admin1_code", "admin1_name", "admin_level")
	default:
		place = countryColumns("")
	}
	for i := range l.Columns {
		if c := &l.Columns[i]; !slices.Contains(place, c.Name) && !c.Hidden && c.Name != "location_name" &&
			!strings.HasSuffix(c.Name, "_location_name") && c.Group != "period" && c.Name != "resource_catalog_id" {
			own = append(own, c.FileHeader())
		}
	}
	return slices.Concat(place, own, csvHeaders["REF"])
}

func countryColumns(prefix string) []string {
	return []string{prefix + "location_code", prefix + "has_hrp", prefix + "in_gho"}
}

// viewColumns are the columns of the view of a list: the stored places, and what they are joined
// with.
func viewColumns(l *schema.List) []string {
	var all []string
	for i := range l.Columns {
		name := schema.HAPIName(strings.TrimPrefix(l.Columns[i].Name, "stored_"))
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
		if unit, is := strings.CutSuffix(l.Columns[i].Name, "_code"); is && strings.HasPrefix(unit, "stored_") {
			all = append(all, strings.TrimPrefix(unit, "stored_")+"_is_unspecified")
		}
	}
	return all
}

// joinedGroups are the groups of columns that have printers of their own.
var joinedGroups = []string{
	"place", "period", "origin", "asylum", "age", "org", "sector", "commodity", "market",
}

// printersOf print what is declared of columns: all of a list's own, or those that were added to
// it.
func printersOf(l *schema.List, added bool) map[string]printer {
	all := map[string]printer{}
	for i := range l.Columns {
		c := &l.Columns[i]
		if (c.Added || !added) && c.Name != "resource_catalog_id" && !slices.Contains(joinedGroups, c.Group) {
			all[c.FileHeader()], all[schema.HAPIName(c.Name)] = printerOf(c), printerOf(c)
		}
	}
	return all
}

// printerOf prints values of a column: those of an enumeration in turn, numbers within their
// bounds.
func printerOf(c *schema.Column) printer {
	least, span := 0.0, 1000.0
	if c.Bounds != nil {
		least, span = c.Bounds.Least, min(span, c.Bounds.Most-c.Bounds.Least)
	}
	return func(l *line, r *row) {
		n := r.count + 7*int(r.start) + 31*r.location().id
		switch {
		case c.Null && n%5 == 0:
		case c.Kind == schema.Choice:
			l.text(c.Enum.Values[n%len(c.Enum.Values)])
		case c.Kind == schema.Integer:
			l.int(int(least) + n%(int(span)+1))
		case c.Kind == schema.Decimal:
			l.number(trim(int(math.Round(1000*(least+span*float64(n%16)/16))), 3))
		case c.Kind == schema.Flag:
			l.flag(n%2 == 0, "t", "f")
		case c.Kind == schema.Time:
			l.time(r.start, midnight)
		default:
			l.text("made up " + itoa(n%5))
		}
	}
}
