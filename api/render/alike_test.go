package render

import "testing"

// TestAlikeFragments wants codes with the same text to be taken for one, whichever chunk they are in, and no others.
func TestAlikeFragments(t *testing.T) {
	texts := []string{"donor", "network", "donor or network"}
	f := newFragments(3*chunkSize, 1, func(dst []byte, cuts []uint32, code uint32) ([]byte, []uint32) {
		return append(dst, texts[code%7%3]...), append(cuts, 0)
	})
	f.alike = &alike{first: map[string]uint32{}}
	codes := make([]uint32, f.n)
	for i := range codes {
		codes[i] = uint32(f.n - 1 - i)
	}
	l := lane{codes: codes, texts: make([][]byte, len(codes))}
	f.resolve(&l, codes)
	seen := map[uint32]string{}
	for k, first := range f.firstAlike(make([]uint32, len(codes)), codes) {
		text := string(f.at(codes[k]))
		if string(f.at(first)) != text {
			t.Fatalf("code %d %q is taken for %d %q", codes[k], text, first, f.at(first))
		}
		seen[first] = text
	}
	if len(seen) != len(texts) {
		t.Errorf("%d texts are taken for %d: %v", len(texts), len(seen), seen)
	}
}

// TestAlikeIsBounded wants texts beyond the bound to stand for themselves.
func TestAlikeIsBounded(t *testing.T) {
	a := alike{first: map[string]uint32{}}
	for i := range uint32(2 * maxAlike) {
		text := []byte{byte(i), byte(i >> 8), byte(i >> 16)}
		if got := a.of(text, i); got != i {
			t.Fatalf("text %d is taken for %d", i, got)
		}
	}
	if len(a.first) > maxAlike {
		t.Errorf("%d texts are kept, want at most %d", len(a.first), maxAlike)
	}
}
