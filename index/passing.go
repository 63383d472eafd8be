package index

import (
	"iter"
	"math/bits"
	"slices"
	"sync"
)

// Passing is the rows that pass the filters of a query, one chunk of 65,536 rows at a time. It does
// not change, so several goroutines may read it, each with ChunkRows of its own. It must not be
// used after the segment is closed.
type Passing struct {
	x          *Index
	predicates []*predicate // none where every row passes
	known      *totals      // nil if the rows were not counted before
	kept       *set         // the rows themselves, of a query that keeps some of those that pass
}

// Passing finds the rows that pass all filters of a query, without Limit and Offset. The error is
// that of Select.
func (x *Index) Passing(q *Query) (*Passing, error) {
	p := &Passing{x: x}
	if err := x.checkAll(q); err != nil {
		return nil, err
	}
	reduces := x.reduces(q)
	if len(q.Filters) == 0 && !reduces {
		return p, nil
	}
	w := x.pool.Get().(*scratch)
	defer x.pool.Put(w)
	defer w.release()
	w.makeKeys(x, q.Filters)
	var err error
	if reduces {
		p.kept, err = x.kept(w, q)
	} else {
		p.known, _ = x.cache.get(w.key).(*totals)
		err = x.predicates(w)
		p.predicates = slices.Clone(w.predicates)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Chunks is the number of chunks of the table.
func (p *Passing) Chunks() int { return chunkCount(p.x.rows) }

// Read sets into to the passing rows of chunk k, and returns their number.
func (p *Passing) Read(k int, into *ChunkRows) int {
	into.base = uint32(k) << chunkBits
	if p.kept != nil {
		into.rows.load(p.kept, &p.kept.chunks[k], chunkSize(p.x.rows, k))
		return into.rows.count()
	}
	n := 0
	if p.known == nil || p.known.before[k+1] > p.known.before[k] {
		n = p.x.chunk(&into.rows, p.predicates, k, false)
	}
	if n == 0 {
		into.rows.shape, into.rows.known = empty, 0
	}
	into.rows.size = chunkSize(p.x.rows, k)
	return n
}

// Count is the number of passing rows of chunk k. The rows that into had are lost.
func (p *Passing) Count(k int, into *ChunkRows) int {
	switch {
	case p.kept != nil:
		return int(p.kept.chunks[k].rows)
	case p.known != nil:
		return int(p.known.before[k+1] - p.known.before[k])
	}
	n := p.x.chunk(&into.rows, p.predicates, k, true)
	into.rows.shape, into.rows.known = empty, 0
	return n
}

// ChunkRows is the passing rows of one chunk, and the memory to find them (about 50 KB), to be used
// again for the next. The zero value is ready for Read.
type ChunkRows struct {
	rows rowsOf
	base uint32
}

// Base is the id of the chunk's first row.
func (c *ChunkRows) Base() uint32 { return c.base }

// Size is the number of rows of the table in the chunk, passing or not.
func (c *ChunkRows) Size() int { return c.rows.size }

// Len is the number of passing rows.
func (c *ChunkRows) Len() int { return c.rows.count() }

// All reports whether every row of the chunk passes.
func (c *ChunkRows) All() bool { return c.rows.count() == c.rows.size }

// Ranges appends the ids of the passing rows, as ascending ranges that do not touch.
func (c *ChunkRows) Ranges(dst []Range) []Range {
	out := emitter{ranges: dst[len(dst):], left: c.rows.size} // so nothing is joined to what dst has
	out.addRows(&c.rows, c.base)
	return append(dst, out.ranges...)
}

// Words is the passing rows as a bitmap: bit 0 of the first word is row Base. It must not be
// changed, and is valid until the next Read.
func (c *ChunkRows) Words() *[chunkWords]uint64 {
	n := c.rows.count()
	words := c.rows.bitmap()
	c.rows.known = n
	return words
}

// IsScattered reports whether the passing rows are many, and most lie apart: to take them from
// Words is faster then than from Ranges.
func (c *ChunkRows) IsScattered() bool {
	const many, apart = 1024, 16 // rows; of a run, on average
	if n := c.Len(); n > many && c.rows.shape != full && c.rows.shape != runs {
		return countRuns(c.Words())*apart > n
	}
	return false
}

// countRuns is the number of runs of ones.
func countRuns(words *words) (n int) {
	last := uint64(0)
	for _, w := range words {
		n += bits.OnesCount64(w &^ (w<<1 | last>>63))
		last = w
	}
	return n
}

// rowChunks pools the memory of Rows, which the garbage collector would see often otherwise: a
// start asks for a few thousand sets of rows.
var rowChunks = sync.Pool{New: func() any { return new(ChunkRows) }}

// Rows yields the passing rows as ascending ranges without the first offset rows, and at most limit
// rows. It may be called more than once. Memory is that of one chunk.
func (p *Passing) Rows(offset uint64, limit int) iter.Seq[Range] {
	return func(yield func(Range) bool) {
		chunk := rowChunks.Get().(*ChunkRows)
		defer rowChunks.Put(chunk)
		out := emitter{skip: offset, left: max(0, limit)}
		for k := 0; k < p.Chunks() && out.left > 0; k++ {
			if p.Read(k, chunk) == 0 {
				continue
			}
			out.ranges = out.ranges[:0]
			out.addRows(&chunk.rows, chunk.base)
			for _, r := range out.ranges {
				if !yield(r) {
					return
				}
			}
		}
	}
}
