package apitest

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"hdqs/snapshot"
)

// FullRow sets the columns that a row does not say.
func FullRow(t testing.TB, table *Table, spec map[string]any) map[string]any {
	t.Helper()
	row := map[string]any{}
	for _, c := range table.Columns {
		switch {
		case c.Nullable, c.Kind == snapshot.Time:
			row[c.Name] = nil
		case c.Kind == snapshot.Text:
			row[c.Name] = ""
		case c.Kind == snapshot.Enum:
			row[c.Name] = c.Enum.Values[0]
		case c.Kind == snapshot.Decimal:
			row[c.Name] = Decimal("0")
		case c.Kind == snapshot.Int:
			row[c.Name] = int64(0)
		case c.Kind == snapshot.Bool:
			row[c.Name] = false
		}
	}
	if _, has := row["stored_admin2_code"]; has && row["stored_admin2_code"] == "" {
		spec["stored_admin1_code"] = orPlaceholder(spec["admin1_code"], spec["location_code"])
		spec["stored_admin2_code"] = orPlaceholder(spec["admin2_code"], spec["stored_admin1_code"])
	}
	for name, value := range spec {
		_, has := row[name]
		if !has && !strings.HasPrefix(name, "reference_period") && !strings.HasPrefix(name, "stored_") {
			t.Fatalf("table %s has no column %s", table.Endpoint.Table, name)
		}
		if number, is := value.(int); is {
			value = int64(number)
		}
		row[name] = value
	}
	return row
}

func orPlaceholder(code, parent any) string {
	if code, is := code.(string); is {
		return code
	}
	return fmt.Sprint(parent) + "-XXX"
}

// With joins parts of rows.
func With(parts ...map[string]any) map[string]any {
	row := map[string]any{}
	for _, p := range parts {
		maps.Copy(row, p)
	}
	return row
}

// Row has the values of some columns.
type Row = map[string]any

// InPlace is a place: a country, a unit of level 1, or one of level 2.
func InPlace(codes ...string) Row {
	row := Row{"location_code": codes[0], "location_name": "Name of " + codes[0], "admin_level": len(codes) - 1}
	for i, code := range codes[1:] {
		row[fmt.Sprintf("admin%d_code", i+1)] = code
		row[fmt.Sprintf("admin%d_name", i+1)] = "Name of " + code
	}
	return row
}

// During is a period of whole days.
func During(from, to string) Row {
	start, _ := time.Parse(time.DateOnly, from)
	end, _ := time.Parse(time.DateOnly, to)
	return Row{"reference_period_start": start, "reference_period_end": end.Add(24*time.Hour - time.Second)}
}

// DuringText is a year, a month, a day, or the days FROM..TO.
func DuringText(text string) Row {
	if at, err := time.Parse("2006", text); err == nil {
		return InYear(at.Year())
	}
	if at, err := time.Parse("2006-01", text); err == nil {
		return InMonth(at.Year(), int(at.Month()))
	}
	from, to, isRange := strings.Cut(text, "..")
	if !isRange {
		to = from
	}
	return During(from, to)
}

// InYear is a whole year.
func InYear(year int) Row {
	return During(fmt.Sprintf("%d-01-01", year), fmt.Sprintf("%d-12-31", year))
}

// InMonth is a whole month.
func InMonth(year, month int) Row {
	first := time.Date(year, time.Month(month), 1, 0, 0, 0, 0, time.UTC)
	return During(first.Format(time.DateOnly), first.AddDate(0, 1, -1).Format(time.DateOnly))
}
