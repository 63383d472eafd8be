package encode

import "encoding/binary"

// bitWriter appends bits, lowest first. Room for them must be there: reserve.
type bitWriter struct {
	out  []byte
	acc  uint64
	held uint // bits in acc, below 8 between tokens
}

// reserve makes room for n more bits and for the stores that go beyond them.
func (w *bitWriter) reserve(n uint) {
	need := int(n/8) + 16
	if cap(w.out)-len(w.out) < need {
		grown := make([]byte, len(w.out), 2*cap(w.out)+need)
		copy(grown, w.out)
		w.out = grown
	}
}

// maxBits is how many bits can be written at a time.
const maxBits = 56

// write appends up to maxBits bits.
func (w *bitWriter) write(v uint64, n uint) {
	w.acc |= v << w.held
	w.held += n
	at := len(w.out)
	binary.LittleEndian.PutUint64(w.out[at:at+8:cap(w.out)], w.acc)
	w.out = w.out[:at+int(w.held>>3)]
	w.acc >>= w.held &^ 7
	w.held &= 7
}

// align fills the last byte with zeros.
func (w *bitWriter) align() {
	if w.held > 0 {
		w.write(0, 8-w.held)
	}
}
