package judge

import (
	"slices"
	"strings"
	"time"
)

// The extensions are judged from their text too: several values, fewer fields, the newest rows,
// records as lines, points, and the computed lists aggregate and facets. The text fixes no wording
// of errors, so a refusal is compared by its status and the parameters that it names.

// listSuffix is the end of the name of a parameter that takes several values.
const listSuffix = "__in"

const mostValues = 200

// hasList reports whether a parameter matches a code, an enumeration or an id, and so has a list.
func hasList(p *param) bool {
	switch {
	case p.Type == "boolean" || strings.HasSuffix(p.Name, "name"):
		return false
	case slices.Contains([]string{"exact", "ilike", "enum_equal", "level_equal"}, p.Match):
		return true
	}
	return len(p.Columns) > 0 && strings.HasSuffix(p.Name, "code")
}

// hasPlaces reports whether records have a place on the map.
func hasPlaces(e *endpoint) bool { return e.field("lat") != nil && e.field("lon") != nil }

// formatsOf are the formats of rows that are extensions. Computed lists have none of them.
func formatsOf(e *endpoint, kind string) []string {
	switch {
	case kind != "":
		return nil
	case hasPlaces(e):
		return []string{"ndjson", "geojson"}
	}
	return []string{"ndjson"}
}

// anyName matches whatever parameter an error names: which one is to blame for a wrong sum is up
// to the program.
const anyName = "*"

func (rd *reader) refuse(name string) {
	rd.issues = append(rd.issues, issue{loc: []string{"query", name}, own: true})
}

// readList reads the list of a parameter: a row passes if it passes the parameter with one value.
func (rd *reader) readList(p *param) {
	name := p.Name + listSuffix
	if value, _ := rd.q.last(p.Name); strings.Contains(value, ",") && hasList(p) && !slices.Contains(p.Enum, value) {
		rd.commas = append(rd.commas, p.Name)
	}
	var texts []string
	for _, sent := range rd.q {
		if sent.name == name {
			texts = append(texts, sent.value)
		}
	}
	if texts == nil {
		return
	}
	if !hasList(p) {
		rd.refuse(name)
		return
	}
	one := &reader{contract: rd.contract, listed: true}
	count := 0
	for _, text := range texts {
		for _, value := range listValues(text, p.Match == "ilike" || strings.HasPrefix(p.Match, "icontains")) {
			if count++; value == "" {
				rd.refuse(name)
				return
			}
			one.q = query{{p.Name, value}}
			one.read(p)
		}
	}
	if count > mostValues || len(one.issues) > 0 {
		rd.refuse(name)
		return
	}
	rd.filters = append(rd.filters, func(r row) bool {
		for _, passes := range one.filters {
			if passes(r) {
				return true
			}
		}
		return false
	})
}

// listValues splits a list at its commas. A backslash before a comma or a backslash makes it
// literal. In a pattern it makes any character literal and stays, since the pattern is read again.
func listValues(text string, isPattern bool) []string {
	var values []string
	var value []rune
	runes := []rune(text)
	for i := 0; i < len(runes); i++ {
		last := i+1 == len(runes)
		switch r := runes[i]; {
		case r == ',':
			values = append(values, string(value))
			value = nil
		case r == '\\' && isPattern && !last:
			i++
			value = append(value, r, runes[i])
		case r == '\\' && !last && (runes[i+1] == ',' || runes[i+1] == '\\'):
			i++
			value = append(value, runes[i])
		default:
			value = append(value, r)
		}
	}
	return append(values, string(value))
}

// names splits all occurrences of a list of names. sent is false if there is none.
func (q query) names(name string) (values []string, sent bool) {
	for _, p := range q {
		if p.name == name {
			sent = true
			values = append(values, strings.Split(p.value, ",")...)
		}
	}
	return values, sent
}

// readFields returns the record's fields that are asked for, in the contract's order.
func (rd *reader) readFields(e *endpoint) []*field {
	names, sent := rd.q.names("fields")
	if !sent {
		return e.Fields
	}
	var chosen []*field
	for _, f := range e.Fields {
		if slices.Contains(names, f.Name) {
			chosen = append(chosen, f)
		}
	}
	for _, name := range names {
		if e.field(name) == nil {
			rd.refuse("fields")
			break
		}
	}
	return chosen
}

// newest keeps the rows for which no other row of the same series has a later end, or the same end
// and a later start. An open end is the newest, an open start the oldest.
func newest(key func(r row) string, rows []row) []row {
	later := func(a, b row) bool { // a is later than b
		for _, column := range []string{"reference_period_end", "reference_period_start"} {
			x, closedX := a.stored[column].(time.Time)
			y, closedY := b.stored[column].(time.Time)
			switch {
			case closedX && closedY && !x.Equal(y):
				return x.After(y)
			case closedX != closedY: // an open end is the newest, a start that is not known the oldest
				return closedY == (column == "reference_period_end")
			}
		}
		return false
	}
	best := map[string]row{}
	keys := make([]string, len(rows))
	for i, r := range rows {
		keys[i] = key(r)
		if b, known := best[keys[i]]; !known || later(r, b) {
			best[keys[i]] = r
		}
	}
	var kept []row
	for i, r := range rows {
		if !later(best[keys[i]], r) {
			kept = append(kept, r)
		}
	}
	return kept
}

// keyText is the values of columns as one text. In some of them, those that mean everybody are one.
func keyText(columns []string, r row, everybody ...string) string {
	var b strings.Builder
	for _, column := range columns {
		if v := r.stored[column]; slices.Contains(everybody, column) && meansEverybody(column, v) {
			b.WriteString("everybody|")
		} else {
			b.WriteString(valueKey(v))
		}
	}
	return b.String()
}

// hint is a text that X-Hint must have: the list of a parameter whose value has a comma, which may
// have been meant as several.
func (rd *reader) hint() string {
	for _, p := range rd.q {
		if slices.Contains(rd.commas, p.name) {
			return p.name + listSuffix
		}
	}
	return ""
}
