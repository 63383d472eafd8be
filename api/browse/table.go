package browse

import (
	"cmp"
	"slices"
	"strings"

	"hdqs/api/contract"
	"hdqs/api/lang"
	"hdqs/api/textual"
)

// quiet are fields that the table leaves out unless it is asked for, besides codes that have a name
// beside them. The whole record has them.
var quiet = []string{"min_age", "max_age", "lat", "lon"}

func isQuiet(e *contract.Endpoint, name string) bool {
	own := contract.ContractNames.Name(name)
	if own == "resource_catalog_id" {
		return e.Table != "resource"
	}
	if slices.Contains(quiet, own) && len(e.Figures) > 0 {
		return true
	}
	before, isCode := strings.CutSuffix(name, "_code")
	return isCode && (e.HasField(before+"_name") || e.HasField(before+"_description"))
}

// Places of fields in a table. What a reader needs first is in the first screen: where, what, how
// much, when.
const (
	country = iota
	place
	what
	amount
	measuredIn
	when
	detail
)

// rank is the place of a field in a table.
func rank(e *contract.Endpoint, f *contract.Field) int {
	name := contract.ContractNames.Name(f.Name)
	figure := e.Figure(name)
	switch {
	case strings.HasSuffix(name, "location_code"), strings.HasSuffix(name, "location_name"),
		len(e.Figures) == 0 && (name == "name" || strings.HasSuffix(name, "_title")):
		return country
	case name == contract.PeriodStart || name == contract.PeriodEnd:
		return when
	case strings.HasPrefix(name, "admin1_") || strings.HasPrefix(name, "admin2_") || strings.HasPrefix(name, "market_"):
		return place
	case name == "currency_code" || name == "unit":
		return measuredIn
	case strings.HasPrefix(name, "meta_"), name == "number_pixels", name == "commodity_category", name == "price_flag",
		name == "price_type", name == "version", name == "appeal_code", name == "appeal_type", name == "global_rank",
		strings.HasPrefix(name, "provider_"), name == "admin_level", name == "reporting_round",
		strings.HasPrefix(name, "org_type_"), f.Type == contract.URI,
		strings.HasSuffix(name, "_catalog_id"), strings.HasSuffix(name, "_catalog_stub"):
		return detail
	case figure != nil && figure.Use != contract.Label:
		return amount
	case isNumber(f):
		return detail
	}
	return what
}

// columnsOf are the fields of an endpoint in the order of a table; those in the address are shown.
func columnsOf(l *lang.Language, e *contract.Endpoint, fields string) []column {
	var chosen []string
	if fields != "" {
		chosen = strings.Split(fields, ",")
	}
	var all []column
	for i := range e.Fields {
		f := &e.Fields[i]
		all = append(all, column{
			Name: f.Name, Label: label(l, f.Name), Own: label(l, f.Name), About: meaning(l, e, f.Name),
			Number: isNumber(f) && !isCode(f.Name),
			Shown:  slices.Contains(chosen, f.Name) || chosen == nil && !isQuiet(e, f.Name),
			field:  f,
		})
	}
	slices.SortStableFunc(all, func(a, b column) int { return cmp.Compare(rank(e, a.field), rank(e, b.field)) })
	return all
}

func isNumber(f *contract.Field) bool {
	return f.Type == contract.Integer || f.Type == contract.Number || f.Type == contract.Exact
}

// isCode reports whether a number is only the name of something, so that it is not grouped.
func isCode(name string) bool {
	return name == "id" || name == "lat" || name == "lon" || name == "admin_level" || strings.HasSuffix(name, "_ref")
}

// fill makes the rows of records, with one column for a period, and without those in which all
// rows have the same value: these stand above the table. link returns the address of the record at
// a position among the records. Columns that the address names are never left out.
func (t *Table) fill(
	l *lang.Language, e *contract.Endpoint, records []textual.Record, chosen bool,
	link func(int) (address, name string),
) {
	start := slices.IndexFunc(t.Columns, func(c column) bool { return isNamed(&c, contract.PeriodStart) })
	end := slices.IndexFunc(t.Columns, func(c column) bool { return isNamed(&c, contract.PeriodEnd) })
	if start >= 0 && end >= 0 {
		t.Columns[start].Label, t.Columns[start].end = l.T("Period"), t.Columns[end].field
		t.Columns[end].Folded = true
	}
	cells := make([][]cell, len(t.Columns)) // by column
	shown := 0
	for i := range t.Columns {
		c := &t.Columns[i]
		if !c.InTable() {
			continue
		}
		for _, r := range records {
			cells[i] = append(cells[i], c.cell(l, r))
		}
		shown++
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		if chosen || shown < 2 || len(records) < 2 || !c.InTable() || rank(e, c.field) == amount {
			continue
		}
		first := cells[i][0]
		if slices.ContainsFunc(cells[i], func(x cell) bool { return x != first }) {
			continue
		}
		c.Folded = true
		shown--
		if !first.Null && first.Text != "" {
			t.Same = append(t.Same, same{c.Label, first})
		}
	}
	t.Rows = make([][]cell, len(records))
	for k := range records {
		for i := range t.Columns {
			if !t.Columns[i].InTable() {
				continue
			}
			x := cells[i][k]
			if len(t.Rows[k]) == 0 {
				x.Link, x.About = link(k)
				x.About += x.Text
			}
			t.Rows[k] = append(t.Rows[k], x)
		}
	}
}

func isNamed(c *column, name string) bool {
	return c.Shown && contract.ContractNames.Name(c.Name) == name
}

// cell is the value of a record in the column.
func (c *column) cell(l *lang.Language, r textual.Record) cell {
	x := cellOf(l, c.field, c.Number, r)
	x.Label = c.Label
	if c.end == nil || x.Null {
		return x
	}
	x.Text = span(l, r.Value(c.field.Name), r.Value(c.end.Name))
	return x
}

func cellOf(l *lang.Language, f *contract.Field, number bool, r textual.Record) cell {
	text, ok := r.Text(f.Name)
	c := cell{Text: text, Number: number, Null: !ok}
	switch {
	case !ok:
		c.Text = "–"
	case number:
		c.Text, c.Exact = rounded(l, text)
	case f.Type == contract.DateTime:
		c.Text = shortTime(text)
	case f.Type == contract.Boolean:
		c.Text = capital(l.T(map[bool]string{true: "yes", false: "no"}[text == "true"]))
	default:
		c.Text, c.Code = alone(l, f.Name, text)
		if before, isCountry := strings.CutSuffix(f.Name, "location_name"); isCountry && !l.IsEnglish() {
			c.Text = l.Country(r.Value(before+"location_code"), text)
		}
		c.Name = strings.HasSuffix(f.Name, "name") || strings.HasSuffix(f.Name, "title")
	}
	return c
}
