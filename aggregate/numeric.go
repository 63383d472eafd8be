package aggregate

import (
	"math/big"
	"math/bits"
	"slices"
	"sync"
	"unsafe"

	"hdqs/snapshot"
)

// numeric is the values of an Int or Decimal column as integers that can be added: a value is the
// integer divided by 10^scale. If their sum could be beyond 64 bits, they are cut into limbs, which
// are added each on its own: the integer is the sum of limb j times 2^(width*j). Limbs are not
// negative, except for the last. So no addition carries, and the sum of a limb over all rows of the
// table stays below 2^62.
//
// The few values that only an exact text can hold (snapshot.DecText) count as zero here. They are
// added one by one as rationals.
type numeric struct {
	c     *column
	scale int
	limbs int
	width int
	fits  bool // all integers have 64 bits

	// Of a column of a space, by code of the space.
	tables [][]int64               // for each limb
	some   []uint32                // 1 for a value, 0 for null; nil without nulls
	odd    map[uint32]snapshot.Dec // exact texts
	isOdd  []bool                  // by code; nil without exact texts

	// Of a column without a space. The integer of a packed number is its mantissa times the factor
	// for its scale, which is 0 for null and exact texts.
	raw     *snapshot.Numbers
	factors [1 << 5]int64
	valued  [1 << 5]uint32 // 1, for null 0
	textAt  uint64         // the position of the scale of exact texts; noToken without any

	// For columns with prefix sums: the increment per code. Bits above countShift hold the count.
	counted []int64

	prefixOnce sync.Once
	prefix     []int64  // the sum of the rows before each step, if there is one limb and no exact text
	prefixSome []uint32 // and the number of their values, if there are nulls
}

// oddBytes is about what an exact text takes in a map.
const oddBytes = 40

// maxLimbs is enough for 63 bits times 10^18, which take 123, and for 2^31 rows.
const maxLimbs = 4

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
		size := 4*cap(n.some) + len(n.isOdd) + int(unsafe.Sizeof(*n))
		for _, table := range n.tables {
			size += 8 * cap(table)
		}
		c.made.Add(int64(size + oddBytes*len(n.odd)))
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

// measure finds scale and limbs, from the largest mantissa of each scale.
func (n *numeric) measure(most *[snapshot.MaxScale + 1]uint64) {
	for scale, m := range most {
		if m > 0 {
			n.scale = scale
		}
	}
	largest := new(big.Int)
	for scale, m := range most[:n.scale+1] {
		v := new(big.Int).Mul(new(big.Int).SetUint64(m), pow10(n.scale-scale))
		if v.Cmp(largest) > 0 {
			largest = v
		}
	}
	rows := int64(n.c.rows())
	n.fits = largest.IsInt64()
	n.width = 62 - bits.Len64(uint64(rows))
	if new(big.Int).Mul(largest, big.NewInt(rows)).IsInt64() {
		n.limbs = 1
	} else {
		n.limbs = (largest.BitLen() + 1 + n.width - 1) / n.width // a bit for the sign
	}
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
	var most [snapshot.MaxScale + 1]uint64
	for i := range uint32(d.n) {
		if v := n.c.dec(i); v.Scale <= snapshot.MaxScale {
			most[v.Scale] = max(most[v.Scale], absolute(v.Mantissa))
		}
	}
	n.measure(&most)
	size := n.c.space.Size()
	for range n.limbs {
		n.tables = append(n.tables, make([]int64, size))
	}
	for code := range uint32(size) {
		number := d.number(code)
		if int(number) == d.n { // null
			if n.some == nil {
				n.some = slices.Repeat([]uint32{1}, size)
			}
			n.some[code] = 0
			continue
		}
		v := n.c.dec(number)
		if v.Scale == snapshot.DecText {
			if n.odd == nil {
				n.odd, n.isOdd = make(map[uint32]snapshot.Dec), make([]bool, size)
			}
			n.odd[code], n.isOdd[code] = v, true
			continue
		}
		var limbs [maxLimbs]int64
		n.cut(v, &limbs)
		for j, table := range n.tables {
			table[code] = limbs[j]
		}
	}
}

func (c *column) rows() int {
	if c.space != nil {
		return c.space.Codes().Len()
	}
	return c.col.Len()
}

// measureRaw finds scale and limbs of a column without a space.
func (n *numeric) measureRaw() {
	r := n.raw
	var most [snapshot.MaxScale + 1]uint64
	var packed [blockRows]uint64
	for from := 0; from < n.c.rows(); from += blockRows {
		part := packed[:min(blockRows, n.c.rows()-from)]
		r.Packed.Unpack64(part, uint32(from))
		for _, v := range part {
			if d := r.Dec(v); d.Scale <= snapshot.MaxScale && !r.IsNull(v) {
				most[d.Scale] = max(most[d.Scale], absolute(d.Mantissa))
			}
		}
	}
	n.measure(&most)
	n.textAt = noToken
	n.factors[0], n.valued[0] = 1, 1 // of ints, which have no scale
	for k, s := range r.Scales {
		n.factors[k], n.valued[k] = 0, 1
		switch {
		case int(s) <= n.scale:
			n.factors[k] = powers[n.scale-int(s)]
		case s == snapshot.DecText:
			n.textAt = uint64(k)
		default:
			n.valued[k] = 0
		}
	}
}

// eachText calls f with the exact texts among packed numbers, and where they are.
func (n *numeric) eachText(packed []uint64, f func(i int, d snapshot.Dec)) {
	if n.textAt == noToken {
		return
	}
	mask := uint64(1)<<n.raw.ScaleBits - 1
	for i, v := range packed {
		if v&mask == n.textAt {
			f(i, snapshot.Dec{Mantissa: int64(v >> n.raw.ScaleBits), Scale: snapshot.DecText})
		}
	}
}

// integers replaces the packed numbers of a column without a space by their integers, which must
// fit, and counts the values in each if some is given. The integer of null or an exact text is 0.
func (n *numeric) integers(dst []int64, packed []uint64, some []uint32) {
	r := n.raw
	mask, shift := uint64(1)<<r.ScaleBits-1, r.ScaleBits&63
	if mask == 0 && some == nil {
		add := uint64(r.Base) - r.First
		for i, v := range packed {
			dst[i] = int64(v + add)
		}
		return
	}
	for i, v := range packed {
		k := v & mask % uint64(len(n.factors))
		dst[i] = int64(v>>shift+uint64(r.Base)-r.First) * n.factors[k]
	}
	if some == nil {
		return
	}
	for i, v := range packed {
		some[i] = n.valued[v&mask%uint64(len(n.valued))]
		if r.First == 1 && v == 0 {
			dst[i], some[i] = 0, 0
		}
	}
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
	mask := uint64(1)<<n.width - 1
	for j := range n.limbs - 1 {
		limbs[j] = int64(low & mask)
		low = low>>n.width | high<<(64-n.width)
		high = uint64(int64(high) >> n.width)
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

// step is how many rows are between two prefix sums: 12 bytes for so many rows, at most.
const step = 64

// sums returns the prefix sums, and whether there are any.
func (n *numeric) sums() bool {
	n.prefixOnce.Do(func() {
		rows := n.c.rows()
		hasTexts := n.isOdd != nil || n.raw != nil && len(n.raw.Scales) > 0 && n.textAt != noToken
		if n.limbs > 1 || hasTexts || n.c.col.Group != nil {
			return
		}
		if n.c.space != nil && !n.count() {
			return
		}
		n.prefix = make([]int64, rows/step+1)
		if n.c.col.Nullable {
			n.prefixSome = make([]uint32, rows/step+1)
		}
		var buffer [step]uint32
		for k := range rows / step {
			sum, some := n.add(&buffer, uint32(k*step), uint32(k*step+step))
			n.prefix[k+1] = n.prefix[k] + sum
			if n.prefixSome != nil {
				n.prefixSome[k+1] = n.prefixSome[k] + some
			}
		}
		n.c.made.Add(8*int64(len(n.prefix)+len(n.counted)) + 4*int64(len(n.prefixSome)))
	})
	return n.prefix != nil
}

// countShift is where numbers of values are counted: the values of step rows take fewer bits.
const countShift = 48

// count makes the table for add. It returns false if values are too large for them.
func (n *numeric) count() bool {
	tooLarge := func(v int64) bool { return absolute(v) >= 1<<(countShift-1)/step }
	if slices.ContainsFunc(n.tables[0], tooLarge) {
		return false
	}
	n.counted = make([]int64, 1<<n.c.space.Codes().Width())
	for code, v := range n.tables[0] {
		n.counted[code] = v + 1<<countShift
		if n.some != nil && n.some[code] == 0 {
			n.counted[code] = 0
		}
	}
	return true
}

// sum adds the rows from from to to-1, and counts their values. There must be prefix sums.
func (n *numeric) sum(buffer *[step]uint32, from, to uint32) (sum int64, some uint32) {
	if to-from <= step/2 {
		return n.add(buffer, from, to)
	}
	sum, some = n.before(buffer, to)
	less, fewer := n.before(buffer, from)
	return sum - less, some - fewer
}

// before adds the rows before a row: those before the nearest step, and those between.
func (n *numeric) before(buffer *[step]uint32, row uint32) (sum int64, some uint32) {
	k := min(int(row+step/2)/step, len(n.prefix)-1)
	at := uint32(k * step)
	some = at
	if n.prefixSome != nil {
		some = n.prefixSome[k]
	}
	if at <= row {
		more, count := n.add(buffer, at, row)
		return n.prefix[k] + more, some + count
	}
	less, count := n.add(buffer, row, at)
	return n.prefix[k] - less, some - count
}

// add adds at most step rows one by one.
func (n *numeric) add(buffer *[step]uint32, from, to uint32) (sum int64, some uint32) {
	if from == to {
		return 0, 0
	}
	if n.c.space == nil {
		return n.addPacked(from, to)
	}
	total := int64(0)
	n.c.space.Codes().Unpack(buffer[:to-from], from)
	for _, code := range buffer[:to-from] {
		total += n.counted[code]
	}
	sum = total << (64 - countShift) >> (64 - countShift)
	return sum, uint32((total - sum) >> countShift)
}

// addPacked is add for a column without a space.
func (n *numeric) addPacked(from, to uint32) (sum int64, some uint32) {
	var packed [step]uint64
	var values [step]int64
	var valued [step]uint32
	count := to - from
	n.raw.Packed.Unpack64(packed[:count], from)
	if !n.c.col.Nullable {
		n.integers(values[:count], packed[:count], nil)
		some = count
	} else {
		n.integers(values[:count], packed[:count], valued[:count])
		for _, v := range valued[:count] {
			some += v
		}
	}
	for _, v := range values[:count] {
		sum += v
	}
	return sum, some
}
