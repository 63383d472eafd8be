package encode

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestBlockBegins checks that what the first block of a body starts with is the same whether it is
// made once or written, and that it can follow any bits.
func TestBlockBegins(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		rows := newFakeRows(rand.New(rand.NewPCG(seed, 1)), 400, false)
		made := &newFirstCode(rows).blockCode
		written := *made
		written.begun = bitWriter{}
		if len(made.begun.out) == 0 {
			t.Fatal("nothing is made once")
		}
		for offset := range uint(8) {
			var bodies [2][]byte
			for i, code := range []*blockCode{made, &written} {
				var w bitWriter
				w.reserve(64)
				w.write(0, offset)
				code.begin(&w)
				w.reserve(64)
				w.align()
				bodies[i] = w.out
			}
			if !bytes.Equal(bodies[0], bodies[1]) {
				t.Fatalf("seed %d, %d bits before: %x, want %x", seed, offset, bodies[0], bodies[1])
			}
		}
	}
}
