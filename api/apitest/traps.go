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

var (
	//go:embed traps.txt
	trapRows string
	//go:embed figures.txt
	figureRows string
)

// FigureTables are TrapTables with lists of places, and a country whose figures are of units.
func FigureTables(t *testing.T) []*Table {
	t.Helper()
	tables := TrapTables(t)
	AddRows(t, tables, figureRows)
	return tables
}

// ProvisionalTables have events of two months of two countries, by a resource that was changed
// within the second month, and by one that is in no list; and rainfall of three versions.
func ProvisionalTables(t *testing.T, changed time.Time) []*Table {
	t.Helper()
	tables := TrapTables(t)
	AddRows(t, tables, `
only conflict_event
AFG 2026-07; event_type=demonstration; events=1; fatalities=0; resource_catalog_id=known
AFG 2026-08; event_type=demonstration; events=1; fatalities=0; resource_catalog_id=known
MLI 2026-07; event_type=demonstration; events=1; fatalities=0; resource_catalog_id=other
MLI 2026-08; event_type=demonstration; events=1; fatalities=0; resource_catalog_id=other
only rainfall
AFG 2026-06; aggregation_period=1-month; version=final
AFG 2026-07; aggregation_period=1-month; version=preliminary
AFG 2026-08; aggregation_period=1-month; version=forecast
only resource
- -; resource_catalog_id=known`)
	for _, table := range tables {
		if table.Endpoint.Table == "resource" {
			table.Rows[0]["update_date"], table.Rows[0]["api_updated_date"] = changed, changed
		}
	}
	return tables
}

// TrapTables are tables in which sums go wrong: places of several levels, totals beside their
// parts, figures of the same people under several values, and years beside their months.
func TrapTables(t *testing.T) (tables []*Table) {
	t.Helper()
	for i := range contract.Endpoints {
		e := &contract.Endpoints[i]
		tables = append(tables, &Table{Endpoint: e, Columns: ColumnsOf(e)})
	}
	AddRows(t, tables, trapRows)
	return tables
}

// AddRows adds rows to tables, from a text like traps.txt. After "only NAME" in place of "table
// NAME" a table has no others.
func AddRows(t *testing.T, tables []*Table, text string) {
	t.Helper()
	var table *Table
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch word, name, _ := strings.Cut(line, " "); word {
		case "", "#":
		case "table", "only":
			at := slices.IndexFunc(tables, func(x *Table) bool { return x.Endpoint.Table == name })
			if at < 0 {
				t.Fatalf("no table %s", name)
			}
			if table = tables[at]; word == "only" {
				table.Rows = nil
			}
		default:
			table.Rows = append(table.Rows, FullRow(t, table, trapRow(t, table, line)))
		}
	}
}

// trapRow reads a row.
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
			row[name] = testkit.Value(strconv.Atoi(value))(t)
		case snapshot.Time:
			row[name] = testkit.Value(time.Parse(time.DateOnly, value))(t)
		default:
			row[name] = value
		}
	}
	return row
}
