//go:build !race

package loader

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"hdqs/snapshot"
)

// caseColumns are the columns that the case file uses.
var caseColumns = map[string]column{
	"text5": text("c", 5), "text5?": text("c", 5).orNull(), "blank5?": text("c", 5).orBlank(),
	"int": integer("c"), "int?": integer("c").orNull(), "count": integer("c").nonNegative(),
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

// BenchmarkParseDay reads a day of a period.
func BenchmarkParseDay(b *testing.B) {
	cell := []byte("2024-12-31")
	for b.Loop() {
		if _, ok := parseDay(cell); !ok {
			b.Fatal("not a day")
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
