package contract

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

// publicContract is the part of testdata/contract.json that tests read.
type publicContract struct {
	Version string                `json:"interface_version"`
	Enums   map[string]publicEnum `json:"enums"`
	Common  []publicParam         `json:"common_params"`
	Paths   []struct {
		Path   string        `json:"path"`
		Params []publicParam `json:"params"`
		Fields []publicField `json:"fields"`
	} `json:"endpoints"`
}

// publicEnum is a list of allowed values and the texts of the error for any other value.
type publicEnum struct {
	Values   []string `json:"values_in_sort_order"`
	Message  string   `json:"error_msg"`
	Expected string   `json:"error_ctx_expected"`
}

type publicParam struct {
	Name      string   `json:"name"`
	Type      string   `json:"type"`
	Enum      string   `json:"enum_name"`
	MaxLength int      `json:"maxLength"`
	Min       *int     `json:"min"`
	Max       *int     `json:"max"`
	Default   any      `json:"default"`
	Match     string   `json:"match"`
	Columns   []string `json:"columns"`
	Parse     string   `json:"parse"`
}

type publicField struct {
	Name      string   `json:"name"`
	JSON      string   `json:"json_type"`
	Number    string   `json:"number"`
	Nullable  bool     `json:"nullable"`
	Format    string   `json:"format"`
	MaxLength int      `json:"maxLength"`
	Enum      []string `json:"enum"`
}

func readContract(t *testing.T) *publicContract {
	t.Helper()
	c := new(publicContract)
	testkit.Must(t, json.Unmarshal(testkit.ReadFile(t, "../../testdata/contract.json"), c))
	return c
}

// TestRemovedParams checks the table: each filter is removed from some endpoint, and a remedy names
// parameters, fields and lists that exist in HAPI names.
func TestRemovedParams(t *testing.T) {
	used, known := map[string]bool{}, map[string]bool{}
	for i := range hapiEndpoints {
		e := &hapiEndpoints[i]
		p := NewPlan(e, Rows)
		for name := range p.removed {
			used[name] = true
		}
		for _, f := range e.Fields {
			known[f.Name] = true
		}
		for _, param := range p.Params {
			known[param.Name] = true
		}
		known[strings.TrimPrefix(e.Path, v2Root)] = true
		if NewPlan(&Endpoints[i], Rows).removed != nil {
			t.Errorf("%s: the contract's names have removed filters", Endpoints[i].Path)
		}
	}
	for names, text := range removed {
		of, use, _ := strings.Cut(text, ": ")
		if !known[of] {
			t.Errorf("no endpoint has %s", of)
		}
		for name := range strings.FieldsSeq(names) {
			if !used[name] {
				t.Errorf("no endpoint has removed %s", name)
			}
		}
		between := func(c rune) bool { return strings.ContainsRune(" ,;=", c) }
		for word := range strings.FieldsFuncSeq(use, between) {
			if strings.ContainsAny(word, "_/") && !known[word] {
				t.Errorf("%v: the remedy names %s, which does not exist", names, word)
			}
		}
	}
}

// TestEarlierFilters checks which filters of version 1 there are in HAPI names, and that they are
// unknown in the contract's.
func TestEarlierFilters(t *testing.T) {
	const period = "reference_period_start_min reference_period_start_max " +
		"reference_period_end_min reference_period_end_max"
	const names = " provider_admin1_name provider_admin2_name"
	want := map[string]string{
		"location": period, "admin1": period, "admin2": period, "market": names[1:],
		"operational_presence": period + names,
		"funding":              period, "conflict_event": period + names, "national_risk": period, "refugees": period,
		"humanitarian_needs": period + names, "idps": period + names, "returnees": period,
		"food_security": period + names,
		"food_price":    period + names, "poverty_rate": period + " provider_admin1_name", "rainfall": period + names,
		"population": period + names,
	}
	for i := range hapiEndpoints {
		var all []string
		p := NewPlan(&hapiEndpoints[i], Aggregate)
		for k := range p.Params {
			if p.Params[k].Earlier {
				all = append(all, p.Params[k].Name)
			}
		}
		want, public := want[hapiEndpoints[i].Table]
		if got := strings.Join(all, " "); (public || hapiEndpoints[i].Group() == "metadata") && got != want {
			t.Errorf("%s: %q, want %q", hapiEndpoints[i].Table, got, want)
		}
		for _, name := range all {
			var r Request
			r.Scanned.Scan(NewPlan(&Endpoints[i], Rows), []byte(name+"=2024-01-01"))
			err, unknown := r.Parse(), r.Scanned.UnknownNames()
			if err != nil || len(r.Question.Filters) > 0 || !slices.Equal(unknown, []string{name}) {
				t.Errorf("%s, %s: %v, unknown %v", Endpoints[i].Path, name, err, unknown)
			}
			r.Scanned.Scan(NewPlan(&hapiEndpoints[i], Rows), []byte(name+"="))
			if err := r.Parse(); err != nil || len(r.Question.Filters) > 0 {
				t.Errorf("%s, empty %s: %v, %d filters", hapiEndpoints[i].Path, name, err, len(r.Question.Filters))
			}
		}
	}
}
