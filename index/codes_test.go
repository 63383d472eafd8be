//go:build !race

package index

import (
	"testing"

	"hdqs/internal/testkit"
)

// TestCodeRun: a set of codes is a span exactly if its count is that of the codes from its first to
// its last.
func TestCodeRun(t *testing.T) {
	t.Parallel()
	r := testkit.Random(t)
	for range 5000 {
		size := 1 + r.IntN(300)
		codes := newCodeSet(size)
		from := r.IntN(size)
		codes.addRange(from, from+r.IntN(size-from+1))
		for range max(0, r.IntN(5)-2) { // mostly none
			codes[r.IntN(len(codes))] ^= 1 << r.IntN(64)
		}
		count, first, last := 0, -1, -1
		for code := range uint32(64 * len(codes)) {
			if codes.has(code) {
				if count++; first < 0 {
					first = int(code)
				}
				last = int(code)
			}
		}
		want := span{}
		if count > 0 && last-first+1 == count {
			want = span{uint64(first), uint64(count - 1), 1}
		}
		if got := codes.run(codes.count()); got != want {
			t.Fatalf("%x is %+v, want %+v", codes, got, want)
		}
	}
}
