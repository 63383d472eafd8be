package snapshot

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

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
