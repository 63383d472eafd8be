package encode

import "encoding/binary"

// bitWriter appends bits, lowest first. Call reserve before writing.
type bitWriter struct {
	out   []byte
	acc   uint64
	nbits uint // number of bits in acc, below 8 between writes
}

// reserve makes room for n more bits and for stores of whole words beyond them.
func (w *bitWriter) reserve(n uint) {
	need := int(n/8) + 16
	if cap(w.out)-len(w.out) < need {
		grown := make([]byte, len(w.out), 2*cap(w.out)+need)
		copy(grown, w.out)
		w.out = grown
	}
}

// maxBits is the most bits of one write.
const maxBits = 56

// write appends up to maxBits bits.
func (w *bitWriter) write(v uint64, n uint) {
	w.acc |= v << w.nbits
	w.nbits += n
	at := len(w.out)
	binary.LittleEndian.PutUint64(w.out[at:at+8:cap(w.out)], w.acc)
	w.out = w.out[:at+int(w.nbits>>3)]
	w.acc >>= w.nbits &^ 7
	w.nbits &= 7
}

// align fills the last byte with zero bits.
func (w *bitWriter) align() {
	if w.nbits > 0 {
		w.write(0, 8-w.nbits)
	}
}

func (w *bitWriter) position() int { return len(w.out)*8 + int(w.nbits) }

// afterBits is the number of readable bytes after bits that are copied.
const afterBits = 16

// copy appends the bits from position from to position to of data.
func (w *bitWriter) copy(data []byte, from, to uint) {
	w.reserve(to - from)
	out, at, acc, nbits := w.out[:cap(w.out)], len(w.out), w.acc, w.nbits&7
	for shift := from & 7; from+64 <= to; from += 64 {
		b := data[from>>3 : from>>3+9]
		word := binary.LittleEndian.Uint64(b)>>shift | uint64(b[8])<<1<<(63-shift)
		binary.LittleEndian.PutUint64(out[at:], acc|word<<nbits)
		acc = word >> 1 >> (63 - nbits)
		at += 8
	}
	w.out, w.acc = out[:at], acc
	for from < to {
		n := min(to-from, maxBits)
		w.write(binary.LittleEndian.Uint64(data[from>>3:])>>(from&7)&(1<<n-1), n)
		from += n
	}
}
