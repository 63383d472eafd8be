package render

import (
	"encoding/binary"

	"hdqs/snapshot"
)

// packedNumbers are the numbers of a column without a dictionary. They are written as they are
// unpacked, while writeInts and writeDecs convert them before.
type packedNumbers struct {
	*snapshot.Numbers
	forms [maxForms]decForm // of the scales of decimals
}

// maxForms is a power of two that no number of scales exceeds.
const maxForms = 32

// newPackedNumbers returns nil for a column with a dictionary.
func newPackedNumbers(c *snapshot.Column) *packedNumbers {
	if c.Coded() || c.Kind != snapshot.Int && c.Kind != snapshot.Decimal {
		return nil
	}
	n := &packedNumbers{Numbers: c.Numbers()}
	for k, scale := range n.Scales {
		n.forms[k] = decForms[scale]
	}
	return n
}

func (b *rowBatch) writePackedInts(p *piece, l *lane, null []byte) int {
	size, stride, rest := 0, l.cells.stride, l.cells.bytes
	numbers := b.Numbers(&p.numbers.Packed)
	base, first := uint64(p.numbers.Base)-p.numbers.First, p.numbers.First
	texts := l.texts[:len(numbers)]
	for k, packed := range numbers {
		cell := rest[:stride] // with more memory after it
		rest = rest[stride:]
		number := (*[cellSize]byte)(cell)
		var start int
		switch v := base + packed; {
		case packed < first: // 0, which is null in a column that has nulls
			start = putText(number, null)
		case v < powersOfTen[fewDigits]:
			digits := eightDigits(v)
			binary.LittleEndian.PutUint64(number[cellSize-8:], digits)
			start = cellSize - max(significant(digits), 1)
		default:
			start = putInt(number, int64(v))
		}
		texts[k] = cell[start:]
		size += len(texts[k])
	}
	return size
}

func (b *rowBatch) writePackedDecs(p *piece, l *lane, null []byte) int {
	size, stride, rest := 0, l.cells.stride, l.cells.bytes
	numbers := b.Numbers(&p.numbers.Packed)
	base, scaleBits, forms := uint64(p.numbers.Base), p.numbers.ScaleBits&63, &p.numbers.forms
	mask := uint64(1)<<scaleBits - 1
	texts := l.texts[:len(numbers)]
	for k, packed := range numbers {
		cell := rest[:stride] // with more memory after it
		rest = rest[stride:]
		form := &forms[packed&mask%maxForms]
		mantissa := int64(base + packed>>scaleBits)
		sign := mantissa >> 63
		u := uint64((mantissa ^ sign) - sign)
		plain := u-form.least < form.span
		if u *= form.times; plain && u < powersOfTen[fewDigits] {
			number := (*[cellSize]byte)(cell)
			// As putPlain does, with a sign that is written in any case.
			digits := eightDigits(u)
			point := (fewDigits - form.point) * 8 & 63
			whole := digits & (1<<point - 1)
			start := cellSize - 1 - max(significant(digits), int(form.point)+1)
			binary.LittleEndian.PutUint64(number[cellSize-17:], asciiZeros)
			binary.LittleEndian.PutUint64(number[cellSize-9:], whole|'.'<<point|(digits-whole)<<8)
			number[cellSize-1] = byte(digits >> 56)
			number[(start-1)&(cellSize-1)] = '-'
			texts[k] = cell[start+int(sign):]
		} else {
			texts[k] = p.decText(cell, p.numbers.Dec(packed), null)
		}
		size += len(texts[k])
	}
	return size
}
