package loader

import (
	"slices"

	"hdqs/snapshot"
)

// merge joins parts of one table, parsed apart, in load order: the rows of parts[0] first. The parts are used up.
func merge(parts []*assembly) *assembly {
	a, rows := parts[0], 0
	for _, p := range parts {
		rows += p.rows
	}
	a.grow(rows)
	for i, p := range parts[1:] {
		a.append(p)
		parts[i+1] = nil // its memory is not needed while the rest is appended
	}
	return a
}

func (a *assembly) grow(rows int) {
	more := rows - a.rows
	for _, g := range a.groups {
		g.codes = slices.Grow(g.codes[:a.rows], more)
	}
	for _, v := range a.own {
		v.codes, v.ints, v.decs = v.codes[:min(len(v.codes), a.rows)], v.ints[:min(len(v.ints), a.rows)], v.decs[:min(len(v.decs), a.rows)]
		switch v.kind {
		case snapshot.Text, snapshot.Enum:
			v.codes = slices.Grow(v.codes, more)
		case snapshot.Decimal:
			v.decs = slices.Grow(v.decs, more)
		default:
			v.ints = slices.Grow(v.ints, more)
		}
	}
}

// append adds the rows of b, of the same table, after those of a.
func (a *assembly) append(b *assembly) {
	if a.table != b.table {
		panic("loader: rows of " + b.table.name + " cannot follow rows of " + a.table.name)
	}
	for i, g := range a.groups {
		g.append(b.groups[i], a.rows, b.rows)
	}
	for i, v := range a.own {
		v.append(b.own[i], a.rows, b.rows)
	}
	a.rows += b.rows
}

func (g *tuples) append(h *tuples, at, n int) {
	code := make([]uint32, h.n)
	for i, key := range h.keys {
		c, ok := g.byKey[key]
		if !ok {
			for j, v := range g.columns {
				v.copyFrom(h.columns[j], i)
			}
			c = g.add([]byte(key))
		}
		code[i] = c
	}
	g.codes = g.codes[:at]
	for _, c := range h.codes[:n] {
		g.codes = append(g.codes, code[c])
	}
}

func (v *vector) append(w *vector, at, n int) {
	switch v.kind {
	case snapshot.Text, snapshot.Enum:
		code := v.recode(w.dict)
		v.codes = v.codes[:at]
		for _, c := range w.codes[:n] {
			if c != snapshot.NullCode {
				c = code[c]
			}
			v.codes = append(v.codes, c)
		}
	case snapshot.Decimal:
		v.decs = append(v.decs[:at], w.decs[:n]...)
		for i, d := range v.decs[at:] {
			if d.Scale == snapshot.DecText {
				v.decs[at+i] = v.exact(w.texts[d.Mantissa])
			}
		}
	default:
		v.ints = append(v.ints[:at], w.ints[:n]...)
	}
}

// recode gives for each text of another dictionary the code it has here, adding what is new.
func (v *vector) recode(dict []string) []uint32 {
	code := make([]uint32, len(dict))
	for i, s := range dict {
		c, ok := v.byText[s]
		if !ok {
			c = uint32(len(v.dict))
			v.dict = append(v.dict, s)
			v.byText[s] = c
		}
		code[i] = c
	}
	return code
}
