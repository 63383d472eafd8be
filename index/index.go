package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"hdqs/snapshot"
)

// ErrFilter marks a filter that the table cannot answer: an unknown column, or an op that the
// column's kind does not have.
var ErrFilter = errors.New("index: invalid filter")

func filterf(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrFilter, fmt.Sprintf(format, args...))
}

// Options are the limits of an Index. The zero value suits a server.
type Options struct {
	// CacheBytes bounds the cache of answered filters: their rows, and totals. 0 means two bytes a
	// row, at least 1 MiB and at most 24 MiB; negative disables the cache.
	CacheBytes int

	// Series are the columns that tell the series of a row, and PeriodStart and PeriodEnd its
	// columns of times, of one group or none, for Query.Latest. Without Series there are no such
	// queries. Finding the series takes least memory if the first column is one that the rows are
	// sorted by first.
	Series                 []string
	PeriodStart, PeriodEnd string

	// Units are the columns of places of each level, from 0 on, Level is the column with the level
	// of a row's place, and Nested the columns in which rows agree with those whose place contains
	// theirs, besides the period, for Query.Coarsest, of which there may be none. Without Level
	// there are no such queries. Placeholder reports codes that are of no unit.
	Units       []Unit
	Level       string
	Nested      []string
	Placeholder func(code string) bool

	Edition *Edition // for Query.Edition, nil without

	// Same are, by column, texts that Query.Coarsest and Query.Edition take for one, "" for null
	// too.
	Same map[string][]string
}

// The defaults of Options. A bitmap of a whole table is an eighth of a byte a row, so the cache has
// room for sixteen of the widest filters.
const (
	cacheBytesPerRow = 2
	minCacheBytes    = 1 << 20
	maxCacheBytes    = 24 << 20
)

// Index answers queries on one segment. Any number of goroutines may share it. It reads the segment
// in place and keeps little memory of its own (Bytes). It must not be used after the segment is
// closed.
type Index struct {
	rows     int
	columns  map[string]*column
	series   *series  // nil without Options.Series
	places   *places  // nil without Options.Level
	edition  *edition // nil without Options.Edition
	period   *period  // nil without Options.Series and Edition
	cache    answers
	pool     sync.Pool // of *scratch
	counting sync.Pool // of *countScratch

	searchBytes atomic.Int64 // of folded dictionaries, lists of tuples and extents
	runsLeft    atomic.Int64 // bytes that runs may still take
}

// column is a column as filters use it.
type column struct {
	col   *snapshot.Column
	id    uint32
	space *Space // nil for numbers of rows without a dictionary

	index  *Index
	folded lazy[foldedTexts]
	slots  lazy[textSlots]
	tuples lazy[tupleLists]
}

// Space is a kind of code that rows have: the codes of a column, or the tuple numbers of a group.
type Space struct {
	id       uint32
	codes    snapshot.Packed
	size     int // number of codes, including null's
	postings snapshot.Postings
	indexed  bool
	bytes    int // of all frozen postings

	runs     lazy[Runs]
	runsLeft *atomic.Int64   // bytes that runs of the table may still take
	counting atomic.Int64    // nanoseconds that counting by postings takes, 0 before the first time
	checked  []atomic.Uint32 // one bit a code: openFrozen has checked its posting

	extents lazy[[]atomic.Uint64] // by code, 0 until needed; see extent
}

// Open makes an Index of a segment.
func Open(seg *snapshot.Segment, o Options) (*Index, error) {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		return nil, errors.New("index: postings are read in place, which needs a little-endian machine")
	}
	if o.CacheBytes == 0 {
		o.CacheBytes = cacheBytes(seg.Rows())
	}
	x := &Index{
		rows: seg.Rows(), columns: make(map[string]*column, len(seg.Columns())),
		cache: newAnswers(o.CacheBytes),
	}
	x.runsLeft.Store(runBytes(x.rows))
	x.pool.New = func() any { return new(scratch) }
	x.counting.New = func() any { return new(countScratch) }
	groups := make(map[*snapshot.Group]*Space, len(seg.Groups()))
	for _, g := range seg.Groups() {
		groups[g] = newSpace(g.Codes, g.Tuples, g.Postings, true, &x.runsLeft)
	}
	for i, col := range seg.Columns() {
		c := &column{col: col, id: uint32(i), index: x}
		switch {
		case col.Group != nil:
			c.space = groups[col.Group]
		case col.Coded():
			p, ok := col.Postings()
			c.space = newSpace(col.Codes(), col.CodeCount(), p, ok, &x.runsLeft)
		}
		if c.space != nil {
			c.space.id = c.id // of a group, that of its last column
		}
		x.columns[col.Name] = c
	}
	if err := x.prepareKeys(&o); err != nil {
		return nil, err
	}
	return x, nil
}

// prepareKeys prepares the keys of series, places and editions.
func (x *Index) prepareKeys(o *Options) error {
	ofSeries, ofPlaces, err := newKeyRules(x, o)
	if err != nil {
		return err
	}
	if len(o.Series) > 0 || o.Edition != nil {
		if x.period, err = x.periodOf(o); err != nil {
			return err
		}
	}
	if x.series, err = newSeries(x, o, ofSeries); err != nil {
		return err
	}
	if x.places, err = newPlaces(x, o, ofPlaces); err != nil {
		return err
	}
	x.edition, err = newEdition(x, o, ofPlaces)
	return err
}

func newSpace(codes snapshot.Packed, size int, p snapshot.Postings, indexed bool, runsLeft *atomic.Int64) *Space {
	s := &Space{
		codes: codes, size: size, postings: p, indexed: indexed && p.Len() >= size, runsLeft: runsLeft,
	}
	if s.indexed && !p.Sorted() {
		s.checked = make([]atomic.Uint32, (size+31)/32)
		s.bytes = p.FrozenBytes(0, uint32(size))
	}
	return s
}

// Codes are the codes of the rows.
func (s *Space) Codes() *snapshot.Packed { return &s.codes }

// Size is the number of codes.
func (s *Space) Size() int { return s.size }

// Space returns the space of a column, nil for numbers of rows without a dictionary. The table must
// have the column.
func (x *Index) Space(column string) *Space { return x.columns[column].space }

// Rows is the number of rows of the table.
func (x *Index) Rows() int { return x.rows }

// Bytes is the memory of the Index without the segment's: folded dictionaries, lists of tuples,
// runs, the series, cached rows and totals, and a little for each column.
func (x *Index) Bytes() int64 {
	n := x.searchBytes.Load() + x.cache.Bytes() + x.series.bytes() + x.places.bytes()
	n += runBytes(x.rows) - x.runsLeft.Load()
	seen := make(map[*Space]bool)
	for _, c := range x.columns {
		n += int64(unsafe.Sizeof(*c))
		if c.space != nil && !seen[c.space] {
			seen[c.space] = true
			n += int64(unsafe.Sizeof(*c.space)) + 4*int64(len(c.space.checked))
		}
	}
	return n
}

// Forget drops the cached rows and totals.
func (x *Index) Forget() { x.cache.Clear() }

// foldedTexts returns the column's dictionary in folded form, made at the first call.
func (c *column) foldedTexts() *foldedTexts {
	return c.folded.get(func() *foldedTexts {
		f := foldTexts(c.col.Cardinality(), c.col.TextOf)
		c.index.searchBytes.Add(int64(f.size()))
		return f
	})
}

// textSlots returns the table to look up folded texts, made at the first call.
func (c *column) textSlots() textSlots {
	return *c.slots.get(func() *textSlots {
		slots := newTextSlots(c.foldedTexts())
		c.index.searchBytes.Add(4 * int64(len(slots)))
		return &slots
	})
}

// tuplesByValue returns the tuples of the column's group by value, made at the first call.
func (c *column) tuplesByValue() *tupleLists {
	return c.tuples.get(func() *tupleLists {
		t := listTuples(c.col.Codes(), c.col.Cardinality())
		c.index.searchBytes.Add(int64(t.size()))
		return t
	})
}

// check returns an error if the column cannot answer an op.
func (c *column) check(op Op) error {
	textual := c.col.Kind == snapshot.Text || c.col.Kind == snapshot.Enum
	switch op {
	case Equal:
		return nil
	case Like, Contains:
		if textual {
			return nil
		}
	case AtLeast, Below, AtLeastOrNull:
		if !textual {
			return nil
		}
	}
	return filterf("column %q of kind %d has no op %d", c.col.Name, c.col.Kind, op)
}

// open makes view a view of the posting of a code.
func (s *Space) open(view *set, code uint32, rows int) error {
	word, bit := &s.checked[code>>5], uint32(1)<<(code&31)
	checked := word.Load()&bit != 0
	if err := openFrozen(view, s.postings.Frozen(code), rows, checked); err != nil {
		return fmt.Errorf("code %d of %d: %w", code, s.size, err)
	}
	if !checked {
		word.Or(bit)
	}
	return nil
}

// cacheBytes is the default limit of the cache of answered filters, for a table of that many rows.
func cacheBytes(rows int) int {
	return min(max(rows*cacheBytesPerRow, minCacheBytes), maxCacheBytes)
}

// CacheBytes is the default limit of the cache of answered filters.
func (x *Index) CacheBytes() int64 { return int64(cacheBytes(x.rows)) }

// SetCacheBytes changes the limit of the cache of answered filters, and evicts what is above it.
func (x *Index) SetCacheBytes(bytes int64) { x.cache.SetLimit(bytes) }

// FullBytes estimates the memory of the Index (Bytes) once all of these filters have been used,
// with any values, without its cache of answered filters.
func (x *Index) FullBytes(filters []Filter) int64 {
	n := x.Bytes() - x.searchBytes.Load() - x.cache.Bytes() + x.series.fullBytes() - x.series.bytes() +
		x.places.fullBytes() - x.places.bytes() + x.runsLeft.Load()
	search, seen, spaces := int64(0), map[*column]bool{}, map[*Space]bool{}
	for _, f := range filters {
		for _, name := range f.Columns {
			c := x.columns[name]
			if c == nil || seen[c] || !c.col.Coded() {
				continue
			}
			seen[c] = true
			values := int64(c.col.Cardinality())
			if f.Op == Like || f.Op == Contains {
				// The texts with a NUL and a start each. Folding makes some longer, which can take
				// half as much again.
				search += c.col.Size().Dictionary*3/2 + 9*(values+1) + 256
				search += 4 * int64(slotCount(int(values)))
			}
			if !spaces[c.space] {
				spaces[c.space] = true
				search += 8 * int64(c.space.size) // extents
			}
			if c.col.Group != nil {
				search += 4 * (values + 2 + int64(c.col.Len())) // tupleLists
			}
		}
	}
	return n + search
}
