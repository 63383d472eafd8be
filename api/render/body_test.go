//go:build !race

package render

import (
	"math/rand/v2"
	"testing"

	"hdqs/api/encode"
	"hdqs/index"
)

// TestBodiesInParts compares the parts of long bodies with the whole body. All but the last have
// the least length.
func TestBodiesInParts(t *testing.T) {
	t.Parallel()
	const long = partBytes / 8 // rows of JSON take at least 12 bytes, so this many need two parts
	tab := randomTable(t, rand.New(rand.NewPCG(3, 1)), long+4)
	render := newRenderer(t, tab.seg, tab.fields, encode.Options{})
	for from := range uint32(5) {
		ranges := []index.Range{{From: from, To: from + long}}
		want := string(render.JSON().Append(nil, ranges))
		var b Body
		b.Start(render.JSON(), ranges)
		got, parts := "", 0
		for more := true; more; parts++ {
			var part []byte
			if part, more = b.AppendPart(nil); more && len(part) < partBytes {
				t.Fatalf("a part of %d bytes is not the last, want at least %d", len(part), partBytes)
			}
			got += string(part)
		}
		if got != want || b.Len() != len(want) || parts < 2 {
			t.Fatalf("%d parts, length %d of %d:\n got %s\nwant %s", parts, b.Len(), len(want),
				difference(got, want), difference(want, got))
		}
	}
}

// TestDigitCount checks the least and the greatest number of each number of digits.
func TestDigitCount(t *testing.T) {
	t.Parallel()
	for n, power := range powersOfTen {
		if got := digitCount(power); got != n+1 {
			t.Errorf("digitCount(%d) is %d, want %d", power, got, n+1)
		}
		if got := digitCount(power - 1); got != max(n, 1) {
			t.Errorf("digitCount(%d) is %d, want %d", power-1, got, max(n, 1))
		}
	}
	if got := digitCount(1<<64 - 1); got != 20 {
		t.Errorf("digitCount(1<<64 - 1) is %d, want 20", got)
	}
}
