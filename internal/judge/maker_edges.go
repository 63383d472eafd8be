package judge

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// edges requests the first page of every endpoint and, for every parameter, the values at which
// similar rules differ: a part of a text (contains or equals), the text in the other case
// (case-sensitive or not), a wildcard, a bound that is a stored value (inclusive or exclusive),
// each value of an enum. Without these, a few thousand random requests might not reveal a wrong
// rule.
func (m *maker) edges() []request {
	var out []request
	for _, e := range m.endpoints {
		ask := func(p *param, value string) {
			out = append(out, request{
				Method: "GET", Headers: map[string]string{identifierHeader: goodOne},
				Path: fmt.Sprintf("%s?limit=40&%s=%s", e.Path, p.Name, escape(value, 0)),
			})
		}
		out = append(out, request{Method: "GET", Headers: map[string]string{identifierHeader: goodOne}, Path: e.Path})
		for _, p := range e.Params {
			for _, value := range m.edgeValues(e, p) {
				ask(p, value)
			}
			if isBound(p) { // with a second filter, the program may test rows one by one
				out = append(out, m.filteredBounds(e, p)...)
			}
		}
	}
	return out
}

func isBound(p *param) bool {
	return p.Match == "ge" || p.Match == "lt" || strings.HasPrefix(p.Match, "overlap_")
}

// filteredBounds sets a bound at and just above a row's value, and filters by another column's
// value of that row.
func (m *maker) filteredBounds(e *endpoint, p *param) []request {
	var out []request
	for range 3 {
		r := m.anyRow(e)
		other := pick(m, e.Params)
		if isBound(other) {
			continue
		}
		for _, value := range around(p, r.stored[storedColumn(p.Columns[0])]) {
			pairs := []pair{{other.Name, m.fitting(other, r)}, {p.Name, value}, {"limit", "40"}}
			out = append(out, request{
				Method: "GET", Headers: map[string]string{identifierHeader: goodOne},
				Path: e.Path + m.query(pairs),
			})
		}
	}
	return out
}

// around returns a stored value as a bound, and one just above it.
func around(p *param, stored any) []string {
	switch v := stored.(type) {
	case int64:
		return []string{strconv.FormatInt(v, 10), strconv.FormatInt(v+1, 10)}
	case decimal:
		return []string{v.text, nextDecimal(v.text)}
	case time.Time:
		values := []string{
			v.Format("2006-01-02T15:04:05"), v.Format("2006-01"),
			v.Add(time.Second).Format("2006-01-02T15:04:05"),
		}
		if p.Type != "partial-date" {
			values = append(values, v.Add(time.Microsecond).Format("2006-01-02T15:04:05.000000"))
		}
		return values
	}
	return nil
}

func (m *maker) edgeValues(e *endpoint, p *param) []string {
	var values []string
	switch p.Type {
	case "enum":
		return p.Enum
	case "boolean":
		return []string{"true", "false"}
	case "string":
		for _, column := range p.Columns {
			column = storedColumn(column)
			// A text with an inside, one with letters that have a case, and one that prints
			// differently.
			inner := m.textWhere(e, column, func(_ row, text string) bool { return len([]rune(text)) > 2 })
			cased := m.textWhere(e, column, func(_ row, text string) bool {
				return strings.ToLower(text) != strings.ToUpper(text)
			})
			hidden := m.textWhere(e, column, func(r row, text string) bool {
				shown, known := r.shown[column]
				return known && shown != text
			})
			if runes := []rune(inner); len(runes) > 2 {
				values = append(values, string(runes[1:len(runes)-1]), "%"+string(runes[2:]))
			}
			values = append(values, cased, swapCase(cased), hidden)
		}
	case "integer", "number", "partial-date", "date-time or date":
		for range 2 {
			values = append(values, around(p, m.someStored(e, storedColumn(p.Columns[0])))...)
		}
	}
	return values
}

// nextDecimal is the next larger number with the same number of places. What is not plain digits is
// returned unchanged.
func nextDecimal(text string) string {
	digits := []byte(text)
	for i := len(digits) - 1; i >= 0; i-- {
		switch c := digits[i]; {
		case c == '.':
		case c < '0' || c > '9':
			return text
		case c < '9':
			digits[i]++
			return string(digits)
		default:
			digits[i] = '0'
		}
	}
	return "1" + string(digits)
}

// textWhere finds a text that fits, or "".
func (m *maker) textWhere(e *endpoint, column string, fits func(r row, text string) bool) string {
	for range 200 {
		r := m.anyRow(e)
		if text, ok := r.stored[column].(string); ok && fits(r, text) {
			return text
		}
	}
	return ""
}

// someStored finds a value that is not null, or nil.
func (m *maker) someStored(e *endpoint, column string) any {
	for range 200 {
		if v := m.anyRow(e).stored[column]; v != nil {
			return v
		}
	}
	return nil
}
