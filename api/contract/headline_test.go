package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// TestHeadlines checks that each headline figure is declared whole, and asks its list for what the
// list has, in both sets of names.
func TestHeadlines(t *testing.T) {
	strict := json.NewDecoder(bytes.NewReader(headlinesText))
	strict.DisallowUnknownFields()
	if err := strict.Decode(new([]Headline)); err != nil {
		t.Error(err)
	}
	seen := map[string]bool{}
	for i := range Headlines {
		h := &Headlines[i]
		if seen[h.Name] {
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
		if len(h.Measures) != 2 && (len(h.Measures) != 1 || h.Weight != "") {
			t.Errorf("%s has %d measures", h.Name, len(h.Measures))
		}
		kept, err := url.ParseQuery(h.Filters)
		if err != nil {
			t.Errorf("%s: %v", h.Name, err)
		}
		if h.Series != "" && len(h.Measures) != 1 {
			t.Errorf("%s has a series of %d measures", h.Name, len(h.Measures))
		}
		for set := range NameSet(2) {
			groups := append(append([]string{h.Place}, h.Groups...), strings.Fields(h.Series)...)
			query := url.Values{groupParam: {strings.Join(groups, ",")}}
			query.Set(measureParam, strings.Join(h.Measures, ","))
			for name := range kept {
				query.Set(set.Name(name), kept.Get(name))
			}
			if h.Newest == NewestEdition {
				query.Set(LatestParam, LatestEdition)
			}
			var r Request
			r.Scanned.Scan(NewPlan(h.List(set), Aggregate), []byte(query.Encode()))
			if err := r.Parse(); err != nil || r.Scanned.UnknownCount() > 0 {
				t.Errorf("%s in %s names: %v, unknown %q", h.Name, set, err, r.Scanned.UnknownNames())
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
	for _, f := range historyFields {
		if wasTexts[f.Name] == "" {
			t.Errorf("the field %s of what figures were is not described", f.Name)
		}
	}
	if len(wasTexts) != len(historyFields) {
		t.Errorf("%d fields are described, there are %d", len(wasTexts), len(historyFields))
	}
	if len(figureTexts) != len(headlinesOfPlace) {
		t.Errorf("%d fields are described, there are %d", len(figureTexts), len(headlinesOfPlace))
	}
}

// TestFiguresRefuseFilters: what would choose other rows of a list is an error of a headline
// figure, in both sets of names. Other unknown parameters are ignored, as everywhere.
func TestFiguresRefuseFilters(t *testing.T) {
	for set := range NameSet(2) {
		refused := 0
		for i := range FigureEndpoints(set) {
			plan := NewPlan(&FigureEndpoints(set)[i], Rows)
			for k := range EndpointsIn(set) {
				for _, name := range NewPlan(&EndpointsIn(set)[k], Rows).names {
					var r Request
					r.Scanned.Scan(plan, []byte(name+"=1&nothing=1"))
					var invalid *Invalid
					isOne := func(i Issue) bool { return i.Type == "extra_forbidden" && i.Param == name }
					isFault := errors.As(r.Parse(), &invalid) && slices.ContainsFunc(invalid.Issues, isOne)
					if isFault == plan.Knows(name) {
						t.Errorf("%s: %s is refused: %t", plan.Endpoint.Path, name, isFault)
					}
					if isFault {
						refused++
					}
				}
			}
			var r Request
			r.Scanned.Scan(plan, []byte("sector_code=&nothing=1"))
			if err := r.Parse(); err != nil || r.Scanned.UnknownCount() != 2 {
				t.Errorf("%s: %v, %d unknown", plan.Endpoint.Path, err, r.Scanned.UnknownCount())
			}
		}
		if refused == 0 {
			t.Error("nothing is refused")
		}
	}
}
