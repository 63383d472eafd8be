package encode

import (
	"encoding/binary"
	"sync"
)

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
	rows      Rows
	tier      Tier
	gzip      shelves
	zstd      shelves
	trials    [codings]trial
	train     sync.Once
	first     *firstCode
	deflaters sync.Pool // of *deflater
	writers   sync.Pool // of *zstdWriter
	bodies    sync.Pool // of *[]byte
}

// NewTable compresses bodies of rows.
func NewTable(rows Rows, o Options) *Table {
	store := o.Store
	if store == nil {
		store = NewStore(0)
	}
	return &Table{rows: rows, tier: o.Tier, gzip: newShelves(store, rows, deflateBlock), zstd: newShelves(store, rows, zstdBlock)}
}

const (
	// gzipHeader begins a member: DEFLATE, no name, no time, any system.
	gzipHeader = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"

	// leastGzip is how many blocks in a row gain more than the change to them and back costs.
	leastGzip = 3
)

// AppendGzip appends the body of the rows of runs, which ascend and do not touch, as one gzip member. It may change runs.
func (t *Table) AppendGzip(dst []byte, runs []Run) []byte {
	switch {
	case t.tier >= Whole:
		return t.wholeGzip(dst, runs)
	case t.tier == Stored && t.gzip.mostlyStored(runs, leastGzip):
	case t.tier == Stored && !t.piecesServe(Gzip, t.piecesGzip, t.wholeGzip):
		return t.wholeGzip(dst, runs)
	}
	return t.deflate(dst, runs, t.tier == Stored)
}

// AppendZstd appends the body of the rows of runs, which ascend and do not touch, as one zstd frame that tells its content's size.
func (t *Table) AppendZstd(dst []byte, runs []Run) []byte {
	switch {
	case t.tier >= Whole:
		return t.wholeZstd(dst, runs)
	case t.tier == Stored && t.zstd.mostlyStored(runs, leastZstd):
		return t.storedZstd(dst, runs)
	case t.tier == Stored && !t.piecesServe(Zstd, t.piecesZstd, t.wholeZstd):
		return t.wholeZstd(dst, runs)
	}
	return t.piecesZstd(dst, runs)
}

func (t *Table) wholeGzip(dst []byte, runs []Run) []byte  { return t.whole(dst, runs, AppendGzip) }
func (t *Table) wholeZstd(dst []byte, runs []Run) []byte  { return t.whole(dst, runs, AppendZstd) }
func (t *Table) piecesGzip(dst []byte, runs []Run) []byte { return t.deflate(dst, runs, false) }

// deflate encodes a body from pieces, with stored blocks or without.
func (t *Table) deflate(dst []byte, runs []Run, stored bool) []byte {
	d, ok := t.deflaters.Get().(*deflater)
	if !ok {
		d = newDeflater(t.rows)
	}
	t.train.Do(func() { t.first = newFirstCode(t.rows) })
	d.start(append(dst, gzipHeader...), t.first)
	d.plain(t.rows.Head())
	if stored {
		runs = t.stored(d, runs)
	}
	d.rows(runs, t.rows.Cut())
	d.plain(t.rows.Tail())
	dst = d.end()
	dst = binary.LittleEndian.AppendUint32(dst, d.crc)
	dst = binary.LittleEndian.AppendUint32(dst, d.size)
	d.block.bits.out = nil
	t.deflaters.Put(d)
	return dst
}

// piecesZstd encodes a body from pieces.
func (t *Table) piecesZstd(dst []byte, runs []Run) []byte {
	z, ok := t.writers.Get().(*zstdWriter)
	if !ok {
		z = newZstdWriter(t.rows)
	}
	z.begin(dst)
	z.plain(t.rows.Head())
	z.rows(runs, t.rows.Cut())
	z.plain(t.rows.Tail())
	dst = z.end()
	t.writers.Put(z)
	return dst
}

// stored encodes runs as far as stored blocks are in them, and tells the rest, which holds the body's last row.
func (t *Table) stored(d *deflater, runs []Run) []Run {
	done := 0
	for i, run := range runs {
		behind := false // whether a stored block is the last of the output
		rest, ok := t.gzip.walk(run, i == len(runs)-1, leastGzip, func(loose Run, b *storedBlock) {
			if done < i {
				d.rows(runs[done:i], 0)
				done = i
			}
			t.loose(d, loose, behind)
			d.stored(b)
			behind = true
		})
		if !ok || !behind {
			continue
		}
		d.prime(rest.From - 1)
		runs[i] = rest
		done = i
	}
	return runs[done:]
}

// trial is whether bodies from pieces are about as small as those compressed whole: where rows repeat each other they are smaller, where they are free
// text much larger, for nothing is searched for within it.
type trial struct {
	once   sync.Once
	passed bool
}

// worse is how many hundredths of a whole body's bytes one from pieces may take. zstd's encoder is quick, so that little time is gained for them.
var worse = [codings]int{Gzip: 125, Zstd: 110}

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

// piecesServe tries a coding once, on a sample.
func (t *Table) piecesServe(c Coding, pieces, whole func(dst []byte, runs []Run) []byte) bool {
	try := &t.trials[c]
	try.once.Do(func() {
		a, b := 0, 0
		for _, runs := range sampleRuns(t.rows.Len()) {
			a += len(pieces(nil, runs))
			b += len(whole(nil, runs))
		}
		try.passed = a*100 <= b*worse[c]
	})
	return try.passed
}

// loose encodes rows between stored blocks.
func (t *Table) loose(d *deflater, run Run, behind bool) {
	if run.From == run.To {
		return
	}
	if behind {
		d.prime(run.From - 1)
	}
	d.rows([]Run{run}, 0)
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
