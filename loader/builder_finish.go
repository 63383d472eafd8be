package loader

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"time"

	"hdqs/snapshot"
)

// finish drops duplicate rows (unless keepDuplicates, as for view dumps), sorts the rest, and
// returns the table. The builder cannot be used afterwards.
func (b *tableBuilder) finish(keepDuplicates bool) (*snapshot.TableData, duplicateRows) {
	b.oneTuplePerValue()
	var ids []uint32
	var found duplicateRows
	if keepDuplicates {
		ids = b.ids(nil)
	} else {
		ids, found = b.dropDuplicates()
	}
	ids = b.sorted(ids)
	data := &snapshot.TableData{Name: b.table.name, Rows: len(ids)}
	for _, g := range b.groups {
		data.Groups = append(data.Groups, g.data(ids))
	}
	for _, v := range b.own {
		data.Columns = append(data.Columns, v.data(ids))
	}
	return data, found
}

// oneTuplePerValue merges equal tuples that were found by different keys.
func (b *tableBuilder) oneTuplePerValue() {
	for _, g := range b.groups {
		g.codes = g.codes[:b.rows]
		of, bound := classify(g.columns, g.n)
		if int(bound) == g.n {
			continue
		}
		first := make([]uint32, 0, bound)
		for i, c := range of {
			if int(c) == len(first) {
				first = append(first, uint32(i))
			}
		}
		for i, c := range g.codes {
			g.codes[i] = of[c]
		}
		for _, v := range g.columns {
			v.pick(first)
		}
		g.n, g.byKey = int(bound), nil
	}
}

// pick keeps the values at the given positions, in that order.
func (v *vector) pick(positions []uint32) {
	switch v.kind {
	case snapshot.Text, snapshot.Enum:
		v.codes = picked(v.codes, positions)
	case snapshot.Decimal:
		v.decs = picked(v.decs, positions)
	default:
		v.ints = picked(v.ints, positions)
	}
}

func picked[T any](values []T, positions []uint32) []T {
	out := make([]T, len(positions))
	for i, p := range positions {
		out[i] = values[p]
	}
	return out
}

// data is the group with its rows in the order of ids, without tuples that no row uses any more.
func (g *tuples) data(ids []uint32) snapshot.GroupData {
	codes := picked(g.codes, ids)
	g.codes = nil
	number := make([]uint32, g.n) // new code + 1
	var first []uint32
	for i, c := range codes {
		if number[c] == 0 {
			first = append(first, c)
			number[c] = uint32(len(first))
		}
		codes[i] = number[c] - 1
	}
	d := snapshot.GroupData{Name: g.name, Codes: codes, Tuples: len(first)}
	for _, v := range g.columns {
		d.Columns = append(d.Columns, v.data(first))
	}
	return d
}

// data is the column with its values in the order of positions, without texts that are not used any
// more.
func (v *vector) data(positions []uint32) snapshot.ColumnData {
	v.pick(positions)
	d := snapshot.ColumnData{Name: v.name, Kind: v.kind, Index: v.index}
	switch v.kind {
	case snapshot.Enum:
		d.Codes, d.Values = v.codes, v.dict
	case snapshot.Text:
		d.Codes, d.Values = usedOnly(v.codes, v.dict)
	case snapshot.Decimal:
		d.Decimals, d.Texts = v.decs, v.usedTexts()
	default:
		d.Ints = v.ints
	}
	*v = vector{column: v.column, at: v.at} // frees what d does not share
	return d
}

// usedOnly numbers the texts in use by first appearance, in place.
func usedOnly(codes []uint32, dict []string) ([]uint32, []string) {
	number := make([]uint32, len(dict)) // new code + 1
	var used []string
	for i, c := range codes {
		if c == snapshot.NullCode {
			continue
		}
		if number[c] == 0 {
			used = append(used, dict[c])
			number[c] = uint32(len(used))
		}
		codes[i] = number[c] - 1
	}
	return codes, used
}

func (v *vector) usedTexts() []string {
	var used []string
	number := map[int64]int64{}
	for i, d := range v.decs {
		if d.Scale != snapshot.DecText {
			continue
		}
		at, ok := number[d.Mantissa]
		if !ok {
			at = int64(len(used))
			number[d.Mantissa] = at
			used = append(used, v.texts[d.Mantissa])
		}
		v.decs[i].Mantissa = at
	}
	return used
}

// duplicateRows counts the rows that were replaced by a later one with the same key.
type duplicateRows struct {
	Identical int      `json:"identical"` // equal in every column
	Different int      `json:"different"`
	Examples  []string `json:"examples,omitempty"` // keys of the first different ones, in words
}

const maxDuplicateExamples = 5

// dropDuplicates gives the ids of the rows that stay, in load order: of the rows with one key the
// last.
func (b *tableBuilder) dropDuplicates() ([]uint32, duplicateRows) {
	var found duplicateRows
	if b.table.key == nil || b.rows < 2 {
		return b.ids(nil), found
	}
	key := b.keyClasses()
	size := 1
	for size < 2*b.rows {
		size *= 2
	}
	slots := make([]uint32, size) // row id + 1; 0 is free
	dropped := make([]bool, b.rows)
	for i := b.rows - 1; i >= 0; i-- {
		row := uint32(i)
		slot := hashRow(key, row) & uint64(size-1)
		for slots[slot] != 0 && !sameKey(key, slots[slot]-1, row) {
			slot = (slot + 1) & uint64(size-1)
		}
		switch later := slots[slot]; {
		case later == 0:
			slots[slot] = row + 1
		case b.equalRows(later-1, row):
			dropped[i] = true
			found.Identical++
		default:
			dropped[i] = true
			found.Different++
			if len(found.Examples) < maxDuplicateExamples {
				found.Examples = append(found.Examples, b.describeKey(row))
			}
		}
	}
	return b.ids(dropped), found
}

func (b *tableBuilder) ids(dropped []bool) []uint32 {
	ids := make([]uint32, 0, b.rows)
	for i := range b.rows {
		if dropped == nil || !dropped[i] {
			ids = append(ids, uint32(i))
		}
	}
	return ids
}

// keyClasses numbers the values of the key columns. Columns of one group become one number for each
// tuple.
func (b *tableBuilder) keyClasses() []classes {
	var key []classes
	isKey := map[string]bool{}
	for _, name := range b.table.key {
		isKey[name] = true
	}
	for _, g := range b.groups {
		var in []*vector
		for _, v := range g.columns {
			if isKey[v.name] {
				in = append(in, v)
			}
		}
		if in != nil {
			of, bound := classify(in, g.n)
			key = append(key, classes{of: of, codes: g.codes[:b.rows], bound: bound})
		}
	}
	for _, v := range b.own {
		switch {
		case !isKey[v.name]:
		case v.kind == snapshot.Text || v.kind == snapshot.Enum:
			key = append(key, classes{of: v.codes[:b.rows]})
		default:
			of, bound := v.rank(b.rows)
			key = append(key, classes{of: of, bound: bound})
		}
	}
	return key
}

// classify numbers the distinct combinations of values of columns, n positions, by first
// appearance.
func classify(columns []*vector, n int) (of []uint32, bound uint32) {
	of = make([]uint32, n)
	seen := make(map[string]uint32, n)
	var key []byte
	for i := range n {
		key = key[:0]
		for _, v := range columns {
			key = v.appendKey(key, i)
		}
		c, ok := seen[string(key)]
		if !ok {
			c = uint32(len(seen))
			seen[string(key)] = c
		}
		of[i] = c
	}
	return of, uint32(len(seen))
}

// appendKey appends bytes of fixed length that are equal for equal values of this column and for no
// others.
func (v *vector) appendKey(key []byte, i int) []byte {
	var x uint64
	switch v.kind {
	case snapshot.Text, snapshot.Enum:
		x = uint64(v.codes[i])
	case snapshot.Decimal:
		key = append(key, v.decs[i].Scale)
		if v.decs[i].Scale != snapshot.DecNull {
			x = uint64(v.decs[i].Mantissa)
		}
	default:
		x = uint64(v.ints[i])
	}
	return append(key, byte(x), byte(x>>8), byte(x>>16), byte(x>>24), byte(x>>32), byte(x>>40), byte(x>>48),
		byte(x>>56))
}

func hashRow(key []classes, row uint32) uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	for i := range key {
		h = (h ^ uint64(key[i].row(row))) * 0xff51afd7ed558ccd
		h ^= h >> 32
	}
	return h
}

func sameKey(key []classes, a, b uint32) bool {
	for i := range key {
		if key[i].row(a) != key[i].row(b) {
			return false
		}
	}
	return true
}

// equalRows compares every column. Tuples are compared by code: finish has merged equal tuples
// before.
func (b *tableBuilder) equalRows(i, j uint32) bool {
	for _, g := range b.groups {
		if g.codes[i] != g.codes[j] {
			return false
		}
	}
	for _, v := range b.own {
		switch v.kind {
		case snapshot.Text, snapshot.Enum:
			if v.codes[i] != v.codes[j] {
				return false
			}
		case snapshot.Decimal:
			if v.decs[i] != v.decs[j] {
				return false
			}
		default:
			if v.ints[i] != v.ints[j] {
				return false
			}
		}
	}
	return true
}

func (b *tableBuilder) describeKey(row uint32) string {
	var words []string
	for _, name := range b.table.key {
		v, at := b.column(name), int(row)
		for _, g := range b.groups {
			if v.group == g.name {
				at = int(g.codes[row])
			}
		}
		value := "null"
		switch {
		case v.isNull(at):
		case v.kind == snapshot.Text || v.kind == snapshot.Enum:
			value = fmt.Sprintf("%q", v.text(at))
		case v.kind == snapshot.Time:
			value = time.UnixMicro(v.int(at)).UTC().Format(time.DateOnly)
		default:
			value = fmt.Sprint(v.int(at))
		}
		words = append(words, name+"="+value)
	}
	return strings.Join(words, " ")
}

// classes number the values of one or more columns, so that rows are compared and sorted by small
// integers. The class of row i is of[i] for a column of rows and of[codes[i]] for columns of a
// group.
type classes struct {
	of    []uint32
	codes []uint32 // nil for a column of rows
	bound uint32   // above every class
}

func (c *classes) row(i uint32) uint32 {
	if c.codes == nil {
		return c.of[i]
	}
	return c.of[c.codes[i]]
}

// rank numbers the n values of a column in its sort order: numbers by value, texts by bytes, an
// Enum as declared, nulls last.
func (v *vector) rank(n int) (of []uint32, bound uint32) {
	switch v.kind {
	case snapshot.Text, snapshot.Enum:
		byCode, last := v.rankTexts()
		of = make([]uint32, n)
		for i, c := range v.codes[:n] {
			of[i] = last
			if c != snapshot.NullCode {
				of[i] = byCode[c]
			}
		}
		return of, last + 1
	case snapshot.Decimal:
		panic("loader: tables cannot be sorted by a decimal such as " + v.name)
	}
	distinct := slices.Clone(v.ints[:n])
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)
	if len(distinct) > 0 && distinct[0] == snapshot.NullInt {
		distinct = append(distinct[1:], math.MaxInt64)
	}
	of = make([]uint32, n)
	for i, x := range v.ints[:n] {
		if x == snapshot.NullInt {
			x = math.MaxInt64
		}
		at, _ := slices.BinarySearch(distinct, x)
		of[i] = uint32(at)
	}
	return of, uint32(len(distinct))
}

// rankTexts returns the rank of each code, and the rank of null, which is after them.
func (v *vector) rankTexts() (byCode []uint32, null uint32) {
	byCode = make([]uint32, len(v.dict))
	order := make([]uint32, len(v.dict))
	for i := range order {
		order[i] = uint32(i)
	}
	if v.kind == snapshot.Text {
		slices.SortFunc(order, func(a, b uint32) int {
			switch x, y := v.dict[a], v.dict[b]; {
			case x < y:
				return -1
			case x > y:
				return 1
			}
			return 0
		})
	}
	for rank, code := range order {
		byCode[code] = uint32(rank)
	}
	return byCode, uint32(len(v.dict))
}

// sorted puts row ids, given in load order, into the table's order. It sorts stably from the least
// significant word of the packed ranks to the most significant one, so equal rows keep their load
// order.
func (b *tableBuilder) sorted(ids []uint32) []uint32 {
	parts := make([]classes, 0, len(b.table.order))
	for _, name := range b.table.order {
		parts = append(parts, b.ranked(name))
	}
	words := make([]uint64, len(ids))
	for len(parts) > 0 {
		from, width := len(parts), 0
		for from > 0 && width+parts[from-1].width() <= 64 {
			from--
			width += parts[from].width()
		}
		for i, id := range ids {
			w := uint64(0)
			for j := from; j < len(parts); j++ {
				w = w<<parts[j].width() | uint64(parts[j].row(id))
			}
			words[i] = w
		}
		radixSort(words, ids, width)
		parts = parts[:from]
	}
	return ids
}

func (c *classes) width() int { return bits.Len32(max(c.bound, 1) - 1) }

func (b *tableBuilder) ranked(name string) classes {
	for _, g := range b.groups {
		for _, v := range g.columns {
			if v.name == name {
				of, bound := v.rank(g.n)
				return classes{of: of, codes: g.codes[:b.rows], bound: bound}
			}
		}
	}
	of, bound := b.column(name).rank(b.rows)
	return classes{of: of, bound: bound}
}

// radixSort sorts words, and ids along with them, by the lowest width bits; equal words keep their
// order.
func radixSort(words []uint64, ids []uint32, width int) {
	const digitBits = 11
	if slices.IsSorted(words) {
		return
	}
	words2, ids2 := make([]uint64, len(words)), make([]uint32, len(ids))
	swapped := false
	for shift := 0; shift < width; shift += digitBits {
		var starts [1 << digitBits]int
		for _, w := range words {
			starts[w>>shift&(1<<digitBits-1)]++
		}
		sum := 0
		for d, n := range starts {
			starts[d], sum = sum, sum+n
		}
		for i, w := range words {
			d := w >> shift & (1<<digitBits - 1)
			words2[starts[d]], ids2[starts[d]] = w, ids[i]
			starts[d]++
		}
		words, words2, ids, ids2 = words2, words, ids2, ids
		swapped = !swapped
	}
	if swapped {
		copy(ids2, ids)
	}
}
