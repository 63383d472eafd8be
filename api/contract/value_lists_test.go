package contract

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"

	"hdqs/index"
	"hdqs/internal/testkit"
)

// TestListParams checks which parameters have a list: all that match a code, an enum or an id.
func TestListParams(t *testing.T) {
	lists := 0
	for i := range Endpoints {
		p := NewPlan(&Endpoints[i], Rows)
		for k, param := range p.Params {
			if param.Own != nil {
				continue
			}
			name := param.single()
			whole := param.Op == index.Equal || param.Op == index.Like
			want := param.Columns != nil && param.Type != Boolean && (whole || isCodeName(name)) &&
				!strings.HasSuffix(name, "_name")
			if param.List {
				lists++
				if plain := p.Params[k-1]; plain.Name != name || !plain.Several || plain.Op != param.Op ||
					!slices.Equal(plain.Columns, param.Columns) {
					t.Errorf("%s: %s follows %s", Endpoints[i].Path, param.Name, plain.Name)
				}
			} else {
				testkit.Equal(t, param.Several, want, "%s: %s has a list", Endpoints[i].Path, name)
			}
		}
	}
	testkit.AtLeast(t, lists, 100, "lists")
}

// TestUnlisted checks what is said about a list of each parameter that has none, under both names:
// its own name, and a list that there is.
func TestUnlisted(t *testing.T) {
	remedies := 0
	for set := range NameSet(2) {
		for i := range EndpointsIn(set) {
			p := NewPlan(&EndpointsIn(set)[i], Rows)
			for k := range p.Params {
				param := &p.Params[k]
				if param.List || param.Several {
					continue
				}
				for _, name := range []string{param.Name, param.Twin()} {
					if name == "" {
						continue
					}
					var r Request
					r.Scanned.Scan(p, []byte(name+"__in=x,y"))
					fault, ok := errors.AsType[*Invalid](r.Parse())
					if !ok || len(fault.Issues) != 1 || fault.Issues[0].Param != param.Name+SeveralSuffix {
						t.Fatalf("%s: %s__in: %+v", p.Endpoint.Path, name, fault)
					}
					_, use, found := strings.Cut(fault.Issues[0].Text.String(), "; use ")
					if !found {
						continue
					}
					remedies++
					list, _, _ := strings.Cut(use, " ")
					if p := p.Param(list); p == nil || !p.List {
						t.Error(fault.Issues[0].Text)
					}
				}
			}
		}
	}
	testkit.AtLeast(t, remedies, 100, "texts name a list")
}

// cutSlowly cuts a list in another way: it first finds which bytes are escaped.
func cutSlowly(list string, pattern bool) []string {
	escaped := make([]bool, len(list)+1)
	for i := 0; i < len(list); i++ {
		if list[i] != '\\' || escaped[i] || i+1 == len(list) {
			continue
		}
		escaped[i+1] = pattern || list[i+1] == ',' || list[i+1] == '\\'
	}
	values := []string{""}
	for i := range len(list) {
		last := &values[len(values)-1]
		switch {
		case list[i] == ',' && !escaped[i]:
			values = append(values, "")
		case list[i] == '\\' && !escaped[i] && escaped[i+1] && !pattern:
		case list[i] == '\\' && !escaped[i] && i+1 == len(list) && pattern:
			*last += `\\`
		default:
			*last += list[i : i+1]
		}
	}
	return values
}

// FuzzCutValue compares the two ways to cut a list. It also checks that a list that is written from
// its values is cut into them again.
func FuzzCutValue(f *testing.F) {
	for _, seed := range []string{`a,b`, `a\,b,c`, `a\\,b`, `\`, `a,\`, `\\\,`, `%,_\%`, `,`, `é\é,`, "a\\\x00,b"} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, list string, pattern bool) {
		var got []string
		for rest, more := list, true; more; {
			var one string
			one, rest, more = cutValue(rest, pattern)
			got = append(got, one)
		}
		if want := cutSlowly(list, pattern); !slices.Equal(got, want) {
			t.Fatalf("%q, pattern %t: %q, want %q", list, pattern, got, want)
		}
		var values []index.Value
		p := &Param{Type: String, Op: index.Equal}
		if pattern {
			p.Op = index.Like
		}
		for _, text := range got {
			values = append(values, index.Value{Text: text})
		}
		written, err := url.QueryUnescape(string(appendList(nil, p, values)))
		if again := cutSlowly(written, pattern); err != nil || !slices.Equal(got, again) {
			t.Fatalf("%q, pattern %t: %q is written as %q, which is %q: %v", list, pattern, got, written, again, err)
		}
	})
}

// TestListOrder checks that permuted lists with repeats have one canonical form.
func TestListOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(15, 2))
	for i := range Endpoints {
		plan := NewPlan(&Endpoints[i], Rows)
		for _, p := range plan.Params {
			if !p.List {
				continue
			}
			values := p.exampleList()
			if p.Type == String {
				values = append(values, "b", "a", `x\\y`, "é")
			}
			want := ""
			for range 5 {
				random.Shuffle(len(values), func(i, k int) { values[i], values[k] = values[k], values[i] })
				all := append(values, values[random.IntN(len(values))])
				got, ok := canonicalOf(t, plan, p.Name+"="+url.QueryEscape(strings.Join(all, ",")))
				if !ok || want != "" && got != want {
					t.Errorf("%s: %s=%q: %s, want %s", plan.Endpoint.Path, p.Name, all, got, want)
				}
				want = got
			}
		}
	}
}

// TestLongLists checks the limits of lists: of values, of their length, and of faults.
func TestLongLists(t *testing.T) {
	prices := planOf("/api/v2/food-security-nutrition-poverty/food-prices-market-monitor")
	many := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprint("C", i))
		}
		return strings.Join(all, ",")
	}
	for query, want := range map[string]string{
		"location_code__in=" + many(MaxValues):                              "",
		"location_code__in=" + many(MaxValues+1):                            "at most 200 values, not 201",
		"location_code__in=" + many(150) + "&location_code__in=" + many(51): "not 201",
		"location_code__in=AFG," + strings.Repeat("x", 129):                 "at most 128 characters",
		"location_code__in=AFG," + strings.Repeat(`\,`, 128):                "", // the escapes do not count
		"location_code__in=AFG," + strings.Repeat(`\,`, 129):                "at most 128 characters",
		"price_type__in=" + strings.Repeat("x,", 50) + "x":                  "'Farm Gate'",
		"fields=" + strings.Repeat("price,", MaxValues) + "price":           "at most 200 values, not 201",
		strings.Repeat("x=1&", 2*maxUnknownKept) + "limit__in=7":            "limit takes one value",
	} {
		var r Request
		r.Scanned.Scan(prices, []byte(query))
		err := r.Parse()
		fault, refused := errors.AsType[*Invalid](err)
		switch {
		case !refused && (want != "" || err != nil):
			t.Errorf("%.80s: %v, want %s", query, err, want)
		case refused && (want == "" || !strings.Contains(fault.Issues[0].Text.String(), want)):
			t.Errorf("%.80s: %s, want %s", query, fault.Issues[0].Text, want)
		case refused && len(fault.Issues) > maxListFaults:
			t.Errorf("%.80s: %d issues", query, len(fault.Issues))
		}
	}
}

// TestOwnLists: a page may name more countries than a request from outside.
func TestOwnLists(t *testing.T) {
	t.Parallel()
	at := slices.IndexFunc(Endpoints, func(e Endpoint) bool { return e.Table == "conflict_event" })
	plan := NewPlan(&Endpoints[at], Aggregate)
	var codes []string
	for i := range MaxValues + 1 {
		codes = append(codes, fmt.Sprintf("C%d", i))
	}
	query := []byte("measures=count&location_code__in=" + strings.Join(codes, ","))
	var r Request
	if r.Scanned.Scan(plan, query); r.Parse() == nil {
		t.Error("a list that is too long is not refused")
	}
	r.Scanned.Scan(plan, query)
	r.Scanned.IsLong = true
	if err := r.Parse(); err != nil || len(r.Question.Filters[0].Values) != len(codes) {
		t.Errorf("%v, %d filters", err, len(r.Question.Filters))
	}
	if r.Scanned.Scan(plan, query); r.Parse() == nil {
		t.Error("the next request may be as long")
	}
}

// TestLiteral: a text comes back from the value that asks for it as it is, and a value with
// wildcards stays.
func TestLiteral(t *testing.T) {
	t.Parallel()
	for _, op := range []index.Op{index.Equal, index.Like, index.Contains} {
		p := &Param{Op: op}
		for _, text := range []string{"AFG", "100%", `A\_B`, `\`, `\\%`, "a,b", ""} {
			testkit.Equal(t, p.Literal(p.Exactly(text)), text, "a text that is the value %q", p.Exactly(text))
		}
	}
	for _, pattern := range []string{"A%", "_", `A\%_`, `A\B`} {
		testkit.Equal(t, (&Param{Op: index.Like}).Literal(pattern), pattern, "a value with wildcards")
	}
}

// canonicalOf returns the canonical form of a query; ok is false when the query is invalid.
func canonicalOf(t *testing.T, p *Plan, query string) (form string, ok bool) {
	t.Helper()
	var r Request
	r.Scanned.Scan(p, []byte(query))
	if r.Parse() != nil {
		return "", false
	}
	return string(r.AppendCanonical(nil)), true
}

// checkCanonical parses a query and its canonical form. Both must have the same filters, the same
// page and the same canonical form.
func checkCanonical(t *testing.T, p *Plan, query string) {
	t.Helper()
	var first, again Request
	first.Scanned.Scan(p, []byte(query))
	if first.Parse() != nil {
		return
	}
	canonical := first.AppendCanonical(nil)
	again.Scanned.Scan(p, canonical)
	if err := again.Parse(); err != nil {
		t.Fatalf("%q: the canonical form %q is rejected: %v", query, canonical, err)
	}
	if twice := again.AppendCanonical(nil); !bytes.Equal(twice, canonical) {
		t.Fatalf("%q: the canonical form is %q, and the canonical form of that %q", query, canonical, twice)
	}
	text := func(r *Request) string {
		var filters []string
		for _, f := range r.Question.Filters {
			v := fmt.Sprint(f.Param, f.Value.Text, f.Value.Int, f.Value.Beyond, f.Value.Float+0, f.Value.Exact,
				f.Values)
			filters = append(filters, v)
		}
		slices.Sort(filters)
		return fmt.Sprint(filters, r.Question.Limit, min(r.Question.Offset, 1<<62), r.Question.Format)
	}
	if a, b := text(&first), text(&again); a != b && !strings.Contains(a, "-0") {
		t.Fatalf("%q: the canonical form %q means something else:\n%s\n%s", query, canonical, a, b)
	}
}

// FuzzCanonical checks that a canonical form has the meaning of its query and is its own canonical
// form.
func FuzzCanonical(f *testing.F) {
	for i := range Endpoints {
		for _, param := range NewPlan(&Endpoints[i], Rows).Params {
			f.Add(uint8(i), param.Name+"="+url.QueryEscape(param.Example())+"&"+param.Name+"=%20&limit=03&offset=7")
		}
	}
	f.Add(uint8(22), `price_flag__in=actual\,aggregate,actual&location_code__in=%25A,\&location_code__in=b\,c&location_code=x,y`)
	f.Add(uint8(0), `dataset_hdx_id__in=a\\,b\&dataset_catalog_id__in=b\\,a%5C`)
	f.Add(uint8(0), "update_date_min=-62135596800&update_date_max=253402300799&id=%F0%9F%8C%8D&snapshot=x")
	f.Fuzz(func(t *testing.T, which uint8, query string) {
		checkCanonical(t, NewPlan(&Endpoints[int(which)%len(Endpoints)], Rows), query)
	})
}

// TestRequests reads the requests of testdata/requests.txt. The canonical form of each must have
// the same meaning.
func TestRequests(t *testing.T) {
	text := testkit.ReadFile(t, "testdata/requests.txt")
	var p *Plan
	ran := 0
	for number, line := range strings.Split(string(text), "\n") {
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			p = planNamed(t, strings.Trim(line, "[]"))
		default:
			query, want, _ := strings.Cut(line, " -> ")
			var r Request
			for range 2 { // the second time with the memory of the first
				testkit.Equal(t, readRequest(&r, p, query), want, "line %d: %s", number+1, query)
			}
			checkCanonical(t, p, query)
			ran++
		}
	}
	testkit.AtLeast(t, ran, 200, "requests")
}

// planNamed returns the plan of a heading: an endpoint, a kind other than rows, a set of names.
func planNamed(t *testing.T, heading string) *Plan {
	t.Helper()
	path, hapi := strings.CutSuffix(heading, " hapi")
	name, kind := kindOf(path)
	set := ContractNames
	if hapi {
		set = HAPINames
	}
	for i := range Endpoints {
		if Endpoints[i].Name() == name {
			return NewPlan(&EndpointsIn(set)[i], kind)
		}
	}
	t.Fatalf("there is no %s", heading)
	return nil
}

// readRequest reads a request and returns what testdata/requests.txt says of it.
func readRequest(r *Request, p *Plan, query string) string {
	r.Scanned.Scan(p, []byte(query))
	err := r.Parse()
	if invalid, ok := errors.AsType[*Invalid](err); ok {
		text := ""
		for _, issue := range invalid.Issues {
			text += " ! " + issue.Type + " " + issue.Param + ": " + issue.Text.String()
		}
		return text[1:]
	}
	if err != nil {
		return "! " + err.Error()
	}
	text := cmp.Or(string(r.AppendCanonical(nil)), "nothing")
	if p.Kind == Aggregate {
		text += " fields " + strings.Join(FieldNames(r.Question.AggregateFields()), " ")
	}
	if hinted := r.Scanned.Hinted(); hinted != nil {
		text += " hint " + strings.Join(hinted, " ")
	}
	return text
}

// kindOf splits the path of a kind. A path without the name of one is of Rows.
func kindOf(path string) (endpoint string, kind Kind) {
	for k := Rows + 1; k < Figures; k++ {
		if before, is := strings.CutSuffix(path, "/"+k.String()); is {
			return before, k
		}
	}
	return path, Rows
}
