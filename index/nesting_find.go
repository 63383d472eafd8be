package index

import "slices"

// nestingFinder finds rows that contain others, by the codes of places or by names of one level.
// What depends on places alone is found by tuple first: mostly few rows are of places that contain
// those of others.
type nestingFinder struct {
	*places
	keys           []rowKeys  // by level, nil of those whose places are not looked at
	codes          *keyColumn // nil by code; by name, what one place contains has another code
	levels         []int      // by tuple
	holds, inside  []bool     // by tuple: its rows may contain others, others may contain them
	outers, inners int        // how many rows these are

	classes []numbering // by level, of keys
	first   []uint32    // by level: the number of the first class
	codesOf []oneCode   // by class
	above   []uint32    // by class
	filter  codeSet     // of bits; see bit
}

// oneCode is none, one or several codes: 0, the code plus 1, or severalCodes.
type oneCode uint32

const severalCodes = ^oneCode(0)

func (c *oneCode) add(code uint32) {
	if *c == 0 {
		*c = oneCode(code + 1)
	} else if *c != oneCode(code+1) {
		*c = severalCodes
	}
}

// hasOther reports whether there is a code other than one.
func (c oneCode) hasOther(code uint32) bool { return c != 0 && c != oneCode(code+1) }

// finders finds by tuple which rows may contain others, by code, and by name for each level from 1
// on.
func (p *places) finders() (all []*nestingFinder) {
	levels := make([]int, p.group.Tuples)
	for tuple := range levels {
		levels[tuple] = p.levelOf(uint32(tuple))
	}
	same := slices.Concat(p.fields, p.period)
	coded := p.keys(same...)
	all = append(all, &nestingFinder{places: p, levels: levels, keys: coded})
	for level, named := range p.namedKeys(same...) {
		if level > 0 {
			keys := make([]rowKeys, len(coded))
			keys[level] = named
			all = append(all, &nestingFinder{places: p, levels: levels, keys: keys, codes: &coded[level][0]})
		}
	}
	rows := make([]int, p.group.Tuples)
	for _, tuples := range blocksOf(p.group, p.rows) {
		for _, tuple := range tuples {
			rows[tuple]++
		}
	}
	for _, f := range all {
		f.findTuples()
		for tuple, n := range rows {
			if f.holds[tuple] {
				f.outers += n
			}
			if f.inside[tuple] {
				f.inners += n
			}
		}
	}
	return all
}

// findTuples finds holds and inside.
func (f *nestingFinder) findTuples() {
	f.holds, f.inside = make([]bool, len(f.levels)), make([]bool, len(f.levels))
	for level, keys := range f.keys {
		if keys == nil {
			continue
		}
		place := &keys[0] // all keys have the group of places first
		// By number of place: the codes of what it may contain, and of those that may.
		inner, outer := make([]oneCode, len(f.levels)), make([]oneCode, len(f.levels))
		for tuple, of := range f.levels {
			if of > level {
				inner[place.number(uint32(tuple))].add(f.code(uint32(tuple), false))
			}
		}
		for tuple, of := range f.levels {
			number, code := place.number(uint32(tuple)), f.code(uint32(tuple), true)
			if of == level && inner[number].hasOther(code) && !f.isPart(uint32(tuple), level) &&
				(f.codes == nil || f.hasNames(uint32(tuple), level)) {
				f.holds[tuple] = true
				outer[number].add(code)
			}
		}
		for tuple, of := range f.levels {
			if of > level && outer[place.number(uint32(tuple))].hasOther(f.code(uint32(tuple), false)) {
				f.inside[tuple] = true
			}
		}
	}
}

// code is what must differ between a place and what it contains: nothing by code.
func (f *nestingFinder) code(tuple uint32, isOuter bool) uint32 {
	switch {
	case f.codes != nil:
		return f.codes.number(tuple)
	case isOuter:
		return 1
	}
	return 0
}

// find finds the rows that contain others.
func (p *places) find() *nestings {
	var all nestings
	for _, f := range p.finders() {
		if f.outers == 0 {
			continue
		}
		outer := f.findOuter()
		if inner := f.findInner(); len(inner.rows) > 0 {
			inner = classRows{slices.Clone(inner.rows), slices.Clone(inner.classes)} // without room for more
			all = append(all, nesting{inner, outer, slices.Clone(f.above)})
		}
	}
	return &all
}

// rest is what the keys of all levels have in common.
func (f *nestingFinder) rest() rowKeys {
	return f.keys[slices.IndexFunc(f.keys, func(keys rowKeys) bool { return keys != nil })][1:]
}

// keyAt is the key of a row at a level. rest is its key without the place.
func (f *nestingFinder) keyAt(level int, rest rowKey, tuple uint32) rowKey {
	return rowKey{rest[0] | uint64(f.keys[level][0].number(tuple)), rest[1]}
}

// bit is a place and a number of the last other column of keys, mostly the period, as one of few
// bits. Rows without a bit in common with those that contain others need no key.
func (f *nestingFinder) bit(level int, tuple uint32, last uint64) uint32 {
	const bits = 1 << 20
	return (f.keys[level][0].number(tuple)*2654435761 + uint32(last)) % bits
}

// findOuter finds the rows that may contain others, and numbers their classes.
func (f *nestingFinder) findOuter() (outer classRows) {
	tuples := make([]uint32, 0, f.outers)
	outer.rows, outer.classes = make([]uint32, 0, f.outers), make([]uint32, f.outers)
	for from, block := range blocksOf(f.group, f.rows) {
		for i, tuple := range block {
			if f.holds[tuple] {
				outer.rows, tuples = append(outer.rows, from+uint32(i)), append(tuples, tuple)
			}
		}
	}
	keys := f.rest()
	rest := make([]rowKey, len(tuples))
	keys.readRows(rest, outer.rows)
	f.classes, f.first = make([]numbering, len(f.keys)), make([]uint32, len(f.keys))
	f.filter, f.above, f.codesOf = newCodeSet(1<<20), make([]uint32, 0, f.outers), make([]oneCode, 0, f.outers)
	for level := range f.keys { // a class comes after those above it
		f.first[level] = uint32(len(f.above))
		for i, tuple := range tuples {
			if f.levels[tuple] != level {
				continue
			}
			class := f.first[level] + f.classes[level].add(f.keyAt(level, rest[i], tuple))
			if outer.classes[i] = class; int(class) == len(f.above) {
				last := keys[len(keys)-1].at(outer.rows[i])
				above := f.parent(f.levelAbove(level, tuple, last), rest[i], tuple, last)
				f.above, f.codesOf = append(f.above, above), append(f.codesOf, 0)
				f.filter.add(f.bit(level, tuple, last))
			}
			f.codesOf[class].add(f.code(tuple, true))
		}
	}
	return outer
}

// parent is the class of the lowest place that contains that of a row, or noClass. It begins at a
// level that levelAbove has found.
func (f *nestingFinder) parent(level int, rest rowKey, tuple uint32, last uint64) uint32 {
	for ; level >= 0; level = f.levelAbove(level, tuple, last) {
		number, has := f.classes[level].find(f.keyAt(level, rest, tuple))
		if class := f.first[level] + number; has && f.codesOf[class].hasOther(f.code(tuple, false)) {
			return class
		}
	}
	return noClass
}

// levelAbove is the next level above one at which a class may contain a row, -1 if there is none.
func (f *nestingFinder) levelAbove(level int, tuple uint32, last uint64) int {
	for level = min(level, len(f.keys)) - 1; level >= 0; level-- {
		if f.keys[level] != nil && f.filter.has(f.bit(level, tuple, last)) {
			return level
		}
	}
	return -1
}

// findInner finds the rows that others contain.
func (f *nestingFinder) findInner() (inner classRows) {
	inner = classRows{make([]uint32, 0, f.inners), make([]uint32, 0, f.inners)}
	var rows []uint32
	var levels [blockRows]int // of rows
	var rest [blockRows]rowKey
	var last [blockRows]uint64
	keys := f.rest()
	for from, tuples := range blocksOf(f.group, f.rows) {
		rows = rows[:0]
		keys[len(keys)-1].read(last[:len(tuples)], from)
		for i, tuple := range tuples {
			if !f.inside[tuple] {
				continue
			}
			if level := f.levelAbove(f.levels[tuple], tuple, last[i]); level >= 0 {
				levels[len(rows)] = level
				rows = append(rows, from+uint32(i))
			}
		}
		keys.readRows(rest[:], rows)
		for i, row := range rows {
			if class := f.parent(levels[i], rest[i], tuples[row-from], last[row-from]); class != noClass {
				inner.rows, inner.classes = append(inner.rows, row), append(inner.classes, class)
			}
		}
	}
	return inner
}
