package index

import "slices"

// nestingFinder finds which rows contain others. What depends on places alone is found by tuple
// first: mostly few rows are of places that contain those of others, and only those are numbered.
type nestingFinder struct {
	*places
	tops, levels  []int     // of mixed
	keys          []rowKeys // by level, nil of those whose places are not looked at
	rest          rowKeys   // what these have in common: all but the first column, the group of places
	holds, inside []bool    // by tuple: its rows may contain others, others may contain them

	// Unless nil, rows are contained in those of the same key only if the code of the place differs.
	codes   rowKeys
	codeOf  []rowKey // by class, of its first row
	several []bool   // by class, whether its rows have several codes

	classes numbering
	slots   [][]uint32 // of classes, by place of level 0 and level: one mostly fits into a processor's cache
	above   []uint32
}

// find finds the rows that contain others.
func (p *places) find() *nestings {
	tops, levels, n := p.mixed()
	if n == 0 {
		return new(nestings)
	}
	same := slices.Concat(p.fields, p.period)
	coded := p.keys(same...)
	byCode := nestingFinder{places: p, tops: tops, levels: levels, keys: coded, rest: coded[0][1:]}
	byCode.findHolding()
	all := nestings{byCode.nesting(n)}
	misnamed := p.misnamed()
	if misnamed == nil {
		return &all
	}
	for level, named := range p.namedKeys(same...) {
		if level == 0 {
			continue
		}
		f := nestingFinder{places: p, tops: tops, levels: levels, rest: coded[0][1:], codes: coded[level]}
		f.keys = make([]rowKeys, len(coded))
		f.keys[level] = named
		f.holds, f.inside = make([]bool, len(tops)), make([]bool, len(tops))
		for tuple, is := range misnamed {
			is = is && tops[tuple] >= 0
			f.holds[tuple] = is && levels[tuple] == level && !p.isPart(uint32(tuple), level)
			f.inside[tuple] = is && levels[tuple] > level
		}
		all = append(all, f.nesting(n))
	}
	return &all
}

// findHolding finds holds and inside by the codes of places.
func (f *nestingFinder) findHolding() {
	f.holds, f.inside = make([]bool, len(f.tops)), make([]bool, len(f.tops))
	for level := range f.keys {
		place := &f.keys[level][0]
		inner, outer := newCodeSet(len(f.tops)), newCodeSet(len(f.tops)) // numbers of places at this level
		for tuple, of := range f.levels {
			if of > level {
				inner.add(place.number(uint32(tuple)))
			}
		}
		for tuple, of := range f.levels {
			number := place.number(uint32(tuple))
			if of == level && inner.has(number) && !f.isPart(uint32(tuple), level) {
				f.holds[tuple] = true
				outer.add(number)
			}
		}
		for tuple, of := range f.levels {
			if of > level && outer.has(place.number(uint32(tuple))) {
				f.inside[tuple] = true
			}
		}
	}
}

// nesting finds the rows and their classes. There are n places of level 0.
func (f *nestingFinder) nesting(n int) (found nesting) {
	found.outer.rows = f.outerRows()
	if len(found.outer.rows) > 0 {
		last := f.numberClasses(&found.outer, n)
		f.findInner(&found.inner, last)
		f.keepUsed(&found)
	}
	return found
}

// outerRows are the rows that may contain others.
func (f *nestingFinder) outerRows() (rows []uint32) {
	for from, tuples := range f.blocks() {
		for i, tuple := range tuples {
			if f.holds[tuple] {
				rows = append(rows, from+uint32(i))
			}
		}
	}
	return rows
}

// keyAt is the key of a row at a level. rest is its key without the place.
func (f *nestingFinder) keyAt(level int, rest rowKey, tuple uint32) rowKey {
	return rowKey{rest[0] | uint64(f.keys[level][0].number(tuple)), rest[1]}
}

// numberClasses sets the classes of rows that may contain others, of n places of level 0. It returns
// which numbers they have in the last column of the keys, mostly the period: rows with another one
// are contained in none. It returns no set if there are too many numbers, or no such column.
func (f *nestingFinder) numberClasses(outer *classRows, n int) (last codeSet) {
	rest := make([]rowKey, len(outer.rows))
	f.rest.readRows(rest, outer.rows)
	tuples, counts := make([]uint32, len(rest)), make([]int, n*len(f.keys))
	if k := len(f.rest) - 1; k >= 0 && f.rest[k].end > 0 {
		last = newCodeSet(f.rest[k].end)
	}
	for i, row := range outer.rows {
		tuple := uint32(f.group.Codes.At(row))
		tuples[i] = tuple
		counts[f.tops[tuple]*len(f.keys)+f.levels[tuple]]++
		if last != nil {
			last.add(uint32(f.rest[len(f.rest)-1].at(row)))
		}
	}
	f.slots = make([][]uint32, len(counts))
	for i, n := range counts {
		if n > 0 {
			f.slots[i] = newSlots(n)
		}
	}
	outer.classes = make([]uint32, len(rest))
	for level := range f.keys { // those above first
		for i, tuple := range tuples {
			if f.levels[tuple] == level {
				outer.classes[i] = f.classOf(outer.rows[i], tuple, rest[i])
			}
		}
	}
	return last
}

// classOf is the class of a row that may contain others.
func (f *nestingFinder) classOf(row, tuple uint32, rest rowKey) uint32 {
	level := f.levels[tuple]
	class := f.classes.addTo(f.slotsOf(tuple, level), f.keyAt(level, rest, tuple))
	isNew := int(class) == len(f.above)
	if isNew {
		f.above = append(f.above, f.parent(rest, tuple))
	}
	if f.codes != nil {
		code := f.codes.of(row)
		if isNew {
			f.codeOf, f.several = append(f.codeOf, code), append(f.several, false)
		}
		f.several[class] = f.several[class] || f.codeOf[class] != code
	}
	return class
}

func (f *nestingFinder) slotsOf(tuple uint32, level int) []uint32 {
	return f.slots[f.tops[tuple]*len(f.keys)+level]
}

// parent is the class of the lowest place that contains that of a row, or noClass.
func (f *nestingFinder) parent(rest rowKey, tuple uint32) uint32 {
	for level := min(f.levels[tuple], len(f.keys)) - 1; level >= 0; level-- {
		if slots := f.slotsOf(tuple, level); slots != nil {
			if class, has := f.classes.find(slots, f.keyAt(level, rest, tuple)); has {
				return class
			}
		}
	}
	return noClass
}

// findInner finds the rows that others contain. last is that of numberClasses.
func (f *nestingFinder) findInner(inner *classRows, last codeSet) {
	var rows []uint32
	var keys [1024]rowKey
	var numbers [1024]uint64
	for from, tuples := range f.blocks() {
		rows = rows[:0]
		for i, tuple := range tuples {
			if f.inside[tuple] {
				rows = append(rows, from+uint32(i))
			}
		}
		if len(rows) > 0 && last != nil {
			f.rest[len(f.rest)-1].read(numbers[:len(tuples)], from)
			rows = slices.DeleteFunc(rows, func(row uint32) bool { return !last.has(uint32(numbers[row-from])) })
		}
		f.rest.readRows(keys[:], rows)
		for i, row := range rows {
			class := f.parent(keys[i], tuples[row-from])
			if class != noClass && (f.codes == nil || f.several[class] || f.codeOf[class] != f.codes.of(row)) {
				inner.rows, inner.classes = append(inner.rows, row), append(inner.classes, class)
			}
		}
	}
}

// keepUsed keeps the classes that contain something.
func (f *nestingFinder) keepUsed(n *nesting) {
	numbers := make([]uint32, len(f.above)) // those of the classes that are kept, plus 1
	for _, class := range n.inner.classes {
		for ; class != noClass && numbers[class] == 0; class = f.above[class] {
			numbers[class] = 1
		}
	}
	for class, number := range numbers {
		if number == 0 {
			continue
		}
		parent := f.above[class] // its number is lower
		if parent != noClass {
			parent = numbers[parent] - 1
		}
		n.above = append(n.above, parent)
		numbers[class] = uint32(len(n.above))
	}
	n.inner.renumber(numbers)
	n.outer.renumber(numbers)
}

// renumber replaces classes by their numbers less 1, and drops rows of classes without one. It
// takes no more memory than the rows need.
func (c *classRows) renumber(numbers []uint32) {
	kept := 0
	for i, class := range c.classes {
		if number := numbers[class]; number > 0 {
			c.rows[kept], c.classes[kept] = c.rows[i], number-1
			kept++
		}
	}
	c.rows, c.classes = slices.Clone(c.rows[:kept]), slices.Clone(c.classes[:kept])
}
