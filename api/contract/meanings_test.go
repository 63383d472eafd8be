package contract

import (
	"strconv"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

// TestMeanings finds fields without a meaning, and meanings that no field has.
func TestMeanings(t *testing.T) {
	used := map[string]bool{}
	for i := range Endpoints {
		e := &Endpoints[i]
		for _, f := range e.Fields {
			text := e.Texts().Meaning(f.Name)
			if !strings.HasSuffix(text, ".") {
				t.Errorf("%s, field %s: meaning %q is no sentence", e.Name(), f.Name, text)
			}
			key := e.Table + "." + f.Name
			if _, own := meanings[key]; !own {
				key = f.Name
			}
			used[key] = true
		}
	}
	for key := range meanings {
		if !used[key] {
			t.Errorf("no field has the meaning %q", key)
		}
	}
}

// TestParamTexts checks the numbers in the texts of parameters, and that no text is of a parameter
// that does not exist.
func TestParamTexts(t *testing.T) {
	for name, most := range map[string]int{"limit": MaxLimit, ofParam: MaxFacet, FormatXLSX: MaxSheetRows} {
		if text := paramTexts[name] + formatTexts[name]; !strings.Contains(text, " "+strconv.Itoa(most)) {
			t.Errorf("%s: %q does not name %d", name, text, most)
		}
	}
	known := map[string]bool{
		"limit of exports": true, "output_format of lists": true, "output_format of points": true,
	}
	for i := range Endpoints {
		for k := Rows; k <= Export; k++ {
			for _, p := range NewPlan(&Endpoints[i], k).Params {
				known[p.Name] = true
				if p.Describe() == "" {
					t.Errorf("%s, %s: no text", Endpoints[i].Name(), p.Name)
				}
			}
		}
	}
	for name := range paramTexts {
		if !known[name] {
			t.Errorf("no parameter is %q", name)
		}
	}
}

// TestAboutFilters wants what a filter is about in the description of each filter.
func TestAboutFilters(t *testing.T) {
	used := map[string]bool{}
	for i := range Endpoints {
		e := &Endpoints[i]
		p := NewPlan(e, Rows)
		for j := range p.Params {
			param := &p.Params[j]
			about := e.Texts().About(param)
			if !strings.HasSuffix(about, ".") {
				t.Errorf("%s, parameter %s: %q is no sentence", e.Name(), param.Name, about)
			}
			used[param.Name] = true
			filter := len(param.Columns) > 0 && param.Type != Day && !param.IsLevel()
			if filter && about == param.Describe() {
				t.Errorf("%s, parameter %s: the description %q says only how it matches", e.Name(), param.Name, about)
			}
		}
	}
	for name := range filterOnly {
		if !used[name] {
			t.Errorf("no endpoint has the filter %q", name)
		}
	}
}

// TestAddingUp wants a note for every endpoint whose records have a place or a period and a figure.
func TestAddingUp(t *testing.T) {
	known := map[string]bool{}
	for i := range Endpoints {
		e := &Endpoints[i]
		known[e.Table] = true
		if e.Group() != "metadata" && e.Texts().AddingUp() == "" {
			t.Errorf("%s: nothing says how its figures are added up", e.Name())
		}
	}
	for table := range addingUp {
		if !known[table] {
			t.Errorf("no endpoint has the table %q", table)
		}
	}
}

// TestWords finds values of enumerations without words where others of them have some, and words of
// values that do not exist.
func TestWords(t *testing.T) {
	values := map[string][]string{
		"admin_level": levelOrCoarsest.Values, "age_range": {"all"}, "assessment_type": {"BA", "SA"},
		"latest":      latestModes.Values,
		"appeal_type": {"Humanitarian response plan", "Flash appeal", "Regional response plan", "CAP", "Other"},
	}
	for i := range Endpoints {
		for _, f := range Endpoints[i].Fields {
			if f.Enum != nil {
				values[f.Name] = f.Enum.Values
			}
		}
	}
	for field, words := range valueWords {
		for _, v := range values[field] {
			if Words(field, v) == "" {
				t.Errorf("%s: no words for %q", field, v)
			}
		}
		testkit.Equal(t, len(words), len(values[field]), "%s: words of values", field)
	}
}
