//go:build !race

package snapshot

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
)

// randomRows makes a bitmap with containers of all types.
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

func frozenOf(tb testing.TB, rows []uint32) []byte {
	tb.Helper()
	var w postingWriter
	frozen, err := w.append(nil, rows)
	if err != nil {
		tb.Fatal(err)
	}
	return frozen
}

// onePosting is the postings of a single code whose bitmap has these bytes.
func onePosting(frozen []byte, rows uint32) *Postings {
	return &Postings{n: 1, rows: rows, ends: binary.LittleEndian.AppendUint32(nil, uint32(len(frozen))), frozen: frozen}
}

// TestPostingWriter compares the writer with the library used plainly, one writer for all bitmaps.
func TestPostingWriter(t *testing.T) {
	t.Parallel()
	bitmaps := []*roaring.Bitmap{
		roaring.New(), roaring.BitmapOf(7), roaring.BitmapOf(5, 6, 7),
		roaring.BitmapOf(1<<16-1, 1<<16),
	}
	for seed := range uint64(300) {
		bitmaps = append(bitmaps, randomRows(rand.New(rand.NewPCG(seed, 20))))
	}
	var w postingWriter
	for i, b := range bitmaps {
		rows := b.ToArray()
		got, err := w.append(make([]byte, 8), rows)
		if err != nil {
			t.Fatalf("bitmap %d: %v", i, err)
		}
		plain := roaring.BitmapOf(rows...)
		plain.RunOptimize()
		var want bytes.Buffer
		if _, err := plain.WriteFrozenTo(&want); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got[8:], want.Bytes()) {
			t.Errorf("bitmap %d: %d bytes differ from the library's %d", i, len(got)-8, want.Len())
		}
		if back, err := rowsOf(onePosting(got[8:], math.MaxUint32), 0); err != nil || !slices.Equal(back, rows) {
			t.Errorf("bitmap %d: read %d rows, %v, want %d", i, len(back), err, len(rows))
		}
	}
}

// TestMalformedPostings makes one fault at a time.
func TestMalformedPostings(t *testing.T) {
	t.Parallel()
	three := roaring.BitmapOf(5, 9)            // an array: 5 0 9 0 · keys 0 0 1 0 2 0 · counts · types
	three.AddRange(1<<16+10, 1<<16+20)         // runs
	for row := uint32(2 << 16); row < 3<<16; { // a bitmap
		three.Add(row)
		row += 3
	}
	good := frozenOf(t, three.ToArray())
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
		if _, err := rowsOf(onePosting(f.edit(bytes.Clone(good)), 3<<16), 0); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v, want ErrCorrupt", f.name, err)
		}
	}
	if _, err := rowsOf(onePosting(good, 3<<16-2), 0); !errors.Is(err, ErrCorrupt) {
		t.Errorf("row beyond the table: %v, want ErrCorrupt", err)
	}
	if _, err := rowsOf(onePosting(good, 3<<16), 0); err != nil {
		t.Error(err)
	}
}

// FuzzPostings: any bytes give ascending rows of the table or ErrCorrupt.
func FuzzPostings(f *testing.F) {
	for seed := range uint64(8) {
		if frozen := frozenOf(f, randomRows(rand.New(rand.NewPCG(seed, 21))).ToArray()); len(frozen) < 2000 {
			f.Add(frozen, uint32(math.MaxUint32))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, rows uint32) {
		last := int64(-1)
		err := onePosting(data, rows).EachRow(0, func(row uint32) error {
			if int64(row) <= last || row >= rows {
				t.Fatalf("row %d of %d after %d", row, rows, last)
			}
			last = int64(row)
			return nil
		})
		if err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatal(err)
		}
	})
}
