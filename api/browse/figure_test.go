package browse

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"hdqs/api/contract"
	"hdqs/api/lang"
	"hdqs/api/say"
	"hdqs/api/textual"
	"hdqs/internal/testkit"
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

// TestShorten: a table has its first lines and leads to a page with all of them, which leaves out
// none, and times are not left out.
func TestShorten(t *testing.T) {
	for _, c := range []struct {
		rows  int
		times bool
		query string
		shown int
		all   string
	}{
		{shownFigures, false, "by=x", shownFigures, ""},
		{shownFigures + 1, false, "by=x", shownFigures, "/p?by=x&more=figures#figure-heading"},
		{shownFigures + 1, false, "by=x&more=figures", shownFigures + 1, ""},
		{shownFigures + 1, true, "by=x", shownFigures + 1, ""},
	} {
		values := testkit.Value(url.ParseQuery(c.query))(t)
		x := &figure{ID: firstID, Data: data{Rows: make([][]cell, c.rows), Times: c.times}}
		x.shorten(state{path: "/p", values: values})
		if len(x.Data.Rows) != c.shown || x.Data.More != c.rows-c.shown || x.Data.All != c.all {
			t.Errorf("%+v: %d rows, %d more, %q", c, len(x.Data.Rows), x.Data.More, x.Data.All)
		}
	}
}

// oddPlaces answers sums of records of some countries, and refuses those with an odd one.
type oddPlaces struct {
	places, odd []string
	asked       int
}

func (o *oddPlaces) Ask(q *contract.Question) (*Answer, error) {
	o.asked++
	places := o.places
	if list := q.Texts("location_code" + contract.SeveralSuffix); list != nil {
		places = list
	}
	measure := q.Endpoint().MeasureName(q.Measures[0])
	right := slices.DeleteFunc(slices.Clone(places), func(place string) bool { return slices.Contains(o.odd, place) })
	if measure != "count" && len(right) < len(places) {
		var instead *contract.Question
		if len(right) > 0 {
			instead = q.Copy().Keep(q.Apart+contract.SeveralSuffix, right...)
		}
		issue := contract.WrongSum("measures", say.Of("It counts twice."), "/", instead)
		return nil, &contract.Invalid{Issues: []contract.Issue{issue}}
	}
	fields := []string{"location_code", strings.ReplaceAll(measure, ":", "_")}
	records := textual.New(min(q.Limit, len(places)), fields, func(dst []byte, record, field int) ([]byte, bool) {
		if field == 0 {
			return append(dst, places[record]...), true
		}
		return append(dst, '7'), true
	})
	return &Answer{Records: records, Total: len(places)}, nil
}

// TestRightSum checks that a sum leaves out the countries that make it wrong and no others.
func TestRightSum(t *testing.T) {
	t.Parallel()
	places := []string{"AFG", "COD", "MLI", "NGA", "SDN", "SOM", "TCD", "UKR", "YEM"}
	for _, odd := range [][]string{
		nil, {"AFG"}, {"SDN"}, {"YEM"}, {"AFG", "COD", "NGA"}, {"COD", "SOM", "YEM"}, places,
	} {
		o := &oddPlaces{places: places, odd: odd}
		e := contract.EndpointOf("conflict_event", contract.ContractNames)
		s := &rightSum{
			q: &Question{Plan: contract.NewPlan(e, contract.Rows), Source: o}, asked: contract.Ask(e, contract.Rows),
			fields: []string{"location_code"}, measures: []string{"sum:fatalities"},
		}
		testkit.Must(t, s.read())
		var right []string
		for _, row := range s.rows {
			right = append(right, row.fields[0])
		}
		if isRefused := len(odd) == len(places); isRefused != (len(s.refused) > 0) || isRefused && right != nil {
			t.Errorf("with %v it is refused: %q", odd, s.refused)
		} else if all := slices.Sorted(slices.Values(slices.Concat(right, s.left))); !isRefused &&
			(!slices.Equal(s.left, odd) || !slices.Equal(all, places)) {
			t.Errorf("%v are left out, and the sum is of %v; want %v left out", s.left, right, odd)
		}
		if o.asked > 3 {
			t.Errorf("%d questions with %v", o.asked, odd)
		}
	}
}
