package judge

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
)

// aggregate is the figures of the groups of the rows that pass.
func (w *world) aggregate(e *endpoint, rd *reader) records {
	groups, measures := rd.readGroups(e, "group_by"), rd.readMeasures(e)
	if len(rd.issues) > 0 {
		return records{}
	}
	rows := w.passing(e, rd)
	if rd.wrongSum(e, groups, measures, rows) {
		rd.refuse(anyName)
		return records{}
	}
	var all records
	for _, g := range groups {
		all.fields = append(all.fields, g.name)
	}
	isGroup := func(name string) bool {
		return slices.ContainsFunc(groups, func(g group) bool { return g.name == name })
	}
	showsLevel := rd.kept.coarsest && isGroup("location_code") && !isGroup("admin_level")
	if showsLevel {
		all.fields = append(all.fields, "admin_level")
	}
	for _, m := range measures {
		all.fields = append(all.fields, m.name())
	}
	for _, g := range grouped(groups, rows) {
		record := slices.Clone(g.values)
		if showsLevel {
			level := g.rows[0].at("admin_level")
			if len(valuesOf("admin_level", g.rows)) > 1 {
				level = nil
			}
			record = append(record, level)
		}
		for _, m := range measures {
			record = append(record, m.of(g.rows))
		}
		all.values = append(all.values, record)
	}
	return all
}

// group is one of the values that group_by names: a field, or a part of the start of the period.
type group struct {
	name  string
	field *field // nil for a part
}

var periodParts = []string{"year", "quarter", "month"}

// partOf is a part of a time: a number, or a text that sorts like the time.
func partOf(part string, t time.Time) any {
	switch part {
	case "year":
		return int64(t.Year())
	case "quarter":
		return fmt.Sprintf("%04d-Q%d", t.Year(), (int(t.Month())+2)/3)
	}
	return t.Format("2006-01")
}

func (g group) of(r row) any {
	if g.field != nil {
		return r.at(g.name)
	}
	if t, ok := r.stored[periodStart].(time.Time); ok {
		return partOf(g.name, t)
	}
	return nil
}

// measure is one figure of a group: a function and its field, nil for count.
type measure struct {
	function string
	field    *field
}

// adds reports whether the figure adds values up.
func (m measure) adds() bool { return m.function == "sum" || m.function == "mean" }

func (m measure) name() string {
	if m.field == nil {
		return m.function
	}
	return m.function + "_" + m.field.Name
}

// readGroups reads a list of what to group by. A name that is repeated counts once.
func (rd *reader) readGroups(e *endpoint, param string) []group {
	var groups []group
	names, _ := rd.q.names(param)
	for _, name := range names {
		g := group{name, e.field(name)}
		isPart := slices.Contains(periodParts, name) && e.field(periodStart) != nil
		if g.field == nil && !isPart {
			rd.refuse(param)
			return nil
		}
		if !slices.Contains(groups, g) {
			groups = append(groups, g)
		}
	}
	return groups
}

func isNumber(f *field) bool { return f.Number == "int" || f.Number == "decimal" }

func (rd *reader) readMeasures(e *endpoint) []measure {
	var measures []measure
	names, sent := rd.q.names("measures")
	if !sent {
		names = []string{"count"}
	}
	for _, name := range names {
		function, of, hasField := strings.Cut(name, ":")
		m := measure{function, e.field(of)}
		known := slices.Contains([]string{"sum", "min", "max", "mean", "distinct", "latest"}, function)
		fits := known && m.field != nil && (isNumber(m.field) || !m.adds()) &&
			(function != "latest" || e.field(periodStart) != nil)
		if hasField && !fits || !hasField && function != "count" {
			rd.refuse("measures")
			return nil
		}
		if !slices.Contains(measures, m) {
			measures = append(measures, m)
		}
	}
	return measures
}

// groupRows is the rows of one group, with the values that they share.
type groupRows struct {
	values []any
	rows   []row
}

// grouped divides rows into groups, in the order of their values. Without group_by all rows are one
// group, also if there are none.
func grouped(groups []group, rows []row) []*groupRows {
	byKey := map[string]*groupRows{}
	var all []*groupRows
	if len(groups) == 0 {
		return []*groupRows{{rows: rows}}
	}
	for _, r := range rows {
		values := make([]any, len(groups))
		key := ""
		for i, g := range groups {
			values[i] = g.of(r)
			key += valueKey(values[i])
		}
		if byKey[key] == nil {
			byKey[key] = &groupRows{values: values}
			all = append(all, byKey[key])
		}
		byKey[key].rows = append(byKey[key].rows, r)
	}
	slices.SortFunc(all, func(a, b *groupRows) int {
		for i, g := range groups {
			if c := compareValues(g.field, a.values[i], b.values[i]); c != 0 {
				return c
			}
		}
		return 0
	})
	return all
}

// valueKey is a text that equal values have in common, and no others.
func valueKey(v any) string {
	switch v := v.(type) {
	case nil:
		return "null|"
	case decimal:
		return "d" + v.exact.RatString() + "|"
	case string:
		return "s" + strconv.Itoa(len(v)) + ":" + v + "|"
	case int64:
		return "i" + strconv.FormatInt(v, 10) + "|"
	case bool:
		return "b" + strconv.FormatBool(v) + "|"
	case time.Time:
		return "t" + strconv.FormatInt(v.Unix(), 10) + "." + strconv.Itoa(v.Nanosecond()) + "|"
	}
	panic(fmt.Sprintf("no key for a %T", v))
}

// compareValues orders values of a field: nulls last, enums as declared, texts by code point.
func compareValues(f *field, a, b any) int {
	switch {
	case a == nil || b == nil:
		return cmp.Compare(boolInt(a == nil), boolInt(b == nil))
	case f != nil && f.Enum != nil:
		return cmp.Compare(slices.Index(f.Enum, fmt.Sprint(a)), slices.Index(f.Enum, fmt.Sprint(b)))
	}
	switch a := a.(type) {
	case int64:
		return cmp.Compare(a, b.(int64))
	case string:
		return cmp.Compare(a, b.(string))
	case bool:
		return cmp.Compare(boolInt(a), boolInt(b.(bool)))
	case time.Time:
		return a.Compare(b.(time.Time))
	case decimal:
		return a.exact.Cmp(b.(decimal).exact)
	}
	panic(fmt.Sprintf("no order for a %T", a))
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// of is the figure of a group: nil, a value of a record, an int64 or a *big.Rat. Nulls count for
// nothing but count.
func (m measure) of(rows []row) any {
	if m.function == "count" {
		return int64(len(rows))
	}
	if m.function == "latest" {
		return m.latest(rows)
	}
	var values []any
	for _, r := range rows {
		if v := r.at(m.field.Name); v != nil {
			values = append(values, v)
		}
	}
	if m.function == "distinct" {
		seen := map[string]bool{}
		for _, v := range values {
			seen[valueKey(v)] = true
		}
		return int64(len(seen))
	}
	if len(values) == 0 {
		return nil
	}
	switch m.function {
	case "min", "max":
		best := values[0]
		for _, v := range values {
			if c := compareValues(m.field, v, best); c < 0 && m.function == "min" || c > 0 && m.function == "max" {
				best = v
			}
		}
		return best
	}
	sum := new(big.Rat)
	for _, v := range values {
		switch v := v.(type) {
		case int64:
			sum.Add(sum, new(big.Rat).SetInt64(v))
		case decimal:
			sum.Add(sum, v.exact)
		}
	}
	if m.function == "mean" { // rounded once
		number, _ := sum.Quo(sum, new(big.Rat).SetInt64(int64(len(values)))).Float64()
		return decimal{float: number}
	}
	return sum
}

// latest is the field in the rows of the newest period, nil if they disagree.
func (m measure) latest(rows []row) any {
	var found any
	for i, r := range newest(func(row) string { return "" }, rows) {
		v := r.at(m.field.Name)
		if i > 0 && valueKey(v) != valueKey(found) {
			return nil
		}
		found = v
	}
	return found
}
