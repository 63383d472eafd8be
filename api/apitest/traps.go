package apitest

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hdqs/api/contract"
	"hdqs/internal/testkit"
	"hdqs/snapshot"
)

// FigureTables are TrapTables with lists of places, and a country whose figures are of units.
func FigureTables(t *testing.T) []*Table {
	t.Helper()
	tables := TrapTables(t)
	add := func(table string, rows ...Row) {
		for _, to := range tables {
			if to.Endpoint.Table == table {
				for _, row := range rows {
					to.Rows = append(to.Rows, FullRow(t, to, row))
				}
			}
		}
	}
	since := Row{"reference_period_start": InYear(2000)["reference_period_start"]}
	for i, code := range []string{"SDN", "SOM", "TCD", "HTI", "PAK", "KEN", "CAF"} {
		add("location", With(since, Row{"id": i + 3, "code": code, "name": "Name of " + code}))
	}
	for i, code := range []string{"CF01", "CF02", "CF03", "HT01", "HT02"} {
		country := map[byte]string{'C': "CAF", 'H': "HTI"}[code[0]]
		add("admin1", With(since, Row{"id": i + 1, "code": code, "name": code, "location_code": country}))
	}
	for _, code := range []string{"CF01", "CF02"} {
		add("population", People(With(InPlace("CAF", code), InYear(2024)), "all all 7")...)
	}
	add("population", People(With(InPlace("CAF"), InYear(2020)), "all all 70")...)
	elsewhere := With(InPlace("CAF"), Row{"admin_level": 1, "provider_admin1_name": "Elsewhere"}) // in no list
	add("population", People(With(elsewhere, InYear(2024)), "all all 0")...)
	return tables
}

// ProvisionalTables have events of two months of two countries, by a resource that was changed
// within the second month, and by one that is in no list; and rainfall of three versions.
func ProvisionalTables(t *testing.T, changed time.Time) []*Table {
	t.Helper()
	tables := TrapTables(t)
	for _, table := range tables {
		add := func(rows ...Row) {
			table.Rows = nil
			for _, row := range rows {
				table.Rows = append(table.Rows, FullRow(t, table, row))
			}
		}
		event := func(place string, month int, kind, resource string) Row {
			return With(InPlace(place), InMonth(2026, month), Row{
				"event_type": kind, "events": 1, "fatalities": 0, "resource_catalog_id": resource,
			})
		}
		rain := func(month int, version string) Row {
			return With(InPlace("AFG"), InMonth(2026, month), Row{"aggregation_period": "1-month", "version": version})
		}
		switch table.Endpoint.Table {
		case "conflict_event":
			add(event("AFG", 7, "demonstration", "known"), event("AFG", 8, "demonstration", "known"),
				event("MLI", 7, "demonstration", "other"), event("MLI", 8, "demonstration", "other"))
		case "rainfall":
			add(rain(6, "final"), rain(7, "preliminary"), rain(8, "forecast"))
		case "resource":
			add(Row{"resource_catalog_id": "known"})
			table.Rows[0]["update_date"], table.Rows[0]["api_updated_date"] = changed, changed
		}
	}
	return tables
}

//go:embed traps.txt
var trapRows string

// TrapTables are tables in which sums go wrong: places of several levels, totals beside their
// parts, figures of the same people under several values, and years beside their months.
func TrapTables(t *testing.T) []*Table {
	t.Helper()
	var tables []*Table
	byName := map[string]*Table{}
	for i := range contract.Endpoints {
		e := &contract.Endpoints[i]
		tables = append(tables, &Table{Endpoint: e, Columns: ColumnsOf(e)})
		byName[e.Table] = tables[i]
	}
	var table *Table
	for line := range strings.Lines(trapRows) {
		line = strings.TrimSpace(line)
		switch name, isTable := strings.CutPrefix(line, "table "); {
		case line == "" || strings.HasPrefix(line, "#"):
		case isTable:
			if table = byName[name]; table == nil {
				t.Fatalf("no table %s", name)
			}
		default:
			table.Rows = append(table.Rows, FullRow(t, table, trapRow(t, table, line)))
		}
	}
	return tables
}

// trapRow reads a line of traps.txt.
func trapRow(t *testing.T, table *Table, line string) Row {
	t.Helper()
	head, rest, _ := strings.Cut(line, "; ")
	place, period, _ := strings.Cut(head, " ")
	row := Row{}
	if place != "-" {
		row = InPlace(strings.Split(place, "/")...)
	}
	if period != "-" {
		row = With(row, DuringText(period))
	}
	for pair := range strings.SplitSeq(rest, "; ") {
		name, value, _ := strings.Cut(pair, "=")
		at := slices.IndexFunc(table.Columns, func(c Column) bool { return c.Name == name })
		if at < 0 {
			t.Fatalf("table %s has no column %s", table.Endpoint.Table, name)
		}
		switch table.Columns[at].Kind {
		case snapshot.Decimal:
			row[name] = Decimal(value)
		case snapshot.Int:
			n, err := strconv.Atoi(value)
			testkit.Must(t, err)
			row[name] = n
		case snapshot.Time:
			day, err := time.Parse(time.DateOnly, value)
			testkit.Must(t, err)
			row[name] = day
		default:
			row[name] = value
		}
	}
	return row
}
