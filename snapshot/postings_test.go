//go:build !race

package snapshot

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"hdqs/internal/testkit"
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

// runsOf makes a bitmap with so many runs, and so many rows in all.
func runsOf(runs, rows uint32) *roaring.Bitmap {
	b := roaring.New()
	for at := uint32(0); runs > 0; runs-- {
		length := rows / runs
		b.AddRange(uint64(at), uint64(at+length))
		at, rows = at+length+1, rows-length
	}
	return b
}

// TestAppendFrozen compares frozen bitmaps with those of the library.
func TestAppendFrozen(t *testing.T) {
	t.Parallel()
	bitmaps := []*roaring.Bitmap{
		roaring.New(), roaring.BitmapOf(7), roaring.BitmapOf(5, 6, 7),
		roaring.BitmapOf(1<<16-1, 1<<16),
	}
	for _, runs := range []uint32{1, 2, 3, 7, 1023, 1024, 2047, 2048, 2054, 2055, 2056, 2057, 8000} {
		for rows := 2*runs - 2; rows <= 2*runs+3; rows++ {
			bitmaps = append(bitmaps, runsOf(runs, max(rows, runs)), runsOf(runs, 4*runs+rows))
		}
	}
	for rows := uint32(4094); rows < 4099; rows++ {
		bitmaps = append(bitmaps, runsOf(rows, rows))
	}
	for seed := range uint64(300) {
		bitmaps = append(bitmaps, randomRows(rand.New(rand.NewPCG(seed, 20))))
	}
	var reused freezer
	var loader roaringWriter
	for i, b := range bitmaps {
		rows := b.ToArray()
		got, err := reused.append(make([]byte, 8), rows)
		testkit.Must(t, err)
		if loaded, err := loader.append(make([]byte, 8), rows); err != nil || !bytes.Equal(loaded, got) {
			t.Errorf("bitmap %d: a load writes %d bytes, %v, a replica %d others", i, len(loaded), err, len(got))
		}
		plain := roaring.BitmapOf(rows...)
		plain.RunOptimize()
		var want bytes.Buffer
		_, err = plain.WriteFrozenTo(&want)
		testkit.Must(t, err)
		if !bytes.Equal(got[8:], want.Bytes()) {
			t.Errorf("bitmap %d: %d bytes differ from the library's %d", i, len(got)-8, want.Len())
		}
		frozen := got[8:]
		ends := binary.LittleEndian.AppendUint32(nil, uint32(len(frozen)))
		one := &Postings{n: 1, rows: math.MaxUint32, ends: ends, frozen: frozen}
		if back, err := rowsOf(one, 0); err != nil || !slices.Equal(back, rows) {
			t.Errorf("bitmap %d: read %d rows, %v, want %d", i, len(back), err, len(rows))
		}
	}
}
