package aggregate

import (
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
	e := &codedExtreme{c: c, max: largest, n: uint32(d.n), scores: make([]uint32, c.space.Size())}
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
		e.c.space.Codes().Unpack(codes, from)
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

// rawExtreme is codedExtreme for columns without a space.
type rawExtreme struct {
	c       *column
	max     bool
	ascends bool // packed numbers order like their values
	some    []bool
	found   []uint64 // packed
}

func newRawExtreme(c *column, largest bool) *rawExtreme {
	scales := len(c.col.Numbers().Scales)
	if slices.Contains(c.col.Numbers().Scales, snapshot.DecNull) {
		scales--
	}
	return &rawExtreme{c: c, max: largest, ascends: scales < 2}
}

func (e *rawExtreme) grow(groups int) {
	e.some, e.found = grown(e.some, groups), grown(e.found, groups)
}

func (e *rawExtreme) add(b *block) error {
	raw := e.c.col.Numbers()
	for i, token := range b.tokens(e.c) {
		id := b.group(i)
		have := e.found[id]
		switch {
		case raw.IsNull(token) || e.some[id] && token == have:
		case !e.some[id] || e.isAbove(token, have) == e.max:
			e.some[id], e.found[id] = true, token
		}
	}
	return nil
}

func (e *rawExtreme) isAbove(a, b uint64) bool {
	if e.ascends {
		return a > b
	}
	return e.c.compareRaw(a, b) > 0
}

func (e *rawExtreme) value(id uint32, _ Func, _ uint32) Value {
	if !e.some[id] {
		return Value{}
	}
	return e.c.rawValue(e.found[id])
}
