package index

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
	"sort"
)

// scratch is the memory of one Select, reused by the next.
type scratch struct {
	keys       []byte // the filters' keys, one after the other
	filters    []keyed
	key        []byte // of all filters
	keptKey    []byte // of a query that keeps some of them
	predicates []*predicate
	mergedKey  []byte // of two predicates
	counts     []uint32

	ChunkRows // rows of the chunk at hand
	builder   builder
	others    builder
	view      set
	spans     []Range
	codes     codeSet
	words     words
}

// keyed is a filter and the position of its key in scratch.keys.
type keyed struct {
	filter   *Filter
	from, to int
}

// totals are the exact counts of a set of filters: for each chunk the passing rows before it, and
// last all passing rows.
type totals struct{ before []uint32 }

func (t *totals) total() int { return int(t.before[len(t.before)-1]) }

// Select answers a query. It sets p to the ranges of the page's rows, their number, and the number
// of rows that pass in all. The error is ErrFilter for a filter that the table cannot answer and
// ErrPosting for a damaged segment; p is then empty.
func (x *Index) Select(q *Query, p *Page) error {
	p.Ranges, p.Rows, p.Total = p.Ranges[:0], 0, 0
	if err := x.checkAll(q); err != nil {
		return err
	}
	out := emitter{ranges: p.Ranges, left: max(q.Limit, 0), skip: q.Offset}
	if x.reduces(q) {
		return x.selectKept(q, p, &out)
	}
	if len(q.Filters) == 0 {
		p.Total = x.rows
		out.add(0, uint32(x.rows))
		out.finish(p)
		return nil
	}
	w := x.pool.Get().(*scratch)
	defer x.pool.Put(w)
	w.makeKeys(x, q.Filters)
	known, _ := x.cache.get(w.key).(*totals)
	if known != nil && (out.left == 0 || q.Offset >= uint64(known.total())) {
		p.Total = known.total()
		return nil
	}
	var err error
	p.Total, err = x.find(w, known, &out)
	w.release()
	out.finish(p)
	return err
}

// find passes the rows of a query with filters to out and returns the total.
func (x *Index) find(w *scratch, known *totals, out *emitter) (total int, err error) {
	if x.bind(w) {
		if known == nil {
			if total, ok, err := x.pageByScan(w, out); ok || err != nil {
				return total, err
			}
		}
		if err := x.materializeAll(w, known != nil); err != nil {
			return 0, err
		}
	}
	return x.walk(w, known, out), nil
}

// release drops what the next query does not use again.
func (w *scratch) release() {
	clear(w.predicates)
	clear(w.filters)
}

// selectKept is Select for a query that keeps some of the rows that pass.
func (x *Index) selectKept(q *Query, p *Page, out *emitter) error {
	w := x.pool.Get().(*scratch)
	defer x.pool.Put(w)
	defer w.release()
	w.makeKeys(x, q.Filters)
	rows, err := x.kept(w, q)
	if err != nil {
		return err
	}
	out.addSet(rows, &w.rows, x.rows)
	p.Total = rows.rows
	out.finish(p)
	return nil
}

// checkAll returns an error if the table cannot answer the query.
func (x *Index) checkAll(q *Query) error {
	switch {
	case q.Latest && x.series == nil:
		return filterf("the newest rows of each series are asked for, but the table has no series")
	case q.Edition && x.edition == nil:
		return filterf("the newest edition is asked for, but the table has no editions")
	case q.Coarsest && x.places == nil:
		return filterf("the rows of the coarsest places are asked for, but the table has no levels of places")
	}
	for i := range q.Filters {
		if err := x.check(&q.Filters[i]); err != nil {
			return err
		}
	}
	return nil
}

func (x *Index) check(f *Filter) error {
	if len(f.Columns) == 0 {
		return filterf("a filter with op %d names no column", f.Op)
	}
	for _, name := range f.Columns {
		c := x.columns[name]
		if c == nil {
			return filterf("the table has no column %q", name)
		}
		if f.Op == Tested && f.Test.fits(c.col) {
			continue
		}
		if err := c.check(f.Op); err != nil {
			return err
		}
	}
	return nil
}

// makeKeys gives each filter a key of its own. The key of the query is the keys of its filters,
// sorted, each once. It starts with a byte that no filter's key starts with.
func (w *scratch) makeKeys(x *Index, filters []Filter) {
	w.keys, w.filters = w.keys[:0], w.filters[:0]
	for i := range filters {
		from := len(w.keys)
		w.keys = x.appendKey(w.keys, &filters[i])
		if len(w.keys)-from > maxKey {
			digest := sha256.Sum256(w.keys[from:])
			w.keys = append(append(w.keys[:from], digestKey), digest[:]...)
		}
		w.filters = append(w.filters, keyed{&filters[i], from, len(w.keys)})
	}
	same := func(a, b keyed) int { return bytes.Compare(w.keys[a.from:a.to], w.keys[b.from:b.to]) }
	slices.SortFunc(w.filters, same)
	w.filters = slices.CompactFunc(w.filters, func(a, b keyed) bool { return same(a, b) == 0 })
	w.key = append(w.key[:0], 0)
	for _, f := range w.filters {
		w.key = binary.AppendUvarint(w.key, uint64(f.to-f.from))
		w.key = append(w.key, w.keys[f.from:f.to]...)
	}
}

// A key of a filter that is longer than maxKey is replaced by digestKey and its SHA-256. No other
// key starts with digestKey. Keys are copied into cache entries, and 200 values can take 7 KB.
const (
	maxKey    = 128
	digestKey = 252
)

// severalValues is added to the op in the key of a filter with several values.
const severalValues = 128

func (x *Index) appendKey(dst []byte, f *Filter) []byte {
	kind := byte(f.Op)
	if len(f.Values) > 0 {
		kind += severalValues
	}
	dst = binary.AppendUvarint(append(dst, kind), uint64(len(f.Columns)))
	for _, name := range f.Columns {
		dst = binary.AppendUvarint(dst, uint64(x.columns[name].id))
	}
	if f.Op == Tested {
		return append(binary.AppendUvarint(dst, uint64(len(f.Test.Key))), f.Test.Key...)
	}
	if len(f.Values) == 0 {
		return appendValueKey(dst, &f.Value)
	}
	dst = binary.AppendUvarint(dst, uint64(len(f.Values)))
	for i := range f.Values {
		from := len(dst)
		dst = appendValueKey(append(dst, 0, 0, 0, 0), &f.Values[i])
		binary.LittleEndian.PutUint32(dst[from:], uint32(len(dst)-from))
	}
	return dst
}

func appendValueKey(dst []byte, v *Value) []byte {
	dst = append(dst, byte(v.Beyond))
	dst = binary.AppendUvarint(dst, uint64(len(v.Text)))
	dst = append(dst, v.Text...)
	dst = binary.AppendVarint(dst, v.Int)
	dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(v.Float))
	if e := v.Exact; e != nil {
		dst = append(e.Num().Append(dst, 62), '/')
		dst = e.Denom().Append(dst, 62)
	}
	return dst
}

// predicates sets w.predicates to what the filters need: materialized where that pays, smallest
// first. If one of them matches nothing, it is the only one.
func (x *Index) predicates(w *scratch) error {
	if !x.bind(w) {
		return nil
	}
	return x.materializeAll(w, false)
}

// bind sets w.predicates to what the filters need. It returns false if one of them matches nothing,
// which is then the only one.
func (x *Index) bind(w *scratch) bool {
	w.predicates = w.predicates[:0]
	for _, f := range w.filters {
		key := w.keys[f.from:f.to]
		o, found := x.cache.get(key).(*predicate)
		if !found {
			o = x.prepare(f.filter, key)
			x.cache.put(key, o, o.size())
		}
		if o.matchesNothing() {
			w.predicates = append(w.predicates[:0], o)
			return false
		}
		if !o.all {
			w.predicates = append(w.predicates, o)
		}
	}
	return !w.mergeAll(x)
}

// materializeAll materializes the predicates where that pays, and sorts them.
func (x *Index) materializeAll(w *scratch, known bool) error {
	fewest := x.rows
	for i, o := range w.predicates {
		if o.set == nil && o.cost < cheapCost {
			var err error
			if o, err = x.materialized(w, o); err != nil {
				return err
			}
			w.predicates[i] = o
		}
		if o.set != nil {
			fewest = min(fewest, o.set.rows)
		}
	}
	if known { // only a page is needed, which rarely takes more than two chunks
		fewest = min(fewest, 2*chunkRows)
	}
	return x.materializeRest(w, fewest)
}

// mergeAll replaces mergeable predicates by one for both. It returns true if one matches nothing,
// which is then the only one.
func (w *scratch) mergeAll(x *Index) (nothing bool) {
	for i := 0; i < len(w.predicates); i++ {
		for k := i + 1; k < len(w.predicates); k++ {
			if !w.predicates[i].mergeable(w.predicates[k]) {
				continue
			}
			merged := x.merge(w, w.predicates[i], w.predicates[k])
			if merged.matchesNothing() {
				w.predicates = append(w.predicates[:0], merged)
				return true
			}
			w.predicates[i] = merged
			w.predicates = slices.Delete(w.predicates, k, k+1)
			k = i
		}
	}
	return false
}

// cheapCost is the cost, in nanoseconds, up to which a predicate is always materialized: about what
// the rest of a query takes.
const cheapCost = 10_000

// materializeRest materializes each remaining predicate for which testing the rows that pass all
// others would cost more, including what testing has cost so far, the cheapest first. It then sorts
// all predicates.
func (x *Index) materializeRest(w *scratch, fewest int) error {
	sort.Sort((*byCost)(w))
	for i, o := range w.predicates {
		if o.set != nil {
			continue
		}
		if work := fewest * candidateFactor; o.cost > work+int(o.spent.Load()) {
			o.spent.Add(int64(work))
			continue
		}
		done, err := x.materialized(w, o)
		if err != nil {
			return err
		}
		w.predicates[i] = done
		fewest = min(fewest, done.set.rows)
	}
	sort.Sort((*byCost)(w))
	return nil
}

// materialized returns a predicate with its rows. It replaces the given one in the cache, unless it
// is large and this is its first use.
func (x *Index) materialized(w *scratch, o *predicate) (*predicate, error) {
	rows, err := o.materialize(x, w)
	if err != nil {
		return nil, err
	}
	done := &predicate{key: o.key, parts: o.parts, all: o.all, set: rows, cost: o.cost}
	if size := done.size(); o.spent.Load() > 0 || int64(size) <= x.cache.Limit()/largeShare {
		x.cache.put(o.key, done, size)
	} else {
		o.spent.Store(int64(o.cost))
	}
	return done, nil
}

// A set is large if it takes more than one part in largeShare of the cache.
const largeShare = 64

// byCost sorts predicates: materialized ones by rows, then the others by the cost of materializing
// them.
type byCost scratch

func (w *byCost) Len() int      { return len(w.predicates) }
func (w *byCost) Swap(i, j int) { w.predicates[i], w.predicates[j] = w.predicates[j], w.predicates[i] }

func (w *byCost) Less(i, j int) bool {
	a, b := w.predicates[i], w.predicates[j]
	switch {
	case a.set != nil && b.set != nil:
		return a.set.rows < b.set.rows
	case a.set != nil || b.set != nil:
		return a.set != nil
	}
	return a.cost < b.cost
}

// walk intersects the predicates chunk by chunk, passes the rows to out and returns the total. With
// known totals it visits only the chunks of the page. Otherwise it counts every chunk and caches
// the totals.
func (x *Index) walk(w *scratch, known *totals, out *emitter) int {
	chunks := chunkCount(x.rows)
	if known != nil {
		before := known.before
		first := sort.Search(chunks, func(k int) bool { return uint64(before[k+1]) > out.skip })
		out.skip -= uint64(before[first])
		for k := first; k < chunks && out.left > 0; k++ {
			if before[k+1] > before[k] {
				x.chunk(&w.rows, w.predicates, k, false)
				out.addRows(&w.rows, uint32(k)<<chunkBits)
			}
		}
		return known.total()
	}
	w.counts = append(w.counts[:0], 0)
	total := 0
	for k := range chunks {
		n := x.chunk(&w.rows, w.predicates, k, out.left == 0 || out.skip >= chunkRows)
		total += n
		w.counts = append(w.counts, uint32(total))
		switch {
		case n == 0 || out.left == 0:
		case out.skip >= uint64(n):
			out.skip -= uint64(n)
		default:
			out.addRows(&w.rows, uint32(k)<<chunkBits)
		}
	}
	t := &totals{before: slices.Clone(w.counts)}
	x.cache.put(w.key, t, 24+4*len(t.before))
	return total
}

// chunk intersects predicates in chunk k and returns the number of rows. If there are any, r is set
// to them, unless countOnly.
func (x *Index) chunk(r *rowsOf, predicates []*predicate, k int, countOnly bool) int {
	size := chunkSize(x.rows, k)
	r.loadAll(size)
	smallest := -1
	for i, o := range predicates {
		if o.set == nil {
			if o.matchesNothing() {
				return 0
			}
			continue
		}
		c := &o.set.chunks[k]
		if c.shape == empty {
			return 0
		}
		if smallest < 0 || c.rows < predicates[smallest].set.chunks[k].rows {
			smallest = i
		}
	}
	if smallest >= 0 {
		r.load(predicates[smallest].set, &predicates[smallest].set.chunks[k], size)
	}
	last := len(predicates) - 1
	for i, o := range predicates {
		switch {
		case r.shape == empty:
			return 0
		case i == smallest:
		case o.set == nil:
			r.test(o, uint32(k)<<chunkBits)
		case countOnly && (i == last || i == last-1 && smallest == last):
			return r.countAnd(o.set, &o.set.chunks[k])
		default:
			r.and(o.set, &o.set.chunks[k])
		}
	}
	return r.count()
}
