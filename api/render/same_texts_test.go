package render

import "testing"

// TestSameTexts checks that codes with the same text have the same first code, in whichever chunks
// they are, and that others have not.
func TestSameTexts(t *testing.T) {
	t.Parallel()
	texts := []string{"donor", "network", "donor or network"}
	f := newFragments(3*chunkSize, 1, func(dst []byte, cuts []uint32, code uint32) ([]byte, []uint32) {
		return append(dst, texts[code%7%3]...), append(cuts, 0)
	})
	f.same = &sameTexts{first: map[string]uint32{}}
	codes := make([]uint32, f.n)
	for i := range codes {
		codes[i] = uint32(f.n - 1 - i)
	}
	l := lane{codes: codes, texts: make([][]byte, len(codes))}
	f.lookUp(&l, codes)
	seen := map[uint32]string{}
	for k, first := range f.firstSame(make([]uint32, len(codes)), codes) {
		text := string(f.at(codes[k]))
		if string(f.at(first)) != text {
			t.Fatalf("code %d %q has first code %d %q", codes[k], text, first, f.at(first))
		}
		seen[first] = text
	}
	if len(seen) != len(texts) {
		t.Errorf("%d texts have %d first codes: %v", len(texts), len(seen), seen)
	}
}

// TestSameTextsBounded checks that codes of texts beyond the bound are their own first codes.
func TestSameTextsBounded(t *testing.T) {
	t.Parallel()
	a := sameTexts{first: map[string]uint32{}}
	for i := range uint32(2 * maxSameTexts) {
		text := []byte{byte(i), byte(i >> 8), byte(i >> 16)}
		if got := a.of(text, i); got != i {
			t.Fatalf("text %d has first code %d", i, got)
		}
	}
	if len(a.first) > maxSameTexts {
		t.Errorf("%d texts are remembered, want at most %d", len(a.first), maxSameTexts)
	}
}
