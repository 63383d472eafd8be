//go:build !race

package encode

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"hdqs/internal/testkit"
)

// TestForeignDecoders gives random bodies of random tables, in each coding, to zlib and libzstd,
// which Python calls (testdata/decode.py).
func TestForeignDecoders(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	bodies := testkit.Trials(100_000, 500)
	decoders := testkit.StartForeignDecoders(t, "testdata/decode.py")
	var plain, coded []byte
	for sent := 0; sent < bodies; {
		n := r.IntN(1 + r.IntN(1000))
		rows := newFakeRows(r, n, r.IntN(20) == 0)
		table := NewTable(rows, Options{Tier: Tier(r.IntN(2))}) // stored or pieces
		if r.IntN(2) == 0 {
			alwaysCopy(table)
		}
		for range min(100, bodies-sent) {
			runs := randomRuns(r, n)
			plain = appendBody(plain[:0], rows, runs)
			coded = table.AppendGzip(coded[:0], append([]Run(nil), runs...))
			decoders.Send('g', coded, plain)
			coded = table.AppendZstd(coded[:0], runs)
			decoders.Send('z', coded, plain)
			sent++
		}
	}
	if got, want := decoders.End(), fmt.Sprintln(bodies, bodies); got != want {
		t.Errorf("decoded %s, want %s", got, want)
	}
}
