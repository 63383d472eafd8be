package aggregate

import "hdqs/snapshot"

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

func (e *codedExtreme) merge(other state, ids []uint32) error {
	for i, id := range ids {
		e.found[id] = max(e.found[id], other.(*codedExtreme).found[i])
	}
	return nil
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

// extreme is codedExtreme for ints without a dictionary. It keeps a token plus more; 0 is none.
type extreme struct {
	c     *column
	null  uint64 // the token of null
	more  uint64 // 1, or 0 where no value has the token 0
	max   bool
	found []uint64
}

// noToken is the token of null where there is none.
const noToken = ^uint64(0)

func newExtreme(c *column, largest bool) *extreme {
	e := &extreme{c: c, null: c.nullToken(), more: 1, max: largest}
	if e.null == 0 {
		e.more = 0 // a token plus 1 could be beyond 64 bits
	}
	return e
}

// nullToken is the token of null, in columns that have one for it.
func (c *column) nullToken() uint64 {
	switch {
	case c.space != nil:
		return uint64(c.values().n)
	case c.col.Kind == snapshot.Int && c.col.Nullable:
		return 0
	case c.col.Nullable:
		n := c.col.Numbers()
		for k, scale := range n.Scales {
			if scale == snapshot.DecNull {
				return uint64(k) // whose mantissa is 0
			}
		}
	}
	return noToken
}

func (e *extreme) grow(groups int) { e.found = grown(e.found, groups) }

func (e *extreme) add(b *block) error {
	for i, token := range b.tokens(e.c) {
		if token != e.null {
			e.see(b.group(i), token+e.more)
		}
	}
	return nil
}

func (e *extreme) see(id uint32, token uint64) {
	have := &e.found[id]
	if *have == 0 || e.max == (token > *have) {
		*have = token
	}
}

func (e *extreme) merge(other state, ids []uint32) error {
	for i, id := range ids {
		if token := other.(*extreme).found[i]; token > 0 {
			e.see(id, token)
		}
	}
	return nil
}

func (e *extreme) value(id uint32, _ Func, _ uint32) Value {
	if e.found[id] == 0 {
		return Value{}
	}
	return e.c.tokenValue(e.found[id] - e.more)
}

// tokenValue is the value of a token.
func (c *column) tokenValue(token uint64) Value {
	if c.space != nil {
		return c.value(uint32(token))
	}
	raw := c.col.Numbers()
	return c.rawValue(&raw, token)
}

// decExtreme is extreme for decimals without a dictionary, whose tokens do not ascend by value.
type decExtreme struct {
	c     *column
	raw   snapshot.Numbers
	max   bool
	some  []bool
	found []snapshot.Dec
}

func (e *decExtreme) grow(groups int) {
	e.some, e.found = grown(e.some, groups), grown(e.found, groups)
}

func (e *decExtreme) add(b *block) error {
	for i, token := range b.tokens(e.c) {
		if v := rawDec(&e.raw, token); v.Scale != snapshot.DecNull {
			e.see(b.group(i), v)
		}
	}
	return nil
}

func (e *decExtreme) see(id uint32, v snapshot.Dec) {
	if !e.some[id] || e.max == (e.c.compareDecs(v, e.found[id]) > 0) {
		e.some[id], e.found[id] = true, v
	}
}

func (e *decExtreme) merge(other state, ids []uint32) error {
	o := other.(*decExtreme)
	for i, id := range ids {
		if o.some[i] {
			e.see(id, o.found[i])
		}
	}
	return nil
}

func (e *decExtreme) value(id uint32, _ Func, _ uint32) Value {
	if !e.some[id] {
		return Value{}
	}
	return e.c.decValue(e.found[id])
}
