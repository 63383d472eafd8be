//go:build !race

package encode

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"hdqs/internal/cache"
	"hdqs/internal/testkit"
)

// copiedBody returns a gzip body with rows from row blocks, all of which exist or are made.
func copiedBody(t *Table, runs []Run) []byte {
	d := t.writers.Get().(*deflater)
	d.begin(nil)
	d.plain(t.rows.Head())
	d.rowsCopied(runs, t.rows.Cut(), &t.copied, 1<<30)
	d.plain(t.rows.Tail())
	body := d.end()
	t.writers.Put(d)
	return body
}

// TestCopiedAgainstPlain decodes bodies of random rows that are copied from row blocks, and bodies
// without any, which the same table makes in turn.
func TestCopiedAgainstPlain(t *testing.T) {
	t.Parallel()
	r := testkit.Random(t)
	tables, bodies := 150, 20
	if testing.Short() {
		tables = 25
	}
	copies := 0
	for range tables {
		n := 1 + r.IntN(2000)
		rows := newFakeRows(r, n, r.IntN(4) == 0)
		if r.IntN(3) == 0 { // equal neighbours
			for i := range rows.slots {
				s := &rows.slots[i]
				for row := 1; row < n; row++ {
					if row%7 > 2 {
						s.codes[row] = s.codes[row-1]
					}
				}
			}
		}
		table := NewTable(rows, Options{})
		alwaysCopy(table)
		for range bodies {
			runs := shortRuns(r, n)
			if len(runs) == 0 {
				continue
			}
			want := body(rows, runs)
			got := copiedBody(table, runs)
			if !bytes.Equal(gunzip(t, got), want) {
				t.Fatalf("rows from row blocks differ: %v", runs)
			}
			if again := copiedBody(table, runs); !bytes.Equal(got, again) {
				t.Fatalf("the same rows take %d and %d bytes", len(got), len(again))
			}
			if got := gunzip(t, table.pieces(nil, table.frame(), runs, false, nil)); !bytes.Equal(got, want) {
				t.Fatalf("rows that are encoded differ: %v", runs)
			}
		}
		copies += int(table.copied.blocks.cache.Bytes())
	}
	if copies == 0 {
		t.Error("no row block was made")
	}
}

// TestCountedBits compares the bits that counts say ops take with those that are written.
func TestCountedBits(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, 40_000)
	for i := range text {
		text[i] = byte(r.Uint32())
	}
	for range 300 {
		var ops []op
		size := 0
		for range r.IntN(20) {
			x := op{
				length: uint32(r.IntN(1 << r.IntN(11))), distance: uint32(1 + r.IntN(1<<r.IntN(16))),
				plain: uint32(r.IntN(20)), size: tooMany,
			}
			size += int(x.length + x.plain)
			ops = append(ops, x)
		}
		var seen counts
		seen.ops(ops, text[:size], 0)
		b := block{code: fixedCode}
		b.write(ops, text[:size], 0)
		if got, want := seen.cost(fixedCode)+seen.extra(), uint(b.bits.position()); got != want {
			t.Fatalf("%d bits are counted, %d are written: %v", got, want, ops)
		}
	}
}

// TestRowBlocksWithinLimit checks that row blocks stay within the limit of their cache however many
// a table has.
func TestRowBlocksWithinLimit(t *testing.T) {
	t.Parallel()
	for _, limit := range []int64{64 << 10, 64 << 20} {
		rows := newFakeRows(rand.New(rand.NewPCG(3, 4)), 40_000, false)
		blocks := cache.NewClock(limit)
		table := NewTable(rows, Options{Cache: blocks})
		alwaysCopy(table)
		for from := uint32(0); from+2000 <= 40_000; from += 2000 {
			var runs []Run
			for at := from; at < from+2000; at += 20 {
				runs = append(runs, Run{at, at + 17})
			}
			copiedBody(table, runs)
			if used := blocks.Bytes(); used > limit {
				t.Fatalf("%d bytes of row blocks, the limit is %d", used, limit)
			}
		}
	}
}
