package state

import (
	"testing"
	"time"

	"hdqs/internal/testkit"
	"hdqs/snapshot/store"
)

// TestPeriodText checks the text of the period of rows, also where rows have no start or no end.
func TestPeriodText(t *testing.T) {
	t.Parallel()
	day := func(year int, month time.Month) time.Time { return time.Date(year, month, 3, 9, 0, 0, 0, time.UTC) }
	first, second := Period{From: day(2019, 5), To: day(2021, 1)}, Period{From: day(2020, 2)}
	for _, c := range []struct {
		period Period
		want   string
	}{
		{Period{}, ""},
		{first, "2019-05-03/2021-01-03"},
		{second, "2020-02-03/.."},
		{Period{To: day(2021, 1)}, "../2021-01-03"},
		{first.Join(second), "2019-05-03/2021-01-03"},
		{second.Join(first), "2019-05-03/2021-01-03"},
		{Period{}.Join(second), "2020-02-03/.."},
		{second.Join(Period{}), "2020-02-03/.."},
		{Period{From: day(2020, 1), To: day(2022, 1)}.Join(first), "2019-05-03/2022-01-03"},
	} {
		testkit.Equal(t, c.period.Interval(), c.want, "%v", c.period)
	}
}

// TestLicenseOf: a licence that its catalog calls "Other" says what it is, and leads to the page of
// the dataset, unless it has an address of its own.
func TestLicenseOf(t *testing.T) {
	t.Parallel()
	m := &store.Manifest{CatalogURL: "https://data.example"}
	const own, page = "the provider's own terms", "https://data.example/dataset/d"
	for _, c := range [][4]string{
		{"Other", "", own, page},
		{"hdx-other", "https://terms.example", own, "https://terms.example"},
		{"CC BY", "https://cc.example", "CC BY", "https://cc.example"},
		{"CC0", "", "CC0", ""},
		{"", "", "", ""},
	} {
		title, address := LicenseOf(m, &store.Dataset{ID: "d", License: c[0], LicenseURL: c[1]})
		if title != c[2] || address != c[3] {
			t.Errorf("%q, %q: %q, %q, want %q, %q", c[0], c[1], title, address, c[2], c[3])
		}
	}
}
