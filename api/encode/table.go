package encode

import (
	"sync"

	"hdqs/internal/cache"
)

// Tier limits the encoders that a Table uses.
type Tier uint8

// Stored enables every encoder and is the default. Pieces and Whole disable tiers, for debugging
// and tests.
const (
	Stored Tier = iota // stored blocks for neighbouring rows; for others, pieces or whole bodies
	Pieces             // the renderer's pieces, even for tables whose bodies get larger that way
	Whole              // the rendered body, compressed by the library
)

// String returns the name of the tier.
func (t Tier) String() string {
	switch t {
	case Stored:
		return "stored"
	case Pieces:
		return "pieces"
	}
	return "whole"
}

// Options of a Table.
type Options struct {
	Tier  Tier         // zero is Stored
	Cache *cache.Clock // of stored blocks; nil is one of the table's own, of DefaultCacheBytes
}

// Table compresses bodies of a table's rows in one output format. Any number of goroutines may
// share it.
type Table struct {
	rows Rows
	tier Tier

	blocks  storedBlocks
	copied  rowTable
	writers sync.Pool // of *deflater

	trial      sync.Once
	piecesGood bool // result of the trial

	firstCode func() *blockCode
}

// bodyBuffers pools buffers of whole bodies.
var bodyBuffers = sync.Pool{New: func() any { return new([]byte) }}

// NewTable returns a Table of rows.
func NewTable(rows Rows, o Options) *Table {
	if o.Cache == nil {
		o.Cache = cache.NewClock(DefaultCacheBytes)
	}
	t := &Table{rows: rows, tier: o.Tier}
	t.firstCode = sync.OnceValue(func() *blockCode {
		d := firstDeflater(rows)
		t.writers.Put(d)
		return d.first
	})
	t.blocks = newStoredBlocks(o.Cache, rows, deflateBlock)
	t.writers.New = func() any { return newDeflater(rows, t.firstCode()) }
	t.copied = rowTable{
		blocks: sizedBlocks{cache: o.Cache, rows: rows, size: rowBlockRows, encode: t.rowBlock},
		code:   sync.OnceValue(t.newRowCode),
	}
	return t
}

// leastStored is the least number of successive large blocks that make up for the cost of switching
// to them and back.
const leastStored = 3

// Frame is the text of a body before and after its rows.
type Frame struct{ Head, Tail []byte }

// frame is that of the table's bodies.
func (t *Table) frame() Frame { return Frame{t.rows.Head(), t.rows.Tail()} }

// Append appends the body of the rows of runs, which ascend and do not touch: in gzip as one
// member, in zstd as one frame with its content size. It may overwrite runs. Before each batch of
// rows that it encodes, and before it compresses a whole body, it calls pause, unless that is nil.
func (t *Table) Append(dst []byte, f Frame, runs []Run, coding Coding, pause func()) []byte {
	switch {
	case coding == Zstd:
		return t.whole(dst, f, runs, AppendZstd, pause)
	case t.tier == Pieces:
		return t.pieces(dst, f, runs, false, pause)
	case t.tier == Stored && (t.blocks.mostlyStored(runs, leastStored) || t.tryPieces()):
		return t.pieces(dst, f, runs, true, pause)
	}
	return t.whole(dst, f, runs, AppendGzip, pause)
}

// pieces encodes a gzip body from pieces, and with kept also from stored blocks and row blocks.
func (t *Table) pieces(dst []byte, f Frame, runs []Run, kept bool, pause func()) []byte {
	t.firstCode() // its writer is the first one of the pool
	d := t.writers.Get().(*deflater)
	d.matcher.pauses(pause)
	d.begin(dst)
	if kept && t.copiesRows(runs) {
		d.code = t.copied.code()
	}
	d.plain(f.Head)
	if kept {
		runs = t.stored(d, runs)
	}
	if kept && t.copiesRows(runs) {
		d.rowsCopied(runs, t.rows.Cut(), &t.copied, rowBudget+rowsIn(runs)/budgetRows)
	} else {
		d.rows(runs, t.rows.Cut())
	}
	d.plain(f.Tail)
	dst = d.end()
	d.matcher.pauses(nil)
	t.writers.Put(d)
	return dst
}

// stored encodes runs up to the last stored block and returns the rest, which contains the last row
// of the body.
func (t *Table) stored(w *deflater, runs []Run) []Run {
	done := 0
	for i, run := range runs {
		after := false // a stored block was written last
		rest, ok := t.blocks.walk(run, i == len(runs)-1, leastStored, func(loose Run, b *storedBlock) {
			if done < i {
				w.rows(runs[done:i], 0)
				done = i
			}
			runs[i] = loose // runs[i] was copied to run, so its memory is free
			t.loose(w, runs[i:i+1], after)
			w.stored(b)
			after = true
		})
		if !ok || !after {
			continue
		}
		w.matcher.prime(rest.From - 1)
		runs[i] = rest
		done = i
	}
	return runs[done:]
}

// trialRows are the numbers of rows of the samples of a trial: many only if few leave a doubt.
var trialRows = [...]uint32{150, 500}

// A gzip body from pieces may have maxPieces percent of the length of one compressed whole. A trial
// with few rows has no doubt below surePieces and above notPieces.
const maxPieces, surePieces, notPieces = 125, 110, 160

// sampleRuns returns two samples of a table of n rows: neighbours from its middle, and single rows
// from all over it.
func sampleRuns(n int, neighbours, single uint32) [2][]Run {
	rows := uint32(n)
	middle := Run{rows / 2, min(rows/2+neighbours, rows)}
	var spread []Run
	for at := uint32(0); at < rows; at += max(rows/single, 2) {
		spread = append(spread, Run{at, at + 1})
	}
	return [2][]Run{{middle}, spread}
}

// tryPieces reports whether gzip bodies from pieces are about as small as those compressed whole,
// by samples it takes once. Where rows repeat each other they are smaller. Free text makes them
// much larger, since nothing searches for repetitions within it.
func (t *Table) tryPieces() bool {
	t.trial.Do(func() {
		buffer := bodyBuffers.Get().(*[]byte)
		body := *buffer
		for _, sample := range trialRows {
			a, b := 0, 0
			for _, runs := range sampleRuns(t.rows.Len(), sample, sample) {
				body = t.pieces(body[:0], t.frame(), runs, false, nil)
				a += len(body)
				body = t.whole(body[:0], t.frame(), runs, AppendGzip, nil)
				b += len(body)
			}
			t.piecesGood = a*100 <= b*maxPieces
			if a*100 <= b*surePieces || a*100 > b*notPieces {
				break
			}
		}
		*buffer = body
		bodyBuffers.Put(buffer)
	})
	return t.piecesGood
}

// loose encodes the one run of rows between stored blocks; after is whether a block precedes them.
func (t *Table) loose(w *deflater, run []Run, after bool) {
	if run[0].From == run[0].To {
		return
	}
	if after {
		w.matcher.prime(run[0].From - 1)
	}
	w.rows(run, 0)
}

// whole renders a body and compresses it.
func (t *Table) whole(
	dst []byte, f Frame, runs []Run, compress func(dst, body []byte) []byte, pause func(),
) []byte {
	body := bodyBuffers.Get().(*[]byte)
	*body = appendBody((*body)[:0], t.rows, f, runs)
	if pause != nil {
		pause()
	}
	dst = compress(dst, *body)
	bodyBuffers.Put(body)
	return dst
}

func appendBody(dst []byte, rows Rows, f Frame, runs []Run) []byte {
	dst = append(dst, f.Head...)
	n := len(dst)
	if dst = rows.AppendRows(dst, runs); len(dst) > n {
		dst = dst[:len(dst)-rows.Cut()]
	}
	return append(dst, f.Tail...)
}
