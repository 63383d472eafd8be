package index

import (
	"math"
	"math/bits"
	"slices"
	"sync/atomic"
	"unsafe"
)

// predicate is a filter bound to a table: the codes or numbers that pass and, once materialized,
// the rows. A predicate in the cache never changes, except for spent; materializing it replaces it
// by a new one.
type predicate struct {
	key   []byte
	parts []part // or'ed; each may match rows, no parts match nothing
	all   bool   // every row passes
	set   *set   // the rows that pass, nil until materialized
	cost  int    // estimate of what materializing takes, in nanoseconds

	// spent is an estimate of the nanoseconds that went into testing single rows, or into a set
	// that was not cached. Once it reaches cost, the predicate is materialized, so no filter costs
	// more than twice what the better of the two ways would (ski-rental).
	spent atomic.Int64

	extent atomic.Uint64 // of all codes, 0 until pageByScan needs it
}

// part is the share of a predicate that one code space decides, or one column of numbers.
type part struct {
	space   *Space
	codes   codeSet // those that pass
	count   int     // number of codes
	run     span    // the codes if they are consecutive, as those of a range of values are
	numbers *numberTest
}

// Estimates of what materializing costs, in nanoseconds. Each byte of a posting costs about one
// more. Testing a single row that others leave costs candidateFactor times rowCost.
const (
	rowCost         = 1    // reading and testing a packed value, in sequence
	candidateFactor = 4    // for values at random
	postingCost     = 64   // opening the posting of a code
	runCost         = 8    // the run of a code in sorted postings
	unionChunkCost  = 1500 // a chunk of a union, when its shape is chosen and it is written
)

// prepare finds the codes that pass a filter that check has accepted.
func (x *Index) prepare(f *Filter, key []byte) *predicate {
	o := &predicate{key: slices.Clone(key)}
	values := f.values()
	for _, name := range f.Columns {
		c := x.columns[name]
		if c.space == nil {
			for _, test := range c.numberTests(f, values) {
				o.parts = append(o.parts, part{numbers: test})
			}
			continue
		}
		p := o.partOf(c.space)
		if c.col.Group != nil {
			c.tuplesMatching(f, values, p.codes)
		} else {
			c.valuesMatching(f, values, p.codes)
		}
	}
	kept := o.parts[:0]
	for _, p := range o.parts {
		if p.numbers == nil {
			p.count = p.codes.count()
			if p.count == 0 {
				continue
			}
			p.findRun()
			o.all = o.all || p.count == p.space.size
		} else if p.numbers.never() {
			continue
		} else {
			o.all = o.all || p.numbers.always()
		}
		o.cost += p.cost(x.rows)
		kept = append(kept, p)
	}
	o.parts = kept
	return o
}

// matchesNothing reports whether it is known that no row passes.
func (o *predicate) matchesNothing() bool {
	return !o.all && len(o.parts) == 0 || o.set != nil && o.set.rows == 0
}

// mergeable reports whether two predicates select by the same codes or numbers, so that one can do
// the work of both.
func (o *predicate) mergeable(other *predicate) bool {
	if o.set != nil || other.set != nil || len(o.parts) != 1 || len(other.parts) != 1 {
		return false
	}
	a, b := &o.parts[0], &other.parts[0]
	if a.numbers == nil || b.numbers == nil {
		return a.numbers == nil && b.numbers == nil && a.space == b.space
	}
	return a.numbers.col == b.numbers.col && a.numbers.members == nil && b.numbers.members == nil
}

// merge returns one predicate for two that are mergeable, such as the two ends of a range, or two
// columns of one group.
func (x *Index) merge(w *scratch, a, b *predicate) *predicate {
	// Keys are self-delimiting, and no key of a filter or a query starts with 255.
	w.mergedKey = append(append(append(w.mergedKey[:0], 255), a.key...), b.key...)
	o, _ := x.cache.get(w.mergedKey).(*predicate)
	if o != nil {
		return o
	}
	o = &predicate{key: slices.Clone(w.mergedKey)}
	p := part{space: a.parts[0].space}
	nothing := false
	if first, second := a.parts[0].numbers, b.parts[0].numbers; first != nil {
		p.numbers = first.and(second)
		nothing = p.numbers.never()
	} else {
		p.codes = slices.Clone(a.parts[0].codes)
		for i, word := range b.parts[0].codes {
			p.codes[i] &= word
		}
		p.count = p.codes.count()
		p.findRun()
		nothing = p.count == 0
	}
	if !nothing {
		o.parts = []part{p}
		o.cost = p.cost(x.rows)
	}
	x.cache.put(o.key, o, o.size())
	return o
}

// partOf returns the predicate's part for a code space. Columns of one group share it.
func (o *predicate) partOf(s *Space) *part {
	for i := range o.parts {
		if o.parts[i].space == s {
			return &o.parts[i]
		}
	}
	// One bit more than there are codes, as null's code exists only in nullable columns.
	o.parts = append(o.parts, part{space: s, codes: newCodeSet(s.size + 1)})
	return &o.parts[len(o.parts)-1]
}

// size is the memory in bytes.
func (o *predicate) size() int {
	n := int(unsafe.Sizeof(*o)) + len(o.key)
	for i := range o.parts {
		p := &o.parts[i]
		n += int(unsafe.Sizeof(*p)) + 8*len(p.codes)
		if p.numbers != nil {
			n += int(unsafe.Sizeof(*p.numbers)) + len(p.numbers.spans)*int(unsafe.Sizeof(span{}))
			n += 8 * len(p.numbers.members)
		}
	}
	if o.set != nil {
		n += o.set.size()
	}
	return n
}

// passes tests one row.
func (o *predicate) passes(row uint32) bool {
	for i := range o.parts {
		p := &o.parts[i]
		if p.numbers != nil {
			if p.numbers.passesAt(row) {
				return true
			}
		} else if p.codes.has(uint32(p.space.codes.At(row))) {
			return true
		}
	}
	return false
}

// testWord tests the rows of which word has a bit, the first of which is base, and returns the bits
// of those that pass.
func (o *predicate) testWord(base uint32, word uint64) (passing uint64) {
	for i := range o.parts {
		p := &o.parts[i]
		switch {
		case p.numbers == nil:
			codes, set := p.space.codes, p.codes
			for w := word; w != 0; w &= w - 1 {
				at := bits.TrailingZeros64(w)
				code := codes.At(base + uint32(at))
				passing |= set[code>>6] >> (code & 63) & 1 << at
			}
		case p.numbers.isSpan():
			packed, span := p.numbers.raw.Packed, p.numbers.spans[0]
			for w := word; w != 0; w &= w - 1 {
				at := bits.TrailingZeros64(w)
				_, outside := bits.Sub64(span.more, packed.At(base+uint32(at))-span.lo, 0)
				passing |= (span.any &^ outside) << at
			}
		default:
			for w := word; w != 0; w &= w - 1 {
				if at := bits.TrailingZeros64(w); p.numbers.passesAt(base + uint32(at)) {
					passing |= 1 << at
				}
			}
		}
	}
	return passing
}

// testRange sets bit i of out for each i below n for which row from+i passes. out has whole words.
func (o *predicate) testRange(from uint32, n int, out []uint64) {
	for i := range o.parts {
		o.parts[i].testRange(from, n, out)
	}
}

func (p *part) testRange(from uint32, n int, out []uint64) {
	switch {
	case p.numbers != nil:
		p.numbers.testRange(from, n, out)
	case p.run.any != 0:
		p.space.codes.Within(from, n, p.run.lo, p.run.more, out)
	default:
		p.space.codes.In(from, n, p.codes, out)
	}
}

// findRun sets p.run. Codes up to the last one get no upper end, since one end takes less to test.
func (p *part) findRun() {
	if p.run = p.codes.run(p.count); p.run.any != 0 && int(p.run.lo)+p.count == p.space.size {
		p.run.more = math.MaxUint64 - p.run.lo
	}
}

// cost estimates what materializing takes.
func (p *part) cost(rows int) int {
	scan := rows * rowCost
	switch {
	case p.numbers != nil || !p.space.indexed:
		return scan
	case p.space.postings.Sorted():
		return p.count * runCost
	}
	cost, _ := p.unionCost()
	if p.count > 1 {
		cost += unionChunkCost * min(p.count, chunkCount(rows))
	}
	return min(cost, scan)
}

// unionCost estimates what uniting the postings of the codes takes, or uniting those of all other
// codes if that is less.
func (p *part) unionCost() (cost int, negated bool) {
	own := p.count * postingCost
	eachRun(p.codes, func(first, end uint32) bool {
		own += p.space.postings.FrozenBytes(first, end)
		return true
	})
	others := p.space.bytes + p.space.size*postingCost - own
	if others < own {
		return others, true
	}
	return own, false
}

// materialize finds the rows that pass. The error is ErrPosting.
func (o *predicate) materialize(x *Index, w *scratch) (*set, error) {
	if len(o.parts) == 1 {
		p := &o.parts[0]
		switch {
		case p.numbers != nil || !p.space.indexed:
		case p.space.postings.Sorted():
			w.spans = p.appendSpans(w.spans[:0])
			return rangesSet(w.spans, x.rows), nil
		case p.count == 1:
			return p.single(x.rows, w)
		}
	}
	w.builder.reset(x.rows)
	for i := range o.parts {
		if err := o.parts[i].materialize(x.rows, w); err != nil {
			return nil, err
		}
	}
	return w.builder.build(), nil
}

// materialize adds the rows that pass to the builder.
func (p *part) materialize(rows int, w *scratch) error {
	indexed := p.numbers == nil && p.space.indexed
	if indexed && p.space.postings.Sorted() {
		w.spans = p.appendSpans(w.spans[:0])
		for _, r := range w.spans {
			w.builder.addRange(r.From, r.To)
		}
		return nil
	}
	if indexed {
		if cost, negated := p.unionCost(); cost < rows*rowCost {
			return p.unite(rows, w, negated)
		}
	}
	for k := range chunkCount(rows) {
		p.testRange(uint32(k)<<chunkBits, chunkSize(rows, k), w.builder.bitmap(k)[:])
	}
	return nil
}

// unite adds the postings of the codes to the builder, or, negated, all rows but those of the other
// codes.
func (p *part) unite(rows int, w *scratch, negated bool) error {
	codes, b := p.codes, &w.builder
	if negated {
		codes = append(w.codes[:0], codes...)[:(p.space.size+63)/64]
		w.codes = codes
		codes.negate(p.space.size)
		b = &w.others
		b.reset(rows)
	}
	for code := range codes.all() {
		if err := p.space.open(&w.view, code, rows); err != nil {
			return err
		}
		b.add(&w.view)
	}
	if negated {
		b.negate()
		w.builder.addBuilder(b)
	}
	return nil
}

// single returns the posting of the only code that passes, in place unless its shapes are slow to
// combine.
func (p *part) single(rows int, w *scratch) (*set, error) {
	view := new(set)
	if err := p.space.open(view, uint32(p.run.lo), rows); err != nil {
		return nil, err
	}
	if !view.slow() {
		return view, nil
	}
	w.builder.reset(rows)
	w.builder.add(view)
	return w.builder.build(), nil
}

// slow reports whether enough chunks are long lists that bitmaps are worth their memory.
func (s *set) slow() bool {
	long := 0
	for i := range s.chunks {
		c := &s.chunks[i]
		if c.shape == array && c.n > maxBuiltValues || c.shape == runs && c.n > maxBuiltRuns {
			long++
		}
	}
	return long > 4
}

// appendSpans appends the rows of the codes of sorted postings. Neighbouring runs become one.
func (p *part) appendSpans(dst []Range) []Range {
	eachRun(p.codes, func(first, end uint32) bool {
		from, to := p.space.postings.Start(first), p.space.postings.Start(end)
		switch n := len(dst); {
		case from == to:
		case n > 0 && dst[n-1].To == from:
			dst[n-1].To = to
		default:
			dst = append(dst, Range{from, to})
		}
		return true
	})
	return dst
}

// rangesSet makes the set of the rows in ascending ranges that do not touch.
func rangesSet(ranges []Range, rows int) *set {
	s := &set{chunks: make([]chunk, chunkCount(rows)), own: true}
	// As in builder.build: one pass to choose shapes and places, one to write.
	perChunk(ranges, func(k int, from, to uint32) {
		s.chunks[k].rows += to - from
		s.chunks[k].at++ // the number of runs, until places are given
	})
	at := 0
	for k := range s.chunks {
		c := &s.chunks[k]
		pairs := int(c.at)
		c.at = uint32(at)
		switch {
		case c.rows == 0:
		case int(c.rows) == chunkSize(rows, k):
			c.shape = full
		case pairs <= maxBuiltRuns:
			c.shape = runs
			at += (4*pairs + 7) &^ 7
		default:
			c.shape = bitmap
			at += 8 * chunkWords
		}
		s.rows += int(c.rows)
	}
	s.allocate(at)
	perChunk(ranges, func(k int, from, to uint32) {
		switch c := &s.chunks[k]; c.shape {
		case runs:
			c.n++
			pairs := s.pairs(c)
			pairs[len(pairs)-2], pairs[len(pairs)-1] = uint16(from), uint16(to-from-1)
		case bitmap:
			fillBits(s.words(c), from, to)
		}
	})
	return s
}

// perChunk calls f with each range, cut at the chunks, in rows of the chunk.
func perChunk(ranges []Range, f func(k int, from, to uint32)) {
	for _, r := range ranges {
		for from := uint64(r.From); from < uint64(r.To); {
			k := from >> chunkBits
			end := min(uint64(r.To), (k+1)<<chunkBits)
			f(int(k), uint32(from-k<<chunkBits), uint32(end-k<<chunkBits))
			from = end
		}
	}
}
