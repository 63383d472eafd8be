package contract

import (
	"net/url"
	"slices"
	"strings"
	"testing"
)

// TestHeadlines checks that each headline figure is declared whole, and asks its list for what the
// list has, in both sets of names.
func TestHeadlines(t *testing.T) {
	seen := map[string]bool{}
	for i := range Headlines {
		h := &Headlines[i]
		if seen[h.Name] || HeadlineNamed(h.Name) != h {
			t.Errorf("%s is declared twice", h.Name)
		}
		seen[h.Name] = true
		for name, text := range map[string]string{
			"title": h.Title, "unit": h.Unit, "time": string(h.Newest), "reading": h.Reading,
			"what it is not": h.NotThis,
		} {
			if text == "" {
				t.Errorf("%s has no %s", h.Name, name)
			}
		}
		if wanted := map[Expression]int{Percent: 2, Weighted: 2}[h.Value]; len(h.Measures) != max(1, wanted) {
			t.Errorf("%s has %d measures", h.Name, len(h.Measures))
		}
		for set := range NameSet(2) {
			query := url.Values{groupParam: {strings.Join(append([]string{h.Place}, h.Groups...), ",")}}
			query.Set(measureParam, strings.Join(h.Measures, ","))
			for _, pair := range h.Keep {
				query.Set(set.Name(pair[0]), pair[1])
			}
			if h.Newest == NewestEdition {
				query.Set(LatestParam, LatestEdition)
			}
			var r Request
			r.Scan(NewPlan(h.List(set), Aggregate), []byte(query.Encode()))
			if err := r.Parse(); err != nil || r.UnknownCount() > 0 {
				t.Errorf("%s in %s names: %v, unknown %q", h.Name, set, err, r.UnknownNames())
			}
		}
	}
}

// TestFigureTexts checks that every field of a figure's record is described.
func TestFigureTexts(t *testing.T) {
	for _, f := range headlinesOfPlace {
		if figureTexts[f.Name] == "" {
			t.Errorf("the field %s of figures is not described", f.Name)
		}
	}
	if len(figureTexts) != len(headlinesOfPlace) {
		t.Errorf("%d fields are described, there are %d", len(figureTexts), len(headlinesOfPlace))
	}
}

// TestCoverageMeasure lists requests for coverage: it is of the units of countries.
func TestCoverageMeasure(t *testing.T) {
	for query, fine := range map[string]bool{
		"group_by=location_code&measures=coverage":            true,
		"group_by=year,location_code&measures=count,coverage": true,
		"measures=coverage":                               false,
		"group_by=admin1_code&measures=coverage":          false,
		"group_by=location_code&measures=coverage:events": false,
	} {
		var r Request
		at := slices.IndexFunc(Endpoints, func(e Endpoint) bool { return e.Table == "conflict_event" })
		r.Scan(NewPlan(&Endpoints[at], Aggregate), []byte(query))
		err := r.Parse()
		if (err == nil) != fine {
			t.Errorf("%s: %v", query, err)
		}
		if fine && !strings.Contains(strings.Join(FieldNames(r.AggregateFields()), ","), "units,units_known") {
			t.Errorf("%s: fields %q", query, FieldNames(r.AggregateFields()))
		}
	}
	var r Request
	at := slices.IndexFunc(Endpoints, func(e Endpoint) bool { return e.Table == "funding" })
	r.Scan(NewPlan(&Endpoints[at], Aggregate), []byte("group_by=location_code&measures=coverage"))
	if r.Parse() == nil {
		t.Error("funding has coverage, but no units")
	}
}
