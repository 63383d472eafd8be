package browse

import (
	"testing"

	"hdqs/api/lang"
)

// TestTitleTime: a title has a year where most of one is meant, else the months; the second line
// has the days where they say more; and what goes on is of the day of its report.
func TestTitleTime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		about        about
		lasts        string
		title, exact string
	}{
		{about{from: "2024-01-05T00:00:00", to: "2024-12-24T23:59:59"}, "", "2024", "5 January to 24 December 2024"},
		{about{from: "2023-01-01T00:00:00", to: "2023-12-31T23:59:59"}, "", "2023", ""},
		{
			about{from: "2025-01-03T00:00:00", to: "2025-01-31T23:59:59"},
			"",
			"January 2025", "3 January to 31 January 2025",
		},
		{
			about{from: "2021-05-02T00:00:00", to: "2023-08-31T23:59:59"},
			"", "May 2021 to August 2023",
			"2 May 2021 to 31 August 2023",
		},
		{
			about{from: "2025-01-21T00:00:00", to: "2025-01-31T23:59:59"},
			"three months",
			"three months to 31 January 2025", "",
		},
		{
			about{
				from: "2017-05-09T00:00:00", to: "2029-12-30T23:59:59",
				earliest: "2025-08-06T01:02:03", updated: "2025-08-06T01:02:03", loaded: "2025-09-01",
			}, "", "report of August 2025", "6 August 2025",
		},
		{
			about{
				from: "2017-05-09T00:00:00", to: "2029-12-30T23:59:59",
				earliest: "2025-06-30T01:02:03", updated: "2025-08-06T01:02:03", loaded: "2025-09-01",
			}, "", "report of June to August 2025", "30 June to 6 August 2025",
		},
		{
			about{
				from: "2025-01-05T00:00:00", to: "2025-12-24T23:59:59",
				updated: "2025-08-06T01:02:03", loaded: "2025-09-01",
			}, "", "2025", "5 January to 24 December 2025",
		},
		{about{}, "", "", ""},
	} {
		x := &figure{About: &c.about, sentence: "Chad: people", lasts: c.lasts}
		x.About.Unit, x.About.Providers = "people", []string{"OCHA"}
		if c.about.loaded == "" {
			x.About.loaded = "2026-01-01"
		}
		x.setTime((*lang.Language)(nil), c.about.from, c.about.to)
		title, second := "Chad: people", "people; OCHA"
		if c.title != "" {
			title += ", " + c.title
		}
		if c.exact != "" {
			second += "; " + c.exact
		}
		if x.Title != title || x.Second != second {
			t.Errorf("%q, %q, want %q, %q", x.Title, x.Second, title, second)
		}
	}
}
