package odata

import (
	"strings"
	"testing"

	"hdqs/aggregate"
	"hdqs/api/render"
	"hdqs/api/reply"
	"hdqs/internal/testkit"
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

// FuzzFilter reads filters: any text is one or a fault, and so are its parts. TestODataJoined
// proves what they mean.
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
			if _, err := parseFilter(fuzzSet, part.text); err != nil && !strings.Contains(err.Error(), "more than") {
				t.Fatalf("%q has the part %q: %v", filter, part.text, err)
			}
		}
	})
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
		{day, aggregate.Value{Kind: aggregate.Time, Int: -1}, value{kind: day, int: -microsPerDay}},
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
		testkit.Equal(t, p.valueOf(c.from), c.want, "%v as %s", c.from, kindNames[c.kind])
	}
}
