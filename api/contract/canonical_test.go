package contract

import (
	"bytes"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
)

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
