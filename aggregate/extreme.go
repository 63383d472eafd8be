package aggregate

import "hdqs/snapshot"

// extreme keeps the smallest or largest value of each group, as a token plus more; 0 is none. The
// tokens of all columns that it is used for ascend by value.
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
	if e.null == 0 && c.space == nil {
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

func (e *extreme) value(id uint32, _ Func) Value {
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

func (e *decExtreme) value(id uint32, _ Func) Value {
	if !e.some[id] {
		return Value{}
	}
	return e.c.decValue(e.found[id])
}
