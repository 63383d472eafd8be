package index

import (
	"iter"
	"slices"
	"unsafe"

	"hdqs/snapshot"
)

// Unit is how the columns of a table name a place of one level. A place whose code Placeholder of
// Options reports has no code of its own: its names tell it from others of the same code. Names of
// a place with a code of its own do not count, since the same place may have several.
type Unit struct {
	Code  string
	Names []string
	Also  []string // count as Names do for Query.Coarsest only
}

// rowKeys makes keys of rows from their values in some columns.
type rowKeys []keyColumn

// keyColumn numbers the values of rows in a column, or in several columns of one group.
type keyColumn struct {
	column *column
	group  *snapshot.Group // nil for a column of rows
	codes  snapshot.Packed
	of     []uint32 // the number of each tuple or code; nil where the codes are the numbers
	end    int      // above all numbers; 0 if there are too many to list
	word   int      // place of the number in a rowKey
	shift  int
}

// rowKey is the numbers of a row side by side. Rows with the same values have the same.
type rowKey [2]uint64

// keyColumnsOf returns columns by name, if rows can be told apart by them.
func (x *Index) keyColumnsOf(names []string) (columns []*column, err error) {
	for _, name := range names {
		c := x.columns[name]
		if c == nil || c.col.Kind == snapshot.Decimal {
			return nil, filterf("rows are told apart by the column %q: the table has none of that name with texts, "+
				"integers, booleans or times", name)
		}
		columns = append(columns, c)
	}
	if _, fits := keyLayout(columns); !fits {
		return nil, filterf("keys of the columns %q need more than 128 bits per row", names)
	}
	return columns, nil
}

// keyLayout returns the columns of a key, with a place in the key for each, without numbers. fits
// reports whether there is room for all.
func keyLayout(columns []*column) (keys rowKeys, fits bool) {
	seen := map[*Space]bool{}
	word, shift := 0, 0
	for _, c := range columns {
		k := keyColumn{column: c, group: c.col.Group}
		switch {
		case c.space == nil:
			k.codes = c.col.Numbers().Packed
		case seen[c.space]:
			continue
		default:
			seen[c.space] = true
			k.codes, k.end = c.space.codes, c.space.size
		}
		width := k.codes.Width()
		if shift+width > 64 {
			word, shift = word+1, 0
		}
		k.word, k.shift = word, shift
		shift += width
		keys = append(keys, k)
	}
	return keys, word < len(rowKey{})
}

// keyRules say which values of a column count as one.
type keyRules struct {
	codeOf      map[*column]*column // by column of names of places, that of their code
	placeholder func(code string) bool
	same        map[*column][]uint64 // codes that count as one
}

// rowKeys numbers the values of columns.
func (r *keyRules) rowKeys(columns []*column) rowKeys {
	keys, _ := keyLayout(columns)
	for i := range keys {
		k := &keys[i]
		if k.group != nil {
			k.of = r.numberTuples(k.group, columns)
			continue
		}
		if codes := r.same[k.column]; codes != nil {
			k.of = make([]uint32, k.end)
			for code := range k.of {
				k.of[code] = uint32(alike(codes, uint64(code)))
			}
		}
	}
	return keys
}

// numberTuples numbers the different values that the tuples of a group have in columns. It returns
// nil if every tuple has its own.
func (r *keyRules) numberTuples(g *snapshot.Group, columns []*column) []uint32 {
	of := make([]uint32, g.Tuples)
	for _, c := range columns {
		if c.col.Group != g {
			continue
		}
		codes := c.col.Codes()
		if !c.col.Coded() {
			codes = c.col.Numbers().Packed
		}
		unit := r.codeOf[c]
		var numbers numbering
		for tuple := range of {
			value := alike(r.same[c], codes.At(uint32(tuple)))
			if unit != nil && !r.placeholder(unit.col.Text(uint32(tuple))) {
				value = uint64(c.col.Cardinality()) + 1 // above all codes
			}
			of[tuple] = numbers.add(rowKey{uint64(of[tuple]), value})
		}
		if len(numbers.keys) == g.Tuples {
			return nil
		}
	}
	return of
}

// newKeyRules returns the rules of Options for series, and those for places and editions.
func newKeyRules(x *Index, o *Options) (ofSeries, ofPlaces *keyRules, err error) {
	ofSeries = &keyRules{codeOf: map[*column]*column{}, placeholder: o.Placeholder}
	ofPlaces = &keyRules{codeOf: map[*column]*column{}, placeholder: o.Placeholder, same: map[*column][]uint64{}}
	for _, u := range o.Units {
		code := x.columns[u.Code]
		for i, name := range slices.Concat(u.Names, u.Also) {
			c := x.columns[name]
			if c == nil || code == nil || c.col.Group == nil || c.col.Group != code.col.Group ||
				c.col.Kind != snapshot.Text || code.col.Kind != snapshot.Text {
				return nil, nil, filterf("the name %q and the code %q of a place are no texts of one group", name,
					u.Code)
			}
			if ofPlaces.codeOf[c] = code; i < len(u.Names) {
				ofSeries.codeOf[c] = code
			}
		}
	}
	for name, texts := range o.Same {
		c := x.columns[name]
		if c == nil || c.col.Kind != snapshot.Text && c.col.Kind != snapshot.Enum {
			return nil, nil, filterf("values of %q count as one: the table has no texts of that name", name)
		}
		ofPlaces.same[c] = sameCodes(c.col, texts)
	}
	return ofSeries, ofPlaces, nil
}

// alike is the code that counts in place of a code. All codes in same count as one.
func alike(same []uint64, code uint64) uint64 {
	if slices.Contains(same, code) {
		return same[0]
	}
	return code
}

// sameCodes are the codes of texts of a column, among them "" for null.
func sameCodes(col *snapshot.Column, texts []string) (codes []uint64) {
	for code := range col.Cardinality() {
		if slices.Contains(texts, col.TextOf(uint32(code))) {
			codes = append(codes, uint64(code))
		}
	}
	if slices.Contains(texts, "") {
		codes = append(codes, uint64(col.Cardinality()))
	}
	return codes
}

// of is the key of a row.
func (keys rowKeys) of(row uint32) (key rowKey) {
	for i := range keys {
		k := &keys[i]
		key[k.word] |= k.at(row) << k.shift
	}
	return key
}

// readRows sets dst to the keys of some ascending rows. Rows that follow each other are read
// together.
func (keys rowKeys) readRows(dst []rowKey, rows []uint32) {
	var buf [256]uint64
	for len(rows) > 0 {
		n := min(len(rows), len(buf))
		numbers, isRange := buf[:n], int(rows[n-1]-rows[0]) == n-1
		clear(dst[:n])
		for i := range keys {
			k := &keys[i]
			if isRange {
				k.read(numbers, rows[0])
			} else {
				for j, row := range rows[:n] {
					numbers[j] = k.at(row)
				}
			}
			for j, number := range numbers {
				dst[j][k.word] |= number << k.shift
			}
		}
		dst, rows = dst[n:], rows[n:]
	}
}

// read sets dst to the numbers of the rows from, from+1, ...
func (k *keyColumn) read(dst []uint64, from uint32) {
	k.codes.Unpack64(dst, from)
	if k.of != nil {
		for i, code := range dst {
			dst[i] = uint64(k.of[code])
		}
	}
}

// at is the number of a row.
func (k *keyColumn) at(row uint32) uint64 {
	number := k.codes.At(row)
	if k.of != nil {
		number = uint64(k.of[number])
	}
	return number
}

// number is that of a tuple or code.
func (k *keyColumn) number(code uint32) uint32 {
	if k.of != nil {
		return k.of[code]
	}
	return code
}

// size is the memory in bytes.
func (keys rowKeys) size() (n int) {
	for i := range keys {
		n += int(unsafe.Sizeof(keys[i])) + 4*cap(keys[i].of)
	}
	return n
}

const blockRows = 1024

// blocksOf yields the tuples that some rows have in a group, blockRows of them at a time, with the
// first of these rows. Without a group a row counts as a tuple.
func blocksOf(g *snapshot.Group, rows int) iter.Seq2[uint32, []uint32] {
	return func(yield func(from uint32, tuples []uint32) bool) {
		var block [blockRows]uint32
		for from := 0; from < rows; from += blockRows {
			tuples := block[:min(blockRows, rows-from)]
			if g != nil {
				g.Codes.Unpack(tuples, uint32(from))
			} else {
				for i := range tuples {
					tuples[i] = uint32(from + i)
				}
			}
			if !yield(uint32(from), tuples) {
				return
			}
		}
	}
}
