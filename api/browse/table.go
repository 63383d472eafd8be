package browse

import (
	"slices"
	"strconv"
	"strings"

	"hdqs/api/contract"
)

// column is a column of the table.
type column struct {
	Name, Label, About string
	Number             bool // right-aligned
	Shown              bool
}

// cell is a value of the table.
type cell struct {
	Text   string
	Number bool
	Null   bool
	Name   bool   // a name, which may be written from right to left
	Link   string // to the record
}

// isQuiet reports whether the table leaves out a field unless it is asked for: codes that have a
// name beside them, and the file that a record is from. The whole record has them.
func isQuiet(e *contract.Endpoint, name string) bool {
	if contract.ContractNames.Name(name) == "resource_catalog_id" {
		return e.Table != "resource"
	}
	before, isCode := strings.CutSuffix(name, "_code")
	return isCode && slices.ContainsFunc(e.Fields, func(f contract.Field) bool { return f.Name == before+"_name" })
}

// columnsOf are the fields of an endpoint; those in the address are shown.
func columnsOf(e *contract.Endpoint, fields string) []column {
	var chosen []string
	if fields != "" {
		chosen = strings.Split(fields, ",")
	}
	var all []column
	for i := range e.Fields {
		f := &e.Fields[i]
		all = append(all, column{
			Name: f.Name, Label: label(f.Name), About: e.Meaning(f.Name), Number: isNumber(f) && !isCode(f.Name),
			Shown: slices.Contains(chosen, f.Name) || chosen == nil && !isQuiet(e, f.Name),
		})
	}
	return all
}

func isNumber(f *contract.Field) bool {
	return f.Type == contract.Integer || f.Type == contract.Number || f.Type == contract.Exact
}

// isCode reports whether a number is only the name of something, so that it is not grouped.
func isCode(name string) bool {
	return name == "id" || strings.HasSuffix(name, "_ref") || name == "lat" || name == "lon"
}

// rowsOf are the cells of records. link returns the address of the record at a position.
func rowsOf(columns []column, e *contract.Endpoint, records []Record, link func(int) string) [][]cell {
	rows := make([][]cell, len(records))
	for i, r := range records {
		for c := range columns {
			if !columns[c].Shown {
				continue
			}
			x := cellOf(&e.Fields[c], columns[c].Number, r)
			if len(rows[i]) == 0 && link != nil {
				x.Link = link(i)
			}
			rows[i] = append(rows[i], x)
		}
	}
	return rows
}

func cellOf(f *contract.Field, number bool, r Record) cell {
	text, ok := r.Text(f.Name)
	c := cell{Text: text, Number: number, Null: !ok}
	switch {
	case !ok:
		c.Text = "–"
	case number:
		c.Text = grouped(text)
	case f.Type == contract.DateTime:
		c.Text = shortTime(text)
	case f.Type == contract.Boolean:
		c.Text = map[bool]string{true: "yes", false: "no"}[text == "true"]
	case strings.HasSuffix(f.Name, "name") || strings.HasSuffix(f.Name, "title"):
		c.Name = true
	}
	return c
}

// grouped is a number with narrow spaces between thousands. Its digits stay as they are.
func grouped(text string) string {
	whole, fraction, point := strings.Cut(text, ".")
	if strings.ContainsAny(text, "eE") {
		return text
	}
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "\u2212", whole[1:]
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "\u202f" + whole[i:]
	}
	if point {
		whole += "." + fraction
	}
	return sign + whole
}

// count is a count with narrow spaces between thousands.
func count(n int) string { return grouped(strconv.Itoa(n)) }

// shortTime leaves out the time of day at which periods begin and end.
func shortTime(text string) string {
	day, clock, found := strings.Cut(text, "T")
	if found && (strings.HasPrefix(clock, "00:00:00") || strings.HasPrefix(clock, "23:59:59")) {
		return day
	}
	return strings.Replace(text, "T", " ", 1)
}
