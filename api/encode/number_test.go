//go:build !race

package encode

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestNumbers compares numbers encoded two characters at a time with the same encoded one by one.
func TestNumbers(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	d := newDeflater(newFakeRows(r, 1, false), &blockCode{})
	for c := range 256 {
		d.recent.litLen[c] = uint32(r.IntN(1 << r.IntN(16)))
	}
	d.own.build(&d.huffman, &d.recent)
	const digits = "0123456789.-+/,"
	for range 100_000 {
		n := r.IntN(20)
		text := make([]byte, n+Slack)
		strange := false
		for i := range text {
			text[i] = digits[r.IntN(len(digits))]
			if r.IntN(40) == 0 {
				text[i] = byte(r.Uint32())
			}
			if i < n && bytes.IndexByte([]byte(digits), text[i]) < 0 {
				strange = true
			}
		}
		longest := n + r.IntN(3)
		got, size := d.own.table.number(text, n, longest)
		want := bitWriter{}
		want.reserve(400)
		d.own.table.writeLiterals(&want, text[:n])
		bits := 8*len(want.out) + int(want.nbits)
		if size == tooMany {
			if !strange && longest <= maxNumber && bits <= maxBits {
				t.Fatalf("%q is not encoded", text[:n])
			}
			continue
		}
		have := bitWriter{}
		have.reserve(400)
		have.write(got, uint(size))
		if strange || int(size) != bits || !bytes.Equal(have.out, want.out) || have.acc != want.acc {
			t.Fatalf("%q: %d bits %x, want %d", text[:n], size, got, bits)
		}
	}
}
