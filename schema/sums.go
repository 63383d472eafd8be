package schema

import "slices"

// Which rows may be added up is declared in three parts: the key of a row, the use of each number
// of a record, and what a sum over each other field would mean.

// Use is what may be done with the numbers of a field.
type Use uint8

// The uses. Added are amounts, such as people or money. An average of an Averaged field means
// something, a sum does not. Apart are rates, indices and ranks: neither does. A Label is a number
// that names something, such as a level or a round.
const (
	Added Use = 1 + iota
	Averaged
	Apart
	Label
)

// Spread is how the rows with different values of a dimension relate to one another.
type Spread uint8

// The kinds of dimension. In Parts nothing is counted twice. Levels are those of places, of which
// each contains the next one. Totals are parts of which some values contain others. Overlapping
// values count the same people. The figures of Alike can only be compared within one value, which
// matters to averages. Flow is the period of figures that add up over time, Stock that of figures
// of which each counts everything anew, Yearly that of figures of a year that are not added up over
// years.
const (
	Parts Spread = 1 + iota
	Levels
	Totals
	Overlapping
	Alike
	Flow
	Stock
	Yearly
)

// Dimension declares what adding over a field of a record means.
type Dimension struct {
	Field  string
	Kind   Spread
	Also   []string // further fields that tell the same: names, ages as numbers
	Totals []Total  // Totals: which values contain others
	Ranges bool     // Totals: values are also ranges of ages, which can contain or overlap others
	Keep   string   // the value of rows that are not broken down, such as all

	Everybody []string // values of rows that count everybody
}

// Total is a value that contains others.
type Total struct {
	Value string
	Parts []string // nil: all others
}

// Of lists the values among some that the total contains.
func (t *Total) Of(values []string) []string {
	var parts []string
	for _, v := range values {
		if v != t.Value && (t.Parts == nil || slices.Contains(t.Parts, v)) {
			parts = append(parts, v)
		}
	}
	return parts
}

// The functions that declarations are made of.

func dimensions(parts ...[]Dimension) []Dimension { return slices.Concat(parts...) }

func parts(field string, also ...string) []Dimension { return dimension(Parts, field, also) }
func overlapping(field string, also ...string) []Dimension {
	return dimension(Overlapping, field, also)
}
func alike(field string, also ...string) []Dimension { return dimension(Alike, field, also) }

func dimension(kind Spread, field string, also []string) []Dimension {
	return []Dimension{{Field: field, Kind: kind, Also: also}}
}

// totals declares the values of a field that contain others.
func totals(field string, all ...Total) []Dimension {
	return []Dimension{{Field: field, Kind: Totals, Totals: all}}
}

// keep sets the value that rows of a dimension have if they are not broken down.
func keep(value string, d []Dimension) []Dimension {
	d[0].Keep = value
	return d
}

// everybody sets the values of rows that count everybody.
func everybody(values []string, d []Dimension) []Dimension {
	d[0].Everybody = values
	return d
}

// total is a value that contains the given others, all without any.
func total(value string, parts ...string) Total { return Total{Value: value, Parts: parts} }

// Dimensions that lists share.
var (
	levels    = []Dimension{{Field: "admin_level", Kind: Levels}}
	inCountry = parts("location_code", "location_name")
	inUnit1   = dimensions(inCountry, parts("admin1_code", "admin1_name"), levels)
	inUnit2   = dimensions(inUnit1, parts("admin2_code", "admin2_name"))
	fromFile  = parts(resourceID)

	byGender = everybody([]string{"all"}, keep("all", totals("gender", total("all"))))
	byAge    = []Dimension{{
		Field: "age_range", Kind: Totals, Also: []string{"min_age", "max_age"}, Totals: []Total{total("all")},
		Ranges: true, Keep: "all", Everybody: []string{"all"},
	}}
	anyGroup   = overlapping("population_group")
	betweenTwo = dimensions(
		parts("origin_location_code", "origin_location_name"), parts("asylum_location_code", "asylum_location_name"),
	)

	flow   = []Dimension{{Field: PeriodStart, Kind: Flow, Also: []string{PeriodEnd}}}
	stock  = []Dimension{{Field: PeriodStart, Kind: Stock, Also: []string{PeriodEnd}}}
	yearly = []Dimension{{Field: PeriodStart, Kind: Yearly, Also: []string{PeriodEnd}}}
)
