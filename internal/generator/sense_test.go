package generator

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

// sums are the numbers of a column of a view by the values of others. Rows of traps are left out.
func (f *table) sums(t *testing.T, number string, by ...string) map[string]float64 {
	t.Helper()
	all := map[string]float64{}
	for _, row := range f.rows {
		if strings.HasPrefix(f.cell(row, "reference_period_start"), "2016-0") || f.cell(row, number) == "" {
			continue
		}
		var key []string
		for _, column := range by {
			key = append(key, f.cell(row, column))
		}
		n := testkit.Value(strconv.ParseFloat(f.cell(row, number), 64))(t)
		all[strings.Join(key, "|")] += n
	}
	return all
}

// TestRowsMakeSense: the rows of the sample agree with one another as those of real data should.
// A part is written as columns and values; the parts on the left are at most, or together exactly,
// the whole on the right, wherever both are known.
func TestRowsMakeSense(t *testing.T) {
	t.Parallel()
	_, dir := sampleOf(t)
	for _, rule := range []struct {
		view, number, same, part, parts, relation, whole string
	}{
		{"food_security", "population_in_phase", "admin2_ref|ipc_type", "ipc_phase", "1 2 3 4 5", "=", "all"},
		{"food_security", "population_in_phase", "admin2_ref|ipc_type", "ipc_phase", "3 4 5", "=", "3+"},
		{"population", "population", "admin2_ref|age_range", "gender", "f m", "=", "all"},
		{"population", "population", "admin2_ref|gender", "age_range", "0-14 15-29 30-44 45+", "=", "all"},
		{
			"refugees", "population", "origin_location_code|asylum_location_code|population_group|age_range", "gender",
			"f m", "= or 0", "all",
		},
		{
			"returnees", "population", "origin_location_code|population_group|gender", "age_range",
			"0-4 5-11 12-17 18-59 60+", "= or 0", "all",
		},
		{"humanitarian_needs", "population", "admin2_ref|sector_code|category", "population_status", "TGT", "<", "INN"},
		{"humanitarian_needs", "population", "admin2_ref|sector_code|category", "population_status", "REA", "<", "TGT"},
		{
			"humanitarian_needs", "population", "admin2_ref|sector_code|population_status", "category",
			"Children Adult Elderly", "=", "total",
		},
		{"conflict_event", "events", "admin2_ref", "event_type", "civilian_targeting", "<", "political_violence"},
		{"conflict_event", "fatalities", "admin2_ref", "event_type", "civilian_targeting", "<", "political_violence"},
	} {
		f := readCSV(t, filepath.Join(dir, rule.view+"_view.csv"))
		same := append(strings.Split(rule.same, "|"), "reference_period_start")
		sums := f.sums(t, rule.number, append(same, rule.part)...)
		checked := 0
		for key, whole := range sums {
			place, isWhole := strings.CutSuffix(key, "|"+rule.whole)
			if !isWhole {
				continue
			}
			sum, known := 0.0, true
			for part := range strings.FieldsSeq(rule.parts) {
				n, has := sums[place+"|"+part]
				sum, known = sum+n, known && has
			}
			switch {
			case !known, rule.relation == "= or 0" && sum == 0:
				continue
			case rule.relation == "<" && sum > whole, rule.relation != "<" && sum != whole:
				t.Errorf("%s %s: %s are %g, %s is %g", rule.view, place, rule.parts, sum, rule.whole, whole)
			}
			checked++
		}
		testkit.AtLeast(t, checked, 40, "%+v: comparisons", rule)
	}
}

// TestNumbersMakeSense: numbers of one row agree, and a country has one currency.
func TestNumbersMakeSense(t *testing.T) {
	t.Parallel()
	_, dir := sampleOf(t)
	for _, rule := range []struct {
		view, columns string
		makesSense    func(n []float64) bool
	}{
		{"funding", "funding_usd requirements_usd", func(n []float64) bool { return n[0] <= n[1] }},
		{"poverty_rate", "in_severe_poverty headcount_ratio vulnerable_to_poverty", func(n []float64) bool {
			return n[0] <= n[1] && n[1]+n[2] <= 100
		}},
		{"rainfall", "rainfall_anomaly_pct", func(n []float64) bool { return n[0] <= 250 }},
		{
			"national_risk", "overall_risk hazard_exposure_risk vulnerability_risk coping_capacity_risk",
			func(n []float64) bool { return min(n[1], n[2], n[3]) <= n[0] && n[0] <= max(n[1], n[2], n[3]) },
		},
		{"food_price", "price", func(n []float64) bool { return n[0] > 0 }},
	} {
		f := readCSV(t, filepath.Join(dir, rule.view+"_view.csv"))
		for _, row := range f.rows {
			var n []float64
			for column := range strings.FieldsSeq(rule.columns) {
				if v, err := strconv.ParseFloat(f.cell(row, column), 64); err == nil {
					n = append(n, v)
				}
			}
			isTrap := strings.HasPrefix(f.cell(row, "reference_period_start"), "2016-0")
			if !isTrap && len(n) == len(strings.Fields(rule.columns)) && !rule.makesSense(n) {
				t.Errorf("%s: %s of %q are %v", rule.view, rule.columns, row, n)
			}
		}
	}
	prices, currencies := readCSV(t, filepath.Join(dir, "food_price_view.csv")), map[string]string{}
	for _, row := range prices.rows {
		country, currency := prices.cell(row, "location_code"), prices.cell(row, "currency_code")
		if was := currencies[country]; was != "" && was != currency {
			t.Errorf("%s has prices in %s and %s", country, was, currency)
		}
		currencies[country] = currency
	}
	for country, want := range map[string]string{"AFG": "AFN", "TCD": "XAF", "COD": "CDF"} {
		testkit.Equal(t, currencies[country], want, "%s has prices in", country)
	}
}

// TestMarketsOnLand: markets that have a place have one on the land of their country, and few of a
// country that the map has are without one.
func TestMarketsOnLand(t *testing.T) {
	t.Parallel()
	for scale, seed := range map[float64]uint64{0: 1, 0.01: 12} {
		w := newWorld(Options{Seed: seed, Scale: scale})
		placed, without := 0, 0
		for i, m := range w.markets {
			country := m.at.location().iso3
			o := outlines()[country]
			switch {
			case i == 5: // at the edge of the map, on purpose
			case o == nil && !m.lat.isNull():
				t.Errorf("%s of %s, which the map does not have, is at %v, %v", m.name, country, m.lat, m.lon)
			case o != nil && m.at.level != "0" && m.lat.isNull():
				without++
			case !m.lat.isNull() && !o.has(float64(m.lon.n)/10, float64(m.lat.n)/10):
				t.Errorf("%s is at %v, %v, which is not in %s", m.name, m.lat, m.lon, country)
			default:
				placed++
			}
		}
		if placed < len(w.markets)/2 || without > len(w.markets)/10 {
			t.Errorf("%d of %d markets have a place, %d lack one", placed, len(w.markets), without)
		}
	}
	kabul := outlines()["AFG"]
	if !kabul.has(692, 345) || kabul.has(692, 300) {
		t.Error("Kabul is not in Afghanistan, or Islamabad is")
	}
}
