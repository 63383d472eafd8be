package contract

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"hdqs/index"
	"hdqs/internal/testkit"
	"hdqs/schema"
)

// TestContractEndpoints compares the endpoints of the public service with the contract: paths and
// their order; type, bounds, match kind and columns of each parameter; each field of each record.
// Lists of our own, and fields that were added to a list, are in no contract.
func TestContractEndpoints(t *testing.T) {
	c := readContract(t)
	testkit.Equal(t, c.Version, InterfaceVersion, "version")
	next := 0
	for _, want := range c.Paths {
		at := slices.IndexFunc(Endpoints, func(e Endpoint) bool { return e.Path == want.Path })
		if at < next {
			t.Errorf("endpoint %s is at %d, want it after %d", want.Path, at, next)
			continue
		}
		next = at
		e := public(&Endpoints[at], want.Fields)
		checkParams(t, c, e, want.Params)
		checkFields(t, e, want.Fields)
	}
	for _, common := range c.Common {
		params := new(Endpoint).pageParams(Facets)
		at := slices.IndexFunc(params, func(p Param) bool { return p.Name == common.Name })
		if at < 0 {
			t.Errorf("the common parameter %s is missing", common.Name)
			continue
		}
		checkParam(t, c, "every endpoint", &params[at], common)
	}
}

// public is an endpoint without the fields that were added to it and are not in the contract, and
// without their filters.
func public(e *Endpoint, contract []publicField) *Endpoint {
	own := map[string]bool{}
	for _, c := range schema.Of(e.Table).Columns {
		own[c.Name] = c.Added && !slices.ContainsFunc(contract, func(f publicField) bool { return f.Name == c.Name })
	}
	p := *e
	p.Fields = slices.DeleteFunc(slices.Clone(e.Fields), func(f Field) bool { return own[f.Name] })
	p.Params = slices.DeleteFunc(slices.Clone(e.Params), func(p Param) bool { return p.Grouped || own[p.Columns[0]] })
	return &p
}

// checkParams also checks the order of the parameters, of the place filters and of the others
// separately.
func checkParams(t *testing.T, c *publicContract, e *Endpoint, want []publicParam) {
	t.Helper()
	place := map[string]bool{}
	for _, p := range e.Place {
		place[p.Name] = true
	}
	var wantPlace, wantOwn []publicParam
	for _, p := range want {
		if place[p.Name] {
			wantPlace = append(wantPlace, p)
		} else {
			wantOwn = append(wantOwn, p)
		}
	}
	for _, part := range []struct {
		have []Param
		want []publicParam
	}{{e.Place, wantPlace}, {e.Params, wantOwn}} {
		if len(part.have) != len(part.want) {
			t.Errorf("%s: %d parameters, want %d", e.Path, len(part.have), len(part.want))
			continue
		}
		for i := range part.have {
			if part.have[i].Name != part.want[i].Name {
				t.Errorf("%s: parameter %d is %s, want %s", e.Path, i, part.have[i].Name, part.want[i].Name)
				continue
			}
			checkParam(t, c, e.Path, &part.have[i], part.want[i])
		}
	}
	level := slices.ContainsFunc(want, func(p publicParam) bool { return p.Name == "admin_level" })
	if level && e.Name() != "data-availability" && len(e.Place) == 0 {
		t.Errorf("%s: place filters are among the other filters", e.Path)
	}
}

var contractTypes = map[string]Type{
	"string": String, "enum": Choice, "integer": Integer, "number": Number, "boolean": Boolean,
	"date-time or date": DateTime,
	"partial-date":      Day,
}

var contractOps = map[string]index.Op{
	"exact": index.Equal, "ilike": index.Like, "icontains": index.Contains, "icontains_or_provider": index.Contains,
	"enum_equal": index.Equal, "level_equal": index.Equal, "bool_equal": index.Equal, "ge": index.AtLeast,
	"lt":            index.Below,
	"overlap_start": index.AtLeastOrNull, "overlap_end": index.Below,
}

// checkParam compares one parameter with the contract.
func checkParam(t *testing.T, c *publicContract, path string, p *Param, want publicParam) {
	t.Helper()
	wantType := contractTypes[want.Type]
	if want.Parse == "decimal" {
		wantType = Exact
	}
	if p.Type != wantType || p.Max != want.MaxLength {
		t.Errorf("%s: %s: type %d max %d, want %d, %d", path, p.Name, p.Type, p.Max, wantType, want.MaxLength)
	}
	if p.Op != contractOps[want.Match] {
		t.Errorf("%s: %s: op %d, want the op of match kind %s", path, p.Name, p.Op, want.Match)
	}
	if (p.Floor == nil) != (want.Min == nil) || p.Floor != nil && *p.Floor != *want.Min {
		t.Errorf("%s: %s: the minimum is not %v", path, p.Name, want.Min)
	}
	if (p.Ceiling == nil) != (want.Max == nil) || p.Ceiling != nil && *p.Ceiling != *want.Max {
		t.Errorf("%s: %s: the maximum is not %v", path, p.Name, want.Max)
	}
	wantDefault := ""
	if want.Default != nil {
		wantDefault = fmt.Sprint(want.Default)
	}
	testkit.Equal(t, p.Default, wantDefault, "%s: %s: default", path, p.Name)
	if want.Enum != "" {
		e := c.Enums[want.Enum]
		values := slices.DeleteFunc(slices.Clone(p.Enum.Values), func(v string) bool { return v == Coarsest })
		if !slices.Equal(values, e.Values) || p.Enum.Expected != e.Expected ||
			"Input should be "+p.Enum.Expected != e.Message {
			t.Errorf("%s: %s: enum %v %q, want %v", path, p.Name, p.Enum.Values, p.Enum.Expected, e)
		}
	}
	testkit.EqualLists(t, p.Columns, wantColumns(path, want), "%s: %s: columns", path, p.Name)
}

// wantColumns translates the contract's column names into ours: flags are columns of the row
// itself, and codes and names of admin units are matched as stored, except in the lists of the
// units themselves.
func wantColumns(path string, p publicParam) []string {
	var columns []string
	for _, column := range p.Columns {
		table, flag, joined := strings.Cut(column, ".")
		switch {
		case joined && table == "location":
			column = flag
		case joined:
			column = strings.TrimSuffix(table, "location") + flag
		case strings.HasPrefix(column, "admin1_") || strings.HasPrefix(column, "admin2_"):
			if path != "/api/v2/metadata/admin2" && !strings.HasSuffix(column, "_ref") {
				column = "stored_" + column
			}
		}
		columns = append(columns, column)
	}
	return columns
}

// checkFields compares the fields of a record with the contract.
func checkFields(t *testing.T, e *Endpoint, want []publicField) {
	t.Helper()
	if len(e.Fields) != len(want) {
		t.Errorf("%s: %d fields, want %d", e.Path, len(e.Fields), len(want))
		return
	}
	for i, w := range want {
		f := e.Fields[i]
		wantType := map[string]Type{"string": String, "integer": Integer, "number": Number, "boolean": Boolean}[w.JSON]
		switch w.Format {
		case "uri":
			wantType = URI
			w.MaxLength = 0 // all links have the same maximum length
		case "date-time":
			wantType = DateTime
		case "enum":
			wantType = Choice
		}
		if f.Name != w.Name || f.Type != wantType || f.Nullable != w.Nullable || f.Max != w.MaxLength {
			t.Errorf("%s: field %d is %+v, want %+v", e.Path, i, f, w)
		}
		if wantType == Choice && f.Enum != nil && !slices.Equal(f.Enum.Values, w.Enum) {
			t.Errorf("%s: field %s: enum %v, want %v", e.Path, f.Name, f.Enum.Values, w.Enum)
		}
	}
}

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

// TestEarlierFilters checks which filters of version 1 there are in HAPI names: a start is
// inclusive, an end exclusive, and the provider's names match a part. They are unknown in the
// contract's.
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
			if param := &p.Params[k]; param.Earlier {
				all = append(all, param.Name)
				end := param.Name[len(param.Name)-len("_min"):]
				op := map[string]index.Op{"_min": index.AtLeast, "_max": index.Below, "name": index.Contains}[end]
				field := strings.TrimSuffix(strings.TrimSuffix(param.Name, "_min"), "_max")
				if param.Op != op || !slices.Equal(param.Columns, []string{field}) {
					t.Errorf("%s: %+v, want op %d on %s", hapiEndpoints[i].Table, param, op, field)
				}
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
