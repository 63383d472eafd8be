package api

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"hdqs/api/contract"
	"hdqs/snapshot"
)

// trapTables are tables in which sums go wrong: places of several levels, totals beside their
// parts, figures of the same people under several values, and years beside their months.
func trapTables(t *testing.T) []*testTable {
	t.Helper()
	rows := trapRows()
	var tables []*testTable
	for i := range contract.Endpoints {
		e := &contract.Endpoints[i]
		table := &testTable{endpoint: e, columns: columnsOf(e)}
		for _, spec := range rows[e.Table] {
			table.rows = append(table.rows, fullRow(t, table, spec))
		}
		delete(rows, e.Table)
		tables = append(tables, table)
	}
	if len(rows) > 0 {
		t.Fatalf("rows of unknown tables %v", slices.Collect(maps.Keys(rows)))
	}
	return tables
}

// setRows replaces the rows of a table.
func setRows(t *testing.T, tables []*testTable, name string, rows ...spec) {
	t.Helper()
	for _, table := range tables {
		if table.endpoint.Table == name {
			table.rows = nil
			for _, row := range rows {
				table.rows = append(table.rows, fullRow(t, table, row))
			}
		}
	}
}

// priceOf is a row of the prices of markets, for a kilogram.
func priceOf(country string, year, month int, market, commodity, currency, amount string) spec {
	return with(inPlace(country), inMonth(year, month), spec{
		"market_code": market, "commodity_code": commodity, "currency_code": currency, "unit": "KG",
		"price": decimal(amount),
	})
}

// fullRow sets the columns that a row does not say.
func fullRow(t testing.TB, table *testTable, spec map[string]any) map[string]any {
	t.Helper()
	row := map[string]any{}
	for _, c := range table.columns {
		switch {
		case c.nullable:
			row[c.name] = nil
		case c.kind == snapshot.Text:
			row[c.name] = ""
		case c.kind == snapshot.Enum:
			row[c.name] = c.enum.Values[0]
		case c.kind == snapshot.Decimal:
			row[c.name] = decimal("0")
		case c.kind == snapshot.Int:
			row[c.name] = int64(0)
		case c.kind == snapshot.Bool:
			row[c.name] = false
		}
	}
	if _, has := row["stored_admin2_code"]; has && row["stored_admin2_code"] == "" {
		spec["stored_admin1_code"] = orPlaceholder(spec["admin1_code"], spec["location_code"])
		spec["stored_admin2_code"] = orPlaceholder(spec["admin2_code"], spec["stored_admin1_code"])
	}
	for name, value := range spec {
		_, has := row[name]
		if !has && !strings.HasPrefix(name, "reference_period") && !strings.HasPrefix(name, "stored_") {
			t.Fatalf("table %s has no column %s", table.endpoint.Table, name)
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

// with joins parts of rows.
func with(parts ...map[string]any) map[string]any {
	row := map[string]any{}
	for _, p := range parts {
		maps.Copy(row, p)
	}
	return row
}

type spec = map[string]any

// inPlace is a place: a country, a unit of level 1, or one of level 2.
func inPlace(codes ...string) spec {
	row := spec{"location_code": codes[0], "location_name": "Name of " + codes[0], "admin_level": len(codes) - 1}
	for i, code := range codes[1:] {
		row[fmt.Sprintf("admin%d_code", i+1)] = code
		row[fmt.Sprintf("admin%d_name", i+1)] = "Name of " + code
	}
	return row
}

// during is a period of whole days.
func during(from, to string) spec {
	start, _ := time.Parse(time.DateOnly, from)
	end, _ := time.Parse(time.DateOnly, to)
	return spec{"reference_period_start": start, "reference_period_end": end.Add(24*time.Hour - time.Second)}
}

func inYear(year int) spec {
	return during(fmt.Sprintf("%d-01-01", year), fmt.Sprintf("%d-12-31", year))
}

func inMonth(year, month int) spec {
	first := time.Date(year, time.Month(month), 1, 0, 0, 0, 0, time.UTC)
	return during(first.Format(time.DateOnly), first.AddDate(0, 1, -1).Format(time.DateOnly))
}

// people are rows of a group of people by gender and age: gender age number, ...
func people(base spec, lines ...string) []spec {
	var rows []spec
	for _, line := range lines {
		var gender, ages string
		var number int
		fmt.Sscan(line, &gender, &ages, &number)
		rows = append(rows, with(base, spec{"gender": gender, "age_range": ages, "population": number}))
	}
	return rows
}

func trapRows() map[string][]spec {
	all := func(base spec, number int) []spec { return people(base, fmt.Sprint("all all ", number)) }
	journey := func(origin, asylum, group string) spec {
		return spec{"origin_location_code": origin, "asylum_location_code": asylum, "population_group": group}
	}
	need := func(place spec, sector, category, status string, number int) spec {
		return with(place, inYear(2024), spec{
			"sector_code": sector, "sector_name": "Name of " + sector, "category": category,
			"population_status": status, "population": number,
		})
	}
	count := func(place spec, from string, round int, assessment, operation string, number int) spec {
		return with(place, during(from, from), spec{
			"reporting_round": round, "assessment_type": assessment, "operation": operation, "population": number,
		})
	}
	phase := func(place, period spec, phase, kind string, number int) spec {
		return with(place, period, spec{
			"classification_phase": phase, "classification_type": kind, "population_in_phase": number,
		})
	}
	event := func(place, period spec, kind string, number int) spec {
		return with(place, period, spec{"event_type": kind, "events": number, "fatalities": 2 * number})
	}
	price := func(market, commodity, currency, unit, kind string, amount decimal) spec {
		return with(inPlace("AFG", "AF01"), inMonth(2024, 1), spec{
			"market_code": market, "commodity_code": commodity, "commodity_name": commodity, "currency_code": currency,
			"unit": unit, "price_type": kind, "price": amount,
		})
	}
	rain := func(place spec, span, version string, amount decimal) spec {
		return with(place, inMonth(2024, 1), spec{
			"aggregation_period": span, "version": version, "rainfall": amount, "number_pixels": 4,
		})
	}
	afg, af01, af02 := inPlace("AFG"), inPlace("AFG", "AF01"), inPlace("AFG", "AF02")
	af0101 := inPlace("AFG", "AF01", "AF0101")
	mli, sdn, som := inPlace("MLI"), inPlace("SDN"), inPlace("SOM")
	return map[string][]spec{
		"population": slices.Concat(
			all(with(afg, inYear(2024)), 100), all(with(af01, inYear(2024)), 60), all(with(af02, inYear(2024)), 40),
			people(with(mli, inYear(2024)), "all all 50", "f all 26", "m all 24"),
			people(with(sdn, inYear(2024)), "all 0-4 5", "all 0-17 20", "all 18+ 30"),
			people(with(som, inYear(2023)), "all all 70"), people(with(som, inYear(2024)), "all all 71"),
			people(with(inPlace("TCD"), inYear(2024)), "all all 9", "all 0-17 4", "all 18+ 5"),
			people(with(inPlace("HTI"), inYear(2024)), "f 0-17 4", "f 18+ 5", "m unknown 3"),
		),
		"humanitarian_needs": {
			need(afg, "Intersectoral", "total", "INN", 50), need(afg, "WSH", "total", "INN", 30),
			need(afg, "EDU", "total", "INN", 25), need(afg, "Intersectoral", "total", "TGT", 40),
			need(af01, "Intersectoral", "total", "INN", 20), need(afg, "Intersectoral", "Children", "INN", 22),
			need(sdn, "WSH", "", "INN", 10), need(sdn, "EDU", "", "INN", 12),
			need(mli, "WSH", "", "INN", 7), need(mli, "WSH", "", "REA", 3),
			need(som, "Intersectoral", "", "INN", 8),
		},
		"idps": {
			count(afg, "2023-06-30", 15, "BA", "One", 100), count(afg, "2024-06-30", 16, "BA", "One", 120),
			count(sdn, "2024-01-31", 3, "BA", "One", 50), count(sdn, "2024-01-31", 3, "SA", "One", 20),
			count(mli, "2024-01-31", 1, "BA", "One", 30), count(mli, "2024-01-31", 1, "BA", "Two", 31),
			count(inPlace("HTI", "HT01"), "2024-03-31", 2, "BA", "One", 10),
			count(inPlace("HTI", "HT02"), "2023-03-31", 1, "BA", "One", 11),
		},
		"refugees": slices.Concat(
			people(with(journey("AFG", "PAK", "REF"), inYear(2023)), "all all 90", "f all 50", "m all 40"),
			people(with(journey("AFG", "PAK", "REF"), inYear(2024)), "all all 80"),
			people(with(journey("SDN", "TCD", "REF"), inYear(2024)), "all all 60"),
			people(with(journey("SDN", "TCD", "ASY"), inYear(2024)), "all all 6"),
			people(with(journey("SOM", "KEN", "REF"), inYear(2024)), "all all 30"),
			people(with(journey("SOM", "KEN", "all"), inYear(2024)), "all all 33"),
		),
		"returnees": slices.Concat(
			people(with(journey("AFG", "PAK", "RET"), inYear(2023)), "all all 9"),
			people(with(journey("AFG", "PAK", "RET"), inYear(2024)), "all all 8"),
			people(with(journey("AFG", "PAK", "RET"), inMonth(2024, 3)), "all all 2"),
			people(with(journey("SDN", "TCD", "RET"), inYear(2023)),
				"all all 5", "all 0-17 2", "all 18-59 2", "all 60+ 1"),
			people(with(journey("SOM", "KEN", "RET"), inYear(2023)), "all all 5"),
			people(with(journey("SOM", "KEN", "RET"), inYear(2024)), "all all 6"),
		),
		"food_security": {
			phase(afg, inMonth(2024, 1), "all", "current", 100), phase(afg, inMonth(2024, 1), "1", "current", 50),
			phase(afg, inMonth(2024, 1), "2", "current", 30), phase(afg, inMonth(2024, 1), "3", "current", 15),
			phase(afg, inMonth(2024, 1), "4", "current", 5), phase(afg, inMonth(2024, 1), "3+", "current", 20),
			phase(sdn, inMonth(2024, 1), "3+", "current", 7), phase(sdn, inMonth(2024, 5), "3+", "first projection", 9),
			phase(mli, inMonth(2023, 1), "3+", "current", 3), phase(mli, inMonth(2024, 1), "3+", "current", 4),
			phase(inPlace("SOM", "SO01"), inMonth(2024, 1), "3+", "current", 2),
			phase(inPlace("SOM", "SO01", "SO0101"), inMonth(2024, 1), "3+", "current", 1),
		},
		"conflict_event": {
			event(afg, inMonth(2024, 1), "political_violence", 10),
			event(afg, inMonth(2024, 1), "civilian_targeting", 4),
			event(afg, inMonth(2024, 2), "political_violence", 12), event(afg, inMonth(2024, 1), "demonstration", 3),
			event(sdn, inYear(2024), "political_violence", 30), event(sdn, inMonth(2024, 3), "political_violence", 5),
			event(inPlace("MLI", "ML01"), inMonth(2024, 1), "political_violence", 6),
			event(inPlace("MLI", "ML01", "ML0101"), inMonth(2024, 1), "political_violence", 2),
			event(som, inMonth(2024, 1), "political_violence", 1), event(som, inMonth(2024, 1), "demonstration", 1),
			event(af0101, inMonth(2023, 12), "demonstration", 1),
		},
		"funding": {
			with(spec{"location_code": "AFG", "appeal_code": "HAFG24"}, inYear(2024), spec{
				"requirements_usd": decimal("1000.5"), "funding_usd": decimal("400.25"), "funding_pct": decimal("40"),
			}),
			with(spec{"location_code": "AFG", "appeal_code": "HAFG24"}, during("2024-07-01", "2025-06-30"), spec{
				"requirements_usd": decimal("10"), "funding_usd": decimal("5"), "funding_pct": decimal("50"),
			}),
			with(spec{"location_code": "SDN", "appeal_code": "Not specified"}, inYear(2024), spec{
				"funding_usd": decimal("9007199254740.25"),
			}),
		},
		"food_price": {
			price("1", "rice", "AFN", "KG", "Retail", "70"), price("1", "rice", "USD", "KG", "Retail", "1"),
			price("2", "rice", "AFN", "50 KG", "Retail", "3000"), price("2", "oil", "AFN", "L", "Retail", "150"),
			price("3", "salt", "AFN", "KG", "Retail", "20"), price("3", "salt", "AFN", "KG", "Wholesale", "15"),
			price("4", "tea", "AFN", "KG", "Retail", "10"), price("5", "tea", "AFN", "KG", "Retail", "20.5"),
		},
		"rainfall": {
			rain(af01, "dekad", "final", "10"), rain(af01, "1-month", "final", "25"), rain(af02, "dekad", "final", "5"),
			rain(af02, "dekad", "forecast", "6"), rain(inPlace("MLI", "ML01"), "dekad", "final", "3"),
			rain(inPlace("MLI", "ML01", "ML0101"), "dekad", "final", "4"),
		},
		"poverty_rate": {
			with(spec{"location_code": "AFG", "admin_level": 0}, inYear(2023), spec{
				"mpi": decimal("0.2"), "headcount_ratio": decimal("40"),
			}),
		},
		"national_risk": {
			with(spec{"location_code": "AFG"}, inYear(2024), spec{"overall_risk": decimal("8.1"), "global_rank": 3}),
			with(spec{"location_code": "MLI"}, inYear(2024), spec{"overall_risk": decimal("7.1"), "global_rank": 9}),
		},
		"location": {
			{"id": 1, "code": "AFG", "name": "Afghanistan", "reference_period_start": time.Unix(0, 0).UTC()},
			{"id": 2, "code": "MLI", "name": "Mali", "reference_period_start": time.Unix(0, 0).UTC()},
		},
	}
}
