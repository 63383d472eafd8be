//go:build !race

package snapshot

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"

	"hdqs/internal/testkit"
)

// nightly is a table as loads write it: sorted, with a group that leads the order, names, dates,
// numbers with and without a dictionary.
func nightly(rows int) *TableData {
	r := rand.New(rand.NewPCG(1, 2))
	t := &TableData{Name: "nightly", Rows: rows}
	place := GroupData{Name: "place", Tuples: rows/20 + 1}
	code, name := ColumnData{Name: "code", Kind: Text}, ColumnData{Name: "name", Kind: Text}
	for i := range place.Tuples {
		code.Values = append(code.Values, fmt.Sprintf("XX%06d", i))
		code.Codes = append(code.Codes, uint32(i))
		name.Codes = append(name.Codes, uint32(i/3))
	}
	for i := range place.Tuples/3 + 1 {
		name.Values = append(name.Values, fmt.Sprintf("Place %d", i*7919%100003))
	}
	place.Columns = []ColumnData{code, name}
	kind := ColumnData{Name: "kind", Kind: Enum, Values: []string{"b", "a", "c"}, Index: true}
	day, count := ColumnData{Name: "day", Kind: Time, Index: true}, ColumnData{Name: "count", Kind: Int}
	id, rain := ColumnData{Name: "id", Kind: Int}, ColumnData{Name: "rain", Kind: Decimal}
	for row := range rows {
		place.Codes = append(place.Codes, uint32(row/20))
		kind.Codes = append(kind.Codes, uint32(r.IntN(3)))
		day.Ints = append(day.Ints, int64(row%20)*86_400_000_000)
		count.Ints = append(count.Ints, int64(r.IntN(9)))
		id.Ints = append(id.Ints, int64(row)*1000+int64(r.IntN(900)))
		d, _ := ParseDec(fmt.Sprintf("%d.%d", r.IntN(90000), 1+r.IntN(9)))
		rain.Decimals = append(rain.Decimals, d)
	}
	t.Groups, t.Columns = []GroupData{place}, []ColumnData{kind, day, count, id, rain}
	return t
}

// copyOf is a table whose values can be changed without those of the first.
func copyOf(t *TableData) *TableData {
	c := *t
	c.Groups, c.Columns = slices.Clone(t.Groups), slices.Clone(t.Columns)
	columns := func(list []ColumnData) {
		for i := range list {
			l := &list[i]
			l.Codes, l.Ints, l.Values = slices.Clone(l.Codes), slices.Clone(l.Ints), slices.Clone(l.Values)
			l.Decimals = slices.Clone(l.Decimals)
		}
	}
	columns(c.Columns)
	for i := range c.Groups {
		c.Groups[i].Codes, c.Groups[i].Columns = slices.Clone(t.Groups[i].Codes), slices.Clone(t.Groups[i].Columns)
		columns(c.Groups[i].Columns)
	}
	return &c
}

// cut returns a list with an element twice, or without one.
func cut[T any](list []T, at int, twice bool) []T {
	switch {
	case len(list) == 0:
		return list
	case twice:
		return slices.Insert(list, at, list[at])
	}
	return slices.Delete(list, at, at+1)
}

// move inserts a copy of a row, or removes it.
func move(t *TableData, row int, twice bool) {
	if t.Rows--; twice {
		t.Rows += 2
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		c.Codes, c.Ints, c.Decimals = cut(c.Codes, row, twice), cut(c.Ints, row, twice), cut(c.Decimals, row, twice)
	}
	for i := range t.Groups {
		t.Groups[i].Codes = cut(t.Groups[i].Codes, row, twice)
	}
}

// madeDelta returns the delta between two files, which it applies and compares.
func madeDelta(tb testing.TB, a, b []byte) ([]byte, error) {
	tb.Helper()
	segmentA := mustRead(tb, a)
	segmentB := mustRead(tb, b)
	var delta, made bytes.Buffer
	if err := WriteDelta(&delta, segmentA, segmentB); err != nil {
		return nil, err
	}
	if err := new(DeltaApplier).apply(&made, a, delta.Bytes(), int64(len(b))); err != nil {
		tb.Fatalf("a delta of %d bytes for %d: %v", delta.Len(), len(b), err)
	}
	if !bytes.Equal(made.Bytes(), b) {
		tb.Fatalf("a delta of %d bytes gives other bytes than those it was made from", delta.Len())
	}
	return delta.Bytes(), nil
}

// TestNightlyDelta bounds the bytes that changes of a load take. Byte for byte the two files of
// most of these cases share less than a third.
func TestNightlyDelta(t *testing.T) {
	t.Parallel()
	const rows = 60_000
	before := nightly(rows)
	file := fileOf(t, before)
	for _, c := range []struct {
		name   string
		most   int // in thousandths of the segment
		change func(t *TableData)
	}{
		{"nothing", 3, func(*TableData) {}},
		{"one row more in the middle", 3, func(t *TableData) { move(t, rows/2, true) }},
		{"one row less at the start", 3, func(t *TableData) { move(t, 0, false) }},
		{"one name more", 3, func(t *TableData) {
			name := &t.Groups[0].Columns[1]
			name.Values = append(name.Values, "A first one")
			name.Codes[100] = uint32(len(name.Values) - 1)
		}},
		{"a renamed place", 3, func(t *TableData) { t.Groups[0].Columns[1].Values[50] = "Zzz" }},
		{"a new smallest number", 3, func(t *TableData) {
			t.Columns[3].Ints[7] = -1 << 40
			t.Columns[4].Decimals[9], _ = ParseDec("-12345678.125")
		}},
		{"one in a hundred rows", 20, func(t *TableData) {
			for row := 0; row < rows; row += 100 {
				t.Columns[2].Ints[row]++
				t.Columns[3].Ints[row+50] += 3
			}
		}},
		{"rows come, go and change", 20, func(t *TableData) {
			for row := rows - 200; row > 0; row -= 300 {
				move(t, row, true)
				move(t, row-50, false)
				t.Columns[2].Ints[row-100]++
			}
		}},
		{"another order of columns, one less, one new", 200, func(t *TableData) {
			t.Columns = []ColumnData{t.Columns[4], t.Columns[0], t.Columns[3], {
				Name: "new", Kind: Bool, Ints: make([]int64, rows),
			}}
		}},
	} {
		after := copyOf(before)
		c.change(after)
		b := fileOf(t, after)
		delta, err := madeDelta(t, file, b)
		if err != nil || 1000*len(delta) > c.most*len(b) {
			t.Errorf("%s: %d of %d bytes, %v; want at most %d thousandths", c.name, len(delta), len(b), err, c.most)
		}
	}
}

// TestDeltas makes deltas between random tables, of which some have much in common.
func TestDeltas(t *testing.T) {
	t.Parallel()
	made := 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 3))
		table := generate(r)
		other := generate(r)
		if seed%2 == 0 {
			other = copyOf(table)
			for range r.IntN(5) {
				if other.Rows > 1 {
					move(other, r.IntN(other.Rows), r.IntN(2) == 0)
				}
			}
			if len(other.Columns) > 1 {
				other.Columns[0] = generateColumn(r, other.Columns[0].Name, other.Rows)
			}
		}
		delta, err := madeDelta(t, fileOf(t, table), fileOf(t, other))
		switch {
		case err == nil:
			made++
			if len(delta) == 0 {
				t.Errorf("seed %d: an empty delta", seed)
			}
		case !errors.Is(err, ErrNoDelta):
			t.Errorf("seed %d: %v", seed, err)
		}
	}
	testkit.AtLeast(t, made, 150, "deltas of 300")
}

// TestDeltaOfAnotherSegment applies deltas to other segments, and to damaged ones: they give an
// error, or bytes with another digest than the right ones.
func TestDeltaOfAnotherSegment(t *testing.T) {
	t.Parallel()
	before, after := nightly(3000), nightly(3000)
	move(after, 1500, true)
	a, b := fileOf(t, before), fileOf(t, after)
	delta := testkit.Value(madeDelta(t, a, b))(t)
	others := [][]byte{fileOf(t, nightly(2999)), fileOf(t, goldenTable()), b, a[:len(a)/2], nil}
	r := rand.New(rand.NewPCG(4, 4))
	for range 300 {
		damaged := bytes.Clone(a)
		damaged[r.IntN(len(damaged))] ^= 1 << r.IntN(8)
		others = append(others, damaged)
	}
	refused := 0
	for i, other := range others {
		var made bytes.Buffer
		if err := new(DeltaApplier).apply(&made, other, delta, int64(len(b))); err != nil {
			refused++
		} else if i < 5 && bytes.Equal(made.Bytes(), b) {
			t.Errorf("segment %d gives the same bytes as the right one", i)
		}
	}
	if refused == 0 {
		t.Error("no segment was refused")
	}
}

// TestDeltaFile applies a delta to a file, and refuses other versions and sizes.
func TestDeltaFile(t *testing.T) {
	t.Parallel()
	before, after := nightly(3000), nightly(3000)
	move(after, 1500, true)
	a, b := fileOf(t, before), fileOf(t, after)
	delta := testkit.Value(madeDelta(t, a, b))(t)
	path := filepath.Join(t.TempDir(), "a.seg")
	testkit.Must(t, os.WriteFile(path, a, 0o600))
	var made bytes.Buffer
	if err := new(DeltaApplier).Apply(&made, path, delta, int64(len(b))); err != nil || !bytes.Equal(made.Bytes(), b) {
		t.Errorf("%d bytes, %v; want %d", made.Len(), err, len(b))
	}
	later := bytes.Clone(delta)
	binary.LittleEndian.PutUint32(later[len(deltaMagic):], deltaVersion+1)
	for _, c := range []struct {
		delta []byte
		size  int
	}{{later, len(b)}, {delta[:20], len(b)}, {delta, len(b) - 8}, {delta, len(b) + 8}, {delta, 0}, {nil, len(b)}} {
		if err := new(DeltaApplier).Apply(&made, path, c.delta, int64(c.size)); !errors.Is(err, ErrCorrupt) {
			t.Errorf("a delta of %d bytes for %d: %v, want ErrCorrupt", len(c.delta), c.size, err)
		}
	}
	testkit.Is(t, new(DeltaApplier).Apply(&made, path+"2", delta, int64(len(b))), os.ErrNotExist, "a missing file")
	if err := WriteDelta(&fullWriter{}, mustRead(t, a), mustRead(t, b)); err == nil {
		t.Error("an error of the writer was lost")
	}
}

// sealDelta is a delta with this content.
func sealDelta(tb testing.TB, content []byte) []byte {
	tb.Helper()
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	testkit.Must(tb, err)
	return z.EncodeAll(content, binary.LittleEndian.AppendUint32([]byte(deltaMagic), deltaVersion))
}

// FuzzApplyDelta reads any content, and any bytes, as a delta: that is an error, or as many bytes
// as were asked for. What it allocates is bounded by the sizes of both segments.
func FuzzApplyDelta(f *testing.F) {
	before := nightly(600)
	a := fileOf(f, before)
	for i, change := range []func(t *TableData){
		func(*TableData) {},
		func(t *TableData) { move(t, 300, true) },
		func(t *TableData) { t.Groups[0].Columns[1].Values[5] = "A" },
		func(t *TableData) { t.Columns[2].Ints[5]++; t.Columns[3].Ints[9] = -7 },
		func(t *TableData) { t.Columns = t.Columns[:3] },
	} {
		after := copyOf(before)
		change(after)
		b := fileOf(f, after)
		content := testkit.Value(deltaContent(a, b))(f)
		f.Add(content, uint32(len(b)), false)
		if i == 1 {
			f.Add(sealDelta(f, content), uint32(len(b)), true)
		}
	}
	// Rows without end, in columns that take no bytes.
	hostile := directory{table: "t", rows: 1 << 30, columns: []columnEntry{{
		name: "kind", kind: Enum, flags: flagCoded | flagIndexed, blocks: []block{
			{encoding: encPacked, count: 1 << 30, length: packedPad},
			{encoding: encTexts, length: 4},
			{encoding: encStarts},
		},
	}}}
	footer := hostile.append(nil)
	f.Add(append(binary.AppendUvarint(nil, uint64(len(footer))), footer...), uint32(1<<12), false)
	f.Fuzz(func(t *testing.T, data []byte, size uint32, whole bool) {
		size %= 1 << 20
		delta := data
		if !whole {
			delta = sealDelta(t, data)
		}
		var out sink
		var begin, end runtime.MemStats
		runtime.ReadMemStats(&begin)
		err := new(DeltaApplier).apply(&out, a, delta, int64(size))
		runtime.ReadMemStats(&end)
		if err == nil && int64(out) != int64(size) {
			t.Errorf("%d bytes, want %d", out, size)
		}
		// One list for each part of a piece, and those of the postings, which are used again; what
		// zstd needs comes once.
		got, most := end.TotalAlloc-begin.TotalAlloc, 16*uint64(size)+32*uint64(len(data)+len(a))+8<<20
		if got > most {
			t.Errorf("%d bytes allocated for a delta of %d bytes to %d; want at most %d", got, len(data), size, most)
		}
	})
}

// sink counts what is written, and allocates nothing.
type sink int64

func (s *sink) Write(b []byte) (int, error) {
	*s += sink(len(b))
	return len(b), nil
}
