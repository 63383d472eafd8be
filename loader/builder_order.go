package loader

import (
	"math"
	"math/bits"
	"slices"

	"hdqs/snapshot"
)

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
