//go:build !race

package index

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"hdqs/snapshot"
)

// listSet lists all rows of a set.
func listSet(s *set, rows int) []uint32 {
	e := emitter{left: rows}
	var r rowsOf
	for k := range s.chunks {
		r.load(s, &s.chunks[k], chunkSize(rows, k))
		e.addRows(&r, uint32(k)<<chunkBits)
	}
	return listRanges(e.ranges)
}

const (
	bitmapType = byte(snapshot.BitmapContainer)
	arrayType  = byte(snapshot.ArrayContainer)
	runsType   = byte(snapshot.RunContainer)
)

// frozenBytes encodes containers as given, valid or not.
func frozenBytes(containers ...container) []byte {
	var bitsets, pairs, values, keys, counts, types []byte
	for _, c := range containers {
		keys = binary.LittleEndian.AppendUint16(keys, c.key)
		counts = binary.LittleEndian.AppendUint16(counts, c.count)
		types = append(types, c.kind)
		for _, v := range c.values {
			switch c.kind {
			case runsType:
				pairs = binary.LittleEndian.AppendUint16(pairs, v)
			case bitmapType:
			default:
				values = binary.LittleEndian.AppendUint16(values, v)
			}
		}
		if c.kind == bitmapType {
			page := make([]byte, 8*chunkWords)
			for _, v := range c.values {
				page[v/8] |= 1 << (v % 8)
			}
			bitsets = append(bitsets, page...)
		}
	}
	header := binary.LittleEndian.AppendUint32(nil, uint32(len(containers))<<15|13766)
	return slices.Concat(bitsets, pairs, values, keys, counts, types, header)
}

type container struct {
	key, count uint16
	kind       byte
	values     []uint16
}

func TestFrozenFaults(t *testing.T) {
	t.Parallel()
	const rows = chunkRows + 100
	good := frozenBytes(
		container{0, 1, arrayType, []uint16{3, 9}},
		container{1, 2, runsType, []uint16{0, 4, 6, 93}},
	)
	for name, data := range map[string][]byte{
		"empty":                      {},
		"header only half":           {0xc6, 0x35},
		"wrong cookie":               append(good[:len(good)-4:len(good)-4], 1, 0, 1, 0),
		"more containers than bytes": append([]byte{0}, good[len(good)-4:]...),
		"a byte too many":            append([]byte{0}, good...),
		"a byte too few":             good[1:],
		"type 4":                     frozenBytes(container{0, 0, 4, []uint16{3}}),
		"type 0":                     frozenBytes(container{0, 0, 0, []uint16{3}}),
		"keys fall": frozenBytes(container{1, 0, arrayType, []uint16{3}},
			container{0, 0, arrayType, []uint16{3}}),
		"key twice": frozenBytes(container{0, 0, arrayType, []uint16{3}},
			container{0, 0, arrayType, []uint16{4}}),
		"key beyond the table": frozenBytes(container{2, 0, arrayType, []uint16{3}}),
		"too many containers": frozenBytes(container{0, 0, arrayType, []uint16{3}},
			container{1, 0, arrayType, []uint16{3}},
			container{2, 0, arrayType, []uint16{3}}),
		"row beyond the table":  frozenBytes(container{1, 0, arrayType, []uint16{100}}),
		"values fall":           frozenBytes(container{0, 1, arrayType, []uint16{9, 3}}),
		"value twice":           frozenBytes(container{0, 1, arrayType, []uint16{9, 9}}),
		"array too long":        frozenBytes(container{0, maxArray, arrayType, make([]uint16, maxArray+1)}),
		"no run":                frozenBytes(container{0, 0, runsType, nil}),
		"run beyond the table":  frozenBytes(container{1, 1, runsType, []uint16{90, 10}}),
		"run beyond the chunk":  frozenBytes(container{0, 1, runsType, []uint16{65535, 1}}),
		"runs touch":            frozenBytes(container{0, 2, runsType, []uint16{3, 2, 6, 1}}),
		"runs overlap":          frozenBytes(container{0, 2, runsType, []uint16{3, 2, 5, 1}}),
		"runs fall":             frozenBytes(container{0, 2, runsType, []uint16{30, 2, 5, 1}}),
		"bitset miscounted":     frozenBytes(container{0, 5, bitmapType, []uint16{1, 2, 3}}),
		"bitset beyond, word":   frozenBytes(container{1, 1, bitmapType, []uint16{1, 101}}),
		"bitset beyond, page":   frozenBytes(container{1, 1, bitmapType, []uint16{1, 60_000}}),
		"bitset missing":        frozenBytes(container{0, 1, arrayType, []uint16{3, 9}})[4:],
		"runs counted too high": frozenBytes(container{0, 3, runsType, []uint16{3, 2, 9, 2}}),
	} {
		var s set
		if err := openFrozen(&s, data, rows, false); !errors.Is(err, ErrPosting) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var s set
	if err := openFrozen(&s, good, rows, false); err != nil || s.rows != 2+5+94 {
		t.Errorf("the good one: %v, %d rows", err, s.rows)
	}
}

// FuzzFrozen: any bytes give ErrPosting, or a set of ascending rows of the table, as many as
// counted, that every operation accepts; never a panic.
func FuzzFrozen(f *testing.F) {
	f.Add(frozenBytes(container{0, 1, arrayType, []uint16{3, 9}}, container{1, 2, runsType, []uint16{0, 4, 6, 93}}),
		uint32(chunkRows+100))
	f.Add(frozenBytes(container{0, 2, bitmapType, []uint16{1, 2, 3}}), uint32(64))
	f.Add(frozenBytes(container{0, 0, arrayType, []uint16{0}}), uint32(1))
	f.Add([]byte{}, uint32(0))
	f.Fuzz(func(t *testing.T, data []byte, rows uint32) {
		rows %= 3 * chunkRows
		var s set
		if err := openFrozen(&s, data, int(rows), false); err != nil {
			if !errors.Is(err, ErrPosting) {
				t.Fatalf("error %v, want ErrPosting", err)
			}
			return
		}
		list := listSet(&s, int(rows))
		if len(list) != s.rows || len(list) > 0 && list[len(list)-1] >= rows || !slices.IsSorted(list) {
			t.Fatalf("%d rows of %d, %d counted", len(list), rows, s.rows)
		}
		var again set
		if err := openFrozen(&again, data, int(rows), true); err != nil ||
			!slices.Equal(listSet(&again, int(rows)), list) {
			t.Fatalf("read with checked it has other rows: %v", err)
		}
		var b builder
		b.reset(int(rows))
		b.add(&s)
		b.negate()
		if others := b.build(); others.rows+s.rows != int(rows) {
			t.Fatalf("%d rows and %d in the complement, of %d", s.rows, others.rows, rows)
		}
		b.negate()
		if same := b.build(); !slices.Equal(listSet(same, int(rows)), list) {
			t.Fatalf("complement of the complement has %d rows, want %d", same.rows, len(list))
		}
	})
}
