package loader

import (
	"slices"
	"strings"

	"hdqs/schema"
	"hdqs/snapshot"
)

// table is one table of a snapshot: what a row holds, which rows are duplicates, and how rows are
// ordered. Everything that reads, checks, sorts or writes the table works from it.
type table struct {
	name    string
	columns []column

	// key names the columns that identify a row; of rows with one key one is kept. nil keeps
	// every row.
	key []string

	// order is the sort order, tie-breaks included. Rows that are equal in all of it keep the order
	// they were loaded in.
	order []string
}

type column struct {
	name     string
	kind     snapshot.Kind
	nullable bool           // the record allows null here; an empty cell is null
	blank    bool           // an empty cell is the empty text although null is allowed
	maxLen   int            // longest text in code points; 0 is no bound
	values   []string       // of an Enum, in sort order
	limits   *schema.Bounds // of a number; nil is no bound
	added    bool           // files may lack it
	group    string         // the tuple dictionary that holds it; "" for a column of rows
	index    bool           // a filter uses it (columns of rows only: groups always have postings)
}

// kinds are how segments store the kinds of columns.
var kinds = map[schema.Kind]snapshot.Kind{
	schema.Text: snapshot.Text, schema.URI: snapshot.Text, schema.Choice: snapshot.Enum, schema.Integer: snapshot.Int,
	schema.Decimal: snapshot.Decimal, schema.Flag: snapshot.Bool, schema.Time: snapshot.Time,
}

// tableOf is the table of a list.
func tableOf(l *schema.List) *table {
	t := &table{name: l.Table, key: l.Key, order: l.Order}
	if l.KeepAll {
		t.key = nil
	}
	for i := range l.Columns {
		c := &l.Columns[i]
		stored := column{
			name: c.Name, kind: kinds[c.Kind], nullable: c.Null, blank: c.Blank, maxLen: c.MaxLen, limits: c.Bounds,
			added: c.Added, group: c.Group,
			index: c.Group == "" && (c.Index || c.Kind == schema.Choice || c.Lookup() && l.Filtered(c.Name)),
		}
		if c.Kind == schema.URI {
			stored.maxLen = maxURI
		}
		if c.Enum != nil {
			stored.values = c.Enum.Values
		}
		t.columns = append(t.columns, stored)
	}
	return t
}

// hasPlaces reports whether rows of the table refer to places by number.
func (t *table) hasPlaces() bool {
	for _, c := range t.columns {
		if c.name == "location_ref" || c.name == "origin_location_ref" {
			return true
		}
	}
	return false
}

// columnData is the column with a name, nil without one.
func columnData(columns []snapshot.ColumnData, name string) *snapshot.ColumnData {
	for i := range columns {
		if columns[i].Name == name {
			return &columns[i]
		}
	}
	return nil
}

// cellOf finds a column of rows or of a group, and the position in it of a row's value.
func cellOf(data *snapshot.TableData, name string, row int) (c *snapshot.ColumnData, at int) {
	if c := columnData(data.Columns, name); c != nil {
		return c, row
	}
	for i := range data.Groups {
		g := &data.Groups[i]
		if c := columnData(g.Columns, name); c != nil {
			return c, int(g.Codes[row])
		}
	}
	return nil, 0
}

func rowText(data *snapshot.TableData, name string, row int) string {
	return textAt(cellOf(data, name, row))
}

func rowInt(data *snapshot.TableData, name string, row int) int64 {
	c, at := cellOf(data, name, row)
	return c.Ints[at]
}

// textAt is the text at a position, "" for null and for a column that is not there.
func textAt(c *snapshot.ColumnData, i int) string {
	if c == nil || c.Codes[i] == snapshot.NullCode {
		return ""
	}
	return c.Values[c.Codes[i]]
}

// isCountry reports whether a column has codes of countries. A dictionary holds only texts that
// rows use.
func isCountry(name string, kind snapshot.Kind) bool {
	return kind == snapshot.Text && strings.HasSuffix(name, "location_code")
}

// countriesOf are the codes of the countries that a table has rows of.
func countriesOf(data *snapshot.TableData) []string {
	var codes []string
	columns := data.Columns
	for _, g := range data.Groups {
		columns = slices.Concat(columns, g.Columns)
	}
	for i := range columns {
		if isCountry(columns[i].Name, columns[i].Kind) {
			codes = append(codes, columns[i].Values...)
		}
	}
	return codes
}

// formulaStarts are the characters that a spreadsheet takes for the start of a formula, directly or
// after it has dropped them.
const formulaStarts = "=+-@\t\r"

// countFormulas lists the columns of a table that have such texts. Most dictionaries hold none, and
// only the rows of those that do are counted.
func countFormulas(data *snapshot.TableData) []formulaTexts {
	var found []formulaTexts
	for i := range data.Columns {
		found = appendFormulas(found, &data.Columns[i], nil)
	}
	for i := range data.Groups {
		g := &data.Groups[i]
		for j := range g.Columns {
			found = appendFormulas(found, &g.Columns[j], g.Codes)
		}
	}
	return found
}

// appendFormulas counts the rows of a column. tuples has the position in the column for each row,
// nil when the column has a value for each row.
func appendFormulas(found []formulaTexts, c *snapshot.ColumnData, tuples []uint32) []formulaTexts {
	if c.Kind != snapshot.Text {
		return found
	}
	marked := make(map[uint32]bool)
	f := formulaTexts{Column: c.Name}
	for code, text := range c.Values {
		if text != "" && strings.IndexByte(formulaStarts, text[0]) >= 0 {
			marked[uint32(code)] = true
			if f.First == "" {
				f.First = clip(text, 100)
			}
		}
	}
	if len(marked) == 0 {
		return found
	}
	for _, code := range c.Codes {
		if tuples == nil && marked[code] {
			f.Rows++
		}
	}
	for _, t := range tuples {
		if marked[c.Codes[t]] {
			f.Rows++
		}
	}
	if f.Rows == 0 { // the texts of rows that were dropped stay in the dictionary
		return found
	}
	return append(found, f)
}
