package columnar

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"hdqs/index"
	"hdqs/internal/testkit"
)

// describeArrow is a value as wantValue has it.
func describeArrow(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return strconv.Quote(v)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(v)
}

// TestArrowTwin compares streams of random rows of random tables with the values of each row.
func TestArrowTwin(t *testing.T) {
	t.Parallel()
	sizes := []int{0, 1, 3, 300, 6000, arrowTable + 900}
	for seed := range uint64(24) {
		size := sizes[seed%6]
		if testing.Short() && size > arrowTable && seed > 6 {
			continue
		}
		r := rand.New(rand.NewPCG(seed, 2))
		seg := randomSegment(t, r, size)
		fields := slices.DeleteFunc(allFields(t, r, seg), func(f Field) bool { return f.Type() == Point })
		ranges := randomRanges(r, seg.Rows())
		if size > arrowTable {
			ranges = []index.Range{{From: 1, To: 9}, {From: 10, To: uint32(size)}}
		}
		var b bytes.Buffer
		o := ArrowOptions{Zstd: seed%4 == 1}
		if err := WriteArrow(&b, fields, slices.Values(ranges), o); err != nil {
			t.Fatal(err)
		}
		got, err := testkit.ReadArrow(b.Bytes())
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		rows := rowsOf(ranges)
		parts := (len(rows) + ArrowBatch - 1) / ArrowBatch
		if len(got.Rows) != len(rows) || got.Batches != parts || len(got.Names) != len(fields) {
			t.Fatalf("seed %d: %d rows in %d batches, want %d", seed, len(got.Rows), got.Batches, len(rows))
		}
		for k, row := range rows {
			for i := range fields {
				if v, want := describeArrow(got.Rows[k][i]), wantValue(&fields[i], row); v != want {
					t.Fatalf("seed %d, row %d, field %s: %s, want %s", seed, row, fields[i].Name, v, want)
				}
			}
		}
		var again bytes.Buffer
		err = WriteArrow(&again, fields, slices.Values(ranges), o)
		if err != nil || !bytes.Equal(again.Bytes(), b.Bytes()) {
			t.Fatalf("seed %d: other bytes the second time: %v", seed, err)
		}
		cut := b.Bytes()[:r.IntN(b.Len())]
		if _, err := testkit.ReadArrow(cut); err == nil {
			t.Fatalf("seed %d: no error after %d bytes of %d", seed, len(cut), b.Len())
		}
	}
}

// TestArrowRefusesPoints checks that fields that streams do not have are refused, and that errors
// of the writer are returned.
func TestArrowRefusesPoints(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	seg := randomSegment(t, r, 100)
	fields := allFields(t, r, seg)
	if err := WriteArrow(new(bytes.Buffer), fields, All(seg), ArrowOptions{}); err == nil {
		t.Error("a point is written")
	}
	if err := WriteArrow(new(bytes.Buffer), nil, All(seg), ArrowOptions{}); err == nil {
		t.Error("no fields are written")
	}
	fields = slices.DeleteFunc(fields, func(f Field) bool { return f.Type() == Point })
	var whole bytes.Buffer
	if err := WriteArrow(&whole, fields, All(seg), ArrowOptions{}); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		to := &limited{r.IntN(whole.Len()), io.ErrShortWrite}
		if err := WriteArrow(to, fields, All(seg), ArrowOptions{}); err == nil {
			t.Error("no error although the writer failed")
		}
	}
}
