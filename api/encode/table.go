package encode

import "sync"

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
	Tier  Tier        // zero is Stored
	Cache *BlockCache // of stored blocks; nil is a cache of the table's own, of DefaultCacheBytes
}

// Table compresses bodies of a table's rows in one output format. Any number of goroutines may
// share it.
type Table struct {
	rows Rows
	tier Tier
	gzip coder
	zstd coder

	trial      sync.Once
	piecesGood bool // result of the trial

	copied rowTable // gzip only

	firstCode func() *firstCode
}

// bodyBuffers pools buffers of whole bodies.
var bodyBuffers = sync.Pool{New: func() any { return new([]byte) }}

// coder makes bodies in one coding from pieces.
type coder struct {
	blocks  storedBlocks
	writers sync.Pool // of bodyWriter
}

// bodyWriter writes a body from pieces. The first four methods are the matcher's.
type bodyWriter interface {
	plain(text []byte)
	rows(runs []Run, cut int)
	prime(row uint32)
	pauses(pause func())

	// begin starts a body that is appended to dst; end completes it.
	begin(dst []byte)
	end() []byte

	// stored appends a stored block. Call prime before the next rows.
	stored(b *storedBlock)
}

// NewTable returns a Table of rows.
func NewTable(rows Rows, o Options) *Table {
	cache := o.Cache
	if cache == nil {
		cache = NewBlockCache(0)
	}
	t := &Table{rows: rows, tier: o.Tier}
	t.firstCode = sync.OnceValue(func() *firstCode { return newFirstCode(rows) })
	t.gzip.blocks = newStoredBlocks(cache, rows, deflateBlock)
	t.gzip.writers.New = func() any { return t.firstCode().newWriter(rows) }
	t.copied = newRowTable(t, cache)
	t.zstd.blocks = newStoredBlocks(cache, rows, t.zstdBlock)
	t.zstd.writers.New = func() any { return newZstdWriter(rows) }
	return t
}

// leastStored is the least number of successive large blocks that make up for the cost of switching
// to them and back.
const leastStored = 3

// AppendGzip appends the body of the rows of runs, which ascend and do not touch, as one gzip
// member. It may overwrite runs.
func (t *Table) AppendGzip(dst []byte, runs []Run) []byte {
	return t.Append(dst, runs, Gzip, nil)
}

// AppendZstd appends the body of the rows of runs, which ascend and do not touch, as one zstd frame
// with its content size. It may overwrite runs.
func (t *Table) AppendZstd(dst []byte, runs []Run) []byte {
	return t.Append(dst, runs, Zstd, nil)
}

// Append is AppendGzip or AppendZstd. Before each batch of rows that it encodes it calls pause,
// unless that is nil.
func (t *Table) Append(dst []byte, runs []Run, coding Coding, pause func()) []byte {
	c, whole := &t.gzip, AppendGzip
	if coding == Zstd {
		c, whole = &t.zstd, AppendZstd
	}
	switch t.tier {
	case Stored:
		if c.blocks.mostlyStored(runs, leastStored) || t.tryPieces() {
			return t.pieces(dst, runs, c, &c.blocks, pause)
		}
	case Pieces:
		return t.pieces(dst, runs, c, nil, pause)
	}
	return t.whole(dst, runs, whole)
}

// pieces encodes a body from pieces, and from stored blocks unless blocks is nil.
func (t *Table) pieces(dst []byte, runs []Run, c *coder, blocks *storedBlocks, pause func()) []byte {
	w := c.writers.Get().(bodyWriter)
	w.pauses(pause)
	w.begin(dst)
	w.plain(t.rows.Head())
	if blocks != nil {
		runs = t.stored(w, blocks, runs)
	}
	if d, ok := w.(*deflater); ok && blocks != nil && t.copiesRows(runs) {
		d.rowsCopied(runs, t.rows.Cut(), &t.copied, budgetOf(runs))
	} else {
		w.rows(runs, t.rows.Cut())
	}
	w.plain(t.rows.Tail())
	dst = w.end()
	w.pauses(nil)
	c.writers.Put(w)
	return dst
}

// stored encodes runs up to the last stored block and returns the rest, which contains the last row
// of the body.
func (t *Table) stored(w bodyWriter, blocks *storedBlocks, runs []Run) []Run {
	done := 0
	for i, run := range runs {
		after := false // a stored block was written last
		rest, ok := blocks.walk(run, i == len(runs)-1, leastStored, func(loose Run, b *storedBlock) {
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
		w.prime(rest.From - 1)
		runs[i] = rest
		done = i
	}
	return runs[done:]
}

// zstdBlock returns a stored block of zstd.
func (t *Table) zstdBlock(_ Rows, from, to uint32) *storedBlock {
	z := t.zstd.writers.Get().(*zstdWriter)
	b := z.block(from, to)
	t.zstd.writers.Put(z)
	return b
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
// much larger, since nothing searches for repetitions within it. The result holds for zstd too: its
// bodies from pieces are smaller than gzip's.
func (t *Table) tryPieces() bool {
	t.trial.Do(func() {
		buffer := bodyBuffers.Get().(*[]byte)
		body := *buffer
		for _, sample := range trialRows {
			a, b := 0, 0
			for _, runs := range sampleRuns(t.rows.Len(), sample, sample) {
				body = t.pieces(body[:0], runs, &t.gzip, nil, nil)
				a += len(body)
				body = t.whole(body[:0], runs, AppendGzip)
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
func (t *Table) loose(w bodyWriter, run []Run, after bool) {
	if run[0].From == run[0].To {
		return
	}
	if after {
		w.prime(run[0].From - 1)
	}
	w.rows(run, 0)
}

// whole renders a body and compresses it.
func (t *Table) whole(dst []byte, runs []Run, compress func(dst, body []byte) []byte) []byte {
	body := bodyBuffers.Get().(*[]byte)
	*body = appendBody((*body)[:0], t.rows, runs)
	dst = compress(dst, *body)
	bodyBuffers.Put(body)
	return dst
}

// appendBody appends the plain body of the rows of runs.
func appendBody(dst []byte, rows Rows, runs []Run) []byte {
	dst = append(dst, rows.Head()...)
	n := len(dst)
	if dst = rows.AppendRows(dst, runs); len(dst) > n {
		dst = dst[:len(dst)-rows.Cut()]
	}
	return append(dst, rows.Tail()...)
}
