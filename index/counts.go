package index

import (
	"cmp"
	"fmt"
	"math/big"
	"math/bits"
	"slices"
	"time"

	"hdqs/snapshot"
)

// Part is what of a value is counted.
type Part uint8

// The parts. All but Whole are of the values of Time columns, in UTC.
const (
	Whole Part = iota
	Year
	Quarter
	Month
)

// By is what rows are counted by: the value of a column, or a part of it.
type By struct {
	Column string
	Part   Part
}

// Counts is how many of the rows that pass a query have each value of a column, or each part of its
// values. The values are those of at least one such row, in the column's order, null last. It
// refers to the segment and must not be used after that is closed.
type Counts struct {
	Column *snapshot.Column
	Part   Part

	rows []uint32
	null bool // the last value is null

	// One of these has the values: codes of the column, positions in it, or numbers of parts.
	codes     []uint32
	positions []uint32
	numbers   []int64
}

// Len is the number of values, null included.
func (c *Counts) Len() int { return len(c.rows) }

// Rows is the number of rows with value i.
func (c *Counts) Rows(i int) int { return int(c.rows[i]) }

// IsNull reports whether value i is null.
func (c *Counts) IsNull(i int) bool { return c.null && i == len(c.rows)-1 }

// Code is the code of value i, with null's for null; ok is false if the column has no codes, and
// for parts.
func (c *Counts) Code(i int) (code uint32, ok bool) {
	if c.codes == nil {
		return 0, false
	}
	return c.codes[i], true
}

// Position is a position in the column that has value i of a column without codes.
func (c *Counts) Position(i int) uint32 { return c.positions[i] }

// Top returns the numbers of the n values with the most rows, from the most on; of those with as
// many rows, the first values first.
func (c *Counts) Top(n int) []int {
	n = min(n, len(c.rows))
	// The least number of rows of a value that is among the first n. Each step halves what it can
	// be, however many values there are.
	least, most := uint32(0), uint32(0)
	for _, rows := range c.rows {
		most = max(most, rows)
	}
	for bit := uint32(uint64(1) << bits.Len32(most) >> 1); bit != 0 && n > 0; bit >>= 1 {
		if atLeast(c.rows, least|bit) >= n {
			least |= bit
		}
	}
	top := make([]int, 0, n)
	ties := n - atLeast(c.rows, least+1)
	for i, rows := range c.rows {
		if rows > least || rows == least && ties > 0 {
			top = append(top, i)
			if rows == least {
				ties--
			}
		}
	}
	slices.SortStableFunc(top, func(i, k int) int { return cmp.Compare(c.rows[k], c.rows[i]) })
	return top
}

// atLeast is how many numbers of rows are least or more.
func atLeast(rows []uint32, least uint32) int {
	n := 0
	for _, r := range rows {
		if r >= least {
			n++
		}
	}
	return n
}

// Text is value i of a Text or Enum column, "" for null.
func (c *Counts) Text(i int) string {
	if c.IsNull(i) {
		return ""
	}
	return c.Column.TextOf(c.codes[i])
}

// Int is value i of an Int, Bool or Time column, NullInt for null. Years are counted from the year
// 0, quarters from the first of that year, months from its January: 2024-05 is month 2024*12+4.
func (c *Counts) Int(i int) int64 {
	switch {
	case c.IsNull(i):
		return snapshot.NullInt
	case c.numbers != nil:
		return c.numbers[i]
	case c.positions != nil:
		return c.Column.Int(c.positions[i])
	}
	return c.Column.IntOf(c.codes[i])
}

// Dec is value i of a Decimal column; its scale is DecNull for null.
func (c *Counts) Dec(i int) snapshot.Dec {
	switch {
	case c.IsNull(i):
		return snapshot.Dec{Scale: snapshot.DecNull}
	case c.positions != nil:
		return c.Column.Dec(c.positions[i])
	}
	return c.Column.DecOf(c.codes[i])
}

// MaxNumbers is the most different values of an Int or Decimal column that Counts counts.
const MaxNumbers = 10_000

// ManyNumbers is the error for an Int or Decimal column that has more than MaxNumbers different
// values in the rows that pass.
type ManyNumbers struct{ Column string }

func (e *ManyNumbers) Error() string {
	return fmt.Sprintf("index: column %q has more than %d different values", e.Column, MaxNumbers)
}

// Counts counts the rows that pass all filters of a query by each of the given columns, in one
// Counts each. The error is that of Select, or *ManyNumbers.
func (x *Index) Counts(q *Query, by ...By) ([]Counts, error) {
	for _, b := range by {
		if err := x.checkBy(b); err != nil {
			return nil, err
		}
	}
	rows, err := x.Passing(q)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	t := x.tallies.Get().(*tally)
	defer x.tallies.Put(t)
	t.collect(x, rows)
	all := make([]Counts, len(by))
	for i, b := range by {
		c := x.columns[b.Column]
		if all[i].Column != nil {
			continue // counted with another column of its group
		}
		if c.space == nil {
			all[i].Column = c.col
			if err := all[i].countNumbers(&t.rows); err != nil {
				return nil, err
			}
			continue
		}
		if err := t.count(x, c.space, t.choose(x, c.space)); err != nil {
			return nil, err
		}
		for k := i; k < len(by); k++ {
			if other := x.columns[by[k].Column]; other.space == c.space {
				all[k] = Counts{Column: other.col, Part: by[k].Part}
				all[k].fold(t)
			}
		}
	}
	for i := range all {
		kind := all[i].Column.Kind
		if (kind == snapshot.Int || kind == snapshot.Decimal) && all[i].Len() > MaxNumbers {
			return nil, &ManyNumbers{by[i].Column}
		}
	}
	return all, nil
}

func (x *Index) checkBy(b By) error {
	c := x.columns[b.Column]
	switch {
	case c == nil:
		return filterf("the table has no column %q", b.Column)
	case b.Part > Month || b.Part != Whole && c.col.Kind != snapshot.Time:
		return filterf("column %q of kind %d has no part %d", b.Column, c.col.Kind, b.Part)
	}
	return nil
}

// fold sets c to the counts of its column, from those by code of the column, or by tuple of its
// group.
func (c *Counts) fold(t *tally) {
	col, counts := c.Column, t.counts
	if col.Group != nil {
		if !col.Coded() {
			c.foldNumbers(counts)
			return
		}
		counts = t.foldTuples(col)
	}
	distinct := 0
	for _, n := range counts {
		if n > 0 {
			distinct++
		}
	}
	codes, rows := make([]uint32, 0, distinct), make([]uint32, 0, distinct)
	for code, n := range counts {
		if n > 0 {
			codes, rows = append(codes, uint32(code)), append(rows, n)
		}
	}
	c.codes, c.rows = codes, rows
	c.null = distinct > 0 && int(codes[distinct-1]) == col.Cardinality()
	if c.Part != Whole {
		c.foldTimes()
	}
}

// foldTimes replaces times by their parts.
func (c *Counts) foldTimes() {
	codes, rows := c.codes, c.rows
	c.codes, c.rows, c.numbers = nil, rows[:0], make([]int64, 0, 16)
	for i, code := range codes {
		if c.null && i == len(codes)-1 {
			c.numbers, c.rows = append(c.numbers, snapshot.NullInt), append(c.rows, rows[i])
			break
		}
		number := partOf(c.Column.IntOf(code), c.Part)
		if last := len(c.numbers) - 1; last >= 0 && c.numbers[last] == number {
			c.rows[last] += rows[i]
			continue
		}
		c.numbers, c.rows = append(c.numbers, number), append(c.rows, rows[i])
	}
}

// partOf is the number of the year, quarter or month of a time.
func partOf(micros int64, part Part) int64 {
	year, month, _ := time.UnixMicro(micros).UTC().Date()
	switch part {
	case Year:
		return int64(year)
	case Quarter:
		return int64(year)*4 + int64(month-1)/3
	}
	return int64(year)*12 + int64(month-1)
}

// numberCount is the rows with one number, and a position that has it.
type numberCount struct{ position, rows uint32 }

// foldNumbers sets c to the counts of a group's column without a dictionary.
func (c *Counts) foldNumbers(perTuple []uint32) {
	packed, counts := c.Column.Numbers().Packed, map[uint64]numberCount{}
	for tuple, n := range perTuple {
		if n > 0 {
			number := packed.At(uint32(tuple))
			counts[number] = numberCount{uint32(tuple), counts[number].rows + n}
		}
	}
	c.setNumbers(counts)
}

// countNumbers sets c to the counts of a column of rows without a dictionary.
func (c *Counts) countNumbers(rows *set) error {
	packed, counts := c.Column.Numbers().Packed, map[uint64]numberCount{}
	var numbers [64]uint64
	for k := range rows.chunks {
		base, many := uint32(k)<<chunkBits, false
		rows.eachRun(k, func(from, to uint32) bool {
			for at := base + from; at < base+to; {
				n := min(int(base+to-at), len(numbers))
				packed.Unpack64(numbers[:n], at)
				for i, number := range numbers[:n] {
					counts[number] = numberCount{at + uint32(i), counts[number].rows + 1}
				}
				at += uint32(n)
				many = many || len(counts) > MaxNumbers
			}
			return !many
		})
		if many {
			return &ManyNumbers{c.Column.Name}
		}
	}
	c.setNumbers(counts)
	return nil
}

// setNumbers sets c to counts by packed number.
func (c *Counts) setNumbers(counts map[uint64]numberCount) {
	col, sorted := c.Column, make([]numberCount, 0, len(counts))
	for _, n := range counts {
		sorted = append(sorted, n)
	}
	slices.SortFunc(sorted, func(a, b numberCount) int { return compareAt(col, a.position, b.position) })
	c.positions, c.rows = make([]uint32, len(sorted)), make([]uint32, len(sorted))
	for i, n := range sorted {
		c.positions[i], c.rows[i] = n.position, n.rows
	}
	if last := len(sorted) - 1; last >= 0 {
		c.null = col.IsNull(sorted[last].position)
	}
}

// compareAt orders two values of a column of numbers, null last.
func compareAt(col *snapshot.Column, a, b uint32) int {
	if aNull, bNull := col.IsNull(a), col.IsNull(b); aNull || bNull {
		switch {
		case aNull && bNull:
			return 0
		case aNull:
			return 1
		}
		return -1
	}
	if col.Kind != snapshot.Decimal {
		return cmp.Compare(col.Int(a), col.Int(b))
	}
	x, y := col.Dec(a), col.Dec(b)
	if x.Scale != snapshot.DecText && y.Scale != snapshot.DecText {
		return x.Compare(y)
	}
	return ratOf(col, x).Cmp(ratOf(col, y))
}

func ratOf(col *snapshot.Column, d snapshot.Dec) *big.Rat {
	r, _ := new(big.Rat).SetString(col.DecString(d))
	return r
}
