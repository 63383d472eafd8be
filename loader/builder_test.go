//go:build !race

package loader

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hdqs/schema"
	"hdqs/snapshot"
)

// twinTable has every kind of column, in rows and in a group, and an order that mixes them.
var twinTable = &table{
	name: "twin",
	columns: []column{
		integer("gi").in("g"), text("gt", 5).orNull().in("g"), decimal("gd").orNull().in("g"),
		instant("gm").orNull().in("g"),
		text("t", 5).orNull(), enum("e", []string{"z", "a", "m"}).orNull(), integer("i").orNull(),
		decimal("d").orNull(), flag("b"), instant("m"),
	},
	key:   []string{"gi", "t", "e", "i"},
	order: []string{"e", "gt", "m", "t", "i", "gm", "b"},
}

// Columns of tables of tests.
func text(name string, maxLen int) column {
	return column{name: name, kind: snapshot.Text, maxLen: maxLen}
}

func enum(name string, values []string) column {
	return column{name: name, kind: snapshot.Enum, values: values, index: true}
}

func integer(name string) column { return column{name: name, kind: snapshot.Int} }
func decimal(name string) column { return column{name: name, kind: snapshot.Decimal} }
func flag(name string) column    { return column{name: name, kind: snapshot.Bool} }
func instant(name string) column { return column{name: name, kind: snapshot.Time} }

func (c column) orNull() column         { c.nullable = true; return c }
func (c column) orBlank() column        { c.nullable, c.blank = true, true; return c }
func (c column) in(group string) column { c.group = group; return c }
func (c column) between(from, to float64) column {
	c.limits = &schema.Bounds{Least: from, Most: to}
	return c
}

// twinRow is a row: nil, string, int64 or the text of a decimal by column.
type twinRow map[string]any

func randomRow(rng *rand.Rand, variety int) twinRow {
	texts := []any{nil, "", "a", "b", "ab", "é", " "}
	decimals := []any{nil, "0.5", "12", "-3.25", "123456789012345678901234567890"}
	r := twinRow{
		"gi": int64(rng.IntN(variety)),
		"t":  texts[rng.IntN(len(texts))], "e": []any{nil, "z", "a", "m"}[rng.IntN(4)],
		"i": []any{nil, int64(-1), int64(0), int64(7)}[rng.IntN(4)], "d": decimals[rng.IntN(len(decimals))],
		"b": int64(rng.IntN(2)), "m": int64(rng.IntN(3)) * day,
	}
	// The columns of the group are functions of gi, two of them not injective.
	gi := int(r["gi"].(int64))
	r["gt"], r["gd"], r["gm"] = texts[gi%len(texts)], decimals[gi%len(decimals)], []any{nil, int64(gi) * day}[gi%2]
	return r
}

func setCell(v *vector, value any) {
	switch value := value.(type) {
	case nil:
		v.setNull()
	case int64:
		v.setInt(value)
	case string:
		if why := v.read([]byte(value)); why != "" && value != "" {
			panic(fmt.Sprint(v.name, value, why))
		}
		if value == "" {
			v.setString("")
		}
	}
}

// buildRows adds rows to a builder. Keys of tuples have a random part, so that equal tuples occur
// twice.
func buildRows(rng *rand.Rand, rows []twinRow) *tableBuilder {
	a := newTableBuilder(twinTable)
	for _, r := range rows {
		if rng.IntN(5) == 0 { // a row that turns out bad half way
			a.column("t").setString("never")
			a.column("e").setString("z")
			a.group("g").column("gi").setInt(99)
		}
		g := a.group("g")
		key := fmt.Appendf(nil, "%d/%d", r["gi"], rng.IntN(2))
		code, ok := g.find(key)
		if !ok {
			for _, v := range g.columns {
				setCell(v, r[v.name])
			}
			code = g.add(key)
		}
		g.set(code)
		for _, v := range a.own {
			setCell(v, r[v.name])
		}
		a.commit()
	}
	return a
}

// naive does what finish does, with maps and strings.
func naive(rows []twinRow, keepDuplicates bool) (kept []twinRow, found duplicateRows) {
	keyOf := func(r twinRow) string {
		return fmt.Sprint(r["gi"], "|", quoteAny(r["t"]), "|", quoteAny(r["e"]), "|", r["i"])
	}
	for i, r := range rows {
		var later twinRow
		for _, other := range rows[i+1:] {
			if keyOf(other) == keyOf(r) {
				later = other
			}
		}
		if later == nil || keepDuplicates {
			kept = append(kept, r)
		}
		switch {
		case later == nil:
		case show(later) == show(r):
			found.Identical++
		default:
			found.Different++
		}
	}
	slices.SortStableFunc(kept, func(a, b twinRow) int {
		for _, name := range twinTable.order {
			if c := compareCells(name, a[name], b[name]); c != 0 {
				return c
			}
		}
		return 0
	})
	return kept, found
}

func quoteAny(v any) string {
	if s, ok := v.(string); ok {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprint(v)
}

func compareCells(name string, a, b any) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	if name == "e" {
		return cmp.Compare(strings.Index("zam", a.(string)), strings.Index("zam", b.(string)))
	}
	if s, ok := a.(string); ok {
		return strings.Compare(s, b.(string))
	}
	return cmp.Compare(a.(int64), b.(int64))
}

func show(r twinRow) string {
	var words []string
	for _, c := range twinTable.columns {
		words = append(words, c.name+"="+quoteAny(r[c.name]))
	}
	return strings.Join(words, " ")
}

// rowOf reads a row back out of a finished table.
func rowOf(data *snapshot.TableData, row int) twinRow {
	r := twinRow{}
	read := func(columns []snapshot.ColumnData, at int) {
		for i := range columns {
			c := &columns[i]
			r[c.Name] = nil
			switch c.Kind {
			case snapshot.Text, snapshot.Enum:
				if c.Codes[at] != snapshot.NullCode {
					r[c.Name] = c.Values[c.Codes[at]]
				}
			case snapshot.Decimal:
				switch d := c.Decimals[at]; d.Scale {
				case snapshot.DecNull:
				case snapshot.DecText:
					r[c.Name] = c.Texts[d.Mantissa]
				default:
					r[c.Name] = d.String()
				}
			default:
				if c.Ints[at] != snapshot.NullInt {
					r[c.Name] = c.Ints[at]
				}
			}
		}
	}
	for _, g := range data.Groups {
		read(g.Columns, int(g.Codes[row]))
	}
	read(data.Columns, row)
	return r
}

// TestFinishAgainstNaive compares building, dropping duplicates and sorting with a plain
// implementation, on generated rows.
func TestFinishAgainstNaive(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		rows := make([]twinRow, rng.IntN(120))
		variety := 1 + rng.IntN(12)
		for i := range rows {
			rows[i] = randomRow(rng, variety)
			if i > 0 && rng.IntN(4) == 0 {
				rows[i] = rows[rng.IntN(i)]
			}
		}
		keep := seed%3 == 0
		data, found := buildRows(rng, rows).finish(keep)
		want, wantFound := naive(rows, keep)
		if found.Identical != wantFound.Identical || found.Different != wantFound.Different {
			t.Fatalf("seed %d: duplicate rows %+v, want %+v", seed, found, wantFound)
		}
		if data.Rows != len(want) {
			t.Fatalf("seed %d: %d rows, want %d", seed, data.Rows, len(want))
		}
		for i, r := range want {
			if got := show(rowOf(data, i)); got != show(r) {
				t.Fatalf("seed %d: row %d is\n%s, want\n%s", seed, i, got, show(r))
			}
		}
		checkDense(t, data)
	}
}

// checkDense checks that every tuple and every text is used, and occurs once.
func checkDense(t *testing.T, data *snapshot.TableData) {
	t.Helper()
	columns := slices.Clone(data.Columns)
	for _, g := range data.Groups {
		used := map[uint32]bool{}
		for _, c := range g.Codes {
			used[c] = true
		}
		if len(used) != g.Tuples {
			t.Fatalf("group %s: %d tuples, %d in use", g.Name, g.Tuples, len(used))
		}
		seen := map[string]bool{}
		for i := range g.Tuples {
			key := ""
			for _, c := range g.Columns {
				switch c.Kind {
				case snapshot.Text, snapshot.Enum:
					key += fmt.Sprint(c.Codes[i], ",")
				case snapshot.Decimal:
					key += fmt.Sprint(c.Decimals[i], ",")
				default:
					key += fmt.Sprint(c.Ints[i], ",")
				}
			}
			if seen[key] {
				t.Fatalf("group %s: tuple %d occurs twice", g.Name, i)
			}
			seen[key] = true
		}
		columns = append(columns, g.Columns...)
	}
	for _, c := range columns {
		if c.Kind != snapshot.Text {
			continue
		}
		used := map[uint32]bool{}
		for _, code := range c.Codes {
			if code != snapshot.NullCode {
				used[code] = true
			}
		}
		distinct := map[string]bool{}
		for _, s := range c.Values {
			distinct[s] = true
		}
		if len(used) != len(c.Values) || len(distinct) != len(c.Values) {
			t.Fatalf("column %s: %d texts, %d distinct, %d in use", c.Name, len(c.Values), len(distinct), len(used))
		}
	}
}

// caseColumns are the columns that the case file uses.
var caseColumns = map[string]column{
	"text5": text("c", 5), "text5?": text("c", 5).orNull(), "blank5?": text("c", 5).orBlank(),
	"int": integer("c"), "int?": integer("c").orNull(), "count": integer("c").between(0, math.MaxFloat64),
	"rank": integer("c").between(1, 250),
	"dec":  decimal("c"), "dec?": decimal("c").orNull(), "share": decimal("c").between(0, 1),
	"enum": enum("c", []string{"f", "m", "all"}), "enum?": enum("c", []string{"f", "m", "all"}).orNull(),
	"bool": flag("c"), "time": instant("c"),
}

// printValue writes the value at position i as the case files do.
func printValue(v *vector, i int) string {
	switch {
	case v.isNull(i):
		return "null"
	case v.kind == snapshot.Text || v.kind == snapshot.Enum:
		return strconv.Quote(v.text(i))
	case v.kind == snapshot.Time:
		return time.UnixMicro(v.int(i)).UTC().Format("2006-01-02T15:04:05.999999")
	case v.kind == snapshot.Decimal && v.decs[i].Scale == snapshot.DecText:
		return v.texts[v.decs[i].Mantissa]
	case v.kind == snapshot.Decimal:
		return v.decs[i].String()
	}
	return strconv.FormatInt(v.int(i), 10)
}

func TestCells(t *testing.T) {
	t.Parallel()
	for _, c := range readCases(t, "testdata/cells/values.txt") {
		given, want := c.cut(" -> ")
		kind, quoted, _ := strings.Cut(given, " ")
		declared, ok := caseColumns[kind]
		cell, err := strconv.Unquote(quoted)
		if !ok || err != nil {
			t.Fatalf("%s: kind %q, cell %s", c.at, kind, quoted)
		}
		at := 0
		v := newVector(&declared, &at)
		why := v.read([]byte(cell))
		got := string(why)
		if !why.unreadable() {
			got = strings.TrimSpace(printValue(v, 0) + " " + string(why))
		}
		if got != want {
			t.Errorf("%s: %s %q is read as %s, want %s", c.at, kind, cell, got, want)
		}
	}
}

func TestPeriods(t *testing.T) {
	t.Parallel()
	layout := "2006-01-02T15:04:05.999999"
	for _, c := range readCases(t, "testdata/cells/periods.txt") {
		given, want := c.cut(" -> ")
		first, last, _ := strings.Cut(given, " .. ")
		start, ok1 := parseDay([]byte(first))
		end, ok2 := parseDay([]byte(last))
		got := "bad"
		if ok1 && ok2 {
			got = time.UnixMicro(start).UTC().Format(layout) + " .. " +
				time.UnixMicro(endOfDay(end)).UTC().Format(layout)
		}
		if got != want {
			t.Errorf("%s: %s is %s, want %s", c.at, given, got, want)
		}
	}
}

// TestInstantsAgainstTime holds our calendar against the standard library's, over all years that a
// cell can name.
func TestInstantsAgainstTime(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 7))
	first := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
	last := time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, time.UTC).UnixMicro()
	for range 20_000 {
		want := first + rng.Int64N(last-first+1)
		cell := time.UnixMicro(want).UTC().Format("2006-01-02 15:04:05.999999")
		if got, ok := parseInstant([]byte(cell)); !ok || got != want {
			t.Fatalf("%q is read as %d, %v, want %d", cell, got, ok, want)
		}
	}
}

// FuzzCells checks that any cell gives each kind of column a value or a reason, and that a value
// that is kept prints and parses as itself.
func FuzzCells(f *testing.F) {
	for _, seed := range []string{
		"", " ", "12.0", "-1e-5", "2024-12-31 23:59:59.5+00", "t", "f", "9999999999999999999",
		"\xff", "1e400",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, cell string) {
		for kind, declared := range caseColumns {
			at := 0
			v := newVector(&declared, &at)
			if why := v.read([]byte(cell)); why.unreadable() || v.isNull(0) {
				continue
			}
			first := printValue(v, 0)
			again := first
			if s, err := strconv.Unquote(first); err == nil {
				again = s
			}
			if v.kind == snapshot.Bool {
				again = map[string]string{"0": "f", "1": "t"}[first]
			}
			if why := v.read([]byte(again)); why.unreadable() || printValue(v, 0) != first {
				t.Errorf("%s: %q is read as %s, which is read as %s %s", kind, cell, first, printValue(v, 0), why)
			}
		}
	})
}

func TestOddTexts(t *testing.T) {
	t.Parallel()
	for _, c := range readCases(t, "testdata/cells/odd.txt") {
		given, want := c.cut(" -> ")
		column, quoted, _ := strings.Cut(given, " ")
		text, err := strconv.Unquote(quoted)
		if got := isOddText(column, text); err != nil || got != (want == "odd") || want != "odd" && want != "plain" {
			t.Errorf("%s: %s %q is odd: %t, want %s", c.at, column, text, got, want)
		}
	}
}
