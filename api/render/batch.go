package render

import (
	"slices"

	"hdqs/index"
	"hdqs/snapshot"
)

// batch is the number of rows rendered at a time: enough to unpack and look up the codes of a piece
// in one sweep, and few enough to stay in the first-level cache.
const batch = 64

// overshoot is the number of bytes that may be read after a text, and written after the rendered
// rows: texts up to this length are copied by one move of a fixed size, which costs a third of a
// call of memmove.
const overshoot = 64

// rowBatch renders up to batch rows. Its memory is reused.
type rowBatch struct {
	index.Batch
	low     [batch]uint32
	lengths [batch]uint32
	lanes   []lane       // one for each piece
	joined  []joinedLane // lanes, with neighbours that are the same in all rows joined to one
	text    []byte       // of the joined lanes
}

// lane holds the texts of one piece in the batch's rows.
type lane struct {
	codes []uint32 // batch of them
	same  []byte   // the text of every row, if all are the same
	texts [][]byte // otherwise, the text of each row, with overshoot readable bytes after it
	cells cells    // of a piece that is a value
}

// joinedLane is what is copied of one lane or of several.
type joinedLane struct {
	texts *[batch][]byte // of the rows; nil if all are the same
	same  []byte
}

// cells are memory for the values of a piece: for each row cellSize bytes, at the end of which the
// value is written, then the text that follows every value.
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

// unpack sets codes to a piece's codes of the batch's rows.
func (b *rowBatch) unpack(codes []uint32, factors []factor) []uint32 {
	codes = codes[:b.Len()]
	if len(factors) == 0 {
		clear(codes)
		return codes
	}
	b.Unpack(codes, &factors[0].codes)
	for i := 1; i < len(factors); i++ {
		low, n := b.low[:b.Len()], factors[i].n
		b.Unpack(low, &factors[i].codes)
		for k, c := range low {
			codes[k] = codes[k]*n + c
		}
	}
	return codes
}

// lookUp sets the texts of the batch's rows and returns their total length.
func (f *Form) lookUp(b *rowBatch) int {
	size := 0
	for i := range f.pieces {
		p, l := &f.pieces[i], &b.lanes[i]
		l.same = nil
		switch {
		case p.part != nil:
			size += p.fragments.lookUpPart(l, b.unpack(l.codes, p.factors), p.part)
		case p.fragments != nil:
			size += p.fragments.lookUp(l, b.unpack(l.codes, p.factors))
		case p.number:
			size += b.writeNumbers(l)
		case p.numbers != nil && p.column.Kind == snapshot.Int:
			size += b.writePackedInts(p, l, f.null)
		case p.numbers != nil:
			size += b.writePackedDecs(p, l, f.null)
		case p.point:
			size += b.writeOther(p, l, f.null)
		case p.column.Kind == snapshot.Int:
			size += b.writeInts(p, l, f.null)
		case p.column.Kind == snapshot.Decimal:
			size += b.writeDecs(p, l, f.null)
		default:
			size += b.writeOther(p, l, f.null)
		}
	}
	return size
}

// join joins neighbouring lanes that are the same in all rows. In a table sorted by place, most of
// a row is.
func (b *rowBatch) join() {
	b.joined, b.text = b.joined[:0], b.text[:0]
	for i := 0; i < len(b.lanes); i++ {
		l := &b.lanes[i]
		if l.same == nil || i+1 == len(b.lanes) || b.lanes[i+1].same == nil {
			var texts *[batch][]byte
			if l.same == nil {
				texts = (*[batch][]byte)(l.texts)
			}
			b.joined = append(b.joined, joinedLane{texts, l.same})
			continue
		}
		from := len(b.text)
		for ; i < len(b.lanes) && b.lanes[i].same != nil; i++ {
			b.text = append(b.text, b.lanes[i].same...)
		}
		i--
		b.text = slices.Grow(b.text, overshoot)
		b.joined = append(b.joined, joinedLane{same: b.text[from:]})
	}
}

func (b *rowBatch) writeInts(p *piece, l *lane, null []byte) int {
	size, stride := 0, l.cells.stride
	for k, v := range b.Ints(p.column) {
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

func (b *rowBatch) writeDecs(p *piece, l *lane, null []byte) int {
	size, stride := 0, l.cells.stride
	decs := b.Decs(p.column)
	for k := range decs {
		l.texts[k] = p.decText(l.cells.bytes[k*stride:][:stride], decs[k], null)
		size += len(l.texts[k])
	}
	return size
}

// decText writes a decimal into a cell and returns its text.
func (p *piece) decText(cell []byte, d snapshot.Dec, null []byte) []byte {
	digits := (*[cellSize]byte)(cell)
	switch d.Scale {
	case snapshot.DecNull:
		return cell[putText(digits, null):]
	case snapshot.DecText:
		exact := p.exact.at(uint32(d.Mantissa))
		if len(exact) > cellSize {
			return longText(exact, p.after)
		}
		return cell[putText(digits, exact):]
	}
	return cell[putDec(digits, d.Mantissa, d.Scale):]
}

// writeOther writes values that are neither numbers nor fragments: those of columns with very many
// different texts or times.
func (b *rowBatch) writeOther(p *piece, l *lane, null []byte) int {
	size := 0
	for k, row := range b.IDs() {
		value := null
		if p.point || !p.column.IsNull(row) {
			value = p.value(nil, row)
		}
		l.texts[k] = longText(value, p.after)
		size += len(l.texts[k])
	}
	return size
}

// putText copies s, which must fit, to the end of b and returns where it starts.
func putText(b *[cellSize]byte, s []byte) int {
	return cellSize - copy(b[cellSize-len(s):], s)
}

// longText returns the text of a value that fits no cell.
func longText(value, after []byte) []byte {
	text := make([]byte, 0, len(value)+len(after)+overshoot)
	return append(append(text, value...), after...)
}
