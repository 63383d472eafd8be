package contract

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"hdqs/schema"
)

// TestNamePairs checks the table of names: every name occurs once, every pair is that of a field or
// a parameter, and no neutral name of the contract is left without its HAPI name.
func TestNamePairs(t *testing.T) {
	used, seen := map[string]bool{}, map[string]bool{}
	for i := range Endpoints {
		for _, f := range Endpoints[i].Fields {
			used[f.Name] = true
		}
		for _, p := range NewPlan(&Endpoints[i], Rows).Params {
			used[p.Name] = true
		}
	}
	for _, pair := range schema.HAPINames {
		for _, name := range pair {
			if seen[name] {
				t.Errorf("%s occurs twice", name)
			}
			seen[name] = true
		}
		if !used[pair[ContractNames]] {
			t.Errorf("no endpoint has %s", pair[ContractNames])
		}
		if used[pair[HAPINames]] {
			t.Errorf("an endpoint declares the HAPI name %s", pair[HAPINames])
		}
	}
	for name := range used {
		neutral := strings.Contains(name, "catalog") || strings.HasPrefix(name, "api_") ||
			strings.HasPrefix(name, "classification_")
		if hapi := HAPINames.Name(name); neutral == (hapi == name) {
			t.Errorf("the HAPI name of %s is %s", name, hapi)
		} else if back := ContractNames.Name(hapi); back != name {
			t.Errorf("%s is %s in HAPI names, and that is %s in the contract's", name, hapi, back)
		}
	}
}

// TestPublicEndpoints checks that no path of HAPI names occurs twice.
func TestPublicEndpoints(t *testing.T) {
	seen := map[string]bool{}
	for i := range hapiEndpoints {
		for _, path := range hapiEndpoints[i].Paths() {
			if seen[path] {
				t.Errorf("%s occurs twice", path)
			}
			seen[path] = true
		}
	}
}

// twinPairs calls do for every endpoint and every parameter that has two names.
func twinPairs(t *testing.T, do func(plan *Plan, p *Param, twin string)) {
	t.Helper()
	n := 0
	for i := range Endpoints {
		plan := NewPlan(&Endpoints[i], Rows)
		for k := range plan.Params {
			if twin := plan.Params[k].Twin(); twin != "" {
				do(plan, &plan.Params[k], twin)
				n++
			}
		}
	}
	if n < 15 {
		t.Errorf("%d parameters have two names, want 15 or more", n)
	}
}

// TestTwinFilters checks that a parameter filters the same under both of its names, and that
// requests with either, or with both and one value, have one canonical form.
func TestTwinFilters(t *testing.T) {
	twinPairs(t, func(plan *Plan, p *Param, twin string) {
		value := url.QueryEscape(p.Example())
		want := readFilters(t, plan, p.Name+"="+value)
		for _, query := range []string{
			twin + "=" + value,
			strings.ReplaceAll(twin, "_", "%5F") + "=" + value,
			twin + "=" + value + "&" + p.Name + "=" + value,
			p.Name + "=" + value + "&limit=10000&" + twin + "=" + value,
			twin + "=other&" + twin + "=" + value,
		} {
			if p.List && strings.Contains(query, "other") { // lists are united
				continue
			}
			if got := readFilters(t, plan, query); got != want {
				t.Errorf("%s?%s: %s, want %s", plan.Endpoint.Path, query, got, want)
			}
		}
	})
}

// readFilters returns the filters, the unknown parameters and the canonical form of a query.
func readFilters(t *testing.T, plan *Plan, query string) string {
	t.Helper()
	var r Request
	r.Scanned.Scan(plan, []byte(query))
	if err := r.Parse(); err != nil {
		return err.Error()
	}
	return fmt.Sprint(r.Question.Filters, r.Scanned.UnknownNames(), string(r.AppendCanonical(nil)))
}

// TestTwoValues checks that different values under both names of a parameter are refused, with both
// names in the text, and without the fault of either value.
func TestTwoValues(t *testing.T) {
	var r Request
	twinPairs(t, func(plan *Plan, p *Param, twin string) {
		if p.List { // several values under both names are united
			return
		}
		value := url.QueryEscape(p.Example())
		for _, query := range []string{
			p.Name + "=" + value + "&" + twin + "=", twin + "=x" + value + "&" + p.Name + "=" + value,
			p.Name + "=" + value + "&" + twin + "=" + value + "&" + twin + "=%20",
		} {
			r.Scanned.Scan(plan, []byte(query))
			fault, ok := errors.AsType[*Invalid](r.Parse())
			if !ok || len(fault.Issues) != 1 || fault.Issues[0].Param != p.Name ||
				!strings.Contains(fault.Issues[0].Text.String(), p.Name+" and "+twin+" ") {
				t.Errorf("%s?%s: %+v", plan.Endpoint.Path, query, fault)
			}
		}
	})
	// The state of one request must not reach the next.
	r.Scanned.Scan(planOf("/api/v2/metadata/dataset"), []byte("dataset_catalog_id=a"))
	if err := r.Parse(); err != nil || len(r.Question.Filters) != 1 {
		t.Errorf("%v, %+v", err, r.Question.Filters)
	}
}

// TestHAPIDescription checks that names of the contract occur in the description in HAPI names only
// where they are described as the other ones.
func TestHAPIDescription(t *testing.T) {
	text, err := Description(HAPINames, "", HAPIPrefix)
	if err != nil {
		t.Fatal(err)
	}
	rest := string(text)
	for _, p := range schema.HAPINames {
		rest = strings.ReplaceAll(rest, "The name "+p[ContractNames], "")
	}
	names := []string{identifierHeaders[ContractNames], "agency-[a-z]+"}
	for _, p := range schema.HAPINames {
		names = append(names, p[ContractNames]+"(_min|_max)?")
	}
	for _, found := range regexp.MustCompile(`.{40}\b(`+strings.Join(names, "|")+`)\b.{20}`).FindAllString(rest, 5) {
		t.Errorf("a name of the contract in %s", found)
	}
}
