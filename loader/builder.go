package loader

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"hdqs/snapshot"
)

// tableBuilder gathers the rows of one table in load order. A row is set column by column, then
// committed; a bad row is not committed, and the next one overwrites it:
//
//	a := newTableBuilder(tableNamed("idps"))
//	place, population := a.group("place"), a.column("population")
//	for each row {
//		place.put(key, func() {
//			place.column("location_code").setText(cell) // every column of the group
//		})
//		if fault := population.read(cell); fault != "" {
//			continue // reported; the next row takes the place of this one
//		}
//		a.commit()
//	}
//	data, doubles := a.finish(false)
//
// A builder is used by one goroutine.
type tableBuilder struct {
	table     *table
	rows      int
	own       []*vector // columns of rows
	groups    []*tuples
	byName    map[string]*vector // all columns, those of groups included
	ranks     map[string]classes // of columns that finish has ranked
	from      origins
	misplaced map[uint32]uint32 // rows that are placed above the unit that they name -> a sum of their cells, not 0
}

func newTableBuilder(t *table) *tableBuilder {
	a := &tableBuilder{table: t, byName: make(map[string]*vector, len(t.columns)), ranks: map[string]classes{}}
	byGroup := map[string]*tuples{}
	for i := range t.columns {
		c := &t.columns[i]
		if c.group == "" {
			v := newVector(c, &a.rows)
			a.own = append(a.own, v)
			a.byName[c.name] = v
			continue
		}
		g := byGroup[c.group]
		if g == nil {
			g = &tuples{name: c.group, rows: &a.rows, byKey: map[string]uint32{}}
			byGroup[c.group] = g
			a.groups = append(a.groups, g)
		}
		v := newVector(c, &g.n)
		g.columns = append(g.columns, v)
		a.byName[c.name] = v
	}
	return a
}

// column is the column of this name, of rows or of a group's tuples. Asking for one that the table
// does not declare is a programming error.
func (b *tableBuilder) column(name string) *vector {
	if v := b.byName[name]; v != nil {
		return v
	}
	panic(fmt.Sprintf("loader: table %q declares no column %q", b.table.name, name))
}

func (b *tableBuilder) has(name string) bool { return b.byName[name] != nil }

// group is the tuple dictionary of this name. Asking for one that the table does not declare is a
// programming error.
func (b *tableBuilder) group(name string) *tuples {
	for _, g := range b.groups {
		if g.name == name {
			return g
		}
	}
	panic(fmt.Sprintf("loader: table %q declares no group %q", b.table.name, name))
}

// commit makes the values that were set the next row. Every column of rows and every group must
// have been set, but for added groups that no row sets.
func (b *tableBuilder) commit() {
	for _, v := range b.own {
		if v.len() != b.rows+1 {
			panic(fmt.Sprintf("loader: row %d of %q has no %q", b.rows, b.table.name, v.name))
		}
	}
	for _, g := range b.groups {
		if len(g.codes) != b.rows+1 && !g.isLacking() {
			panic(fmt.Sprintf("loader: row %d of %q has no %q", b.rows, b.table.name, g.name))
		}
	}
	b.rows++
}

// textMemory is about how many bytes a distinct text takes beside its own: its headers in a list
// and in a map, and the free room of both.
const textMemory = 80

// distinctHeld is about how many bytes the distinct texts and tuples of the table take.
func (b *tableBuilder) distinctHeld() int {
	n := 0
	for _, v := range b.byName {
		n += v.held
	}
	for _, g := range b.groups {
		n += g.held
	}
	return n
}

// tuples is a tuple dictionary under construction. A tuple is found by a key that the caller makes,
// such as the cells it was read from. Tuples with different keys and equal values are merged by
// finish.
type tuples struct {
	name    string
	columns []*vector
	n       int
	byKey   map[string]uint32
	held    int      // bytes of byKey and of the tuples
	codes   []uint32 // one a row
	rows    *int
}

func (g *tuples) column(name string) *vector {
	if i := g.at(name); i >= 0 {
		return g.columns[i]
	}
	panic(fmt.Sprintf("loader: group %q has no column %q", g.name, name))
}

func (g *tuples) has(name string) bool { return g.at(name) >= 0 }

func (g *tuples) at(name string) int {
	return slices.IndexFunc(g.columns, func(v *vector) bool { return v.name == name })
}

// isLacking reports whether it is an added group that no row has set.
func (g *tuples) isLacking() bool { return g.columns[0].added && len(g.codes) == 0 }

func (g *tuples) find(key []byte) (code uint32, ok bool) {
	code, ok = g.byKey[string(key)]
	return code, ok
}

// add makes the values that were set the next tuple. Values that were set and not added are
// overwritten.
func (g *tuples) add(key []byte) uint32 {
	for _, v := range g.columns {
		if v.len() != g.n+1 {
			panic(fmt.Sprintf("loader: tuple %d of %q has no %q", g.n, g.name, v.name))
		}
	}
	code := uint32(g.n)
	g.byKey[string(key)] = code
	g.held += len(key) + textMemory + 8*len(g.columns)
	g.n++
	return code
}

// put gives the current row the tuple with this key. It calls set for a new one.
func (g *tuples) put(key []byte, set func()) {
	code, ok := g.find(key)
	if !ok {
		set()
		code = g.add(key)
	}
	g.set(code)
}

// set gives the current row the tuple with this code.
func (g *tuples) set(code uint32) { g.codes = append(g.codes[:*g.rows], code) }

// vector is one column under construction. A set call writes the current position; the last call
// counts.
type vector struct {
	*column
	at *int // the current position: committed rows, or tuples

	// Text and Enum.
	codes  []uint32
	dict   []string
	byText map[string]uint32
	held   int    // bytes of dict, texts and byText
	last   string // the text set last: most columns repeat it
	lastAs uint32

	ints []int64 // Int, Bool and Time

	// Decimal; texts as in snapshot.ColumnData.
	decs  []snapshot.Dec
	texts []string
}

func newVector(c *column, at *int) *vector {
	v := &vector{column: c, at: at}
	switch c.kind {
	case snapshot.Enum:
		v.dict = c.values
		fallthrough
	case snapshot.Text:
		v.byText = make(map[string]uint32, len(c.values))
		for i, s := range c.values {
			v.byText[s] = uint32(i)
		}
		v.lastAs = snapshot.NullCode
	case snapshot.Decimal:
		v.byText = map[string]uint32{}
	}
	return v
}

func (v *vector) len() int {
	switch v.kind {
	case snapshot.Text, snapshot.Enum:
		return len(v.codes)
	case snapshot.Decimal:
		return len(v.decs)
	}
	return len(v.ints)
}

// setText sets a Text or Enum value; ok is false for a value that an Enum does not declare. It does
// not keep cell.
func (v *vector) setText(cell []byte) (ok bool) {
	if v.lastAs != snapshot.NullCode && string(cell) == v.last {
		v.codes = append(v.codes[:*v.at], v.lastAs)
		return true
	}
	if code, ok := v.byText[string(cell)]; ok {
		v.setCode(code)
		return true
	}
	return v.setString(string(cell))
}

func (v *vector) setString(s string) (ok bool) {
	code, ok := v.byText[s]
	if !ok {
		if v.kind == snapshot.Enum {
			return false
		}
		code = uint32(len(v.dict))
		v.dict = append(v.dict, s)
		v.byText[s] = code
		v.held += len(s) + textMemory
	}
	v.setCode(code)
	return true
}

// setCode sets a Text or Enum by its code in dict.
func (v *vector) setCode(code uint32) {
	v.last, v.lastAs = v.dict[code], code
	v.codes = append(v.codes[:*v.at], code)
}

// setInt sets an Int, or a Time in microseconds.
func (v *vector) setInt(i int64) { v.ints = append(v.ints[:*v.at], i) }

func (v *vector) setBool(b bool) {
	i := int64(0)
	if b {
		i = 1
	}
	v.setInt(i)
}

func (v *vector) setDecimal(d snapshot.Dec) { v.decs = append(v.decs[:*v.at], d) }

// setExact sets a Decimal that does not fit a Dec, by its exact text.
func (v *vector) setExact(digits string) {
	code, ok := v.byText[digits]
	if !ok {
		code = uint32(len(v.texts))
		v.texts = append(v.texts, digits)
		v.byText[digits] = code
		v.held += len(digits) + textMemory
	}
	v.setDecimal(snapshot.Dec{Mantissa: int64(code), Scale: snapshot.DecText})
}

// setNull sets null, whether or not the declaration allows it: what a missing list would give is
// null too.
func (v *vector) setNull() {
	switch v.kind {
	case snapshot.Text, snapshot.Enum:
		v.codes = append(v.codes[:*v.at], snapshot.NullCode)
	case snapshot.Decimal:
		v.setDecimal(snapshot.Dec{Scale: snapshot.DecNull})
	default:
		v.setInt(snapshot.NullInt)
	}
}

// copyFrom sets the value at position i of another vector of the same kind.
func (v *vector) copyFrom(w *vector, i int) {
	switch {
	case w.isNull(i):
		v.setNull()
	case v.kind == snapshot.Text || v.kind == snapshot.Enum:
		v.setString(w.dict[w.codes[i]])
	case v.kind == snapshot.Decimal && w.decs[i].Scale == snapshot.DecText:
		v.setExact(w.texts[w.decs[i].Mantissa])
	case v.kind == snapshot.Decimal:
		v.setDecimal(w.decs[i])
	default:
		v.setInt(w.ints[i])
	}
}

func (v *vector) isNull(i int) bool {
	switch v.kind {
	case snapshot.Text, snapshot.Enum:
		return v.codes[i] == snapshot.NullCode
	case snapshot.Decimal:
		return v.decs[i].Scale == snapshot.DecNull
	}
	return v.ints[i] == snapshot.NullInt
}

// text is the Text or Enum value at position i, "" for null.
func (v *vector) text(i int) string {
	if v.isNull(i) {
		return ""
	}
	return v.dict[v.codes[i]]
}

// int is the Int, Bool or Time at position i, NullInt for null.
func (v *vector) int(i int) int64 { return v.ints[i] }

// read parses a cell by the column's declaration and sets the value: an empty cell is null where
// null is allowed and the empty text elsewhere. A reason that is not unreadable leaves a value set
// (missing: null).
func (v *vector) read(cell []byte) reason {
	if len(cell) == 0 && (v.kind != snapshot.Text || v.nullable && !v.blank) {
		v.setNull()
		if v.nullable {
			return ""
		}
		return missing
	}
	switch v.kind {
	case snapshot.Text:
		v.setText(cell)
		if v.maxLen > 0 && len(cell) > v.maxLen && utf8.RuneCount(cell) > v.maxLen {
			return tooLong
		}
		if isEmptyWord(cell) {
			return emptyAsWord
		}
	case snapshot.Enum:
		if !v.setText(cell) {
			return unknownEnum
		}
	case snapshot.Int:
		i, ok := parseInt(cell)
		if !ok {
			return badNumber
		}
		v.setInt(i)
		if !v.limits.Hold(float64(i)) {
			return outOfBounds
		}
	case snapshot.Decimal:
		return v.readDecimal(cell)
	case snapshot.Bool:
		b, ok := parseFlag(cell)
		if !ok {
			return badFlag
		}
		v.setBool(b)
	case snapshot.Time:
		t, ok := parseInstant(cell)
		if !ok {
			return badDate
		}
		v.setInt(t)
	}
	return ""
}

// fault is the fault of a row because of a cell that the vector has read.
func (v *vector) fault(csv *csvReader, why reason, header string, cell []byte) *rowFault {
	f := csv.cellFault(why, header, cell)
	switch {
	case why == unknownEnum:
		f.detail += ", want one of " + clip(strings.Join(v.values, ", "), 120)
	case why == tooLong:
		f.detail += fmt.Sprintf(", %d characters, want at most %d", utf8.RuneCount(cell), v.maxLen)
	case why == outOfBounds && v.limits.Most == math.MaxFloat64:
		f.detail += fmt.Sprintf(", want %.12g or more", v.limits.Least)
	case why == outOfBounds:
		f.detail += fmt.Sprintf(", want %.12g to %.12g", v.limits.Least, v.limits.Most)
	}
	return f
}

func (v *vector) readDecimal(cell []byte) reason {
	if d, ok := snapshot.ParseDec(string(cell)); ok {
		v.setDecimal(d)
		if v.limits != nil && !v.limits.Hold(d.Float()) {
			return outOfBounds
		}
		return ""
	}
	digits, ok := snapshot.PlainDecimal(string(cell))
	if !ok {
		return badNumber
	}
	f, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return badNumber // beyond a float64: no record could print it
	}
	v.setExact(digits)
	if !v.limits.Hold(f) {
		return outOfBounds
	}
	return ""
}

// origins are the lines that rows were read from. Rows mostly follow each other line by line: only
// the first of such a run is kept.
type origins struct {
	files []string
	runs  []originRun
	next  int // the line that continues the last run
}

type originRun struct{ row, file, line uint32 }

func (o *origins) add(row int, file string, line int) {
	if n := len(o.files); n == 0 || o.files[n-1] != file {
		o.files, o.next = append(o.files, file), 0
	}
	if line != o.next {
		o.runs = append(o.runs, originRun{uint32(row), uint32(len(o.files) - 1), uint32(line)})
	}
	o.next = line + 1
}

// runOf is the run that a row is in. Rows of tables that are made of others are in none.
func (o *origins) runOf(row uint32) (run originRun, ok bool) {
	i := sort.Search(len(o.runs), func(i int) bool { return o.runs[i].row > row }) - 1
	if i < 0 {
		return run, false
	}
	return o.runs[i], true
}

// fileOf is the position of a row's file.
func (o *origins) fileOf(row uint32) uint32 {
	run, _ := o.runOf(row)
	return run.file
}

// of is the file and line of a row.
func (o *origins) of(row uint32) string {
	run, ok := o.runOf(row)
	if !ok {
		return "a row"
	}
	return fmt.Sprintf("%s:%d", o.files[run.file], run.line+row-run.row)
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

// filled counts the positions with another value than null and the empty text.
func (v *vector) filled() (n int) {
	for i := range v.len() {
		if !v.isNull(i) && (v.kind != snapshot.Text || v.dict[v.codes[i]] != "") {
			n++
		}
	}
	return n
}
