package snapshot

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// goldenTable has one column of each kind and every encoding of the format.
func goldenTable() *TableData {
	scattered := make([]Dec, 0, fewValues+6)
	for i := range cap(scattered) {
		scattered = append(scattered, Dec{Mantissa: int64(i)*1_000_003 - 2_000_000_001})
	}
	text := "0.1000000000000000055"
	scattered[3], scattered[4], scattered[5] = Dec{Mantissa: 25, Scale: 2}, Dec{Scale: DecNull}, Dec{Scale: DecText}
	rows := len(scattered)
	t := &TableData{Name: "golden", Rows: rows}
	t.Groups = []GroupData{{
		Name: "place", Codes: make([]uint32, rows), Tuples: 2,
		Columns: []ColumnData{
			{Name: "town", Kind: Text, Codes: []uint32{1, 0}, Values: []string{"Ábc", "aBc"}},
			{Name: "height", Kind: Int, Ints: []int64{NullInt, -7}},
		},
	}, {Name: "colour", Codes: make([]uint32, rows), Tuples: 2}}
	days := make([]int64, rows)
	counts := make([]int64, rows)
	sizes, open := make([]uint32, rows), make([]int64, rows)
	prices := make([]Dec, rows)
	for row := range rows {
		t.Groups[0].Codes[row] = uint32(row / (rows/2 + 1))
		t.Groups[1].Codes[row] = uint32(row & 1)
		days[row] = int64(row/2000) * 86_400_000_000
		counts[row] = int64(row) * 1_000_003
		sizes[row] = uint32(row % 2)
		open[row] = int64(row % 2)
		prices[row] = []Dec{{Mantissa: 125, Scale: 1}, {Mantissa: 3}, {Scale: DecText}}[row%3]
	}
	sizes[1], counts[2] = NullCode, NullInt
	t.Columns = []ColumnData{
		{Name: "size", Kind: Enum, Index: true, Codes: sizes, Values: []string{"small", "large", "huge"}},
		{Name: "open", Kind: Bool, Ints: open},
		{Name: "day", Kind: Time, Index: true, Ints: days},
		{Name: "count", Kind: Int, Ints: counts},
		{Name: "price", Kind: Decimal, Decimals: prices, Texts: []string{text}},
		{Name: "exact", Kind: Decimal, Decimals: scattered, Texts: []string{text}},
	}
	return t
}

// TestSegmentBytes compares a dump of a segment with a golden file. A difference is a change of the
// format, which needs a new version. A kept segment is written once and never again: programs that
// are in use have written such.
func TestSegmentBytes(t *testing.T) {
	t.Parallel()
	var file, dump bytes.Buffer
	testkit.Must(t, WriteSegment(&file, goldenTable()))
	testkit.Must(t, Dump(&dump, file.Bytes()))
	golden := fmt.Sprintf("testdata/segment_v%d.txt", formatWrite)
	if *update {
		testkit.WriteFile(t, golden, dump.Bytes())
		if kept := keptSegment(formatWrite); len(testkit.Value(filepath.Glob(kept))(t)) == 0 {
			testkit.WriteFile(t, kept, file.Bytes())
		}
	}
	want := testkit.ReadFile(t, golden)
	if !bytes.Equal(dump.Bytes(), want) {
		t.Errorf("the bytes of a segment changed. Unless programs from before and after read both, increment "+
			"formatWrite (format.go); then run go test -update and look at the diff of %s", golden)
	}
}

func keptSegment(version int) string { return fmt.Sprintf("testdata/v%d/golden.seg", version) }

// TestKeptSegments: the files of released formats still open and have the contents they were made
// from.
func TestKeptSegments(t *testing.T) {
	t.Parallel()
	for version := 1; version <= formatWrite; version++ {
		path := keptSegment(version)
		s := testkit.Value(OpenSegment(path))(t)
		testkit.Is(t, compareTable(s, goldenTable()), nil, "%s", path)
		testkit.Is(t, s.Verify(), nil, "%s", path)
		testkit.Must(t, s.Close())
	}
}

// generate makes a random table: up to some thousand rows, groups, all kinds, sorted or not, with
// and without nulls.
func generate(r *rand.Rand) *TableData {
	t := &TableData{Name: "things", Rows: r.IntN([]int{1, 3, 70, 5000}[r.IntN(4)] + 1)}
	for i := range r.IntN(4) {
		g := GroupData{Name: fmt.Sprintf("group%d", i), Tuples: 1 + r.IntN(40)}
		g.Codes = make([]uint32, t.Rows)
		for row := range g.Codes {
			g.Codes[row] = uint32(r.IntN(g.Tuples))
		}
		if r.IntN(2) == 0 {
			slices.Sort(g.Codes)
		}
		for k := range r.IntN(4) {
			g.Columns = append(g.Columns, generateColumn(r, fmt.Sprintf("%s_c%d", g.Name, k), g.Tuples))
			g.Columns[k].Index = false
		}
		t.Groups = append(t.Groups, g)
	}
	for k := range r.IntN(9) {
		t.Columns = append(t.Columns, generateColumn(r, fmt.Sprintf("c%d", k), t.Rows))
	}
	return t
}

func generateColumn(r *rand.Rand, name string, n int) ColumnData {
	c := ColumnData{Name: name, Kind: Kind(1 + r.IntN(6)), Index: r.IntN(2) == 0}
	nulls := r.IntN(3) == 0
	isNull := func() bool { return nulls && r.IntN(3) == 0 }
	switch c.Kind {
	case Text, Enum:
		for i := range 1 + r.IntN(30) {
			c.Values = append(c.Values, fmt.Sprintf("%s%d", []string{"", "Zoë ", "\"q\"\n", "日本"}[r.IntN(4)], i))
		}
		if r.IntN(4) == 0 {
			c.Values = append(c.Values, "")
		}
		c.Codes = make([]uint32, n)
		for i := range c.Codes {
			if c.Codes[i] = uint32(r.IntN(len(c.Values))); isNull() {
				c.Codes[i] = NullCode
			}
		}
		if c.Kind == Enum && r.IntN(2) == 0 {
			slices.Sort(c.Codes)
		}
	case Decimal:
		generateDecimals(r, &c, n, isNull)
	default:
		generateInts(r, &c, n, isNull)
	}
	return c
}

func generateInts(r *rand.Rand, c *ColumnData, n int, isNull func() bool) {
	c.Ints = make([]int64, n)
	shift := r.IntN(64)
	base := int64(r.Uint64()) >> r.IntN(64)
	for i := range c.Ints {
		c.Ints[i] = base + int64(r.Uint64()>>shift)
		if c.Kind == Bool {
			c.Ints[i] = int64(r.IntN(2))
		}
		if isNull() {
			c.Ints[i] = NullInt
		}
	}
	if r.IntN(3) == 0 {
		slices.Sort(c.Ints)
	}
}

func generateDecimals(r *rand.Rand, c *ColumnData, n int, isNull func() bool) {
	c.Decimals = make([]Dec, n)
	texts := map[string]int{}
	wide, odd := r.IntN(64), r.IntN(2) == 0
	for i := range c.Decimals {
		text := fmt.Sprintf("%d", int64(r.Uint64())>>wide)
		if at := r.IntN(12); at < len(text) && at > 1 {
			text = text[:at] + "." + text[at:]
		}
		if odd && r.IntN(20) == 0 {
			text = fmt.Sprintf("%d.%s%d", r.IntN(9), strings.Repeat("0", r.IntN(30)), 1+r.Uint64N(math.MaxInt64))
		}
		switch d, fits := ParseDec(text); {
		case isNull():
			c.Decimals[i] = Dec{Scale: DecNull}
		case fits:
			c.Decimals[i] = d
		default:
			plain, ok := PlainDecimal(text)
			if !ok {
				panic("generated a text that is no number: " + text)
			}
			if _, is := texts[plain]; !is {
				texts[plain] = len(c.Texts)
				c.Texts = append(c.Texts, plain)
			}
			c.Decimals[i] = Dec{Mantissa: int64(texts[plain]), Scale: DecText}
		}
	}
}
