package index

import (
	"cmp"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"hdqs/snapshot"
)

// places says which rows are of a place that contains the places of others. Whatever rows pass, a
// row of Query.Coarsest is dropped if one of the rows that contain it passes. Which those are is
// found once, when the first query needs it: most tables have few, since a place of level 0 is
// mostly published at one level.
type places struct {
	rows   int
	rules  *keyRules
	group  *snapshot.Group  // that has the columns of places
	level  *snapshot.Column // how deep a place is
	units  [][]*column      // by level: what tells a place and those that contain it from others
	names  [][]*column      // by level: its names, empty in rows of higher levels
	fields []*column        // what rows have in common besides their place
	period []*column

	mu   sync.Mutex // held while they are found
	made atomic.Pointer[nesting]
}

// nesting is the rows of places that contain others. Rows of one place with the same fields and
// period are a class: a row is contained in all of a class or in none of it. The levels above are a
// chain: a unit of level 2 is in a class of level 1, and that is in one of level 0.
type nesting struct {
	inner, outer classRows // rows that others contain, and those that contain them
	above        []uint32  // by class: that of the rows that contain those of the class, or noClass
}

// classRows are rows with their classes.
type classRows struct {
	rows    *set
	classes []uint32 // of the rows, in their order
}

const noClass = ^uint32(0)

// newPlaces returns the places of Options, nil if there are none.
func (x *Index) newPlaces(o *Options, rules *keyRules) (*places, error) {
	if o.Level == "" {
		return nil, nil
	}
	level := x.columns[o.Level]
	if level == nil || level.col.Kind != snapshot.Int || level.col.Group == nil {
		return nil, filterf("the level of a place is in the column %q: the table has no integers of a group "+
			"of that name", o.Level)
	}
	p := &places{rows: x.rows, rules: rules, level: level.col, group: level.col.Group}
	var above []string
	for _, u := range o.Units {
		above = append(append(append(above, u.Code), u.Names...), u.Also...)
		columns, err := x.keyColumnsOf(slices.Concat(above, o.Nested, []string{o.PeriodStart, o.PeriodEnd}))
		if err != nil {
			return nil, err
		}
		n := len(above)
		for _, c := range columns[:n] {
			if c.col.Group != p.group {
				return nil, filterf("a place has the column %q, which is of another group than %q", c.col.Name, o.Level)
			}
		}
		p.units = append(p.units, columns[:n:n])
		p.names = append(p.names, columns[n-len(u.Names)-len(u.Also):n])
		p.fields, p.period = columns[n:len(columns)-2:len(columns)-2], columns[len(columns)-2:]
	}
	return p, nil
}

// nests reports whether a row of the table contains another.
func (p *places) nests() bool { return p != nil && len(p.nesting().above) > 0 }

// nesting returns which rows contain others.
func (p *places) nesting() *nesting {
	if n := p.made.Load(); n != nil {
		return n
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.made.Load()
	if n == nil {
		n = p.find()
		p.made.Store(n)
	}
	return n
}

// levelOf is the level of a place, -1 if it is none of those declared.
func (p *places) levelOf(tuple uint32) int {
	if level := p.level.Int(tuple); level >= 0 && level < int64(len(p.units)) {
		return int(level)
	}
	return -1
}

// tops numbers the places of level 0 of all tuples. several has those with rows of several levels.
func (p *places) tops() (tops []uint32, several map[uint32]bool) {
	if tops = p.rules.numberTuples(p.group, p.units[0]); tops == nil {
		for tuple := range uint32(p.group.Tuples) {
			tops = append(tops, tuple)
		}
	}
	levels := map[uint32]int{}
	several = map[uint32]bool{}
	for tuple, top := range tops {
		if level := p.levelOf(uint32(tuple)); level >= 0 {
			if first, has := levels[top]; has && first != level {
				several[top] = true
			}
			levels[top] = level
		}
	}
	return tops, several
}

// rowsByLevel returns the rows of each place of level 0 that has several levels, by level.
func (p *places) rowsByLevel() (found [][][]uint32) {
	tops, several := p.tops()
	if len(several) == 0 {
		return nil
	}
	of := make(map[uint32][][]uint32, len(several))
	for row := range uint32(p.rows) {
		tuple := uint32(p.group.Codes.At(row))
		level := p.levelOf(tuple)
		if top := tops[tuple]; several[top] && level >= 0 {
			if of[top] == nil {
				of[top] = make([][]uint32, len(p.units))
				found = append(found, of[top])
			}
			of[top][level] = append(of[top][level], row)
		}
	}
	return found
}

// isPart reports whether a row of a level has names of a lower one: it stands for a place that no
// list has, and which the place that it has contains. So it contains nothing itself.
func (p *places) isPart(row uint32, level int) bool {
	tuple := uint32(p.group.Codes.At(row))
	for _, names := range p.names[level+1:] {
		for _, name := range names {
			if name.col.Text(tuple) != "" {
				return true
			}
		}
	}
	return false
}

// find finds the rows that contain others.
func (p *places) find() *nesting {
	f := nestingFinder{places: p, nesting: new(nesting)}
	for level := range len(p.units) - 1 {
		f.keys = append(f.keys, p.rules.rowKeys(slices.Concat(p.units[level], p.fields, p.period)))
	}
	for _, levels := range p.rowsByLevel() {
		f.add(levels)
	}
	f.nesting.inner, f.nesting.outer = newClassRows(p.rows, f.inner), newClassRows(p.rows, f.outer)
	return f.nesting
}

type nestingFinder struct {
	*places
	keys         []rowKeys // by level but the last: of a place, the fields and the period
	inner, outer []classRow
	nesting      *nesting
}

type classRow struct{ row, class uint32 }

// add finds those of the rows of one place of level 0, given by level.
func (f *nestingFinder) add(levels [][]uint32) {
	var (
		classes      = make([]map[rowKey]uint32, len(f.keys))
		above        []uint32 // by class
		inner, outer []classRow
	)
	for level, rows := range levels {
		if level < len(f.keys) {
			classes[level] = map[rowKey]uint32{}
		}
		for _, row := range rows {
			parent := noClass
			for l := level - 1; l >= 0 && parent == noClass; l-- {
				if class, has := classes[l][f.keys[l].of(row)]; has {
					parent = class
				}
			}
			if parent != noClass {
				inner = append(inner, classRow{row, parent})
			}
			if level == len(f.keys) || f.isPart(row, level) {
				continue
			}
			key := f.keys[level].of(row)
			class, has := classes[level][key]
			if !has {
				class = uint32(len(above))
				classes[level][key] = class
				above = append(above, parent)
			}
			outer = append(outer, classRow{row, class})
		}
	}
	f.keep(inner, outer, above)
}

// keep adds rows, without those of classes that contain nothing.
func (f *nestingFinder) keep(inner, outer []classRow, above []uint32) {
	numbers := make([]uint32, len(above)) // those of the classes that are kept
	for i := range numbers {
		numbers[i] = noClass
	}
	for _, one := range inner {
		for class := one.class; class != noClass; class = above[class] {
			numbers[class] = 0
		}
	}
	for class, number := range numbers {
		if number == noClass {
			continue
		}
		parent := above[class] // which comes before its class
		if parent != noClass {
			parent = numbers[parent]
		}
		numbers[class] = uint32(len(f.nesting.above))
		f.nesting.above = append(f.nesting.above, parent)
	}
	for _, one := range inner {
		f.inner = append(f.inner, classRow{one.row, numbers[one.class]})
	}
	for _, one := range outer {
		if numbers[one.class] != noClass {
			f.outer = append(f.outer, classRow{one.row, numbers[one.class]})
		}
	}
}

func newClassRows(rows int, all []classRow) classRows {
	slices.SortFunc(all, func(a, b classRow) int { return cmp.Compare(a.row, b.row) })
	c := classRows{classes: make([]uint32, len(all))}
	var b builder
	b.reset(rows)
	for i, one := range all {
		c.classes[i] = one.class
		b.bitmap(int(one.row >> chunkBits))[one.row&(chunkRows-1)>>6] |= 1 << (one.row & 63)
	}
	c.rows = b.build()
	return c
}

// each calls do with the classes of those of some rows of chunk k that are among c. before is the
// number of rows of c in the chunks before.
func (c *classRows) each(k, before int, rows, buf *words, do func(word, bit int, class uint32)) {
	at := before
	for i, word := range c.rows.bits(&c.rows.chunks[k], buf) {
		for both := word & rows[i]; both != 0; both &= both - 1 {
			bit := bits.TrailingZeros64(both)
			do(i, bit, c.classes[at+bits.OnesCount64(word&(1<<bit-1))])
		}
		at += bits.OnesCount64(word)
	}
}

// findCoarsest finds the rows that pass w.predicates and that no other such row contains.
func (x *Index) findCoarsest(w *scratch) *set {
	n := x.places.nesting()
	passed := newCodeSet(len(n.above)) // classes of which a row passes
	before := 0
	for k := range n.outer.rows.chunks {
		c := &n.outer.rows.chunks[k]
		if c.shape != empty && x.chunk(&w.rows, w.predicates, k, false) > 0 {
			n.outer.each(k, before, w.rows.bitmap(), &w.words, func(_, _ int, class uint32) { passed.add(class) })
		}
		before += int(c.rows)
	}
	b := &w.builder
	b.reset(x.rows)
	before = 0
	for k := range n.inner.rows.chunks {
		c := &n.inner.rows.chunks[k]
		if x.chunk(&w.rows, w.predicates, k, false) > 0 {
			kept := b.bitmap(k)
			*kept = *w.rows.bitmap()
			if c.shape != empty {
				n.inner.each(k, before, w.rows.bitmap(), &w.words, func(word, bit int, class uint32) {
					for ; class != noClass; class = n.above[class] {
						if passed.has(class) {
							kept[word] &^= 1 << bit
							return
						}
					}
				})
			}
		}
		before += int(c.rows)
	}
	return b.build()
}

// bytes is the memory in use.
func (p *places) bytes() int64 {
	if p == nil {
		return 0
	}
	size := int(unsafe.Sizeof(*p))
	if n := p.made.Load(); n != nil {
		size += int(unsafe.Sizeof(*n)) + n.inner.size() + n.outer.size() + 4*cap(n.above)
	}
	return int64(size)
}

// fullBytes estimates bytes once the rows that contain others have been found, at most. Each row of
// a place of level 0 with several levels may be contained, unless its level is the first; contain
// others, and have a class of its own, unless its level is the last.
func (p *places) fullBytes() int64 {
	if p == nil {
		return 0
	}
	n := int64(unsafe.Sizeof(*p)) + int64(unsafe.Sizeof(nesting{})) + 256
	if tops, several := p.tops(); len(several) > 0 {
		for row := range uint32(p.rows) {
			tuple := uint32(p.group.Codes.At(row))
			level := p.levelOf(tuple)
			if level < 0 || !several[tops[tuple]] {
				continue
			}
			if level > 0 {
				n += 4
			}
			if level < len(p.units)-1 {
				n += 8
			}
		}
		n += int64(p.rows) / 4
	}
	return n + 2*int64(chunkCount(p.rows))*int64(unsafe.Sizeof(chunk{}))
}

func (c *classRows) size() int { return c.rows.size() + 4*cap(c.classes) }
