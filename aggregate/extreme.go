package aggregate

import (
	"math"
	"math/big"
	"slices"

	"hdqs/snapshot"
)

// codedExtreme keeps the smallest or largest value of each group, as the score of its code. The
// higher the score the better; null has 0.
type codedExtreme struct {
	c      *column
	max    bool
	n      uint32 // the highest score
	scores []uint32
	found  []uint32
	buffer []uint32
}

func newCodedExtreme(c *column, largest bool) *codedExtreme {
	d := c.values()
	e := &codedExtreme{c: c, max: largest, n: uint32(d.n), scores: make([]uint32, c.space.size)}
	for code := range e.scores {
		number := d.number(uint32(code))
		switch {
		case number == e.n:
		case largest:
			e.scores[code] = number + 1
		default:
			e.scores[code] = e.n - number
		}
	}
	return e
}

func (e *codedExtreme) grow(groups int) { e.found = grown(e.found, groups) }

func (e *codedExtreme) add(b *block) error {
	codes := b.codesOf(e.c.space)
	if b.ids == nil {
		e.found[b.id] = e.best(codes, e.found[b.id])
		return nil
	}
	ids := b.ids[:len(codes)]
	for i, code := range codes {
		if score := e.scores[code]; score > e.found[ids[i]] {
			e.found[ids[i]] = score
		}
	}
	return nil
}

// best is the best of the scores of codes and another.
func (e *codedExtreme) best(codes []uint32, score uint32) uint32 {
	for _, code := range codes {
		score = max(score, e.scores[code])
	}
	return score
}

func (e *codedExtreme) addRun(from, to, id uint32) {
	score := e.found[id]
	if e.buffer == nil {
		e.buffer = make([]uint32, blockRows)
	}
	for from < to && score < e.n {
		codes := e.buffer[:min(to-from, blockRows)]
		e.c.space.codes.Unpack(codes, from)
		score = e.best(codes, score)
		from += uint32(len(codes))
	}
	e.found[id] = score
}

func (e *codedExtreme) value(id uint32, _ Func, _ uint32) Value {
	switch score := e.found[id]; {
	case score == 0:
		return Value{}
	case e.max:
		return e.c.value(score - 1)
	default:
		return e.c.value(e.n - score)
	}
}

// intExtreme is codedExtreme for columns without a space whose integers fit 64 bits. It keeps the
// largest integer, or the largest negated one for Min.
type intExtreme struct {
	n     *numeric
	sign  int64 // -1 for Min
	found []int64
	texts map[uint32]snapshot.Dec // the smallest or largest exact texts, which are few
}

// noInteger is below all integers, negated or not.
const noInteger = math.MinInt64

func (e *intExtreme) grow(groups int) {
	before := len(e.found)
	e.found = grown(e.found, groups)
	for i := range e.found[before:] {
		e.found[before+i] = noInteger
	}
}

func (e *intExtreme) add(b *block) error {
	packed, values := b.tokens(e.n.c), b.values[:b.n]
	var some []uint32
	if e.n.c.col.Nullable {
		some = b.scratch[:b.n]
	}
	e.n.integers(values, packed, some)
	for i, v := range values {
		values[i] = v * e.sign
		if some != nil && some[i] == 0 {
			values[i] = noInteger
		}
	}
	e.n.eachText(packed, func(i int, d snapshot.Dec) {
		values[i] = noInteger
		e.seeText(b.group(i), d)
	})
	if b.ids == nil {
		e.found[b.id] = max(e.found[b.id], slices.Max(values))
		return nil
	}
	ids := b.ids[:len(values)]
	for i, v := range values {
		if have := &e.found[ids[i]]; v > *have {
			*have = v
		}
	}
	return nil
}

func (e *intExtreme) seeText(id uint32, d snapshot.Dec) {
	if e.texts == nil {
		e.texts = make(map[uint32]snapshot.Dec)
	}
	// Exact texts ascend by value.
	if have, is := e.texts[id]; !is || d.Mantissa*e.sign > have.Mantissa*e.sign {
		e.texts[id] = d
	}
}

func (e *intExtreme) value(id uint32, _ Func, _ uint32) Value {
	c := e.n.c
	text, is := e.texts[id]
	found := e.found[id]
	if is && found != noInteger {
		other := new(big.Rat).SetFrac(big.NewInt(found*e.sign), pow10(e.n.scale))
		is = int64(c.rat(text).Cmp(other))*e.sign > 0
	}
	switch {
	case is:
		return c.decValue(text)
	case found == noInteger:
		return Value{}
	case c.col.Kind == snapshot.Decimal:
		return intDecimal(found*e.sign, e.n.scale, Decimal)
	}
	return intValue(c.col.Kind, found*e.sign)
}

// decExtreme is intExtreme for all other columns without a space.
type decExtreme struct {
	c     *column
	max   bool
	some  []bool
	found []snapshot.Dec
}

func (e *decExtreme) grow(groups int) {
	e.some, e.found = grown(e.some, groups), grown(e.found, groups)
}

func (e *decExtreme) add(b *block) error {
	raw := e.c.col.Numbers()
	for i, token := range b.tokens(e.c) {
		if !raw.IsNull(token) {
			e.see(b.group(i), raw.Dec(token))
		}
	}
	return nil
}

func (e *decExtreme) see(id uint32, v snapshot.Dec) {
	if !e.some[id] || e.max == (e.c.compareDecs(v, e.found[id]) > 0) {
		e.some[id], e.found[id] = true, v
	}
}

func (e *decExtreme) value(id uint32, _ Func, _ uint32) Value {
	if !e.some[id] {
		return Value{}
	}
	if e.c.col.Kind == snapshot.Decimal {
		return e.c.decValue(e.found[id])
	}
	return intValue(e.c.col.Kind, e.found[id].Mantissa)
}
