package apitest

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"hdqs/api/contract"
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

// TrapTables are tables in which sums go wrong: places of several levels, totals beside their
// parts, figures of the same people under several values, and years beside their months.
func TrapTables(t *testing.T) []*Table {
	t.Helper()
	rows := trapRows()
	var tables []*Table
	for i := range contract.Endpoints {
		e := &contract.Endpoints[i]
		table := &Table{Endpoint: e, Columns: ColumnsOf(e)}
		for _, spec := range rows[e.Table] {
			table.Rows = append(table.Rows, FullRow(t, table, spec))
		}
		delete(rows, e.Table)
		tables = append(tables, table)
	}
	if len(rows) > 0 {
		t.Fatalf("rows of unknown tables %v", slices.Collect(maps.Keys(rows)))
	}
	return tables
}

// trapRows are the rows of all lists.
func trapRows() map[string][]Row {
	rows := trapRowsOfPeople()
	maps.Copy(rows, otherTrapRows())
	return rows
}

// trapRowsOfPeople are rows of lists that count people by group.
func trapRowsOfPeople() map[string][]Row {
	all := func(base Row, number int) []Row { return People(base, fmt.Sprint("all all ", number)) }
	journey := func(origin, asylum, group string) Row {
		return Row{"origin_location_code": origin, "asylum_location_code": asylum, "population_group": group}
	}
	need := func(place Row, sector, category, status string, number int) Row {
		return With(place, InYear(2024), Row{
			"sector_code": sector, "sector_name": "Name of " + sector, "category": category,
			"population_status": status, "population": number,
		})
	}
	count := func(place Row, from string, round int, assessment, operation string, number int) Row {
		return With(place, During(from, from), Row{
			"reporting_round": round, "assessment_type": assessment, "operation": operation, "population": number,
		})
	}
	afg, af01, af02 := InPlace("AFG"), InPlace("AFG", "AF01"), InPlace("AFG", "AF02")
	mli, sdn, som := InPlace("MLI"), InPlace("SDN"), InPlace("SOM")
	return map[string][]Row{
		"population": slices.Concat(
			all(With(afg, InYear(2024)), 100), all(With(af01, InYear(2024)), 60), all(With(af02, InYear(2024)), 40),
			People(With(mli, InYear(2024)), "all all 50", "f all 26", "m all 24"),
			People(With(sdn, InYear(2024)), "all 0-4 5", "all 0-17 20", "all 18+ 30"),
			People(With(som, InYear(2023)), "all all 70"), People(With(som, InYear(2024)), "all all 71"),
			People(With(InPlace("TCD"), InYear(2024)), "all all 9", "all 0-17 4", "all 18+ 5"),
			People(With(InPlace("HTI"), InYear(2024)), "f 0-17 4", "f 18+ 5", "m unknown 3"),
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
			count(InPlace("HTI", "HT01"), "2024-03-31", 2, "BA", "One", 10),
			count(InPlace("HTI", "HT02"), "2023-03-31", 1, "BA", "One", 11),
		},
		"refugees": slices.Concat(
			People(With(journey("AFG", "PAK", "REF"), InYear(2023)), "all all 90", "f all 50", "m all 40"),
			People(With(journey("AFG", "PAK", "REF"), InYear(2024)), "all all 80"),
			People(With(journey("SDN", "TCD", "REF"), InYear(2024)), "all all 60"),
			People(With(journey("SDN", "TCD", "ASY"), InYear(2024)), "all all 6"),
			People(With(journey("SOM", "KEN", "REF"), InYear(2024)), "all all 30"),
			People(With(journey("SOM", "KEN", "all"), InYear(2024)), "all all 33"),
		),
		"returnees": slices.Concat(
			People(With(journey("AFG", "PAK", "RET"), InYear(2023)), "all all 9"),
			People(With(journey("AFG", "PAK", "RET"), InYear(2024)), "all all 8"),
			People(With(journey("AFG", "PAK", "RET"), InMonth(2024, 3)), "all all 2"),
			People(With(journey("SDN", "TCD", "RET"), InYear(2023)),
				"all all 5", "all 0-17 2", "all 18-59 2", "all 60+ 1"),
			People(With(journey("SOM", "KEN", "RET"), InYear(2023)), "all all 5"),
			People(With(journey("SOM", "KEN", "RET"), InYear(2024)), "all all 6"),
		),
	}
}

func otherTrapRows() map[string][]Row {
	phase := func(place, period Row, phase, kind string, number int) Row {
		return With(place, period, Row{
			"classification_phase": phase, "classification_type": kind, "population_in_phase": number,
		})
	}
	event := func(place, period Row, kind string, number int) Row {
		return With(place, period, Row{"event_type": kind, "events": number, "fatalities": 2 * number})
	}
	price := func(market, commodity, currency, unit, kind string, amount Decimal) Row {
		return With(InPlace("AFG", "AF01"), InMonth(2024, 1), Row{
			"market_code": market, "commodity_code": commodity, "commodity_name": commodity, "currency_code": currency,
			"unit": unit, "price_type": kind, "price": amount,
		})
	}
	rain := func(place Row, span, version string, amount Decimal) Row {
		return With(place, InMonth(2024, 1), Row{
			"aggregation_period": span, "version": version, "rainfall": amount, "number_pixels": 4,
		})
	}
	afg, af01, af02 := InPlace("AFG"), InPlace("AFG", "AF01"), InPlace("AFG", "AF02")
	af0101 := InPlace("AFG", "AF01", "AF0101")
	mli, sdn, som := InPlace("MLI"), InPlace("SDN"), InPlace("SOM")
	return map[string][]Row{
		"food_security": {
			phase(afg, InMonth(2024, 1), "all", "current", 100), phase(afg, InMonth(2024, 1), "1", "current", 50),
			phase(afg, InMonth(2024, 1), "2", "current", 30), phase(afg, InMonth(2024, 1), "3", "current", 15),
			phase(afg, InMonth(2024, 1), "4", "current", 5), phase(afg, InMonth(2024, 1), "3+", "current", 20),
			phase(sdn, InMonth(2024, 1), "3+", "current", 7), phase(sdn, InMonth(2024, 5), "3+", "first projection", 9),
			phase(mli, InMonth(2023, 1), "3+", "current", 3), phase(mli, InMonth(2024, 1), "3+", "current", 4),
			phase(InPlace("SOM", "SO01"), InMonth(2024, 1), "3+", "current", 2),
			phase(InPlace("SOM", "SO01", "SO0101"), InMonth(2024, 1), "3+", "current", 1),
		},
		"conflict_event": {
			event(afg, InMonth(2024, 1), "political_violence", 10),
			event(afg, InMonth(2024, 1), "civilian_targeting", 4),
			event(afg, InMonth(2024, 2), "political_violence", 12), event(afg, InMonth(2024, 1), "demonstration", 3),
			event(sdn, InYear(2024), "political_violence", 30), event(sdn, InMonth(2024, 3), "political_violence", 5),
			event(InPlace("MLI", "ML01"), InMonth(2024, 1), "political_violence", 6),
			event(InPlace("MLI", "ML01", "ML0101"), InMonth(2024, 1), "political_violence", 2),
			event(som, InMonth(2024, 1), "political_violence", 1), event(som, InMonth(2024, 1), "demonstration", 1),
			event(af0101, InMonth(2023, 12), "demonstration", 1),
		},
		"funding": {
			With(Row{"location_code": "AFG", "appeal_code": "HAFG24"}, InYear(2024), Row{
				"requirements_usd": Decimal("1000.5"), "funding_usd": Decimal("400.25"), "funding_pct": Decimal("40"),
			}),
			With(Row{"location_code": "AFG", "appeal_code": "HAFG24"}, During("2024-07-01", "2025-06-30"), Row{
				"requirements_usd": Decimal("10"), "funding_usd": Decimal("5"), "funding_pct": Decimal("50"),
			}),
			With(Row{"location_code": "SDN", "appeal_code": "Not specified"}, InYear(2024), Row{
				"funding_usd": Decimal("9007199254740.25"),
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
			rain(af02, "dekad", "forecast", "6"), rain(InPlace("MLI", "ML01"), "dekad", "final", "3"),
			rain(InPlace("MLI", "ML01", "ML0101"), "dekad", "final", "4"),
		},
		"poverty_rate": {
			With(Row{"location_code": "AFG", "admin_level": 0}, InYear(2023), Row{
				"mpi": Decimal("0.2"), "headcount_ratio": Decimal("40"),
			}),
		},
		"national_risk": {
			With(Row{"location_code": "AFG"}, InYear(2024), Row{"overall_risk": Decimal("8.1"), "global_rank": 3}),
			With(Row{"location_code": "MLI"}, InYear(2024), Row{"overall_risk": Decimal("7.1"), "global_rank": 9}),
		},
		"location": {
			{"id": 1, "code": "AFG", "name": "Afghanistan", "reference_period_start": time.Unix(0, 0).UTC()},
			{"id": 2, "code": "MLI", "name": "Mali", "reference_period_start": time.Unix(0, 0).UTC()},
		},
	}
}
