package rowdiff

import (
	"encoding/binary"

	"hdqs/index"
	"hdqs/snapshot"
)

// word is a number of each row for its values in one or more columns: two rows, of
// either state, are equal in these columns if the numbers are. Some columns need two words.
type word [sides]source

// source is where the words of a state's rows come from: the classes of their codes, or the numbers
// of a column that has no dictionary in one of the states.
type source struct {
	side    int
	codes   snapshot.Packed
	own     bool      // codes are those of the only column, not the tuples of a group
	columns []*column // whose values the codes stand for
	classes []uint32  // by code, 0 where it is not known yet
	tuples  *classes  // of both states

	plain *column // nil with codes
	scale bool    // the second word of a decimal
}

// space is what the codes of a row are positions in: the tuples of a group, or the dictionary of a
// column.
type space struct {
	group *snapshot.Group
	own   *snapshot.Column
}

// spaceOf is the space of a column; none for numbers of rows without a dictionary.
func spaceOf(c *snapshot.Column) space {
	switch {
	case c.Group != nil:
		return space{group: c.Group}
	case c.Coded():
		return space{own: c}
	}
	return space{}
}

// wordsOf makes words for columns, as few as possible: columns whose rows have the same codes in
// both states share one.
func wordsOf(columns []*column) []word {
	type spaces [sides]space
	var words []word
	var found []spaces
	shared := map[spaces][]*column{}
	seen := map[*column]bool{}
	for _, c := range columns {
		if seen[c] {
			continue
		}
		seen[c] = true
		of := spaces{spaceOf(c.sides[before]), spaceOf(c.sides[after])}
		if of[before] == (space{}) || of[after] == (space{}) {
			words = append(words, plainWords(c)...)
			continue
		}
		if shared[of] == nil {
			found = append(found, of)
		}
		shared[of] = append(shared[of], c)
	}
	for _, of := range found {
		words = append(words, sharedWord(shared[of]))
	}
	return words
}

// plainWords are the words of a column of numbers that has no dictionary in one of the states.
func plainWords(c *column) []word {
	words := []word{{{side: before, plain: c}, {side: after, plain: c}}}
	if c.sides[after].Kind == snapshot.Decimal {
		words = append(words, word{{side: before, plain: c, scale: true}, {side: after, plain: c, scale: true}})
	}
	return words
}

// sharedWord is the word of columns whose rows have the same codes.
func sharedWord(columns []*column) (w word) {
	tuples := &classes{known: map[string]uint32{}}
	for side := range w {
		s := source{side: side, columns: columns, tuples: tuples}
		size := 0
		if of := spaceOf(columns[0].sides[side]); of.group != nil {
			s.codes, size = of.group.Codes, of.group.Tuples
		} else {
			s.codes, s.own, size = of.own.Codes(), true, of.own.Cardinality()+1
		}
		s.classes = make([]uint32, size)
		w[side] = s
	}
	return w
}

// class finds the class of a code, which is not 0.
func (s *source) class(code uint32) uint32 {
	tuple := s.tuples.tuple[:0]
	for _, c := range s.columns {
		var value, scale uint64
		if s.own {
			value, scale = c.codeWords(s.side, code)
		} else {
			value, scale = c.words(s.side, code)
		}
		tuple = binary.LittleEndian.AppendUint64(tuple, value)
		tuple = binary.LittleEndian.AppendUint64(tuple, scale)
	}
	s.tuples.tuple = tuple
	class, ok := s.tuples.known[string(tuple)]
	if !ok {
		class = uint32(len(s.tuples.known)) + 1
		s.tuples.known[string(tuple)] = class
	}
	s.classes[code] = class
	return class
}

// at is the word of a row.
func (s *source) at(row uint32) uint64 {
	if s.plain == nil {
		code := uint32(s.codes.At(row))
		if class := s.classes[code]; class != 0 {
			return uint64(class)
		}
		return uint64(s.class(code))
	}
	value, scale := s.plain.words(s.side, s.plain.sides[s.side].Position(row))
	if s.scale {
		return scale
	}
	return value
}

// read sets dst to the words of rows.
func (s *source) read(dst []uint64, rows *index.Batch) {
	switch {
	case s.plain == nil:
		for i, code := range rows.Numbers(&s.codes) {
			class := s.classes[code]
			if class == 0 {
				class = s.class(uint32(code))
			}
			dst[i] = uint64(class)
		}
	case s.plain.sides[s.side].Kind == snapshot.Decimal:
		for i, d := range rows.Decs(s.plain.sides[s.side]) {
			value, scale := s.plain.decWords(s.side, d)
			if s.scale {
				value = scale
			}
			dst[i] = value
		}
	default:
		for i, v := range rows.Ints(s.plain.sides[s.side]) {
			dst[i] = uint64(v)
		}
	}
}

// classes number distinct tuples of words, from 1 on.
type classes struct {
	known map[string]uint32
	tuple []byte // memory for the tuple that is looked up
}

func mix(h, w uint64) uint64 {
	h = (h ^ w) * 0x9e3779b97f4a7c15
	return h ^ h>>32
}
