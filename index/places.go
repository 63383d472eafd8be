package index

import (
	"slices"
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

	found lazy[nestings]
}

// nestings are the rows of places that contain others by their codes, and then, by level from 1
// on, of those that do so by their names only: a source may put a unit into another one than the
// list of codes does, or into one that the list does not have.
type nestings []nesting

// nesting is the rows of places that contain others. Rows of one place with the same fields and
// period are a class: a row is contained in all of a class or in none of it. The levels above are a
// chain: a unit of level 2 is in a class of level 1, and that is in one of level 0.
type nesting struct {
	inner, outer classRows // rows that others contain, and those that contain them
	above        []uint32  // by class: that of the rows that contain those of the class, or noClass
}

// classRows are ascending rows with their classes.
type classRows struct{ rows, classes []uint32 }

const noClass = ^uint32(0)

// newPlaces returns the places of Options, nil if there are none.
func newPlaces(x *Index, o *Options, rules *keyRules) (*places, error) {
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
	if p.period[1].col.Group == p.group {
		return nil, filterf("the period has the column %q, which is of the group of places: it needs another one",
			o.PeriodEnd)
	}
	return p, nil
}

// nests reports whether a row of the table contains another.
func (p *places) nests() bool { return p != nil && len(*p.nestings()) > 0 }

// nestings returns which rows contain others.
func (p *places) nestings() *nestings { return p.found.get(p.find) }

// levelOf is the level of a place, -1 if it is none of those declared.
func (p *places) levelOf(tuple uint32) int {
	if level := p.level.Int(tuple); level >= 0 && level < int64(len(p.units)) {
		return int(level)
	}
	return -1
}

// mixed reports of each tuple whether its place of level 0 has rows of several levels. It returns
// nothing where each tuple has a place of level 0 of its own.
func (p *places) mixed() []bool {
	tops := p.rules.numberTuples(p.group, p.units[0])
	mixed, levels := make([]bool, len(tops)), make([]oneCode, len(tops))
	for tuple, top := range tops {
		if level := p.levelOf(uint32(tuple)); level >= 0 {
			levels[top].add(uint32(level))
		}
	}
	for tuple, top := range tops {
		mixed[tuple] = levels[top] == severalCodes && p.levelOf(uint32(tuple)) >= 0
	}
	return mixed
}

// isPart reports whether a tuple of a level has names of a lower one. Its rows are about a place
// that no list has, which lies in the place of the tuple. So such a tuple contains no other.
func (p *places) isPart(tuple uint32, level int) bool {
	for lower := level + 1; lower < len(p.names); lower++ {
		if p.hasNames(tuple, lower) {
			return true
		}
	}
	return false
}

// hasNames reports whether a tuple has a name of a place of a level.
func (p *places) hasNames(tuple uint32, level int) bool {
	return slices.ContainsFunc(p.names[level], func(name *column) bool { return name.col.Text(tuple) != "" })
}

// keys are the keys of rows by level but the last: of a place, and other columns.
func (p *places) keys(other ...*column) (keys []rowKeys) {
	for level := range len(p.units) - 1 {
		keys = append(keys, p.rules.rowKeys(slices.Concat(p.units[level], other)))
	}
	return keys
}

// namedKeys are those with the names of a place in place of its code.
func (p *places) namedKeys(other ...*column) (keys []rowKeys) {
	names := &keyRules{same: p.rules.same}
	for level := range len(p.units) - 1 {
		keys = append(keys, names.rowKeys(slices.Concat(p.units[0], p.names[level], other)))
	}
	return keys
}

// findCoarsest finds the rows that pass w.predicates and that no other such row contains.
func (x *Index) findCoarsest(w *scratch) *set {
	all, passing := *x.places.nestings(), &Passing{x: x, predicates: w.predicates}
	passed := make([]codeSet, len(all)) // classes of which a row passes
	for i := range all {
		passed[i] = newCodeSet(len(all[i].above))
		for k := range passing.among(all[i].outer.rows, &w.ChunkRows) {
			passed[i].add(all[i].outer.classes[k])
		}
	}
	b := &w.builder
	x.addAll(w)
	for i := range all {
		n := &all[i]
		for k := range passing.among(n.inner.rows, &w.ChunkRows) {
			class := n.inner.classes[k]
			for class != noClass && !passed[i].has(class) {
				class = n.above[class]
			}
			if row := n.inner.rows[k]; class != noClass {
				b.bitmap(int(row >> chunkBits))[row&(chunkRows-1)>>6] &^= 1 << (row & 63)
			}
		}
	}
	return b.build()
}

// bytes is the memory in use.
func (p *places) bytes() int64 {
	if p == nil {
		return 0
	}
	size := int(unsafe.Sizeof(*p))
	if all := p.found.made.Load(); all != nil {
		for _, n := range *all {
			size += int(unsafe.Sizeof(n)) + n.inner.size() + n.outer.size() + 4*cap(n.above)
		}
	}
	return int64(size)
}

// fullBytes estimates bytes once the rows that contain others have been found, at most.
func (p *places) fullBytes() int64 {
	if p == nil {
		return 0
	}
	n := int64(unsafe.Sizeof(*p)) + 512
	for _, f := range p.finders() {
		n += int64(unsafe.Sizeof(nesting{})) + 8*int64(f.inners) + 12*int64(f.outers) // each with its own class
	}
	return n
}

func (c *classRows) size() int { return 4 * (cap(c.rows) + cap(c.classes)) }
