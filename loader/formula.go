package loader

import (
	"fmt"
	"strings"

	"hdqs/snapshot"
)

// formulaTexts counts the rows of one column whose text begins like a formula of a spreadsheet. The
// text is served as it is, in CSV too, where a spreadsheet that opens the file may run it.
type formulaTexts struct {
	Column string `json:"column"`
	Rows   int    `json:"rows"`
	First  string `json:"first"` // the first such text
}

// formulaStarts are the characters that a spreadsheet takes for the start of a formula, directly or
// after it has dropped them.
const formulaStarts = "=+-@\t\r"

func isFormula(text string) bool { return text != "" && strings.IndexByte(formulaStarts, text[0]) >= 0 }

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
		if isFormula(text) {
			marked[uint32(code)] = true
			if f.First == "" {
				f.First = clip(text, 100)
			}
		}
	}
	if len(marked) == 0 {
		return found
	}
	if tuples == nil {
		for _, code := range c.Codes {
			if marked[code] {
				f.Rows++
			}
		}
	} else {
		for _, t := range tuples {
			if marked[c.Codes[t]] {
				f.Rows++
			}
		}
	}
	if f.Rows == 0 { // the texts of rows that were dropped stay in the dictionary
		return found
	}
	return append(found, f)
}

// writeFormulas writes a line for each column of a table that has such texts.
func (t *TableReport) writeFormulas(b *strings.Builder) {
	for _, f := range t.FormulaTexts {
		fmt.Fprintf(b, "%d × text like a formula of a spreadsheet, table %s, column %s, first: %q\n",
			f.Rows, t.Table, f.Column, f.First)
	}
}
