package browse

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hdqs/api/contract"
	"hdqs/api/say"
	"hdqs/internal/testkit"
)

// TestShortTime: times lose what all days have, words nothing.
func TestShortTime(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2024-01-01T00:00:00": "2024-01-01", "2024-12-31T23:59:59": "2024-12-31", "2024-01-01": "2024-01-01",
		"2024-01-01T06:30:00": "2024-01-01 06:30:00", "TGT": "TGT", "Action of Tchad": "Action of Tchad",
	} {
		if got := shortTime(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestRounded: numbers are as people write them, never further from the exact one than half of the
// last digit, and the exact one is kept where they differ.
func TestRounded(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		"117.3076923076923": {"117.3", "117.3076923076923"}, "1780509639.0": {"1\u202f780\u202f509\u202f639", ""},
		"0": {"0", ""}, "0.0": {"0", ""}, "8.1": {"8.1", ""}, "0.07843": {"0.0784", "0.07843"}, "-12345.67": {
			"\u221212\u202f346", "\u221212\u202f345.67",
		},
		"24786370": {"24\u202f786\u202f370", ""}, "0.00004567": {"0.0000457", "0.00004567"}, "1e30": {"1e30", ""},
		"9999.96": {"10\u202f000", "9\u202f999.96"}, "100": {"100", ""}, "1.50": {"1.5", ""},
	} {
		if short, exact := rounded(nil, text); short != want[0] || exact != want[1] {
			t.Errorf("%s: %q and %q, want %q", text, short, exact, want)
		}
	}
	random := rand.New(rand.NewPCG(15, 16))
	plain := strings.NewReplacer("\u202f", "", "\u2212", "-")
	for range 20_000 {
		x := random.NormFloat64() * math.Pow(10, float64(random.IntN(16)-6))
		short, exact := rounded(nil, strconv.FormatFloat(x, 'f', -1, 64))
		got, err := strconv.ParseFloat(plain.Replace(short), 64)
		if err != nil || math.Abs(got-x) > math.Abs(x)*0.006 {
			t.Fatalf("%v is written as %s", x, short)
		}
		if exact != "" && plain.Replace(exact) != strconv.FormatFloat(x, 'f', -1, 64) {
			t.Fatalf("%v is kept as %s", x, exact)
		}
	}
}

// TestAlone: our words for a value, and categories, begin with a capital letter where they stand by
// themselves; other values are as their providers write them.
func TestAlone(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{"commodity_category", "oil and fats", "Oil and fats"},
		{"gender", "f", "Female"},
		{"category", "total", "Total"},
		{"ipc_phase", "3", "Crisis"},
		{"org_acronym", "iMMAP", "iMMAP"},
		{"market_name", "el Obeid", "el Obeid"},
		{"age_range", "5-11", "5-11"},
	} {
		if got, _ := alone(nil, c[0], c[1]); got != c[2] {
			t.Errorf("%s %s is %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

// TestSpan: a period is a year or a month if it is all of it, and else says both days.
func TestSpan(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{"2024-01-01T00:00:00", "2024-12-31T23:59:59", "2024"},
		{"2024-02-01T00:00:00", "2024-02-29T23:59:59", "2024-02"},
		{"2024-02-01T00:00:00", "2024-02-28T23:59:59", "2024-02-01 to 2024-02-28"},
		{"2024-01-05T00:00:00", "2024-01-05T23:59:59", "2024-01-05"},
		{"2024-01-01T00:00:00", "2025-12-31T23:59:59", "2024-01-01 to 2025-12-31"},
		{"2024-01-01T06:30:00", "2024-12-31T23:59:59", "2024-01-01 06:30:00 to 2024-12-31"},
		{"2024-01-01T00:00:00", "", "since 2024-01-01"},
	} {
		testkit.Equal(t, span(nil, c[0], c[1]), c[2], "%s to %s", c[0], c[1])
	}
	for day := time.Date(1896, 1, 1, 0, 0, 0, 0, time.UTC); day.Year() < 2110; day = day.AddDate(0, 1, 0) {
		last := day.AddDate(0, 1, -1).Format(time.DateOnly)
		testkit.Equal(t, span(nil, day.Format(time.DateOnly), last), last[:7], "the month until %s", last)
	}
}

// TestCapital: only the first letter changes, and a text without any stays empty.
func TestCapital(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		"": {"", ""}, "été": {"Été", "été"}, "Water": {"Water", "water"}, "IDPs": {"IDPs", "IDPs"}, "x": {"X", "x"},
	} {
		testkit.Equal(t, [2]string{capital(text), uncapital(text)}, want, "%q", text)
	}
}

// TestCoverageOf: where an address names provinces, districts or markets, the others are no gap.
func TestCoverageOf(t *testing.T) {
	t.Parallel()
	of := &Answer{Notes: say.Notes{Coverage: say.Coverage{Have: 1, All: 26}}}
	h, _ := contract.HeadlineOf("population", contract.ContractNames)
	for _, c := range []struct {
		filter, value string
		all           int
	}{{"location_code", "COD", 26}, {"admin1_code", "CD61", 0}, {"admin2_name", "Goma", 0}} {
		asked := contract.Ask(h.List(contract.ContractNames), contract.Rows).Keep(c.filter, c.value)
		testkit.Equal(t, coverageOf(asked, of).All, c.all, "units of %s=%s", c.filter, c.value)
	}
}

// TestLists: a list has the values that were joined, also those with commas and backslashes.
func TestLists(t *testing.T) {
	t.Parallel()
	for list, want := range map[string][]string{
		"AFG,SDN": {"AFG", "SDN"}, `A\,B,C`: {"A,B", "C"}, `A\\,B`: {`A\\`, "B"}, `A\\\,B`: {`A\\,B`},
		`A\_,B\%`: {`A\_`, `B\%`}, "": {""},
	} {
		got := splitLists([]string{list})
		if back := joinList(got, ","); !slices.Equal(got, want) || back != list {
			t.Errorf("%q is %q, and %q again; want %q", list, got, back, want)
		}
	}
}
