package encode

import "sync"

// Tier is how much a Table may use.
type Tier uint8

// The tiers. The first, all of them, is for use; the others are for those who doubt it, and for tests.
const (
	Stored Tier = iota // stored blocks for neighbouring rows, and for the others what suits the table
	Pieces             // gzip from the renderer's pieces, whether or not that suits the table
	Whole              // the rendered body, compressed as any other
)

// String names a tier.
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
	Tier  Tier   // 0 is Stored
	Store *Store // where its blocks are kept; nil is one of its own, of DefaultStoreBytes
}

// Table compresses bodies of a table's rows in one output format. Any number of goroutines may share it.
type Table struct {
	rows Rows
	tier Tier
	gzip coder
	zstd coder

	trial  sync.Once
	passed bool // pieces are about as small as whole bodies

	firstCode func() *firstCode
	bodies    sync.Pool // of *[]byte
}

// coder makes bodies in one coding from pieces.
type coder struct {
	blocks  shelves
	writers sync.Pool // of bodyWriter
}

// bodyWriter writes a body from pieces. Each method but stored is the matcher's.
type bodyWriter interface {
	plain(text []byte)
	rows(runs []Run, cut int)
	prime(row uint32)

	// begin begins a body that is appended to dst, end ends it.
	begin(dst []byte)
	end() []byte

	// stored appends a stored block. The rows that follow need prime.
	stored(b *storedBlock)
}

// NewTable compresses bodies of rows.
func NewTable(rows Rows, o Options) *Table {
	store := o.Store
	if store == nil {
		store = NewStore(0)
	}
	t := &Table{rows: rows, tier: o.Tier}
	t.firstCode = sync.OnceValue(func() *firstCode { return newFirstCode(rows) })
	t.gzip.blocks = newShelves(store, rows, deflateBlock)
	t.gzip.writers.New = func() any { return newDeflater(rows, t.firstCode()) }
	t.zstd.blocks = newShelves(store, rows, t.zstdBlock)
	t.zstd.writers.New = func() any { return newZstdWriter(rows) }
	return t
}

// leastStored is how many stored blocks in a row gain more than the change to them and back costs.
const leastStored = 3

// AppendGzip appends the body of the rows of runs, which ascend and do not touch, as one gzip member. It may change runs.
func (t *Table) AppendGzip(dst []byte, runs []Run) []byte {
	return t.append(dst, runs, &t.gzip, AppendGzip)
}

// AppendZstd appends the body of the rows of runs, which ascend and do not touch, as one zstd frame that tells its content's size. It may change runs.
func (t *Table) AppendZstd(dst []byte, runs []Run) []byte {
	return t.append(dst, runs, &t.zstd, AppendZstd)
}

func (t *Table) append(dst []byte, runs []Run, c *coder, whole func(dst, body []byte) []byte) []byte {
	switch t.tier {
	case Stored:
		if c.blocks.mostlyStored(runs, leastStored) || t.piecesServe() {
			return t.pieces(dst, runs, c, &c.blocks)
		}
	case Pieces:
		return t.pieces(dst, runs, c, nil)
	}
	return t.whole(dst, runs, whole)
}

// pieces encodes a body from pieces, and from blocks if it is not nil.
func (t *Table) pieces(dst []byte, runs []Run, c *coder, blocks *shelves) []byte {
	w := c.writers.Get().(bodyWriter)
	w.begin(dst)
	w.plain(t.rows.Head())
	if blocks != nil {
		runs = t.stored(w, blocks, runs)
	}
	w.rows(runs, t.rows.Cut())
	w.plain(t.rows.Tail())
	dst = w.end()
	c.writers.Put(w)
	return dst
}

// stored encodes runs as far as stored blocks are in them, and returns the rest, which holds the body's last row.
func (t *Table) stored(w bodyWriter, blocks *shelves, runs []Run) []Run {
	done := 0
	for i, run := range runs {
		after := false // whether what was written last is a stored block
		rest, ok := blocks.walk(run, i == len(runs)-1, leastStored, func(loose Run, b *storedBlock) {
			if done < i {
				w.rows(runs[done:i], 0)
				done = i
			}
			t.loose(w, loose, after)
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

// zstdBlock makes a stored block of zstd.
func (t *Table) zstdBlock(_ Rows, from, to uint32) *storedBlock {
	z := t.zstd.writers.Get().(*zstdWriter)
	b := z.block(from, to)
	t.zstd.writers.Put(z)
	return b
}

// worse is how many hundredths of a whole gzip body's bytes one from pieces may take.
const worse = 125

// sampleRuns are rows that stand for those of a table of n: some in the middle that are neighbours, and some from all over it.
func sampleRuns(n int) [2][]Run {
	const sample = 1500
	rows := uint32(n)
	middle := Run{rows / 2, min(rows/2+sample, rows)}
	var spread []Run
	for at := uint32(0); at < rows; at += max(rows/sample, 2) {
		spread = append(spread, Run{at, at + 1})
	}
	return [2][]Run{{middle}, spread}
}

// piecesServe returns whether gzip bodies from pieces are about as small as those compressed whole,
// of a sample. Where rows repeat each other they are smaller, where they are free text much larger,
// as nothing is searched for within it. What it finds holds for zstd too, whose bodies from pieces
// are smaller than gzip's.
func (t *Table) piecesServe() bool {
	t.trial.Do(func() {
		a, b := 0, 0
		for _, runs := range sampleRuns(t.rows.Len()) {
			a += len(t.pieces(nil, runs, &t.gzip, nil))
			b += len(t.whole(nil, runs, AppendGzip))
		}
		t.passed = a*100 <= b*worse
	})
	return t.passed
}

// loose encodes rows between stored blocks.
func (t *Table) loose(w bodyWriter, run Run, after bool) {
	if run.From == run.To {
		return
	}
	if after {
		w.prime(run.From - 1)
	}
	w.rows([]Run{run}, 0)
}

// whole renders the body and compresses it.
func (t *Table) whole(dst []byte, runs []Run, compress func(dst, body []byte) []byte) []byte {
	space, ok := t.bodies.Get().(*[]byte)
	if !ok {
		space = new([]byte)
	}
	*space = appendBody((*space)[:0], t.rows, runs)
	dst = compress(dst, *space)
	t.bodies.Put(space)
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
