package rowdiff

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hdqs/index"
	"hdqs/internal/tables"
	"hdqs/internal/testkit"
	"hdqs/snapshot"
)

// testRow is one row of a generated state. Decimals are texts. A nil value is null.
type testRow map[string]any

// testColumn is a column of generated tables.
type testColumn struct {
	name, group string
	kind        snapshot.Kind
}

// shape says which of the ways a table can be.
type shape struct {
	columns Columns
	layout  []testColumn
	sorted  bool
}

var enumValues = []string{"zebra", "ant", "mole"}

// shapes are: a table whose order follows the key, one with values in its order before parts of the
// key, one sorted by the key itself, and one that is not sorted.
var shapes = func() []shape {
	layout := []testColumn{
		{"ref", "place", snapshot.Int},
		{"code", "place", snapshot.Text},
		{"name", "place", snapshot.Text},
		{"named", "place", snapshot.Text},
		{"height", "place", snapshot.Decimal},
		{"start", "period", snapshot.Time},
		{"end", "period", snapshot.Time},
		{"kind", "", snapshot.Enum},
		{"amount", "", snapshot.Int},
		{"rate", "", snapshot.Decimal},
		{"note", "", snapshot.Text},
		{"flag", "", snapshot.Bool},
		{"source", "", snapshot.Text},
	}
	values := []string{"code", "name", "height", "kind", "amount", "rate", "note", "flag", "start", "end", "source"}
	key := []string{"code", "named", "kind", "start"}
	return []shape{
		{Columns{key, values, []string{"ref", "kind", "start", "named"}}, layout, true},
		{Columns{key, values, []string{"ref", "kind", "amount", "start", "named"}}, layout, true},
		{Columns{key, values, []string{"code", "named", "kind", "start"}}, layout, true},
		{Columns{key, values, []string{"ref", "kind", "start"}}, layout, false},
	}
}()

// maker makes two states of a table.
type maker struct {
	r     *rand.Rand
	shape shape
	refs  map[string]int64 // of places, in the state that is being made
	names map[string]any
	large bool // with so many numbers that columns have no dictionary
}

var decimals = []string{
	"0", "0.5", "-3.25", "7", "12.5", "0.1", "9007199254740993", "0.30000000000000004000001", "1e3", "123456789.25",
}

func (m *maker) place(n int) string { return fmt.Sprintf("P%02d", n) }

// number gives places numbers: in the order of their codes, shifted, or any.
func (m *maker) number(places int) {
	m.refs = map[string]int64{}
	order := m.r.Perm(places)
	how := m.r.IntN(3)
	for i := range places {
		switch how {
		case 0:
			m.refs[m.place(i)] = int64(i)
		case 1:
			m.refs[m.place(i)] = int64(i + i/3)
		default:
			m.refs[m.place(i)] = int64(order[i])
		}
	}
}

func (m *maker) row(places int) testRow {
	code := m.place(m.r.IntN(places))
	if _, ok := m.names[code]; !ok {
		m.names[code] = "Name of " + code
	}
	start := int64(m.r.IntN(5)) * 1e12
	row := testRow{
		"code": code, "named": []string{"", "here", "there"}[m.r.IntN(3)],
		"kind": enumValues[m.r.IntN(3)], "start": start, "end": start + 1, "source": fmt.Sprint("s", m.r.IntN(3)),
	}
	m.change(row)
	return row
}

// change sets values that are not in the key.
func (m *maker) change(row testRow) {
	if digits, scale, is := strings.Cut(fmt.Sprint(row["rate"]), "e-"); is && m.r.IntN(2) == 0 {
		row["rate"] = digits + "e-" + map[string]string{"1": "2", "2": "1"}[scale] // and nothing else
		return
	}
	row["amount"] = m.r.Int64N(5)
	if m.large || m.r.IntN(3) == 0 {
		row["amount"] = m.r.Int64() - m.r.Int64()
	}
	if row["rate"] = decimals[m.r.IntN(len(decimals))]; m.large {
		row["rate"] = fmt.Sprintf("%d1e-%d", m.r.IntN(1e6), 1+m.r.IntN(2))
	}
	row["note"] = fmt.Sprint("note ", m.r.IntN(50))
	row["flag"] = int64(m.r.IntN(2))
	for _, name := range []string{"amount", "rate", "note", "end"} {
		if m.r.IntN(12) == 0 {
			row[name] = nil
		}
	}
}

// states makes two states that have much in common.
func (m *maker) states() (states [sides][]testRow) {
	m.names = map[string]any{}
	places := 1 + m.r.IntN(20)
	n := []int{0, 1, 5, 60, 600, 2500}[m.r.IntN(6)]
	n = m.r.IntN(n + 1)
	duplicates := m.large || m.r.IntN(3) == 0
	if m.large {
		n = 9000
	}
	seen := map[string]bool{}
	for range n {
		row := m.row(places)
		if k := keyOf(m.shape.columns.Key, row); duplicates || !seen[k] {
			seen[k] = true
			states[before] = append(states[before], row)
		}
	}
	rate := []int{2, 20, 200, 1 << 30}[m.r.IntN(4)] // one row in so many differs
	for _, old := range states[before] {
		row := testRow{}
		for name, value := range old {
			row[name] = value
		}
		switch m.r.IntN(rate) {
		case 0:
			if m.r.IntN(3) == 0 {
				continue
			}
			m.change(row)
		case 1:
			if other := m.row(places + 2); duplicates || !seen[keyOf(m.shape.columns.Key, other)] {
				seen[keyOf(m.shape.columns.Key, other)] = true
				states[after] = append(states[after], other)
			}
		}
		if duplicates && m.r.IntN(10) == 0 {
			states[after] = append(states[after], row)
		}
		states[after] = append(states[after], row)
	}
	if m.r.IntN(3) == 0 { // all rows have another source
		for _, row := range states[after] {
			row["source"] = row["source"].(string) + "x"
		}
	}
	for side := range states {
		m.number(places + 2)
		if side == after && m.r.IntN(2) == 0 {
			for code := range m.names {
				if m.r.IntN(5) == 0 {
					m.names[code] = []any{"Another name", nil}[m.r.IntN(2)]
				}
			}
		}
		for i, row := range states[side] {
			row = cloned(row)
			row["ref"] = m.refs[row["code"].(string)]
			row["name"] = m.names[row["code"].(string)]
			row["height"] = decimals[int(row["ref"].(int64))%len(decimals)]
			states[side][i] = row
		}
		if m.shape.sorted {
			slices.SortStableFunc(states[side], func(a, b testRow) int { return byOrder(m.shape, a, b) })
		} else {
			m.r.Shuffle(len(states[side]), func(i, k int) {
				states[side][i], states[side][k] = states[side][k], states[side][i]
			})
		}
	}
	return states
}

func cloned(row testRow) testRow {
	other := testRow{}
	for name, value := range row {
		other[name] = value
	}
	return other
}

// keyOf is the text of some columns of a row.
func keyOf(columns []string, row testRow) string {
	var parts []string
	for _, name := range columns {
		parts = append(parts, fmt.Sprintf("%T%v", row[name], row[name]))
	}
	return strings.Join(parts, "|")
}

func byOrder(s shape, a, b testRow) int {
	for _, name := range s.columns.Order {
		x, y := a[name], b[name]
		order := 0
		switch {
		case x == nil || y == nil:
			switch {
			case x == nil && y != nil:
				order = 1
			case x != nil:
				order = -1
			}
		case name == "kind":
			order = slices.Index(enumValues, x.(string)) - slices.Index(enumValues, y.(string))
		default:
			if text, ok := x.(string); ok {
				order = strings.Compare(text, y.(string))
			} else {
				order = cmp.Compare(x.(int64), y.(int64))
			}
		}
		if order != 0 {
			return order
		}
	}
	return 0
}

// table writes rows as a segment. Its dictionaries, and what is in one, depend on chance.
func (m *maker) table(t *testing.T, rows []testRow) *snapshot.Segment {
	data := &snapshot.TableData{Name: "things", Rows: len(rows)}
	for _, name := range []string{"place", "period"} {
		var columns []testColumn
		var names []string
		for _, c := range m.shape.layout {
			if c.group == name {
				columns = append(columns, c)
				names = append(names, c.name)
			}
		}
		g := snapshot.GroupData{Name: name}
		positions := map[string]uint32{}
		var tuples []testRow
		for _, row := range rows {
			k := keyOf(names, row)
			if _, ok := positions[k]; !ok {
				positions[k] = uint32(len(tuples))
				tuples = append(tuples, row)
			}
			g.Codes = append(g.Codes, positions[k])
		}
		g.Tuples = len(tuples)
		for _, c := range columns {
			g.Columns = append(g.Columns, columnOf(c, tuples, false))
		}
		data.Groups = append(data.Groups, g)
	}
	for _, c := range m.shape.layout {
		if c.group == "" {
			data.Columns = append(data.Columns, columnOf(c, rows, !m.large && m.r.IntN(2) == 0))
		}
	}
	return tables.Segment(t, data)
}

func columnOf(c testColumn, rows []testRow, indexed bool) snapshot.ColumnData {
	d := snapshot.ColumnData{Name: c.name, Kind: c.kind, Index: indexed}
	positions := map[string]uint32{}
	if c.kind == snapshot.Enum {
		d.Values = enumValues
		for i, v := range enumValues {
			positions[v] = uint32(i)
		}
	}
	for _, row := range rows {
		value := row[c.name]
		switch c.kind {
		case snapshot.Text, snapshot.Enum:
			if value == nil {
				d.Codes = append(d.Codes, snapshot.NullCode)
				continue
			}
			if _, ok := positions[value.(string)]; !ok {
				positions[value.(string)] = uint32(len(d.Values))
				d.Values = append(d.Values, value.(string))
			}
			d.Codes = append(d.Codes, positions[value.(string)])
		case snapshot.Decimal:
			d.Decimals = append(d.Decimals, decimalOf(&d, value))
		default:
			if value == nil {
				value = int64(snapshot.NullInt)
			}
			d.Ints = append(d.Ints, value.(int64))
		}
	}
	return d
}

func decimalOf(d *snapshot.ColumnData, value any) snapshot.Dec {
	if value == nil {
		return snapshot.Dec{Scale: snapshot.DecNull}
	}
	if dec, ok := snapshot.ParseDec(value.(string)); ok {
		return dec
	}
	plain, _ := snapshot.PlainDecimal(value.(string))
	at := slices.Index(d.Texts, plain)
	if at < 0 {
		at = len(d.Texts)
		d.Texts = append(d.Texts, plain)
	}
	return snapshot.Dec{Mantissa: int64(at), Scale: snapshot.DecText}
}

// plainFilter is a filter, and the same in plain code.
type plainFilter struct {
	filter index.Filter
	passes func(testRow) bool
}

func (m *maker) filters() (filters []plainFilter) {
	for range m.r.IntN(3) {
		var f plainFilter
		switch m.r.IntN(3) {
		case 0:
			code := m.place(m.r.IntN(20))
			f = plainFilter{
				index.Filter{Columns: []string{"code"}, Op: index.Equal, Value: index.Value{Text: code}},
				func(row testRow) bool { return row["code"] == code },
			}
		case 1:
			least := int64(m.r.IntN(5))
			f = plainFilter{
				index.Filter{Columns: []string{"amount"}, Op: index.AtLeast, Value: index.Value{Int: least}},
				func(row testRow) bool { v, ok := row["amount"].(int64); return ok && v >= least },
			}
		case 2:
			note := fmt.Sprint("note ", m.r.IntN(50))
			f = plainFilter{
				index.Filter{Columns: []string{"note", "named"}, Op: index.Equal, Value: index.Value{Text: note}},
				func(row testRow) bool { return row["note"] == note },
			}
		}
		filters = append(filters, f)
	}
	return filters
}

// plainChange is a difference in plain code: rows by position in their state.
type plainChange struct {
	change Change
	row    testRow
}

// plain compares two lists of rows by plain code.
func plain(s shape, states [sides][]testRow, filters []plainFilter) []plainChange {
	type rows struct{ old, current []uint32 }
	byKey := map[string]*rows{}
	var keys []string
	for side, all := range states {
		for i, row := range all {
			if slices.ContainsFunc(filters, func(f plainFilter) bool { return !f.passes(row) }) {
				continue
			}
			k := keyOf(s.columns.Key, row)
			if byKey[k] == nil {
				byKey[k] = new(rows)
				keys = append(keys, k)
			}
			if side == before {
				byKey[k].old = append(byKey[k].old, uint32(i))
			} else {
				byKey[k].current = append(byKey[k].current, uint32(i))
			}
		}
	}
	var removed, others []plainChange
	for _, k := range keys {
		of := byKey[k]
		for i := 0; i < len(of.current); i++ {
			value := keyOf(s.columns.Values, states[after][of.current[i]])
			same := func(o uint32) bool { return keyOf(s.columns.Values, states[before][o]) == value }
			if at := slices.IndexFunc(of.old, same); at >= 0 {
				of.old = slices.Delete(of.old, at, at+1)
				of.current = slices.Delete(of.current, i, i+1)
				i--
			}
		}
		for i, row := range of.current {
			c := Change{Kind: Added, New: row}
			if i < len(of.old) {
				c = Change{Kind: Changed, Old: of.old[i], New: row}
			}
			others = append(others, plainChange{c, states[after][row]})
		}
		for _, row := range of.old[min(len(of.old), len(of.current)):] {
			removed = append(removed, plainChange{Change{Kind: Removed, Old: row}, states[before][row]})
		}
	}
	slices.SortFunc(removed, func(a, b plainChange) int { return cmp.Compare(a.change.Old, b.change.Old) })
	slices.SortFunc(others, func(a, b plainChange) int { return cmp.Compare(a.change.New, b.change.New) })
	all := slices.Concat(removed, others)
	if s.sorted {
		slices.SortStableFunc(all, func(a, b plainChange) int { return byOrder(s, a.row, b.row) })
	}
	return all
}

// TestCompareAgainstPlainCode compares generated pairs of states: rows and places added, removed
// and renamed, numbers of places assigned anew, nulls, several rows with one key.
func TestCompareAgainstPlainCode(t *testing.T) {
	t.Parallel()
	requests := 5000
	if testing.Short() {
		requests = 1000
	}
	var totals Totals
	for seed := uint64(0); requests > 0; seed++ {
		r := rand.New(rand.NewPCG(seed, 15))
		m := &maker{r: r, shape: shapes[seed%uint64(len(shapes))], large: seed == 1}
		states := m.states()
		old, current := m.table(t, states[before]), m.table(t, states[after])
		if r.IntN(30) == 0 {
			old, states[before] = nil, nil
		}
		tables := testkit.Value(Open(old, current, m.shape.columns))(t)
		for range 10 {
			requests--
			filters := m.filters()
			want := plain(m.shape, states, filters)
			got, found := compared(t, tables, filters)
			checkChanges(t, fmt.Sprintf("seed %d, shape %d", seed, seed%uint64(len(shapes))), m, tables, got, want)
			if found.All() != len(got) {
				t.Fatalf("seed %d: totals %v of %d changes", seed, found, len(got))
			}
			for k, n := range found {
				totals[k] += n
			}
		}
	}
	t.Logf("changes: %v", totals)
	for k, n := range totals {
		testkit.AtLeast(t, n, 1000, "rows %s: the generator makes too few", Kind(k))
	}
}

// compared runs Compare with filters.
func compared(t *testing.T, tables *Tables, filters []plainFilter) (got []Change, totals Totals) {
	t.Helper()
	var q index.Query
	for _, f := range filters {
		q.Filters = append(q.Filters, f.filter)
	}
	var passing [sides]*index.Passing
	for side, seg := range tables.segments {
		if seg == nil {
			continue
		}
		x, err := index.Open(seg, index.Options{})
		testkit.Must(t, err)
		if passing[side], err = x.Passing(&q); err != nil {
			t.Fatal(err)
		}
	}
	totals, err := tables.Compare(passing[before], passing[after], func(c Change) error {
		got = append(got, c)
		return nil
	})
	testkit.Must(t, err)
	return got, totals
}

func checkChanges(t *testing.T, what string, m *maker, tables *Tables, got []Change, want []plainChange) {
	t.Helper()
	if !m.shape.sorted { // then there is no order to compare
		byRow := func(a, b Change) int {
			return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.New, b.New), cmp.Compare(a.Old, b.Old))
		}
		slices.SortFunc(got, byRow)
		slices.SortFunc(want, func(a, b plainChange) int { return byRow(a.change, b.change) })
	}
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			t.Fatalf("%s: change %d is missing: %+v", what, i, want[i])
		case i >= len(want):
			t.Fatalf("%s: change %d of %d is not one: %+v", what, i, len(want), got[i])
		case got[i] != want[i].change:
			t.Fatalf("%s: change %d is %+v, want %+v", what, i, got[i], want[i])
		}
	}
}
