package judge

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"
	"unicode"
)

func folded(text string) []rune {
	runes := []rune(text)
	for i, r := range runes {
		runes[i] = unicode.ToLower(r)
	}
	return runes
}

// pattern is the expression of wildcards, for folded text. A backslash that escapes nothing is a
// literal.
func pattern(text string) string {
	var b strings.Builder
	runes := folded(text)
	for i := 0; i < len(runes); i++ {
		switch r := runes[i]; {
		case r == '%':
			b.WriteString(".*")
		case r == '_':
			b.WriteByte('.')
		case r == '\\' && i+1 < len(runes):
			i++
			b.WriteString(regexp.QuoteMeta(string(runes[i])))
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	return b.String()
}

// filter reports whether a row matches a parameter.
type filter func(r row) bool

func nothing(row) bool { return false }

// storedColumn is the dump's column for a column that a parameter names: dumps have a location's
// flags in the row itself.
func storedColumn(name string) string {
	name = strings.Replace(name, "origin_location.", "origin_", 1)
	name = strings.Replace(name, "asylum_location.", "asylum_", 1)
	return strings.TrimPrefix(name, "location.")
}

// textFilter is a filter by string: exact, or by pattern, in one column or several.
func textFilter(p *param, value string) filter {
	if strings.ContainsRune(value, 0) {
		return nothing
	}
	columns := make([]string, len(p.Columns))
	for i, name := range p.Columns {
		columns[i] = storedColumn(name)
	}
	if p.Match == "exact" {
		return func(r row) bool { return r.stored[columns[0]] == value }
	}
	form := pattern(value)
	if strings.HasPrefix(p.Match, "icontains") {
		form = ".*" + form + ".*"
	}
	like := regexp.MustCompile(`(?s)^` + form + `$`)
	known := map[string]bool{} // names repeat, and matching takes most of the time
	return func(r row) bool {
		for _, column := range columns {
			text, ok := r.stored[column].(string)
			if !ok {
				continue
			}
			fits, seen := known[text]
			if !seen {
				fits = like.MatchString(string(folded(text)))
				known[text] = fits
			}
			if fits {
				return true
			}
		}
		return false
	}
}

// boundFilter restricts a column of values of one type by how they compare with a bound. A null
// passes only the start of a period, as an open end.
func boundFilter[T any](p *param, compare func(T) int) filter {
	column := storedColumn(p.Columns[0])
	return func(r row) bool {
		v, ok := r.stored[column].(T)
		if !ok {
			return p.Match == "overlap_start"
		}
		return holds(p, compare(v))
	}
}

// floatFilter orders NaN above every number, as the incumbent's database does.
func floatFilter(p *param, bound float64) filter {
	return boundFilter(p, func(v decimal) int {
		if math.IsNaN(bound) {
			return -1
		}
		return cmp.Compare(v.float, bound)
	})
}

func timeFilter(p *param, bound time.Time) filter {
	return boundFilter(p, func(v time.Time) int { return v.Compare(bound) })
}

// holds reports whether a stored value matches, given how it compares with the bound.
func holds(p *param, order int) bool {
	switch p.Match {
	case "exact":
		return order == 0
	case "ge", "overlap_start":
		return order >= 0
	case "lt", "overlap_end":
		return order < 0
	}
	panic(fmt.Sprintf("parameter %s: match %q compares nothing", p.Name, p.Match))
}
