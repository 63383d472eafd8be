package index

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unsafe"

	"hdqs/snapshot"
)

// tally is the memory of Counts, used again by the next.
type tally struct {
	chunk  ChunkRows
	rows   set // that pass
	data   []uint64
	counts []uint32 // by code, or by tuple
	folded []uint32
	view   set
	key    []byte
	at     [tallyBatch]uint32
	codes  [tallyBatch]uint32
}

// tallyBatch is how many codes are read at a time.
const tallyBatch = 256

// collect sets t.rows to the rows that pass: a bit or less a row of the table.
func (t *tally) collect(x *Index, p *Passing) {
	chunks := p.Chunks()
	t.rows.chunks = slices.Grow(t.rows.chunks[:0], chunks)[:chunks]
	t.rows.rows, t.data = 0, t.data[:0]
	for k := range t.rows.chunks {
		c := &t.rows.chunks[k]
		*c = chunk{at: uint32(8 * len(t.data)), rows: uint32(p.Read(k, &t.chunk))}
		t.rows.rows += int(c.rows)
		r := &t.chunk.rows
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
func (t *tally) append16(values []uint16) {
	at := len(t.data)
	t.data = slices.Grow(t.data, (len(values)+3)/4)[:at+(len(values)+3)/4]
	copy(unsafe.Slice((*uint16)(unsafe.Pointer(&t.data[at])), len(values)), values)
}

// Estimates of what counting costs, in nanoseconds.
const (
	tallyCost  = 2   // reading and counting the code of a row
	startCost  = 20  // the run of a code in sorted postings
	openCost   = 100 // opening the posting of a code
	tallyChunk = 600 // a chunk of rows that do not pass
)

// way is how a tally counts.
type way uint8

const (
	byRows     way = iota // from the codes of the rows that pass
	byOthers              // from the counts of all rows and the codes of the rows that do not pass
	byPostings            // from the postings
)

// choose returns the way that is estimated to cost least.
func (t *tally) choose(x *Index, s *codeSpace) way {
	rows := t.rows.rows * tallyCost
	others := (x.rows-t.rows.rows)*tallyCost + len(t.rows.chunks)*tallyChunk
	if !s.indexed && t.rows.rows < x.rows {
		others = max(others, rows) // the codes of all rows must be read first, unless they are cached
	}
	switch {
	case s.indexed && s.countCost() < min(rows, others):
		return byPostings
	case others < rows:
		return byOthers
	}
	return byRows
}

// count sets t.counts to the number of passing rows by code.
func (t *tally) count(x *Index, s *codeSpace, by way) error {
	t.counts = slices.Grow(t.counts[:0], s.size)[:s.size]
	clear(t.counts)
	switch {
	case t.rows.rows == 0:
	case t.rows.rows == x.rows:
		return t.countAll(x, s)
	case by == byPostings:
		return t.countPostings(x, s)
	case by == byOthers:
		if err := t.countAll(x, s); err != nil {
			return err
		}
		t.subtractOthers(x, s.codes)
	default:
		for k := range t.rows.chunks {
			t.addChunk(s.codes, k)
		}
	}
	return nil
}

// countCost estimates what counting with the postings of a code space takes.
func (s *codeSpace) countCost() int {
	if s.postings.Sorted() {
		return s.size * startCost
	}
	return s.bytes + s.size*openCost
}

// wholeKey starts the key of the counts of all rows in the cache. No other key starts with it.
const wholeKey = 254

// countAll counts all rows of the table.
func (t *tally) countAll(x *Index, s *codeSpace) error {
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
func (t *tally) addChunk(codes snapshot.Packed, k int) {
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
			n := min(len(values), tallyBatch)
			for i, v := range values[:n] {
				t.at[i] = base + uint32(v)
			}
			t.addAt(codes, n)
			values = values[n:]
		}
	case bitmap:
		t.addWords(codes, base, t.rows.words(c)[:], 1)
	}
}

// addRange adds the codes of n rows.
func (t *tally) addRange(codes snapshot.Packed, from, n uint32) {
	counts := t.counts
	for n > 0 {
		batch := t.codes[:min(n, tallyBatch)]
		codes.Unpack(batch, from)
		for _, code := range batch {
			counts[code]++
		}
		from, n = from+uint32(len(batch)), n-uint32(len(batch))
	}
}

// addAt adds the codes of the first n rows of t.at.
func (t *tally) addAt(codes snapshot.Packed, n int) {
	codes.Gather(t.codes[:n], t.at[:n])
	for _, code := range t.codes[:n] {
		t.counts[code]++
	}
}

// addWords adds delta for the code of each row of a bitmap.
func (t *tally) addWords(codes snapshot.Packed, base uint32, words []uint64, delta uint32) {
	n := 0
	for i, w := range words {
		if n > tallyBatch-64 {
			t.addDelta(codes, n, delta)
			n = 0
		}
		for first := base + uint32(i)<<6; w != 0; w &= w - 1 {
			t.at[n] = first + uint32(bits.TrailingZeros64(w))
			n++
		}
	}
	t.addDelta(codes, n, delta)
}

func (t *tally) addDelta(codes snapshot.Packed, n int, delta uint32) {
	codes.Gather(t.codes[:n], t.at[:n])
	for _, code := range t.codes[:n] {
		t.counts[code] += delta
	}
}

// subtractOthers subtracts the codes of the rows that do not pass.
func (t *tally) subtractOthers(x *Index, codes snapshot.Packed) {
	r := &t.chunk.rows
	for k := range t.rows.chunks {
		c, size := &t.rows.chunks[k], chunkSize(x.rows, k)
		words := &r.ownWords
		switch c.shape {
		case full:
			continue
		case bitmap:
			*words = *t.rows.words(c)
		default:
			clear(words[:])
			t.rows.eachRun(k, func(from, to uint32) bool {
				fillBits(words, from, to)
				return true
			})
		}
		for i := range words {
			words[i] = ^words[i]
		}
		clearBits(words, uint32(size), chunkRows)
		t.addWords(codes, uint32(k)<<chunkBits, words[:], ^uint32(0))
	}
}

// eachRun calls f with the runs of rows of chunk k, in rows of the chunk, until f returns false.
func (s *set) eachRun(k int, f func(from, to uint32) bool) {
	switch c := &s.chunks[k]; c.shape {
	case full:
		f(0, c.rows)
	case runs:
		pairs := s.pairs(c)
		for i := 0; i+1 < len(pairs); i += 2 {
			if !f(uint32(pairs[i]), uint32(pairs[i])+uint32(pairs[i+1])+1) {
				return
			}
		}
	case array:
		for _, v := range s.values(c) {
			if !f(uint32(v), uint32(v)+1) {
				return
			}
		}
	case bitmap:
		eachRun(s.words(c), 0, chunkWords, f)
	}
}

// countPostings counts the passing rows in the posting of each code.
func (t *tally) countPostings(x *Index, s *codeSpace) error {
	for code := range t.counts {
		n := uint32(0)
		if s.postings.Sorted() {
			rows := Range{s.postings.Start(uint32(code)), s.postings.Start(uint32(code) + 1)}
			perChunk([]Range{rows}, func(k int, from, to uint32) {
				n += t.rows.countRange(&t.rows.chunks[k], from, to)
			})
			t.counts[code] = n
			continue
		}
		if err := s.open(&t.view, uint32(code), x.rows); err != nil {
			return err
		}
		for k := range t.view.chunks {
			n += overlap(&t.rows, &t.rows.chunks[k], &t.view, &t.view.chunks[k])
		}
		t.counts[code] = n
	}
	return nil
}

// foldTuples adds up counts by tuple to counts by the code of a column of the group.
func (t *tally) foldTuples(col *snapshot.Column) []uint32 {
	size := col.Cardinality() + 1 // with null's code
	t.folded = slices.Grow(t.folded[:0], size)[:size]
	clear(t.folded)
	codes := col.Codes()
	for from := 0; from < len(t.counts); from += tallyBatch {
		counts := t.counts[from:min(from+tallyBatch, len(t.counts))]
		batch := t.codes[:len(counts)]
		codes.Unpack(batch, uint32(from))
		for i, n := range counts {
			t.folded[batch[i]] += n
		}
	}
	return t.folded
}
