package render

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestIsPlain compares isPlain with a check of each byte. The texts have escaped characters, and
// neighbours of those, at random positions.
func TestIsPlain(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		text := []byte(strings.Repeat("é!#[]~", 8))[:r.IntN(40)]
		for range r.IntN(3) {
			if len(text) > 0 {
				text[r.IntN(len(text))] = byte(r.Uint32())
			}
		}
		want := true
		for _, b := range text {
			want = want && b >= ' ' && b != '"' && b != '\\'
		}
		if got := isPlain(string(text)); got != want {
			t.Fatalf("%q: %v, want %v", text, got, want)
		}
	}
}
