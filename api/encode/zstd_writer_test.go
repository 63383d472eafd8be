//go:build !race

package encode

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestZstdBlockSize decodes blocks whose sequences take as many bits as they can: matches of the
// shortest length, at random distances, after no literals or a rare one. Decoders refuse blocks
// above 128 KB.
func TestZstdBlockSize(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	z := newZstdWriter(newFakeRows(r, 1, false))
	z.begin(nil)
	want := make([]byte, maxZstdDistance)
	for i := range want {
		want[i] = byte(r.Uint32())
	}
	z.run([]op{{plain: uint32(len(want)), size: tooMany}}, want, 0)
	for range 200_000 {
		distance, plain := 1+r.IntN(maxZstdDistance), []byte{byte(r.Uint32())}[:r.IntN(2)]
		z.run([]op{{length: shortMatch, distance: uint32(distance), plain: uint32(len(plain)), size: tooMany}}, plain,
			-shortMatch)
		for range shortMatch {
			want = append(want, want[len(want)-distance])
		}
		want = append(want, plain...)
	}
	z.size = uint32(len(want))
	if got := unzstd(t, z.end()); !bytes.Equal(got, want) {
		t.Fatalf("%d bytes decoded, want %d", len(got), len(want))
	}
}

// TestZstdLongOps gathers ops whose literals and matches exceed what a sequence or a block holds,
// alone or together.
func TestZstdLongOps(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	lengths := []int{1, 100, 45_000, maxLength - 1, maxLength, maxLength + 1, maxContent, maxContent + 1, 300_000}
	for range 200 {
		z := newZstdWriter(newFakeRows(r, 1, false))
		z.begin(nil)
		var want []byte
		for range 1 + r.IntN(6) {
			text := bytes.Repeat([]byte{byte(r.Uint32()), byte(r.Uint32())}, lengths[r.IntN(len(lengths))])
			text = text[:len(text)/2]
			z.run([]op{{plain: uint32(len(text)), size: tooMany}}, text, 0)
			want = append(want, text...)
			if length := lengths[r.IntN(len(lengths))]; length >= shortMatch && r.IntN(2) == 0 {
				distance := 1 + r.IntN(min(len(want), maxZstdDistance))
				z.run([]op{{length: uint32(length), distance: uint32(distance)}}, nil, -length)
				for range length {
					want = append(want, want[len(want)-distance])
				}
			}
		}
		z.size = uint32(len(want))
		if got := unzstd(t, z.end()); !bytes.Equal(got, want) {
			t.Fatalf("%d bytes decoded, want %d", len(got), len(want))
		}
	}
}
