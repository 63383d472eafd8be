package aggregate

import (
	"math/big"
	"slices"

	"hdqs/snapshot"
)

// state is what a measure keeps of each group.
type state interface {
	// grow makes room for groups.
	grow(groups int)
	// add adds the rows of a block.
	add(b *block) error
	// value is the measure of a group with that many rows.
	value(id uint32, f Func, rows uint32) Value
}

// runState is a state that adds rows of one group that follow each other faster than in blocks.
type runState interface {
	addRun(from, to, id uint32)
}

// grown returns a list with room for n elements, new ones set to zero.
func grown[T any](s []T, n int) []T {
	return slices.Grow(s, n-len(s))[:n]
}

// sumState keeps sums, and how many values they have.
type sumState struct {
	n        *numeric
	sums     [][]int64 // by limb and group
	some     []uint32  // values by group; in columns without nulls every row has one
	nullable bool
	odd      map[uint32]*big.Rat
	buffer   [step]uint32
}

func newSumState(n *numeric) state {
	s := &sumState{n: n, sums: make([][]int64, n.limbs), nullable: n.c.col.Nullable}
	if n.sums() {
		return &runSums{s}
	}
	return s
}

// runSums is a sumState that has prefix sums.
type runSums struct{ *sumState }

func (s *runSums) addRun(from, to, id uint32) {
	sum, some := s.n.sum(&s.buffer, from, to)
	s.sums[0][id] += sum
	if s.nullable {
		s.some[id] += some
	}
}

func (s *sumState) grow(groups int) {
	for j := range s.sums {
		s.sums[j] = grown(s.sums[j], groups)
	}
	if s.nullable {
		s.some = grown(s.some, groups)
	}
}

func (s *sumState) add(b *block) error {
	if s.n.c.space == nil {
		s.addRaw(b)
		return nil
	}
	codes := b.codesOf(s.n.c.space)
	for j, table := range s.n.tables {
		addTable(s.sums[j], table, codes, b)
	}
	if s.nullable {
		addTable(s.some, s.n.some, codes, b)
	}
	if s.n.isOdd != nil {
		for i, code := range codes {
			if s.n.isOdd[code] {
				s.addOdd(b.group(i), s.n.odd[code])
			}
		}
	}
	return nil
}

// addTable adds the table's value of each row's code to the row's group.
func addTable[T int64 | uint32](sums, table []T, codes []uint32, b *block) {
	if b.ids == nil {
		var sum T
		for _, code := range codes {
			sum += table[code]
		}
		sums[b.id] += sum
		return
	}
	// Neighbouring rows are often of one group, and adding to the same place twice in a row has to
	// wait for the first addition. So four parts of the block take turns.
	n := len(codes) / 4
	ids := b.ids[:len(codes)]
	for i := range n {
		sums[ids[i]] += table[codes[i]]
		sums[ids[i+n]] += table[codes[i+n]]
		sums[ids[i+2*n]] += table[codes[i+2*n]]
		sums[ids[i+3*n]] += table[codes[i+3*n]]
	}
	for i := 4 * n; i < len(codes); i++ {
		sums[ids[i]] += table[codes[i]]
	}
}

func (s *sumState) addOdd(id uint32, d snapshot.Dec) {
	r := s.n.c.col.Rat(d)
	if s.odd == nil {
		s.odd = make(map[uint32]*big.Rat)
	}
	if have := s.odd[id]; have != nil {
		r.Add(r, have)
	}
	s.odd[id] = r
}

// addRaw adds values that are not coded.
func (s *sumState) addRaw(b *block) {
	if !s.n.fits {
		s.addCut(b)
		return
	}
	packed := b.tokens(s.n.c)
	s.n.eachText(packed, func(i int, d snapshot.Dec) { s.addOdd(b.group(i), d) })
	var some []uint32
	if s.nullable {
		some = b.scratch[:b.Len()]
	}
	values := b.values[:b.Len()]
	s.n.integers(values, packed, some)
	for _, sums := range s.sums[:len(s.sums)-1] {
		limb := b.limb[:b.Len()]
		for i, v := range values {
			limb[i] = v & (1<<s.n.width - 1)
			values[i] = v >> s.n.width
		}
		addValues(sums, limb, b)
	}
	addValues(s.sums[len(s.sums)-1], values, b)
	if s.nullable {
		addValues(s.some, some, b)
	}
}

// addValues adds the value of each row to the row's group.
func addValues[T int64 | uint32](sums, values []T, b *block) {
	if b.ids == nil {
		var sum T
		for _, v := range values {
			sum += v
		}
		sums[b.id] += sum
		return
	}
	n := len(values) / 4 // see addTable
	ids := b.ids[:len(values)]
	for i := range n {
		sums[ids[i]] += values[i]
		sums[ids[i+n]] += values[i+n]
		sums[ids[i+2*n]] += values[i+2*n]
		sums[ids[i+3*n]] += values[i+3*n]
	}
	for i := 4 * n; i < len(values); i++ {
		sums[ids[i]] += values[i]
	}
}

// addCut adds values that are not coded, whose integers need more than 64 bits.
func (s *sumState) addCut(b *block) {
	var limbs [maxLimbs]int64
	for i, v := range b.tokens(s.n.c) {
		if s.n.raw.IsNull(v) {
			continue
		}
		d := s.n.raw.Dec(v)
		if d.Scale == snapshot.DecText {
			s.addOdd(b.group(i), d)
			limbs = [maxLimbs]int64{}
		} else {
			s.n.cut(d, &limbs)
		}
		s.addLimbs(b.group(i), &limbs)
	}
}

// addLimbs adds the limbs of a value.
func (s *sumState) addLimbs(id uint32, limbs *[maxLimbs]int64) {
	for j := range s.sums {
		s.sums[j][id] += limbs[j]
	}
	if s.nullable {
		s.some[id]++
	}
}

func (s *sumState) value(id uint32, f Func, rows uint32) Value {
	some := rows
	if s.nullable {
		some = s.some[id]
	}
	if some == 0 {
		return Value{}
	}
	kind := Decimal
	if s.n.c.col.Kind == snapshot.Int {
		kind = Int
	}
	if len(s.sums) > 1 || s.odd[id] != nil {
		return s.bigValue(id, f, some, kind)
	}
	sum := s.sums[0][id]
	if f == Sum {
		return intDecimal(sum, s.n.scale, kind)
	}
	const exact = 1 << 53
	if divisor := float64(powers[s.n.scale]) * float64(some); divisor < exact && absolute(sum) < exact {
		return Value{Kind: Float, Float: float64(sum) / divisor} // both are exact, and dividing rounds once
	}
	return s.bigValue(id, f, some, kind)
}

// bigValue is value for sums of any size.
func (s *sumState) bigValue(id uint32, f Func, some uint32, kind Kind) Value {
	sum, scale := new(big.Int), s.n.scale
	for j := len(s.sums) - 1; j >= 0; j-- {
		sum.Add(sum.Lsh(sum, uint(s.n.width)), big.NewInt(s.sums[j][id]))
	}
	if odd := s.odd[id]; odd != nil {
		total := new(big.Rat).SetFrac(sum, pow10(scale))
		total.Add(total, odd)
		// All summands are decimals, so the digits end.
		scale, _ = total.FloatPrec()
		sum.Div(new(big.Int).Mul(total.Num(), pow10(scale)), total.Denom())
	}
	if f == Mean {
		return bigMean(sum, scale, some)
	}
	return bigDecimal(sum, scale, kind)
}
