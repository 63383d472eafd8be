package aggregate

import (
	"maps"
	"slices"

	"hdqs/index"
)

// field is a field of the groups. Its ranks number its values in their order; null has the last.
// The rank of a column without a space is the packed number, which does not keep the order.
type field struct {
	c       *column
	part    Part
	classes *Classes
	input   int      // the input that has it, and
	at      int      // its place there
	ranks   []uint32 // by code of the space; nil if they are the same
	n       int      // ranks without null's
	numbers []int64  // of parts, by rank
	names   []string // of classes, by rank
}

func newField(c *column, g Group) *field {
	f := &field{c: c, part: g.Part, classes: g.Classes}
	if c.space == nil {
		return f
	}
	d := c.values()
	f.ranks, f.n = d.codes, d.n
	if f.classes != nil {
		f.rankClasses(d)
	}
	if f.part == Whole {
		return f
	}
	// A column of times is coded. Later times have later parts, so equal parts are neighbours.
	ofCode := make([]uint32, d.n+1)
	for code := range uint32(d.n) {
		number := f.part.number(c.col.IntOf(code))
		if k := len(f.numbers); k == 0 || f.numbers[k-1] != number {
			f.numbers = append(f.numbers, number)
		}
		ofCode[code] = uint32(len(f.numbers) - 1)
	}
	f.rankAs(d, ofCode, len(f.numbers))
	return f
}

// rankClasses ranks the values by the names of their classes.
func (f *field) rankClasses(d *coding) {
	f.names = slices.Compact(slices.Sorted(maps.Values(f.classes.Of)))
	ofCode := make([]uint32, d.n+1)
	for code := range uint32(d.n) {
		ofCode[code] = uint32(len(f.names))
		if name, has := f.classes.Of[f.c.value(code).Text]; has {
			at, _ := slices.BinarySearch(f.names, name)
			ofCode[code] = uint32(at)
		}
	}
	f.rankAs(d, ofCode, len(f.names))
}

// rankAs sets the ranks to those of the values, by their numbers, of which null gets the last.
func (f *field) rankAs(d *coding, ofValue []uint32, n int) {
	f.n = n
	ofValue[d.n] = uint32(n)
	ranks := make([]uint32, f.c.space.Size())
	for code := range ranks {
		ranks[code] = ofValue[d.number(uint32(code))]
	}
	f.ranks = ranks
}

// number is the number of the value of a code of the space.
func (d *coding) number(code uint32) uint32 {
	if d.codes != nil {
		return d.codes[code]
	}
	return code
}

// rank is the rank of a code of the space.
func (f *field) rank(code uint32) uint32 {
	if f.ranks != nil {
		return f.ranks[code]
	}
	return code
}

func (f *field) value(rank uint64) Value {
	switch {
	case f.c.space == nil:
		return f.c.rawValue(rank)
	case rank >= uint64(f.n):
		return Value{}
	case f.part != Whole:
		return f.part.value(f.numbers[rank])
	case f.classes != nil:
		return Value{Kind: Text, Text: f.names[rank]}
	}
	return f.c.value(uint32(rank))
}

func (f *field) compare(a, b uint64) int {
	switch {
	case a == b:
		return 0
	case f.c.space == nil:
		return f.c.compareRaw(a, b)
	case a < b:
		return -1
	}
	return 1
}

// input is what of a row decides its group: the fields of one space, or one column without a space.
// Its digits number the combinations of the fields' ranks that occur, in their order. The digits of
// a column without a space number its values as they appear.
type input struct {
	space  *index.Space
	raw    *field
	radix  uint64   // number of digits
	digits []uint32 // by code of the space
	ranks  [][]uint32
	rehash bool // the digits so far are numbered anew before this one is added, see keys
	stride uint64
}

// inputBytes is how much the inputs of a table may take that are kept, since those of several
// fields take longer to make than a short answer: little for a short table, which answers soon
// without them, and a byte a row for a long one, whose places are many.
func inputBytes(rows int) int { return min(max(1<<20, rows), 16*rows) }

// input returns a copy of the input of the fields of a space.
func (t *Table) input(s *index.Space, fields []*field) *input {
	var name []byte
	for _, f := range fields {
		name = append(append(name, byte(f.part), byte(len(f.c.col.Name))), f.c.col.Name...)
		if f.classes != nil {
			name = append(append(append(name, 0), f.classes.Key...), 0)
		}
	}
	key := string(name)
	in, known := t.inputs.Get(key)
	if !known {
		in = newInput(s, fields)
		size := 4 * len(in.digits)
		for _, ranks := range in.ranks {
			size += 4 * len(ranks)
		}
		t.inputs.Put(key, in, int64(size))
	}
	out := *in
	return &out
}

func newInput(s *index.Space, fields []*field) *input {
	in := &input{space: s, digits: make([]uint32, s.Size()), ranks: make([][]uint32, len(fields))}
	if len(fields) == 1 {
		f := fields[0]
		last := uint32(0)
		for code := range in.digits {
			in.digits[code] = f.rank(uint32(code))
			last = max(last, in.digits[code])
		}
		in.radix = uint64(last) + 1
		return in
	}
	in.combine(fields)
	return in
}

// combine numbers the combinations of several fields: of the first two, then of those with the
// third, and so on. It orders codes by counting, since to compare tens of thousands of them takes
// longer than most answers.
func (in *input) combine(fields []*field) {
	if in.radix = 1; len(in.digits) == 0 {
		return
	}
	natural := make([]uint32, len(in.digits))
	for code := range natural {
		natural[code] = uint32(code)
	}
	byRank, byBoth := slices.Clone(natural), slices.Clone(natural)
	for k, f := range fields {
		of := f.ranks
		if of == nil {
			of = natural
		}
		sortByCount(byRank, natural, of)
		sortByCount(byBoth, byRank, in.digits)
		ranks := make([][]uint32, len(fields))
		var digit, rank, n uint32 // of the code before; how many combinations there are so far
		for _, code := range byBoth {
			if d, r := in.digits[code], of[code]; n == 0 || d != digit || r != rank {
				digit, rank = d, r
				for earlier := range k {
					ranks[earlier] = append(ranks[earlier], in.ranks[earlier][d])
				}
				ranks[k] = append(ranks[k], r)
				n++
			}
			in.digits[code] = n - 1
		}
		in.ranks, in.radix = ranks, max(uint64(n), 1)
	}
}

// sortByCount sets dst to codes in the order of their keys. Codes of one key stay in their order.
func sortByCount(dst, codes, keys []uint32) {
	next := make([]uint32, uint64(slices.Max(keys))+2) // by key: where the next code with it goes
	for _, code := range codes {
		next[keys[code]+1]++
	}
	for key := range next[1:] {
		next[key+1] += next[key]
	}
	for _, code := range codes {
		dst[next[keys[code]]] = code
		next[keys[code]]++
	}
}

// rank is the rank of a field in a digit.
func (in *input) rank(at int, digit uint64) uint64 {
	if in.ranks[at] == nil {
		return digit
	}
	return uint64(in.ranks[at][digit])
}
