package schema

import (
	"slices"
	"testing"

	"hdqs/internal/testkit"
)

// TestLists finds literals that name columns that they do not have, or contradict themselves.
func TestLists(t *testing.T) {
	t.Parallel()
	tables := map[string]bool{}
	for _, l := range Lists {
		if tables[l.Table] {
			t.Errorf("%s: table %s is declared twice", l.Path, l.Table)
		}
		tables[l.Table] = true
		for _, name := range slices.Concat(l.Record, l.Order, l.Key, l.LastingKey(), l.Rounds) {
			if l.Column(name) == nil {
				t.Errorf("%s: no column %q, which record, order or key name", l.Path, name)
			}
		}
		for _, f := range l.Filters {
			c := l.Column(f.Column)
			if c == nil {
				t.Errorf("%s: a filter of %q, which is no column", l.Path, f.Column)
				continue
			}
			number := c.Kind == Integer || c.Kind == Decimal || c.Kind == Time
			if (f.Match == Like || f.Match == Contains) && c.Kind != Text || f.Match == Between && !number {
				t.Errorf("%s: filter %s does not go with the column's kind %d", l.Path, f.Column, c.Kind)
			}
		}
		for i, c := range l.Columns {
			if l.Column(c.Name) != &l.Columns[i] || c.Bounds != nil && c.Kind != Integer && c.Kind != Decimal {
				t.Errorf("%s: column %s is declared twice, or bounded and no number", l.Path, c.Name)
			}
			whole := !slices.ContainsFunc(l.Columns, func(o Column) bool { return o.Group == c.Group && !o.Added })
			if c.Added && (!c.Null || c.Hidden != (c.Group != "") || c.Group != "" && !whole) {
				t.Errorf("%s: %s was added: it may be null, and is hidden only in a group of such", l.Path, c.Name)
			}
			if (c.Kind == Choice) != (c.Enum != nil) || c.Use != 0 && c.Noun == "" {
				t.Errorf("%s: column %+v is inconsistent", l.Path, c)
			}
		}
		if l.Data() == (l.Dimensions == nil) && slices.ContainsFunc(l.Columns, func(c Column) bool {
			return c.Use == Added || c.Use == Averaged
		}) {
			t.Errorf("%s: amounts or averages without dimensions", l.Path)
		}
	}
}

// TestDefaults: what literals leave out follows from their columns and their order.
func TestDefaults(t *testing.T) {
	t.Parallel()
	l := &List{
		Path: "climate/air-quality",
		Columns: columns(place2, decimal("late").added(), text("pollutant", 32), text("inner", 9).hidden(),
			period, resource),
		Order: names([]string{"admin2_ref", "pollutant", PeriodStart}, providers),
	}
	complete([]*List{l})
	if l.Table != "air_quality" || l.Source.Role != "air-quality" || l.Source.Dataset != "hdx-hapi-air-quality" {
		t.Errorf("table %q, source %+v", l.Table, l.Source)
	}
	testkit.EqualLists(t, l.Record, names(geo, []string{resourceID, "pollutant"}, dates, []string{"late"}), "record")
	want := names([]string{"stored_admin2_code"}, providers, []string{"pollutant", PeriodStart})
	testkit.EqualLists(t, l.LastingKey(), want, "key")
}
