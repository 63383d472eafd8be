package aggregate

import (
	"math/big"
	"math/bits"
	"strings"

	"hdqs/snapshot"
)

// numeric is the values of an Int or Decimal column as integers that can be added: a value is the
// integer divided by 10^scale. An integer that could make a sum beyond 64 bits is cut into limbs of
// limbBits bits, which are added each on its own: the integer is the sum of limb j times
// 2^(limbBits*j). Limbs are not negative, except for the last. So no addition carries, and the sum
// of a limb over all rows of a table stays below 2^62.
//
// The few values that only an exact text can hold (snapshot.DecText) count as zero here. They are
// added one by one as big integers (odd).
type numeric struct {
	c     *column
	scale int
	limbs int

	// Of a column of a space, by code of the space.
	tables [][]int64         // for each limb
	some   []uint32          // 1 for a value, 0 for null; nil without nulls
	odd    map[uint32]string // exact texts
	isOdd  []bool            // by code; nil without exact texts

	raw snapshot.Numbers // of a column without a space
}

const (
	limbBits = 31
	maxLimbs = 4 // 63 bits times 10^18 take 123
)

// numbers returns the numeric of an Int or Decimal column.
func (c *column) numbers() *numeric {
	c.numericOnce.Do(func() {
		n := &numeric{c: c}
		if c.space == nil {
			n.raw = c.col.Numbers()
			n.measureRaw()
		} else {
			n.makeTables()
		}
		c.numeric = n
	})
	return c.numeric
}

// dec is the value with a number of the coding, as a decimal. It is not null.
func (c *column) dec(number uint32) snapshot.Dec {
	d, col := &c.coding, c.col
	switch {
	case col.Kind == snapshot.Decimal && d.at != nil:
		return col.Dec(d.at[number])
	case col.Kind == snapshot.Decimal:
		return col.DecOf(number)
	case d.at != nil:
		return snapshot.Dec{Mantissa: col.Int(d.at[number])}
	}
	return snapshot.Dec{Mantissa: col.IntOf(number)}
}

// limbsFor is the number of limbs of integers up to m times 10^digits, in a table of that many
// rows: one if no sum can leave 64 bits.
func limbsFor(m uint64, digits int, rows int) int {
	most := new(big.Int).Mul(new(big.Int).SetUint64(m), pow10(digits))
	if new(big.Int).Mul(most, big.NewInt(int64(rows)+1)).IsInt64() {
		return 1
	}
	return (most.BitLen() + 1 + limbBits - 1) / limbBits // a bit for the sign
}

func absolute(v int64) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}

// makeTables fills the tables of a column of a space.
func (n *numeric) makeTables() {
	d := n.c.values()
	most, least := uint64(0), snapshot.MaxScale
	for i := range uint32(d.n) {
		if v := n.c.dec(i); v.Scale <= snapshot.MaxScale {
			most, least = max(most, absolute(v.Mantissa)), min(least, int(v.Scale))
			n.scale = max(n.scale, int(v.Scale))
		}
	}
	n.limbs = limbsFor(most, n.scale-min(n.scale, least), n.c.rows())
	values := make([][maxLimbs]int64, d.n+1)
	var odd map[uint32]string
	for i := range uint32(d.n) {
		v := n.c.dec(i)
		if v.Scale == snapshot.DecText {
			if odd == nil {
				odd = make(map[uint32]string)
			}
			odd[i] = n.c.col.DecString(v)
		} else {
			n.cut(v, &values[i])
		}
	}
	size := n.c.space.size
	number := func(code uint32) uint32 {
		if d.codes != nil {
			return d.codes[code]
		}
		return code
	}
	for j := range n.limbs {
		table := make([]int64, size)
		for code := range uint32(size) {
			table[code] = values[number(code)][j]
		}
		n.tables = append(n.tables, table)
	}
	for code := range uint32(size) {
		i := number(code)
		if text, is := odd[i]; is {
			if n.odd == nil {
				n.odd, n.isOdd = make(map[uint32]string), make([]bool, size)
			}
			n.odd[code], n.isOdd[code] = text, true
		}
		if int(i) == d.n && n.some == nil {
			n.some = make([]uint32, size)
			for k := range uint32(size) {
				if int(number(k)) < d.n {
					n.some[k] = 1
				}
			}
		}
	}
}

// rows is the number of rows of the table.
func (c *column) rows() int {
	if c.space != nil {
		return c.space.codes.Len()
	}
	return c.col.Len()
}

// measureRaw finds scale and limbs of a column without a space.
func (n *numeric) measureRaw() {
	r := &n.raw
	span := uint64(1)<<r.Packed.Width() - 1
	if r.Packed.Width() == 64 {
		span = ^uint64(0)
	}
	span >>= r.ScaleBits
	// The largest mantissa is at most this, and within 63 bits.
	high := uint64(1<<63 - 1)
	if left := high - uint64(r.Base); span < left {
		high = uint64(r.Base) + span
	}
	most := max(absolute(r.Base), absolute(int64(high)))
	least := snapshot.MaxScale
	for _, s := range r.Scales {
		if s <= snapshot.MaxScale {
			n.scale, least = max(n.scale, int(s)), min(least, int(s))
		}
	}
	n.limbs = limbsFor(most, n.scale-min(n.scale, least), n.c.rows())
}

// cut writes the limbs of an ordinary decimal.
func (n *numeric) cut(v snapshot.Dec, limbs *[maxLimbs]int64) {
	factor := powers[n.scale-int(v.Scale)]
	if n.limbs == 1 {
		limbs[0] = v.Mantissa * factor
		return
	}
	high, low := bits.Mul64(absolute(v.Mantissa), uint64(factor))
	if v.Mantissa < 0 {
		low, high = -low, ^high
		if low == 0 {
			high++
		}
	}
	const mask = 1<<limbBits - 1
	for j := range n.limbs - 1 {
		limbs[j] = int64(low & mask)
		low = low>>limbBits | high<<(64-limbBits)
		high = uint64(int64(high) >> limbBits)
	}
	limbs[n.limbs-1] = int64(low)
}

var powers = func() (p [snapshot.MaxScale + 1]int64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = 10 * p[i-1]
	}
	return p
}()

// rat is the exact value of a decimal of the column.
func (c *column) rat(d snapshot.Dec) *big.Rat {
	if d.Scale != snapshot.DecText {
		return d.Rat()
	}
	r, ok := new(big.Rat).SetString(strings.Clone(c.col.DecString(d)))
	if !ok {
		panic("aggregate: exact text is not a number: " + c.col.DecString(d))
	}
	return r
}
