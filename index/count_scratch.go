package index

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unsafe"

	"hdqs/snapshot"
)

// countScratch is the pooled memory of a Counter.
type countScratch struct {
	chunk  ChunkRows
	rows   set // that pass
	data   []uint64
	parts  int      // chunks with some rows that pass and some that do not
	counts []uint32 // by code, or by tuple
	view   set
	key    []byte
	at     [countBatch]uint32
	codes  [countBatch]uint32
}

// countBatch is how many codes are read at a time.
const countBatch = 256

// collect sets t.rows to the rows that pass: a bit or less a row of the table.
func (t *countScratch) collect(p *Passing) {
	chunks := p.Chunks()
	t.rows.chunks = slices.Grow(t.rows.chunks[:0], chunks)[:chunks]
	t.rows.rows, t.parts, t.data = 0, 0, t.data[:0]
	for k := range t.rows.chunks {
		c := &t.rows.chunks[k]
		*c = chunk{at: uint32(8 * len(t.data)), rows: uint32(p.Read(k, &t.chunk))}
		t.rows.rows += int(c.rows)
		r := &t.chunk.rows
		if c.rows > 0 && int(c.rows) < r.size {
			t.parts++
		}
		switch {
		case c.rows == 0:
		case int(c.rows) == r.size:
			c.shape = full
		case r.shape == runs:
			c.shape, c.n = runs, uint16(len(r.pairs)/2)
			t.append16(r.pairs)
		case r.shape == array:
			c.shape, c.n = array, uint16(len(r.values))
			t.append16(r.values)
		default:
			c.shape = bitmap
			at := len(t.data)
			t.data = slices.Grow(t.data, chunkWords)[:at+chunkWords]
			words := t.data[at:]
			clear(words[:r.lo])
			copy(words[r.lo:r.hi], r.words[r.lo:r.hi])
			clear(words[r.hi:])
		}
	}
	t.rows.data = nil
	if len(t.data) > 0 {
		t.rows.data = unsafe.Slice((*byte)(unsafe.Pointer(&t.data[0])), 8*len(t.data))
	}
}

// append16 appends 16-bit numbers, padded to a whole word.
func (t *countScratch) append16(values []uint16) {
	at := len(t.data)
	t.data = slices.Grow(t.data, (len(values)+3)/4)[:at+(len(values)+3)/4]
	copy(unsafe.Slice((*uint16)(unsafe.Pointer(&t.data[at])), len(values)), values)
}

// Estimates of what counting costs, in nanoseconds.
const (
	rowCountCost = 1.5 // reading and counting the code of a row that passes
	openCost     = 120 // opening the posting of a code
	wordsCost    = 450 // a bitmap of a chunk
	valueCost    = 0.8 // a row of a list of rows
	pairCost     = 8   // a run of a posting
	codeRunCost  = 4   // the rows of a run of one code
)

// strategy is how a Counter reads the rows.
type strategy uint8

const (
	byRows     strategy = iota // from the codes of the rows that pass
	byPostings                 // from the postings
	byRuns                     // from the runs of rows with one code
)

// choose returns the strategy that is estimated to cost least.
func (t *countScratch) choose(x *Index, s *Space) strategy {
	if t.rows.rows == 0 || t.rows.rows == x.rows {
		return byRows
	}
	least := rowCountCost * float64(t.rows.rows)
	if runs := s.Runs(); runs != nil {
		if cost := codeRunCost * float64(runs.Len()); cost < least {
			return byRuns
		}
		return byRows
	}
	if s.indexed && !s.postings.Sorted() && s.countCost(x.rows, t.parts) < least {
		return byPostings
	}
	return byRows
}

// countCost estimates what counting with the postings of a code space takes, where parts chunks
// have both rows that pass and others. Before the first time it supposes lists of rows.
func (s *Space) countCost(rows, parts int) float64 {
	cost := float64(s.counting.Load())
	if cost == 0 {
		cost = valueCost / 2 * float64(s.bytes)
	}
	return cost*float64(parts)/float64(chunkCount(rows)) + openCost*float64(s.size)
}

// shapeCost estimates what counting with all chunks of a set takes.
func (s *set) shapeCost() (cost float64) {
	for k := range s.chunks {
		switch c := &s.chunks[k]; c.shape {
		case runs:
			cost += pairCost * float64(c.n)
		case array:
			cost += valueCost * float64(c.n)
		case bitmap:
			cost += wordsCost
		}
	}
	return cost
}

// count sets t.counts to the number of passing rows by code.
func (t *countScratch) count(x *Index, s *Space, by strategy) error {
	t.counts = slices.Grow(t.counts[:0], s.size)[:s.size]
	clear(t.counts)
	switch {
	case t.rows.rows == 0:
	case t.rows.rows == x.rows:
		return t.countAll(x, s)
	case by == byPostings:
		return t.countPostings(x, s)
	case by == byRuns:
		t.countRuns(s.codes, s.Runs())
	default:
		for k := range t.rows.chunks {
			t.addChunk(s.codes, k)
		}
	}
	return nil
}

// add counts codes.
func (t *countScratch) add(codes []uint32) {
	counts := t.counts
	for _, code := range codes {
		counts[code]++
	}
}

// wholeKey is the first byte of the keys in the cache of the counts of all rows. No other key
// starts with it.
const wholeKey = 253

// countAll counts all rows of the table.
func (t *countScratch) countAll(x *Index, s *Space) error {
	t.key = binary.LittleEndian.AppendUint32(append(t.key[:0], wholeKey), s.id)
	if known, ok := x.cache.get(t.key).([]uint32); ok {
		copy(t.counts, known)
		return nil
	}
	switch {
	case !s.indexed:
		t.addRange(s.codes, 0, uint32(x.rows))
	case s.postings.Sorted():
		for code := range t.counts {
			t.counts[code] = s.postings.Start(uint32(code)+1) - s.postings.Start(uint32(code))
		}
	default:
		for code := range t.counts {
			if err := s.open(&t.view, uint32(code), x.rows); err != nil {
				return err
			}
			t.counts[code] = uint32(t.view.rows)
		}
	}
	x.cache.put(t.key, slices.Clone(t.counts), 4*s.size)
	return nil
}

// addChunk adds the codes of the passing rows of chunk k.
func (t *countScratch) addChunk(codes snapshot.Packed, k int) {
	c, base := &t.rows.chunks[k], uint32(k)<<chunkBits
	switch c.shape {
	case full:
		t.addRange(codes, base, c.rows)
	case runs:
		pairs := t.rows.pairs(c)
		for i := 0; i+1 < len(pairs); i += 2 {
			t.addRange(codes, base+uint32(pairs[i]), uint32(pairs[i+1])+1)
		}
	case array:
		for values := t.rows.values(c); len(values) > 0; {
			n := min(len(values), countBatch)
			for i, v := range values[:n] {
				t.at[i] = base + uint32(v)
			}
			t.addAt(codes, n)
			values = values[n:]
		}
	case bitmap:
		t.addWords(codes, base, t.rows.words(c))
	}
}

// addRange adds the codes of n rows.
func (t *countScratch) addRange(codes snapshot.Packed, from, n uint32) {
	for n > 0 {
		batch := t.codes[:min(n, countBatch)]
		codes.Unpack(batch, from)
		t.add(batch)
		from, n = from+uint32(len(batch)), n-uint32(len(batch))
	}
}

// addWords adds the codes of the rows of a bitmap. Whole words are read in sequence.
func (t *countScratch) addWords(codes snapshot.Packed, base uint32, words *words) {
	n := 0
	for i, w := range words {
		first := base + uint32(i)<<6
		if w == ^uint64(0) {
			t.addRange(codes, first, 64)
			continue
		}
		if n > countBatch-64 {
			t.addAt(codes, n)
			n = 0
		}
		for ; w != 0; w &= w - 1 {
			t.at[n&(countBatch-1)] = first + uint32(bits.TrailingZeros64(w))
			n++
		}
	}
	t.addAt(codes, n)
}

// addAt adds the codes of the first n rows of t.at.
func (t *countScratch) addAt(codes snapshot.Packed, n int) {
	codes.Gather(t.codes[:n], t.at[:n])
	t.add(t.codes[:n])
}

// countPostings counts the passing rows in the posting of each code. The longest posting is left
// out: it has the rest.
func (t *countScratch) countPostings(x *Index, s *Space) error {
	longest, rest, cost := 0, uint32(t.rows.rows), 0.0
	for code := range t.counts {
		if len(s.postings.Frozen(uint32(code))) > len(s.postings.Frozen(uint32(longest))) {
			longest = code
		}
	}
	for code := range t.counts {
		if code == longest {
			continue
		}
		if err := s.open(&t.view, uint32(code), x.rows); err != nil {
			return err
		}
		cost += t.view.shapeCost()
		n := uint32(0)
		r := &t.chunk.rows
		for k := range t.view.chunks {
			r.load(&t.view, &t.view.chunks[k], chunkSize(x.rows, k))
			n += uint32(r.countAnd(&t.rows, &t.rows.chunks[k]))
		}
		t.counts[code] = n
		rest -= n
	}
	t.counts[longest] = rest
	s.counting.Store(int64(cost) + 1)
	return nil
}

// Counter counts the rows that pass a query by the codes of columns. One goroutine may use it. It
// must not be used after the segment is closed.
type Counter struct {
	x *Index
	s *countScratch
}

// Counter finds the rows to count. The error is that of Select.
func (x *Index) Counter(q *Query) (*Counter, error) {
	rows, err := x.Passing(q)
	if err != nil {
		return nil, err
	}
	s := x.counting.Get().(*countScratch)
	s.collect(rows)
	return &Counter{x, s}, nil
}

// Close ends the use of a Counter and of what it has returned.
func (c *Counter) Close() {
	c.x.counting.Put(c.s)
	c.s = nil
}

// ByCode returns the number of rows with each code of a column, null's code last, or with each
// tuple of its group. It is nil for a column that has neither. It is valid until the next call. The
// error is ErrFilter for a column that the table does not have, or ErrPosting.
func (c *Counter) ByCode(column string) ([]uint32, error) {
	col := c.x.columns[column]
	switch {
	case col == nil:
		return nil, filterf("the table has no column %q", column)
	case col.space == nil:
		return nil, nil
	}
	err := c.s.count(c.x, col.space, c.s.choose(c.x, col.space))
	return c.s.counts, err
}
