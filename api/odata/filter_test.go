package odata

import (
	"math"
	"slices"
	"strings"
	"testing"

	"hdqs/aggregate"
	"hdqs/api/render"
	"hdqs/api/reply"
	"hdqs/index"
)

// fuzzSet has a property of each kind.
var fuzzSet = &set{Name: "things", Properties: []property{
	{Name: "name", kind: text, column: "name"},
	{Name: "number", kind: integer, column: "number", Nullable: true},
	{Name: "share", kind: float, column: "share"},
	{Name: "flag", kind: boolean, column: "flag"},
	{Name: "start", kind: day, column: "start"},
	{Name: "at", kind: instant, column: "at"},
	{Name: render.RowKeyField, kind: text},
}}

// FuzzFilter reads filters, and asks each condition of values near those that it names: what the
// index is asked must say the same as the condition.
func FuzzFilter(f *testing.F) {
	for _, filter := range []string{
		"name eq 'it''s'", "name in ('a','b') or name eq 'c'", "number gt 5 and number le 9", "5 lt number",
		"number eq 2.5", "number ne null", "not (number lt 3 or share ge -1.5e3)", "share gt 0.1", "flag", "not flag",
		"flag eq true", "year(start) eq 2024", "start ge 2024-02-29", "start le 2024-02-29T12:00:00Z",
		"at gt 2024-01-01T00:00:00.000001+02:00", "date(at) eq 2024-01-01", "contains(tolower(name),'x')",
		"not startswith(name,'')", "endswith(name,'é')", "true", "1 eq 2", "null eq null", "number in (1,null)",
		"(((number eq 1)))", "name eq 'a", "number eq 9223372036854775807", "number gt 9223372036854775807",
		"number ge -9223372036854775808", "share eq 1e308", "month(at) in (1,2)", "not not (flag and number eq 1)",
	} {
		f.Add(filter)
	}
	f.Fuzz(func(t *testing.T, filter string) {
		n, err := parseFilter(fuzzSet, filter)
		if err != nil {
			if _, is := err.(*reply.Fault); !is {
				t.Fatalf("%q: %v is no fault", filter, err)
			}
			return
		}
		if _, joined, err := fuzzSet.compile(n, nil); err != nil || joined != nil {
			return
		}
		for _, part := range conditions(n) {
			property := -1
			var values []value
			part.walk(func(c *node) {
				if c.op == constant {
					return
				}
				property = c.property
				for _, l := range c.literals {
					values = append(values, near(&l, fuzzSet.Properties[property].kind)...)
				}
			})
			if property < 0 {
				continue
			}
			same, err := parseFilter(fuzzSet, part.text)
			if err != nil && !strings.Contains(err.Error(), "more than") {
				t.Fatalf("%q has the part %q: %v", filter, part.text, err)
			}
			filters := fuzzSet.filtersOf(part, property)
			for _, v := range append(values, value{}) {
				asked := v
				if v.kind == day {
					asked.int = dayOf(v.int)
				}
				want := part.eval(&asked) == yes
				if same != nil && (same.eval(&asked) == yes) != want {
					t.Fatalf("%q has the part %q, which says something else of %+v", filter, part.text, v)
				}
				got := !slices.ContainsFunc(filters, func(f index.Filter) bool { return !passes(&f, v) })
				if got != want {
					t.Fatalf("%q asks %v of %+v: %t, want %t", filter, filters, v, got, want)
				}
			}
		}
	})
}

// near are values of a kind near a literal.
func near(l *value, k kind) (all []value) {
	switch k {
	case text:
		for _, s := range []string{l.text, l.text + "x", "x" + l.text, strings.ToUpper(l.text), ""} {
			all = append(all, value{kind: text, text: s})
		}
	case float:
		f := l.asFloat()
		for _, x := range []float64{f, math.Nextafter(f, math.Inf(1)), math.Nextafter(f, math.Inf(-1)), f + 1, 0} {
			all = append(all, value{kind: float, float: x})
		}
	case boolean:
		all = []value{{kind: boolean}, {kind: boolean, int: 1}}
	default:
		n := l.int
		if l.kind == float && math.Abs(l.float) < 1<<62 {
			n = int64(l.float)
		}
		for _, d := range []int64{0, 1, -1, microsPerDay, -microsPerDay, microsPerDay / 2} {
			if x := n + d; (k == integer || x > -1<<56 && x < 1<<56) && (d > 0) == (x > n) {
				all = append(all, value{kind: k, int: x})
			}
		}
	}
	return all
}

// passes is what a filter of the index says of a value, which is as it is stored.
func passes(f *index.Filter, v value) bool {
	if f.Op == index.Tested {
		switch t := f.Test; {
		case v.kind == null:
			return t.Null
		case v.kind == text:
			return t.Text(v.text)
		case v.kind == float:
			return t.Float(v.float)
		default:
			return t.Int(v.int)
		}
	}
	return v.kind == text && slices.Contains(f.Values, index.Value{Text: v.text})
}

// TestValueOf: a value of a computed record is what a filter compares with.
func TestValueOf(t *testing.T) {
	t.Parallel()
	const noon = int64(1_715_947_200_000_000) // 2024-05-17T12:00:00
	for _, c := range []struct {
		kind kind
		from aggregate.Value
		want value
	}{
		{text, aggregate.Value{}, value{}},
		{float, aggregate.Value{Kind: aggregate.Differ}, value{}},
		{text, aggregate.Value{Kind: aggregate.Text, Text: ""}, value{kind: text}},
		{text, aggregate.Value{Kind: aggregate.Text, Text: "null"}, value{kind: text, text: "null"}},
		{boolean, aggregate.Value{Kind: aggregate.Bool, Int: 1}, value{kind: boolean, int: 1}},
		{day, aggregate.Value{Kind: aggregate.Time, Int: noon}, value{kind: day, int: noon - microsPerDay/2}},
		{instant, aggregate.Value{Kind: aggregate.Time, Int: noon}, value{kind: instant, int: noon}},
		{integer, aggregate.Value{Kind: aggregate.Int, Int: 7}, value{kind: integer, int: 7}},
		{float, aggregate.Value{Kind: aggregate.Int, Int: 7}, value{kind: float, float: 7}},
		{float, aggregate.Value{Kind: aggregate.Decimal, Int: 125, Scale: 2}, value{kind: float, float: 1.25}},
		{float, aggregate.Value{Kind: aggregate.Float, Float: 0.1}, value{kind: float, float: 0.1}},
		{
			integer,
			aggregate.Value{Kind: aggregate.Int, Text: "10000000000000000000"},
			value{kind: float, float: 1e19},
		},
	} {
		p := property{kind: c.kind}
		if got := p.valueOf(c.from); got != c.want {
			t.Errorf("%v as %s is %v, want %v", c.from, kindNames[c.kind], got, c.want)
		}
	}
}
