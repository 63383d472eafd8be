package render

import (
	"slices"

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
	rows   [batch]uint32 // the same one by one, in nrows; filled when parts are short
	nrows  int
	low    [batch]uint32
	ints   [batch]int64
	decs   [batch]snapshot.Dec
	lanes  []lane // one a piece
	joined []lane // lanes, but neighbours that are the same in all rows are one
	text   []byte // of those
}

// lane is the texts of one piece in the batch's rows.
type lane struct {
	codes []uint32 // batch of them
	same  []byte   // the text of every row, if they are the same
	texts [][]byte // else one a row; each has overshoot readable bytes behind it
	cells cells    // of a piece that is a value
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
	b := &rowBatch{lanes: make([]lane, len(f.pieces))}
	for i := range f.pieces {
		p, l := &f.pieces[i], &b.lanes[i]
		l.codes, l.texts = make([]uint32, batch), make([][]byte, batch)
		if p.fragments != nil {
			continue
		}
		c := &l.cells
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

// unpack sets codes to those of a piece at the batch's rows.
func (b *rowBatch) unpack(codes []uint32, factors []factor) []uint32 {
	codes = codes[:b.n]
	if len(factors) == 0 {
		clear(codes)
		return codes
	}
	b.unpackColumn(codes, &factors[0].codes)
	for i := 1; i < len(factors); i++ {
		low, n := b.low[:b.n], factors[i].n
		b.unpackColumn(low, &factors[i].codes)
		for k, c := range low {
			codes[k] = codes[k]*n + c
		}
	}
	return codes
}

// unpackColumn sets codes to the numbers of p at the batch's rows.
func (b *rowBatch) unpackColumn(codes []uint32, p *snapshot.Packed) {
	if p.Width() == 0 {
		clear(codes)
		return
	}
	if b.scattered() {
		p.Gather(codes, b.rowIDs())
		return
	}
	for _, r := range b.parts[:b.nparts] {
		n := r.To - r.From
		p.Unpack(codes[:n], r.From)
		codes = codes[n:]
	}
}

// sweep is how many rows a part must have, on the average, for a sweep over it to gain more than its call costs.
const sweep = 8

// scattered tells whether the parts are too short for a sweep over each.
func (b *rowBatch) scattered() bool { return b.n < sweep*b.nparts }

// rowIDs is the rows one by one.
func (b *rowBatch) rowIDs() []uint32 {
	if b.nrows == 0 {
		for _, r := range b.parts[:b.nparts] {
			for row := r.From; row < r.To; row++ {
				b.rows[b.nrows&(batch-1)] = row
				b.nrows++
			}
		}
	}
	return b.rows[:b.nrows]
}

// clear makes room for other rows.
func (b *rowBatch) clear() { b.n, b.nparts, b.nrows = 0, 0, 0 }

// resolve finds the texts of the batch's rows and tells their length together.
func (f *Form) resolve(b *rowBatch) int {
	size := 0
	for i := range f.pieces {
		p, l := &f.pieces[i], &b.lanes[i]
		l.same = nil
		switch {
		case p.fragments != nil:
			size += p.fragments.resolve(l, b.unpack(l.codes, p.factors))
		case p.column.Kind == snapshot.Int:
			size += b.resolveInts(p, l, f.null)
		case p.column.Kind == snapshot.Decimal:
			size += b.resolveDecs(p, l, f.null)
		default:
			size += b.resolveOther(p, l, f.null)
		}
	}
	return size
}

// join makes one lane of neighbours that are the same in all rows: in a table sorted by place, most of a row is.
func (b *rowBatch) join() {
	b.joined, b.text = b.joined[:0], b.text[:0]
	for i := 0; i < len(b.lanes); i++ {
		l := &b.lanes[i]
		if l.same == nil || i+1 == len(b.lanes) || b.lanes[i+1].same == nil {
			b.joined = append(b.joined, lane{same: l.same, texts: l.texts})
			continue
		}
		from := len(b.text)
		for ; i < len(b.lanes) && b.lanes[i].same != nil; i++ {
			b.text = append(b.text, b.lanes[i].same...)
		}
		i--
		b.text = slices.Grow(b.text, overshoot)
		b.joined = append(b.joined, lane{same: b.text[from:]})
	}
}

// unpackInts is the integers of a piece at the batch's rows.
func (b *rowBatch) unpackInts(p *piece) []int64 {
	if b.scattered() {
		p.column.IntsAt(b.ints[:b.n], b.rowIDs())
		return b.ints[:b.n]
	}
	k := 0
	for _, r := range b.parts[:b.nparts] {
		n := int(r.To - r.From)
		p.column.Ints(b.ints[k:k+n], r.From)
		k += n
	}
	return b.ints[:k]
}

// unpackDecs is the decimals of a piece at the batch's rows.
func (b *rowBatch) unpackDecs(p *piece) []snapshot.Dec {
	if b.scattered() {
		p.column.DecsAt(b.decs[:b.n], b.rowIDs())
		return b.decs[:b.n]
	}
	k := 0
	for _, r := range b.parts[:b.nparts] {
		n := int(r.To - r.From)
		p.column.Decs(b.decs[k:k+n], r.From)
		k += n
	}
	return b.decs[:k]
}

func (b *rowBatch) resolveInts(p *piece, l *lane, null []byte) int {
	size, stride := 0, l.cells.stride
	for k, v := range b.unpackInts(p) {
		cell := l.cells.bytes[k*stride:]
		digits := (*[cellSize]byte)(cell)
		var start int
		if v != snapshot.NullInt {
			start = putInt(digits, v)
		} else {
			start = putText(digits, null)
		}
		l.texts[k] = cell[start:stride]
		size += stride - start
	}
	return size
}

func (b *rowBatch) resolveDecs(p *piece, l *lane, null []byte) int {
	size, stride := 0, l.cells.stride
	decs := b.unpackDecs(p)
	for k := range decs {
		d := &decs[k]
		cell := l.cells.bytes[k*stride:]
		digits := (*[cellSize]byte)(cell)
		var start int
		switch d.Scale {
		case snapshot.DecNull:
			start = putText(digits, null)
		case snapshot.DecText:
			exact := p.exact.at(uint32(d.Mantissa))
			if len(exact) > cellSize {
				l.texts[k] = longText(exact, p.after)
				size += len(l.texts[k])
				continue
			}
			start = putText(digits, exact)
		default:
			start = putDec(digits, d.Mantissa, d.Scale)
		}
		l.texts[k] = cell[start:stride]
		size += stride - start
	}
	return size
}

// resolveOther writes values that are neither numbers nor fragments: those of columns with very many different texts or times.
func (b *rowBatch) resolveOther(p *piece, l *lane, null []byte) int {
	size, k := 0, 0
	for _, r := range b.parts[:b.nparts] {
		for row := r.From; row < r.To; row++ {
			value := null
			if !p.column.IsNull(row) {
				value = p.value(nil, row)
			}
			l.texts[k] = longText(value, p.after)
			size += len(l.texts[k])
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
