package snapshot

import (
	"math"
	"unicode/utf8"
)

func checkTable(t *TableData) error {
	if err := checkName("table", t.Name); err != nil {
		return err
	}
	if t.Rows < 0 || t.Rows > MaxRows {
		return tablef("table %q has %d rows, want 0 to %d", t.Name, t.Rows, MaxRows)
	}
	if len(t.Groups) > maxCount {
		return tablef("table %q has %d groups, at most %d are possible", t.Name, len(t.Groups), maxCount)
	}
	seen := map[string]bool{}
	count := 0
	columns := func(list []ColumnData, n int) error {
		for i := range list {
			c := &list[i]
			if seen[c.Name] {
				return tablef("table %q has two columns %q", t.Name, c.Name)
			}
			seen[c.Name] = true
			if err := checkColumn(c, n); err != nil {
				return err
			}
		}
		count += len(list)
		return nil
	}
	groups := map[string]bool{}
	for i := range t.Groups {
		g := &t.Groups[i]
		if groups[g.Name] {
			return tablef("table %q has two groups %q", t.Name, g.Name)
		}
		groups[g.Name] = true
		if err := checkGroup(g, t.Rows); err != nil {
			return err
		}
		if err := columns(g.Columns, g.Tuples); err != nil {
			return err
		}
	}
	if err := columns(t.Columns, t.Rows); err != nil {
		return err
	}
	if count > maxCount {
		return tablef("table %q has %d columns, at most %d are possible", t.Name, count, maxCount)
	}
	return nil
}

// ValidName reports whether a table, group or column can have this name: 1 to 255 bytes of UTF-8.
func ValidName(name string) bool {
	return name != "" && len(name) <= maxName && utf8.ValidString(name)
}

func checkName(what, name string) error {
	if !ValidName(name) {
		return tablef("%s name %.40q has %d bytes, want 1 to %d of UTF-8", what, name, len(name), maxName)
	}
	return nil
}

func checkGroup(g *GroupData, rows int) error {
	if err := checkName("group", g.Name); err != nil {
		return err
	}
	if len(g.Codes) != rows {
		return tablef("group %q has %d codes for %d rows", g.Name, len(g.Codes), rows)
	}
	for i, c := range g.Codes {
		if int64(c) >= int64(g.Tuples) {
			return tablef("group %q: row %d has tuple %d of %d", g.Name, i, c, g.Tuples)
		}
	}
	for i := range g.Columns {
		if g.Columns[i].Index {
			return tablef("column %q has Index set, but belongs to group %q", g.Columns[i].Name, g.Name)
		}
	}
	return nil
}

func checkColumn(c *ColumnData, n int) error {
	if err := checkName("column", c.Name); err != nil {
		return err
	}
	set := 0
	for _, one := range []bool{len(c.Codes) > 0 || len(c.Values) > 0, len(c.Ints) > 0, len(c.Decimals) > 0 ||
		len(c.Texts) > 0} {
		if one {
			set++
		}
	}
	var got int
	switch c.Kind {
	case Text, Enum:
		got = len(c.Codes)
	case Int, Bool, Time:
		got = len(c.Ints)
	case Decimal:
		got = len(c.Decimals)
	default:
		return tablef("column %q has kind %d", c.Name, c.Kind)
	}
	if got != n || set > 1 {
		return tablef("column %q of kind %s has %d values for %d positions, and values of %d types", c.Name, c.Kind,
			got, n, set)
	}
	switch c.Kind {
	case Text, Enum:
		return checkTexts(c)
	case Bool:
		for i, v := range c.Ints {
			if v != 0 && v != 1 && v != NullInt {
				return tablef("column %q: value %d is %d, not a bool", c.Name, i, v)
			}
		}
	case Decimal:
		return checkDecimals(c)
	}
	return nil
}

func checkTexts(c *ColumnData) error {
	size := 0
	for i, v := range c.Values {
		if !utf8.ValidString(v) {
			return tablef("column %q: text %d is not UTF-8: %.40q", c.Name, i, v)
		}
		size += len(v)
	}
	if size > math.MaxUint32 {
		return tablef("column %q has %d bytes of distinct texts, at most %d are possible", c.Name, size, math.MaxUint32)
	}
	for i, code := range c.Codes {
		if int64(code) >= int64(len(c.Values)) && code != NullCode {
			return tablef("column %q: value %d has code %d of %d", c.Name, i, code, len(c.Values))
		}
	}
	if c.Kind == Text {
		return nil // sorting finds duplicate texts
	}
	seen := make(map[string]bool, len(c.Values))
	for i, v := range c.Values {
		if seen[v] {
			return tablef("column %q: text %d is a duplicate: %.40q", c.Name, i, v)
		}
		seen[v] = true
	}
	return nil
}

func checkDecimals(c *ColumnData) error {
	for i, text := range c.Texts {
		if err := checkExact(text); err != nil {
			return tablef("column %q: exact text %d: %.40q is not in plain digits or needs no exact text", c.Name, i,
				text)
		}
	}
	for i, d := range c.Decimals {
		switch {
		case d.Scale == DecNull, d.canonical():
		case d.Scale == DecText && d.Mantissa >= 0 && d.Mantissa < int64(len(c.Texts)):
		default:
			return tablef("column %q: value %d has mantissa %d with scale %d, and there are %d exact texts", c.Name,
				i, d.Mantissa, d.Scale, len(c.Texts))
		}
	}
	return nil
}
