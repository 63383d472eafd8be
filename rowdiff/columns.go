package rowdiff

import (
	"cmp"
	"fmt"
	"sort"
	"strings"

	"hdqs/snapshot"
)

// column is a column of both states.
type column struct {
	sides [sides]*snapshot.Column
	texts sameTexts // of texts, by code
	exact sameTexts // of the exact texts of decimals, by position
}

func openColumn(segments [sides]*snapshot.Segment, name string) (*column, error) {
	c := new(column)
	for s, seg := range segments {
		var err error
		if c.sides[s], err = seg.Column(name); err != nil {
			return nil, err
		}
	}
	old, current := c.sides[before], c.sides[after]
	switch {
	case isText(old) != isText(current) || !isText(old) && old.Kind != current.Kind:
		return nil, fmt.Errorf("rowdiff: column %q of table %q was of kind %s and is now of kind %s",
			name, segments[after].Name(), old.Kind, current.Kind)
	case isText(old):
		c.texts = sameTexts{
			old: old.TextOf, current: current.TextOf, n: current.Cardinality(),
			known:  make([]uint32, old.Cardinality()),
			sorted: current.Kind == snapshot.Text,
		}
	case old.Kind == snapshot.Decimal:
		c.exact = sameTexts{
			old: exactOf(old), current: exactOf(current), n: current.ExactTexts(),
			known: make([]uint32, old.ExactTexts()),
		}
	}
	return c, nil
}

func isText(c *snapshot.Column) bool { return c.Kind == snapshot.Text || c.Kind == snapshot.Enum }

func exactOf(c *snapshot.Column) func(uint32) string {
	return func(at uint32) string {
		return c.DecString(snapshot.Dec{Mantissa: int64(at), Scale: snapshot.DecText})
	}
}

// sameTexts finds for old texts, by position, the same ones among the current texts.
type sameTexts struct {
	old, current func(uint32) string
	n            int            // of current texts
	known        []uint32       // the position of the same text plus 1, by old position; 0 where it is not known yet
	sorted       bool           // current texts ascend, by bytes
	shift        int            // from the last old position to the current one
	positions    map[string]int // of current texts that do not ascend; nil until one is looked for
}

// find is the position of the same text, or a number from n on that no other text has.
func (t *sameTexts) find(at uint32) uint32 {
	if known := t.known[at]; known != 0 {
		return known - 1
	}
	text, found := t.old(at), uint32(t.n)+at
	// Mostly no text is new, or few before this one are.
	if guess := int(at) + t.shift; guess >= 0 && guess < t.n && t.current(uint32(guess)) == text {
		found = uint32(guess)
	} else if i := t.search(text); i < t.n && t.current(uint32(i)) == text {
		found = uint32(i)
		t.shift = i - int(at)
	}
	t.known[at] = found + 1
	return found
}

// search is where a text is among the current texts, if it is there.
func (t *sameTexts) search(text string) int {
	if t.sorted {
		return sort.Search(t.n, func(i int) bool { return t.current(uint32(i)) >= text })
	}
	if t.positions == nil {
		t.positions = make(map[string]int, t.n)
		for i := range t.n {
			t.positions[t.current(uint32(i))] = i
		}
	}
	if i, ok := t.positions[text]; ok {
		return i
	}
	return t.n
}

// nullText is the word of a text that is null.
const nullText = ^uint64(0)

// words are the value at a position of the column, in two numbers: values of both states are equal
// if both numbers are. Only decimals need the second one.
func (c *column) words(side int, position uint32) (word, scale uint64) {
	col := c.sides[side]
	switch {
	case col.Coded():
		return c.codeWords(side, uint32(col.Codes().At(position)))
	case col.Kind == snapshot.Decimal:
		return c.decWords(side, col.Dec(position))
	}
	return uint64(col.Int(position)), 0
}

// codeWords is words for a code of a coded column.
func (c *column) codeWords(side int, code uint32) (word, scale uint64) {
	col := c.sides[side]
	null := int(code) == col.Cardinality()
	switch {
	case isText(col) && null:
		return nullText, 0
	case isText(col):
		return c.textWord(side, code), 0
	case col.Kind == snapshot.Decimal && null:
		return c.decWords(side, snapshot.Dec{Scale: snapshot.DecNull})
	case col.Kind == snapshot.Decimal:
		return c.decWords(side, col.DecOf(code))
	case null:
		return 1 << 63, 0 // snapshot.NullInt
	}
	return uint64(col.IntOf(code)), 0
}

func (c *column) textWord(side int, code uint32) uint64 {
	if side == before {
		code = c.texts.find(code)
	}
	return uint64(code)
}

func (c *column) decWords(side int, d snapshot.Dec) (word, scale uint64) {
	switch {
	case d.Scale == snapshot.DecNull:
		d.Mantissa = 0
	case d.Scale == snapshot.DecText && side == before:
		d.Mantissa = int64(c.exact.find(uint32(d.Mantissa)))
	}
	return uint64(d.Mantissa), uint64(d.Scale)
}

// compare orders the values of an old and a current row as the table does: texts by bytes, enums as
// declared, nulls last.
func (c *column) compare(old, current uint32) int {
	a, b := c.sides[before], c.sides[after]
	old, current = a.Position(old), b.Position(current)
	switch nullA, nullB := a.IsNull(old), b.IsNull(current); {
	case nullA && nullB:
		return 0
	case nullA:
		return 1
	case nullB:
		return -1
	}
	switch {
	case a.Kind == snapshot.Enum && b.Kind == snapshot.Enum:
		return cmp.Compare(a.Codes().At(old), b.Codes().At(current))
	case isText(a):
		return strings.Compare(a.Text(old), b.Text(current))
	case a.Kind == snapshot.Decimal:
		return 0 // tables are not sorted by decimals
	}
	return cmp.Compare(a.Int(old), b.Int(current))
}
