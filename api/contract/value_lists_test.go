package contract

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
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
			whole := param.Op == Equal || param.Op == Like
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

// TestLists checks how lists are read: equal ones have one canonical form, and parameters that are
// repeated or have a comma are hinted at.
func TestLists(t *testing.T) {
	prices := planOf("/api/v2/food-security-nutrition-poverty/food-prices-market-monitor")
	admin1 := planOf("/api/v2/metadata/admin1")
	datasets := planOf("/api/v2/metadata/dataset")
	for _, c := range []struct {
		plan   *Plan
		want   string
		forms  []string
		hinted string
	}{
		{prices, "location_code__in=AFG%2CSDN%2CTCD", []string{
			"location_code__in=AFG,SDN,TCD", "location_code__in=TCD%2CAFG%2cSDN,AFG",
			"location_code__in=SDN,AFG&location_code__in=TCD",
			"location_code%5F_in=TCD&location_code__in=SDN&location_code__in=AFG,SDN",
		}, ""},
		{prices, "location_code=AFG&location_code__in=SDN%2CTCD", []string{
			"location_code__in=TCD,SDN&location_code=AFG",
		}, ""},
		{prices, "location_code__in=A%25%2CS_N", []string{"location_code__in=S_N,A%25"}, ""},
		{prices, "price_flag__in=actual%2Cactual%5C%2Caggregate", []string{
			`price_flag__in=actual\,aggregate,actual`, "price_flag__in=actual&price_flag__in=actual%5C%2Caggregate",
		}, ""},
		{prices, "price_flag__in=actual%2Caggregate", []string{"price_flag__in=aggregate,actual"}, ""},
		{prices, "price_flag=actual%2Caggregate", []string{"price_flag=actual,aggregate"}, ""},
		{prices, "admin_level__in=0%2C1", []string{"admin_level__in=1,0,1"}, ""},
		{prices, "market_code__in=a%5C%2Cb%2Cc%5C%5C", []string{`market_code__in=c\\,a\,b`}, ""},
		{admin1, "id__in=-1%2C2%2C10%2C9223372036854775808", []string{
			"id__in=10,02,+2,2.0,99999999999999999999,-1",
		}, ""},
		{datasets, `dataset_catalog_stub__in=a%5C%2Cb%2Cc%2Cd%5C%5Ce`, []string{`dataset_catalog_stub__in=d\e,c,a\,b`}, ""},
		{datasets, `dataset_catalog_stub__in=a%5C%5C`, []string{
			`dataset_catalog_stub__in=a\`, `dataset_catalog_stub__in=a\\`,
		}, ""},
		{prices, "location_code=AFG%2CSDN", []string{
			"location_code=AFG,SDN", "location_code=AFG%2CSDN",
		}, "location_code"},
		{prices, "location_code=SDN&price_flag=actual", []string{
			"price_flag=aggregate&location_code=AFG&location_code=SDN&price_flag=actual",
		}, "location_code price_flag"},
		{prices, "location_code=SDN&location_name=a%2Cb", []string{
			"location_code=SDN&location_name=x&location_name=a,b&location_code=SDN",
		}, ""},
	} {
		for _, form := range c.forms {
			if got, ok := canonicalOf(t, c.plan, form); !ok || got != c.want {
				t.Errorf("%q: canonical form %q (valid: %v), want %q", form, got, ok, c.want)
			}
			var r Request
			r.Scan(c.plan, []byte(form))
			if err := r.Parse(); err != nil {
				t.Error(err)
			}
			if got := strings.Join(r.Hinted(), " "); got != c.hinted {
				t.Errorf("%q: hints at %q, want %q", form, got, c.hinted)
			}
		}
		checkCanonical(t, c.plan, c.want)
	}
}

// TestBadLists checks the errors of lists.
func TestBadLists(t *testing.T) {
	prices := planOf("/api/v2/food-security-nutrition-poverty/food-prices-market-monitor")
	many := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprint("C", i))
		}
		return strings.Join(all, ",")
	}
	for _, c := range []struct{ query, types, text string }{
		{"location_code__in=", "too_short", "at least 1 value"},
		{"location_code__in", "too_short", "location_code__in"},
		{"location_code__in=,", "value_error value_error", "value 1 of the list is empty"},
		{"location_code__in=AFG,,SDN", "value_error", "value 2 of the list is empty"},
		{"location_code__in=AFG&location_code__in=", "too_short", ""},
		{"location_code__in=" + many(200), "", ""},
		{"location_code__in=" + many(201), "too_long", "at most 200 values, not 201"},
		{"location_code__in=" + many(150) + "&location_code__in=" + many(51), "too_long", "not 201"},
		{"location_code__in=AFG," + strings.Repeat("x", 129), "string_too_long", "128"},
		{"location_code__in=AFG," + strings.Repeat(`\,`, 128), "", ""}, // the escapes do not count
		{"location_code__in=AFG," + strings.Repeat(`\,`, 129), "string_too_long", "128"},
		{"price_flag__in=actual,x", "enum", `write the comma of a value as \,`},
		{"price_type__in=Retail,retail,x", "enum enum", "'Farm Gate'"},
		{
			"price_type__in=" + strings.Repeat("x,", 50) + "x",
			strings.TrimSpace(strings.Repeat("enum ", maxListFaults)), "",
		},
		{"admin_level__in=0,3", "enum", "'0', '1' or '2'"},
		{
			"location_name__in=Chad,Mali", "extra_forbidden",
			"location_name takes one value; use location_code__in for several",
		},
		{"location_name__in=a&location_name__in=b", "extra_forbidden", "location_code__in"},
		{"location%5Fname__in=", "extra_forbidden", "location_code__in"},
		{"price_min__in=1,2", "extra_forbidden", "price_min takes one value; send price_min=VALUE"},
		{"has_hrp__in=true&limit__in=3", "extra_forbidden extra_forbidden", "has_hrp=VALUE"},
		{"start_date__in=x&price_type__in=x", "enum extra_forbidden", ""},
		{"location_code__in__in=x", "", ""},
		{"location_names__in=x", "", ""},
	} {
		var r Request
		var types []string
		text := ""
		for range 2 { // the second time with the memory of the first
			types = nil
			r.Scan(prices, []byte(c.query))
			if fault, ok := errors.AsType[*Invalid](r.Parse()); ok {
				for _, issue := range fault.Issues {
					types, text = append(types, issue.Type), fault.Issues[0].Text
				}
			}
		}
		if strings.Join(types, " ") != c.types || !strings.Contains(text, c.text) {
			t.Errorf("%.80s: %v %q, want %s with %q", c.query, types, text, c.types, c.text)
		}
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
					r.Scan(p, []byte(name+"__in=x,y"))
					fault, ok := errors.AsType[*Invalid](r.Parse())
					if !ok || len(fault.Issues) != 1 || fault.Issues[0].Param != param.Name+SeveralSuffix {
						t.Fatalf("%s: %s__in: %+v", p.Endpoint.Path, name, fault)
					}
					_, use, found := strings.Cut(fault.Issues[0].Text, "; use ")
					if !found {
						continue
					}
					remedies++
					list, _, _ := strings.Cut(use, " ")
					if p := p.find(list); p == nil || !p.List {
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

// TestListsUnderBothNames checks that a list under both of its names must be the same list.
func TestListsUnderBothNames(t *testing.T) {
	plan := planOf("/api/v2/food-security-nutrition-poverty/food-security")
	for _, c := range []struct{ query, want string }{
		{"ipc_phase__in=1,2", "classification_phase__in=1%2C2"},
		{"ipc_phase__in=1,2&classification_phase__in=2,1", "classification_phase__in=1%2C2"},
		{"ipc_phase__in=2&classification_phase__in=2,1&ipc_phase__in=1", "classification_phase__in=1%2C2"},
		{"ipc_phase__in=1,2&classification_phase__in=1", ""},
		{"ipc_phase__in=1&classification_phase__in=1,2", ""},
		{"ipc_phase__in=1,x&classification_phase__in=1", ""},
		{
			"ipc_phase__in=1&classification_phase=1&classification_phase__in=1",
			"classification_phase=1&classification_phase__in=1",
		},
		{
			"ipc_phase=3%2B&classification_phase__in=1,3%2B&ipc_type__in=current",
			"classification_phase=3%2B&classification_phase__in=1%2C3%2B&classification_type__in=current",
		},
	} {
		query, want := c.query, c.want
		if got, _ := canonicalOf(t, plan, query); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
		var r Request
		r.Scan(plan, []byte(query))
		fault, ok := errors.AsType[*Invalid](r.Parse())
		if ok && !strings.Contains(query, "x") && (len(fault.Issues) != 1 ||
			!strings.Contains(fault.Issues[0].Text, "classification_phase__in and ipc_phase__in ")) {
			t.Errorf("%s: %+v", query, fault)
		}
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
		var values []Value
		p := &Param{Type: String, Op: Equal}
		if pattern {
			p.Op = Like
		}
		for _, text := range got {
			values = append(values, Value{Text: text})
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

// TestListSorted compares the values of random lists, up to the longest, with the same values
// sorted plainly: texts with common beginnings, repeats, texts that are another one's beginning.
func TestListSorted(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	var plan *Plan
	for i := range Endpoints {
		if strings.HasSuffix(Endpoints[i].Path, "/conflict-events") {
			plan = NewPlan(&Endpoints[i], Rows)
		}
	}
	for range 3000 {
		begin := strings.Repeat("x", random.IntN(3)*random.IntN(6))
		values := make([]string, 1+random.IntN(MaxValues))
		letters := 1 + random.IntN(26)
		for i := range values {
			text := []byte(begin)
			for range 1 + random.IntN(11) {
				text = append(text, byte('a'+random.IntN(letters)))
			}
			values[i] = string(text)
		}
		got, ok := canonicalOf(t, plan, "admin2_code__in="+strings.Join(values, ","))
		slices.Sort(values)
		if want := "admin2_code__in=" + strings.Join(slices.Compact(values), "%2C"); !ok || got != want {
			t.Fatalf("%s, want %s", got, want)
		}
	}
}
