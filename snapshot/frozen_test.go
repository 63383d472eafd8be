package snapshot

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
)

// randomRows makes a bitmap with containers of all sorts.
func randomRows(r *rand.Rand) *roaring.Bitmap {
	b := roaring.New()
	for chunk := range uint32(r.IntN(6)) {
		base := chunk << 16 * (1 + uint32(r.IntN(3)))
		switch r.IntN(4) {
		case 0:
			b.AddRange(uint64(base)+uint64(r.IntN(1000)), uint64(base)+uint64(1000+r.IntN(65000)))
		case 1:
			for range 1 + r.IntN(100) {
				b.Add(base | uint32(r.IntN(1<<16)))
			}
		case 2:
			b.AddRange(uint64(base), uint64(base)+1<<16)
		default:
			for range 4000 + r.IntN(20_000) {
				b.Add(base | uint32(r.IntN(1<<16)))
			}
		}
	}
	return b
}

func frozenOf(b *roaring.Bitmap) []byte {
	var w frozenWriter
	return w.append(nil, b.ToArray())
}

// TestFrozen: what the writer writes the reader and the library read; what the library writes the reader reads; and ours is not larger.
func TestFrozen(t *testing.T) {
	for seed := range uint64(300) {
		b := randomRows(rand.New(rand.NewPCG(seed, 20)))
		ours := frozenOf(b)
		b.RunOptimize()
		var theirs bytes.Buffer
		if _, err := b.WriteFrozenTo(&theirs); err != nil {
			t.Fatal(err)
		}
		if len(ours) > theirs.Len() {
			t.Errorf("seed %d: %d bytes, roaring takes %d", seed, len(ours), theirs.Len())
		}
		for _, frozen := range [][]byte{ours, theirs.Bytes()} {
			var rows []uint32
			if err := frozenRows(frozen, func(row uint32) error { rows = append(rows, row); return nil }); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if !slices.Equal(rows, b.ToArray()) {
				t.Fatalf("seed %d: %d rows, want %d", seed, len(rows), b.GetCardinality())
			}
		}
		checkFrozenView(t, ours, b)
	}
	stop := errors.New("stop")
	one := frozenOf(roaring.BitmapOf(7))
	if err := frozenRows(one, func(uint32) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("an error of the caller: %v", err)
	}
}

// TestFrozenFaults makes one fault at a time.
func TestFrozenFaults(t *testing.T) {
	three := roaring.BitmapOf(5, 9)            // an array: 5 0 9 0 · keys 0 0 1 0 2 0 · counts · types
	three.AddRange(1<<16+10, 1<<16+20)         // runs
	for row := uint32(2 << 16); row < 3<<16; { // a bitmap
		three.Add(row)
		row += 3
	}
	good := frozenOf(three)
	at := len(good) - 4 - 3*5 // of keys; the array's values are just before, the run before them
	faults := []struct {
		name string
		edit func(b []byte) []byte
	}{
		{"cut_short", func(b []byte) []byte { return b[1:] }},
		{"without_header", func(b []byte) []byte { return b[:3] }},
		{"cookie_changed", func(b []byte) []byte { b[len(b)-4]++; return b }},
		{"one_container_more", func(b []byte) []byte { b[len(b)-2] += 1 << 1; return b }},
		{"type_unknown", func(b []byte) []byte { b[len(b)-5] = 4; return b }},
		{"keys_fall", func(b []byte) []byte { b[at] = 9; return b }},
		{"array_falls", func(b []byte) []byte { b[at-4] = 9; return b }},
		{"run_beyond_container", func(b []byte) []byte { b[at-5] = 0xff; b[at-6] = 0xff; return b }},
		{"bitmap_miscounted", func(b []byte) []byte { b[0] ^= 1; return b }},
		{"array_miscounted", func(b []byte) []byte { b[at+6]++; return b }},
	}
	for _, f := range faults {
		if err := frozenRows(f.edit(bytes.Clone(good)), func(uint32) error { return nil }); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", f.name, err)
		}
	}
	if err := frozenRows(good, func(uint32) error { return nil }); err != nil {
		t.Error(err)
	}
}

// FuzzFrozenRows: any bytes give ascending rows or ErrCorrupt.
func FuzzFrozenRows(f *testing.F) {
	for seed := range uint64(8) {
		if frozen := frozenOf(randomRows(rand.New(rand.NewPCG(seed, 21)))); len(frozen) < 2000 {
			f.Add(frozen)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		last := int64(-1)
		err := frozenRows(data, func(row uint32) error {
			if int64(row) <= last {
				t.Fatalf("row %d after %d", row, last)
			}
			last = int64(row)
			return nil
		})
		if err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatal(err)
		}
	})
}
