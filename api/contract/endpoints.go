package contract

import (
	"hdqs/index"
	"hdqs/schema"
)

// Endpoints are all list endpoints, in the order of the specification.
var Endpoints = func() []Endpoint {
	all := make([]Endpoint, len(schema.Lists))
	for i, l := range schema.Lists {
		all[i] = endpointOf(l)
	}
	return all
}()

// endpointOf is the endpoint of a list.
func endpointOf(l *schema.List) Endpoint {
	e := Endpoint{
		Path: v2Root + l.Path, Table: l.Table, Summary: l.Summary, Note: l.Note,
		Key: l.LastingKey(), Order: l.Order, Rounds: l.Rounds,
		Dimensions: l.Dimensions, Edition: l.Edition, Provisional: l.Provisional,
	}
	for _, c := range l.Fields() {
		e.Fields = append(e.Fields, fieldOf(c))
		if c.Use != 0 {
			e.Figures = append(e.Figures, Figure{Field: c.Name, Use: c.Use, Noun: c.Noun})
		}
	}
	for i := range l.Filters {
		f := &l.Filters[i]
		e.Params = append(e.Params, filterOf(f, l.Column(f.Column))...)
	}
	place := placeFilters(l)
	if l.Column("provider_admin1_name") != nil {
		e.Place = place
	} else {
		e.Params = append(e.Params, place...)
	}
	for _, prefix := range []string{"origin_", "asylum_"} {
		if l.Column(prefix+"location_code") != nil {
			e.Params = append(e.Params, countryFilters(prefix)...)
			e.Params = append(e.Params, flagFilters(prefix)...)
		}
	}
	if flags := l.Column("has_hrp"); flags != nil && flags.Hidden {
		e.Params = append(e.Params, flagFilters("")...)
	}
	if l.Column(PeriodStart) != nil {
		e.Params = append(e.Params, dates...)
	}
	e.Params = append(e.Params, groupFilters(l)...)
	return e
}

// Filters of a period.
var dates = []Param{
	{Name: StartParam, Type: Day, Op: index.AtLeastOrNull, Columns: []string{PeriodEnd}},
	{Name: EndParam, Type: Day, Op: index.Below, Columns: []string{PeriodStart}},
}

// placeFilters are the filters by the place of a row. Places are matched as they are stored, not as
// they are printed: the stored columns have the placeholder codes and names that records print as
// null.
func placeFilters(l *schema.List) []Param {
	country := l.Column("location_code")
	if !l.Data() && l.Column("admin_level") == nil || country == nil {
		return nil
	}
	all := countryFilters("")
	for _, level := range []string{"1", "2"} {
		names := []string{"stored_admin" + level + "_name"}
		if l.Column(names[0]) == nil {
			continue
		}
		if provider := "provider_admin" + level + "_name"; l.Column(provider) != nil {
			names = append(names, provider)
		}
		all = append(all, textFilter(index.Like, "admin"+level+"_code", 128, "stored_admin"+level+"_code"),
			textFilter(index.Contains, "admin"+level+"_name", 512, names...))
	}
	if l.Column(levelField) != nil {
		level := Param{
			Name: levelField, Type: Choice, Enum: levelOrCoarsest, Op: index.Equal, Columns: []string{levelField},
			Several: true,
		}
		if l.Column(PeriodStart) == nil { // rows without periods do not contain one another
			level.Enum = adminLevel
		}
		all = append(all, level)
	}
	return all
}

func countryFilters(prefix string) []Param {
	return []Param{
		textFilter(index.Like, prefix+"location_code", 128), textFilter(index.Contains, prefix+"location_name", 512),
	}
}

func flagFilters(prefix string) (flags []Param) {
	for _, name := range []string{prefix + "has_hrp", prefix + "in_gho"} {
		flags = append(flags, Param{Name: name, Type: Boolean, Op: index.Equal, Columns: []string{name}})
	}
	return flags
}

// types are those of the kinds of columns.
var types = map[schema.Kind]Type{
	schema.Text: String, schema.URI: URI, schema.Choice: Choice, schema.Integer: Integer, schema.Decimal: Number,
	schema.Flag: Boolean, schema.Time: DateTime,
}

func fieldOf(c *schema.Column) Field {
	return Field{Name: c.Name, Type: types[c.Kind], Nullable: c.Null, Max: c.MaxLen, Enum: enumOf(c.Enum)}
}

// enums has the enumerations of columns: those of several lists are one.
var enums = map[*schema.Enum]*Enum{}

func enumOf(e *schema.Enum) *Enum {
	if e != nil && enums[e] == nil {
		enums[e] = newEnum(e.Name, e.Values...)
	}
	return enums[e]
}

// filterOf makes the parameters of a filter.
func filterOf(f *schema.Filter, c *schema.Column) []Param {
	p := Param{
		Name: f.Column, Type: types[c.Kind], Max: f.MaxLen, Enum: enumOf(c.Enum), Op: index.Equal,
		Columns: []string{f.Column}, Several: f.Several, example: f.Sample,
	}
	if p.Type == String && p.Max == 0 {
		p.Max = c.MaxLen
	}
	if f.Exact {
		p.Type = Exact
	}
	switch f.Match {
	case schema.Between:
		return between(f.Column, p.Type)
	case schema.Like:
		p.Op = index.Like
	case schema.Contains:
		p.Op = index.Contains
	}
	return []Param{p}
}
