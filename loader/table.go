package loader

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

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

// oddForm matches letters that were read in another encoding, those and digits of full width,
// markup, and characters that nobody sees: nobody finds such a name or code. Persian and Indian
// names have joiners.
var oddForm = regexp.MustCompile(`[\x00-\x09\x0b-\x1f\x7f-\x{9f}\x{ad}\x{200b}\x{200e}\x{200f}\x{2028}-\x{202e}` +
	`\x{2060}-\x{2069}\x{feff}\x{ff10}-\x{ff19}\x{ff21}-\x{ff3a}\x{ff41}-\x{ff5a}\x{fffd}]|` +
	`\pL\?\pL|&(?:#\d+|[a-z]{2,8});|^<[A-Za-z!/]|` +
	`[\x{c2}\x{c3}][\x{a0}-\x{bf}\x{152}-\x{192}\x{2c6}-\x{2dc}\x{2013}-\x{2122}]|\x{e2}\x{20ac}`)

// isOddText reports whether a text of a column has such characters, or letters with separate
// accents, or is an odd code, a range of ages in another form than the others, or n/a.
func isOddText(column, text string) bool {
	labels := []string{"unit", "operation", "assessment_type", "category", "appeal_type"} // are few, as codes
	isCode := strings.HasSuffix(column, "code") || slices.Contains(labels, column)
	isPlain := func(r rune) bool { return r >= ' ' && r <= '~' && !strings.ContainsRune("&<?", r) }
	switch {
	case isCode && oddCode.MatchString(text), strings.EqualFold(text, "n/a"):
		return true
	case column == "age_range":
		return !ageForm.MatchString(text)
	case !strings.ContainsFunc(text, func(r rune) bool { return !isPlain(r) }), strings.HasPrefix(text, "http"):
		return false
	}
	return oddForm.MatchString(text) || !norm.NFC.IsNormalString(text)
}

// oddCode matches codes with blanks around them, in a row that was commented out, made of numbers
// by a spreadsheet, and footnotes.
var oddCode = regexp.MustCompile(`^[\s\pZ]|[\s\pZ]$|^['#]|^\d+[.,]\d+$|^\d(?:\.\d+)?E\+\d+$|: `)

var ageForm = regexp.MustCompile(`^(?:(?:0|[1-9]\d*)(?:-[1-9]\d*|-0|\+)?|\pL.*)?$`)

// countOddTexts lists the columns of a table that have such texts. Most dictionaries hold none, and
// only the rows of those that do are counted.
func countOddTexts(data *snapshot.TableData) (found []oddTexts) {
	count := func(c *snapshot.ColumnData, tuples []uint32) { // their positions by row; nil for a column of rows
		marked, f := map[uint32]bool{}, oddTexts{Column: c.Name}
		for code, text := range c.Values {
			if c.Kind == snapshot.Text && isOddText(c.Name, text) {
				marked[uint32(code)] = true
			}
		}
		if len(marked) == 0 {
			return
		}
		codes := c.Codes
		if tuples != nil {
			codes = picked(codes, tuples)
		}
		for _, code := range codes {
			if marked[code] {
				f.Rows, f.First = f.Rows+1, cmp.Or(f.First, clip(c.Values[code], 100))
			}
		}
		if f.Rows > 0 { // the texts of rows that were dropped stay in the dictionary
			found = append(found, f)
		}
	}
	for i := range data.Columns {
		count(&data.Columns[i], nil)
	}
	for i := range data.Groups {
		for j := range data.Groups[i].Columns {
			count(&data.Groups[i].Columns[j], data.Groups[i].Codes)
		}
	}
	return found
}
