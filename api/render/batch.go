package render

import (
	"hdqs/index"
	"hdqs/snapshot"
)

// batch is how many rows are rendered at a time: so many that a piece's codes are unpacked and looked up in one sweep, so few that
// all of it stays in the first cache.
const batch = 64

// overshoot is how many bytes behind a text may be read, and behind the rendered rows written: texts up to this length are copied by
// one move of a fixed size, a third of what a call of memmove costs.
const overshoot = 64

// rowBatch is up to batch rows on their way from codes to texts. Its memory is reused.
type rowBatch struct {
	n      int
	parts  [batch]index.Range // where the rows are
	nparts int
	codes  []uint32 // of each piece, batch of them
	ints   [batch]int64
	decs   [batch]snapshot.Dec
	texts  [][]byte // one a piece, row by row; each has overshoot readable bytes behind it
	cells  []cells  // of each piece that is a value
}

// cells are room for the values of a piece: cellSize bytes, at whose end the value is written, and behind them what follows every value.
type cells struct {
	stride int
	bytes  []byte
}

func (f *Form) newBatch() *rowBatch {
	if b, ok := f.batches.Get().(*rowBatch); ok {
		return b
	}
	n := len(f.pieces)
	b := &rowBatch{codes: make([]uint32, batch*n), texts: make([][]byte, batch*n), cells: make([]cells, n)}
	for i := range f.pieces {
		p := &f.pieces[i]
		if p.fragments != nil {
			continue
		}
		c := &b.cells[i]
		c.stride = cellSize + len(p.after)
		c.bytes = make([]byte, batch*c.stride+overshoot)
		for k := range batch {
			copy(c.bytes[k*c.stride+cellSize:], p.after)
		}
	}
	return b
}

// add takes as many rows as fit, and tells the first that did not.
func (b *rowBatch) add(from, to uint32) uint32 {
	if room := uint32(batch - b.n); to-from > room {
		to = from + room
	}
	b.parts[b.nparts] = index.Range{From: from, To: to}
	b.nparts++
	b.n += int(to - from)
	return to
}

// unpack sets the codes of piece i to the numbers of p at the batch's rows, 0 without any.
func (b *rowBatch) unpack(i int, p *snapshot.Packed) []uint32 {
	codes := b.codes[i*batch : i*batch+b.n]
	if p.Len() == 0 {
		clear(codes)
		return codes
	}
	rest := codes
	for _, r := range b.parts[:b.nparts] {
		n := int(r.To - r.From)
		if n == 1 {
			rest[0] = uint32(p.At(r.From))
		} else {
			p.Unpack(rest[:n], r.From)
		}
		rest = rest[n:]
	}
	return codes
}

// resolve finds the texts of the batch's rows and tells their length together.
func (f *Form) resolve(b *rowBatch) int {
	size := 0
	for i := range f.pieces {
		p := &f.pieces[i]
		switch {
		case p.fragments != nil:
			size += p.fragments.resolve(b.texts[i:], len(f.pieces), b.unpack(i, &p.codes))
		case p.column.Kind == snapshot.Int:
			size += b.resolveInts(p, i, f.null)
		case p.column.Kind == snapshot.Decimal:
			size += b.resolveDecs(p, i, f.null)
		default:
			size += b.resolveOther(p, i, f.null)
		}
	}
	return size
}

func (b *rowBatch) resolveInts(p *piece, i int, null []byte) int {
	k := 0
	for _, r := range b.parts[:b.nparts] {
		n := int(r.To - r.From)
		p.column.Ints(b.ints[k:k+n], r.From)
		k += n
	}
	size, c, stride := 0, &b.cells[i], len(b.cells)
	for k, v := range b.ints[:b.n] {
		cell := c.bytes[k*c.stride:]
		digits := (*[cellSize]byte)(cell)
		var start int
		if v != snapshot.NullInt {
			start = putInt(digits, v)
		} else {
			start = putText(digits, null)
		}
		text := cell[start:c.stride]
		b.texts[k*stride+i] = text
		size += len(text)
	}
	return size
}

func (b *rowBatch) resolveDecs(p *piece, i int, null []byte) int {
	k := 0
	for _, r := range b.parts[:b.nparts] {
		n := int(r.To - r.From)
		p.column.Decs(b.decs[k:k+n], r.From)
		k += n
	}
	size, c, stride := 0, &b.cells[i], len(b.cells)
	for k := range b.n {
		d := &b.decs[k]
		cell := c.bytes[k*c.stride:]
		digits := (*[cellSize]byte)(cell)
		var start int
		switch d.Scale {
		default:
			start = putDec(digits, d.Mantissa, d.Scale)
		case snapshot.DecNull:
			start = putText(digits, null)
		case snapshot.DecText:
			exact := p.exact.at(uint32(d.Mantissa))
			if len(exact) > cellSize {
				text := longText(exact, p.after)
				b.texts[k*stride+i] = text
				size += len(text)
				continue
			}
			start = putText(digits, exact)
		}
		text := cell[start:c.stride]
		b.texts[k*stride+i] = text
		size += len(text)
	}
	return size
}

// resolveOther writes values that are neither numbers nor fragments: those of columns with very many different texts or times.
func (b *rowBatch) resolveOther(p *piece, i int, null []byte) int {
	size, k := 0, 0
	for _, r := range b.parts[:b.nparts] {
		for row := r.From; row < r.To; row++ {
			var value []byte
			if p.column.IsNull(row) {
				value = null
			} else {
				value = p.value(nil, p.column, row)
			}
			text := longText(value, p.after)
			b.texts[k*len(b.cells)+i] = text
			size += len(text)
			k++
		}
	}
	return size
}

// putText copies s, which fits, to the end of b and tells where it starts.
func putText(b *[cellSize]byte, s []byte) int {
	return cellSize - copy(b[cellSize-len(s):], s)
}

// longText is a text of its own for a value that fits no cell.
func longText(value, after []byte) []byte {
	text := make([]byte, 0, len(value)+len(after)+overshoot)
	return append(append(text, value...), after...)
}
