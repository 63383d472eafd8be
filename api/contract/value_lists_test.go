package contract

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"

	"hdqs/index"
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
			} else if param.Several != want {
				t.Errorf("%s: %s has a list: %t, want %t", Endpoints[i].Path, name, param.Several, want)
			}
		}
	}
	if lists < 100 {
		t.Errorf("%d lists", lists)
	}
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
	if remedies < 100 {
		t.Errorf("only %d texts name a list", remedies)
	}
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
			if got := p.Literal(p.Exactly(text)); got != text {
				t.Errorf("%q is %q as a value, and %q again", text, p.Exactly(text), got)
			}
		}
	}
	for _, pattern := range []string{"A%", "_", `A\%_`, `A\B`} {
		if got := (&Param{Op: index.Like}).Literal(pattern); got != pattern {
			t.Errorf("%q is %q", pattern, got)
		}
	}
}
