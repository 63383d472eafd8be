package encode

import (
	"bytes"
	stdgzip "compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"

	"hdqs/internal/cache"
	"hdqs/internal/testkit"
)

// longRuns returns ascending runs of rows that do not touch, most of them long enough for stored
// blocks.
func longRuns(r *rand.Rand, rows int) []Run {
	var runs []Run
	for at := r.IntN(2) * r.IntN(500); at < rows; {
		to := min(at+1+r.IntN(1+r.IntN(4000)), rows)
		runs = append(runs, Run{uint32(at), uint32(to)})
		at = to + 1 + r.IntN(1+r.IntN(300))
		if r.IntN(5) == 0 {
			break
		}
	}
	return runs
}

// TestStoredAgainstPlain requests bodies from several goroutines while stored blocks and row blocks
// are made, swept and made again.
func TestStoredAgainstPlain(t *testing.T) {
	t.Parallel()
	r := testkit.Random(t)
	tables, bodies := 12, 12
	if testing.Short() {
		tables, bodies = 2, 4
	}
	for range tables {
		n := 2000 + r.IntN(8000)
		rows := newFakeRows(r, n, r.IntN(3) == 0)
		blocks := cache.NewClock(int64(1+r.IntN(100)) << 10)
		table := NewTable(rows, Options{Cache: blocks})
		alwaysCopy(table)
		var all sync.WaitGroup
		for range 3 {
			r := rand.New(rand.NewPCG(r.Uint64(), 2))
			all.Go(func() {
				for range bodies {
					runs := longRuns(r, n)
					if r.IntN(2) == 0 {
						runs = shortRuns(r, n)
					}
					want := body(rows, runs)
					if got := unzstd(t, table.AppendZstd([]byte("front"),
						append([]Run(nil), runs...))[5:]); !bytes.Equal(got, want) {
						t.Errorf("zstd of %v differs: %d bytes, want %d", runs, len(got), len(want))
					}
					if got := gunzip(t, table.AppendGzip([]byte("front"),
						append([]Run(nil), runs...))[5:]); !bytes.Equal(got, want) {
						t.Errorf("gzip of %v differs: %d bytes, want %d", runs, len(got), len(want))
					}
				}
			})
		}
		all.Wait()
		if used := blocks.Bytes(); used < 0 || used > blocks.Limit() {
			t.Errorf("cache holds %d bytes, the limit is %d", used, blocks.Limit())
		}
	}
}

// TestStoredBlocksAreUsed checks that a page is mostly copied after some requests.
func TestStoredBlocksAreUsed(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	rows := newFakeRows(r, 9000, false)
	table := NewTable(rows, Options{})
	run := Run{77, 8000}
	for range 20 {
		table.AppendGzip(nil, []Run{run})
	}
	stored := 0
	rest, ok := table.blocks.walk(run, true, 1, func(Run, *storedBlock) { stored++ })
	if !ok || stored != 61+0+1 || rest.To-rest.From > smallRows {
		t.Errorf("%d blocks are stored, and %v is left, want 62 and at most 32 rows", stored, rest)
	}
}

// gunzip decodes one member with the standard library and fails if data follows it, which clients
// that read one member would lose.
func gunzip(t testing.TB, b []byte) []byte {
	t.Helper()
	in := bytes.NewReader(b)
	r := testkit.Value(stdgzip.NewReader(in))(t)
	r.Multistream(false)
	plain := testkit.Value(io.ReadAll(r))(t)
	if in.Len() != 0 {
		t.Fatalf("%d bytes after the first member", in.Len())
	}
	return plain
}

// unzstd decodes one frame and fails if data follows it.
func unzstd(t testing.TB, b []byte) []byte {
	t.Helper()
	d := testkit.Value(zstd.NewReader(nil, zstd.WithDecoderMaxWindow(8<<20), zstd.WithDecoderConcurrency(1)))(t)
	defer d.Close()
	var h zstd.Header
	testkit.Must(t, h.Decode(b))
	if h.WindowSize > 8<<20 {
		t.Fatalf("window %d, want at most 8 MB", h.WindowSize)
	}
	plain := testkit.Value(d.DecodeAll(b, nil))(t)
	if len(plain) >= 256 && (!h.HasFCS || h.FrameContentSize != uint64(len(plain))) {
		t.Fatalf("content size %d (known: %v), want %d", h.FrameContentSize, h.HasFCS, len(plain))
	}
	return plain
}

// records returns n records of JSON that repeat each other as rows do.
func records(r *rand.Rand, n int) []byte {
	b := []byte(`{"data":[`)
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, `{"code":"C%03d","name":"Größe %d","count":%d,"flag":%v}`, i/97, i/97, r.IntN(5000),
			r.IntN(2) == 0)
	}
	return append(b, `]}`...)
}

func TestWholeRoundTrip(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 300_000)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	var all sync.WaitGroup
	bodies := [][]byte{nil, []byte("x"), records(r, 1), records(r, 300), noise}
	for range 4 { // the encoders are shared
		all.Go(func() {
			for _, body := range bodies {
				checkWhole(t, body)
			}
		})
	}
	all.Wait()
}

// checkWhole compares a body with what is decoded from it.
func checkWhole(t *testing.T, body []byte) {
	t.Helper()
	front := []byte("front")
	z := AppendGzip(front, body)
	if !bytes.HasPrefix(z, front) || !bytes.Equal(gunzip(t, z[len(front):]), body) {
		t.Errorf("gzip of %d bytes differs", len(body))
	}
	z = AppendZstd(front, body)
	if !bytes.HasPrefix(z, front) || !bytes.Equal(unzstd(t, z[len(front):]), body) {
		t.Errorf("zstd of %d bytes differs", len(body))
	}
}
