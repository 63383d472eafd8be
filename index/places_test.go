//go:build !race

package index

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"hdqs/internal/tables"
	"hdqs/internal/testkit"
	"hdqs/snapshot"
)

// placedRow is a row of a table like real ones, as its text says it.
type placedRow struct {
	level                  int
	region, code1, code2   string
	name1, name2, polygon1 string // as a source calls it
	kind, group            string
	start, end             int
	number                 int64
}

func isPlaceholder(code string) bool { return strings.HasSuffix(code, "-XXX") }

// placedOptions are those of a table of placedTable.
func placedOptions() Options {
	return Options{
		Series:      []string{"code2", "name1", "name2", "polygon1", "kind", "group"},
		PeriodStart: "start", PeriodEnd: "end",
		Units: []Unit{
			{Code: "region"},
			{Code: "code1", Names: []string{"name1"}, Also: []string{"polygon1"}},
			{Code: "code2", Names: []string{"name2"}},
		},
		Level: "level", Nested: []string{"kind", "group"}, Placeholder: isPlaceholder,
		Edition: &Edition{Columns: []string{"region", "group"}, Level: "level"},
		Same:    map[string][]string{"group": {"", "total"}},
	}
}

// placedRows draws rows of few regions, units and names, so that many contain others. Some units
// have no code, several names, or the code of another unit; some rows are placed above their level.
func placedRows(r *rand.Rand, n int) []placedRow {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	rows := make([]placedRow, n)
	regions, periods := 1+r.IntN(5), 1+r.IntN(6)
	for i := range rows {
		p := placedRow{region: string(rune('A' + r.IntN(regions))), number: r.Int64N(1000), level: r.IntN(3)}
		p.kind, p.group = pick("a", "b", "c"), pick("", "total", "women")
		p.start = r.IntN(periods)
		if p.end = p.start + r.IntN(2); r.IntN(10) == 0 {
			p.end = math.MaxInt
		}
		p.code1, p.code2 = p.region+"-XXX", p.region+"-XXX-XXX"
		if p.level > 0 {
			if r.IntN(3) > 0 {
				p.code1 = p.region + pick("1", "2")
				p.code2 = p.code1 + "-XXX"
			}
			p.name1 = pick("North", "South")
			if p.polygon1 = ""; r.IntN(4) == 0 {
				p.polygon1 = "901"
			}
			if p.level == 2 {
				p.name2 = pick("East", "West")
				if !isPlaceholder(p.code1) && r.IntN(2) == 0 {
					p.code2 = p.code1 + pick("1", "2")
				}
				if r.IntN(6) == 0 {
					p.name1 = ""
				}
			}
		}
		if p.level > 0 && r.IntN(8) == 0 { // its code was in no list
			p.level = r.IntN(p.level)
		}
		rows[i] = p
	}
	slices.SortFunc(rows, func(a, b placedRow) int { return strings.Compare(a.region+a.code2, b.region+b.code2) })
	return rows
}

// placedTable is a table of such rows.
func placedTable(rows []placedRow) *snapshot.TableData {
	place, period := snapshot.GroupData{Name: "place"}, snapshot.GroupData{Name: "period"}
	texts := func(of func(p *placedRow) string) (c snapshot.ColumnData) {
		c.Kind = snapshot.Text
		for i := range rows {
			c.Values = append(c.Values, of(&rows[i]))
		}
		slices.Sort(c.Values)
		c.Values = slices.Compact(c.Values)
		for i := range rows {
			at, _ := slices.BinarySearch(c.Values, of(&rows[i]))
			c.Codes = append(c.Codes, uint32(at))
		}
		return c
	}
	add := func(to *[]snapshot.ColumnData, name string, c snapshot.ColumnData) {
		c.Name = name
		*to = append(*to, c)
	}
	level := snapshot.ColumnData{Kind: snapshot.Int}
	start, end := snapshot.ColumnData{Kind: snapshot.Time}, snapshot.ColumnData{Kind: snapshot.Time}
	number := snapshot.ColumnData{Name: "number", Kind: snapshot.Int}
	tuples := map[[2]int64]uint32{} // of periods, as tables have each once
	for i, p := range rows {
		place.Codes = append(place.Codes, uint32(i))
		level.Ints, number.Ints = append(level.Ints, int64(p.level)), append(number.Ints, p.number)
		last := int64(p.end)
		if p.end == math.MaxInt {
			last = snapshot.NullInt
		}
		tuple, known := tuples[[2]int64{int64(p.start), last}]
		if !known {
			tuple = uint32(len(start.Ints))
			tuples[[2]int64{int64(p.start), last}] = tuple
			start.Ints, end.Ints = append(start.Ints, int64(p.start)), append(end.Ints, last)
		}
		period.Codes = append(period.Codes, tuple)
	}
	place.Tuples, period.Tuples = len(rows), len(tuples)
	for name, of := range map[string]func(p *placedRow) string{
		"region": func(p *placedRow) string { return p.region },
		"code1":  func(p *placedRow) string { return p.code1 }, "code2": func(p *placedRow) string { return p.code2 },
		"name1": func(p *placedRow) string { return p.name1 }, "name2": func(p *placedRow) string { return p.name2 },
		"polygon1": func(p *placedRow) string { return p.polygon1 },
	} {
		add(&place.Columns, name, texts(of))
	}
	add(&place.Columns, "level", level)
	add(&period.Columns, "start", start)
	add(&period.Columns, "end", end)
	data := &snapshot.TableData{Name: "placed", Rows: len(rows), Groups: []snapshot.GroupData{place, period}}
	add(&data.Columns, "kind", texts(func(p *placedRow) string { return p.kind }))
	group := texts(func(p *placedRow) string { return p.group })
	group.Index = true
	add(&data.Columns, "group", group)
	data.Columns = append(data.Columns, number)
	return data
}

// contains reports whether the place of p contains that of other.
func (p *placedRow) contains(other *placedRow) bool {
	deeper := p.level < 1 && p.name1+p.polygon1 != "" || p.level < 2 && p.name2 != ""
	if p.level >= other.level || deeper || p.region != other.region {
		return false
	}
	sameNames := p.name1 == other.name1 && p.polygon1 == other.polygon1
	return p.level == 0 || p.code1 == other.code1 && (!isPlaceholder(p.code1) || sameNames) ||
		sameNames && p.name1+p.polygon1 != ""
}

func (p *placedRow) everybody() string {
	if p.group == "" || p.group == "total" {
		return "everybody"
	}
	return p.group
}

// sameFields reports whether rows agree in all but their place and period.
func (p *placedRow) sameFields(other *placedRow) bool {
	return p.kind == other.kind && p.everybody() == other.everybody()
}

func (p *placedRow) before(other *placedRow) bool {
	return p.end < other.end || p.end == other.end && p.start < other.start
}

// place is what latest takes for one place.
func (p *placedRow) place() string {
	name1, name2 := p.name1, p.name2
	if !isPlaceholder(p.code1) {
		name1 = ""
	}
	if !isPlaceholder(p.code2) {
		name2 = ""
	}
	return fmt.Sprint(p.code2, ";", name1, ";", name2, ";", p.polygon1)
}

// plainKept is the meaning of a query, row against row.
func plainKept(all []placedRow, passing []uint32, q *Query) (kept []uint32) {
	without := func(rows []uint32, dropped func(p, other *placedRow) bool) (left []uint32) {
		for _, row := range rows {
			if !slices.ContainsFunc(rows, func(other uint32) bool { return dropped(&all[row], &all[other]) }) {
				left = append(left, row)
			}
		}
		return left
	}
	kept = passing
	if q.Coarsest {
		kept = without(kept, func(p, other *placedRow) bool {
			return other.contains(p) && other.sameFields(p) && p.start == other.start && p.end == other.end
		})
	}
	if q.Latest {
		kept = without(kept, func(p, other *placedRow) bool {
			return p.place() == other.place() && p.kind == other.kind && p.group == other.group && p.before(other)
		})
	}
	if q.Edition {
		kept = without(kept, func(p, other *placedRow) bool {
			return p.region == other.region && p.everybody() == other.everybody() &&
				(q.Coarsest || p.level == other.level) && p.before(other)
		})
	}
	return kept
}

// TestKept compares queries that keep some of the rows that pass with a comparison of all pairs of
// rows.
func TestKept(t *testing.T) {
	t.Parallel()
	seed := testkit.Seed()
	dropped := map[bool]int{}
	for i := range 150 {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		rows := placedRows(r, 1+r.IntN(200))
		seg := tables.Segment(t, placedTable(rows))
		o := placedOptions()
		o.CacheBytes = []int{0, -1}[i%2]
		x := opened(t, seg, o)
		idle := x.FullBytes(nil)
		for range 12 {
			q := randomQuery(r, seg)
			q.Filters = q.Filters[:min(len(q.Filters), 1)]
			if r.IntN(3) == 0 {
				q.Filters = nil
			}
			q.Coarsest = r.IntN(3) > 0
			q.Latest, q.Edition = r.IntN(3) == 0, false
			if !q.Latest {
				q.Edition = !q.Coarsest || r.IntN(2) == 0
			}
			var passing, got Page
			testkit.Must(t, Scan(seg, &Query{Filters: q.Filters, Limit: math.MaxInt}, &passing))
			want := plainKept(rows, listRanges(passing.Ranges), q)
			q.Offset, q.Limit = 0, len(rows)
			for range 2 {
				testkit.Must(t, x.Select(q, &got))
				if !slices.Equal(listRanges(got.Ranges), want) || got.Total != len(want) {
					t.Fatalf("seed %d table %d: rows %v, want %v: %s coarsest %t latest %t edition %t\n%+v", seed, i,
						listRanges(got.Ranges), want, describe(q), q.Coarsest, q.Latest, q.Edition, rows)
				}
			}
			if err := comparePassing(x, q, want, r); err != nil {
				t.Fatalf("seed %d table %d: passing: %v", seed, i, err)
			}
			dropped[q.Coarsest && !q.Latest && !q.Edition] += passing.Total - len(want)
		}
		if used := x.Bytes() - x.cache.Bytes() - x.searchBytes.Load(); used > idle {
			t.Errorf("%d bytes in use, estimate %d", used, idle)
		}
	}
	if dropped[true] < 1000 || dropped[false] < 1000 {
		t.Errorf("only %v rows were dropped: the test shows nothing", dropped)
	}
}

// ungroup makes columns of their own of a group of numbers.
func ungroup(data *snapshot.TableData, at int) {
	group := data.Groups[at]
	data.Groups = slices.Delete(data.Groups, at, at+1)
	for _, c := range group.Columns {
		tuples := c.Ints
		c.Ints = nil
		for _, tuple := range group.Codes {
			c.Ints = append(c.Ints, tuples[tuple])
		}
		data.Columns = append(data.Columns, c)
	}
}

// TestWholeEdition keeps the period that is the newest of all rows of a group, where periods are a
// group of columns and where they are not.
func TestWholeEdition(t *testing.T) {
	t.Parallel()
	seed := testkit.Seed()
	for i := range 60 {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		rows := placedRows(r, 1+r.IntN(100))
		data := placedTable(rows)
		if i%2 == 1 {
			ungroup(data, 1)
		}
		seg := tables.Segment(t, data)
		o := placedOptions()
		o.Edition = &Edition{Columns: []string{"kind"}, Whole: true}
		x := opened(t, seg, o)
		dates := number(Below, int64(r.IntN(6)), "start")
		q := &Query{Edition: true, Limit: len(rows), Filters: []Filter{dates, text(Equal, "A", "region")}}
		var got Page
		testkit.Must(t, x.Select(q, &got))
		var want []uint32
		for row := range rows {
			p := &rows[row]
			newer := func(other placedRow) bool {
				return int64(other.start) < dates.Value.Int && other.kind == p.kind && p.before(&other)
			}
			if int64(p.start) < dates.Value.Int && p.region == "A" && !slices.ContainsFunc(rows, newer) {
				want = append(want, uint32(row))
			}
		}
		testkit.EqualLists(t, listRanges(got.Ranges), want, "seed %d table %d: rows", seed, i)
	}
}

// TestEditionOfYear keeps the rows of the newest year in which one has a value.
func TestEditionOfYear(t *testing.T) {
	t.Parallel()
	at := func(day string) int64 { return testkit.Value(time.Parse(time.DateOnly, day))(t).UnixMicro() }
	appeal := snapshot.ColumnData{
		Name: "appeal", Kind: snapshot.Text, Values: []string{"a"},
		Codes: []uint32{0, 0, snapshot.NullCode, snapshot.NullCode, 0},
	}
	region := snapshot.ColumnData{
		Name: "region", Kind: snapshot.Text, Values: []string{"X", "Y"}, Codes: []uint32{0, 0, 0, 0, 1},
	}
	start := snapshot.ColumnData{Name: "start", Kind: snapshot.Time, Ints: []int64{
		at("2022-01-01"), at("2023-03-01"), at("2023-01-01"), at("2025-01-01"), at("2021-07-01"),
	}}
	end := start
	end.Name = "end"
	data := &snapshot.TableData{
		Name: "money", Rows: 5, Columns: []snapshot.ColumnData{appeal, region},
		Groups: []snapshot.GroupData{periodGroup(start, end)},
	}
	x := opened(t, tables.Segment(t, data), Options{
		PeriodStart: "start", PeriodEnd: "end", Edition: &Edition{Columns: []string{"region"}, Having: "appeal"},
	})
	for _, c := range []struct {
		filters []Filter
		want    []uint32
	}{
		{nil, []uint32{1, 2, 4}},
		{[]Filter{number(Below, at("2023-01-01"), "start")}, []uint32{0, 4}},
		{[]Filter{number(AtLeast, at("2024-01-01"), "start")}, nil},
	} {
		var got Page
		testkit.Must(t, x.Select(&Query{Edition: true, Limit: 9, Filters: c.filters}, &got))
		testkit.EqualLists(t, listRanges(got.Ranges), c.want, "%v: rows", c.filters)
	}
}

// TestNested compares the search for a row that another one contains with a comparison of all
// pairs of rows.
func TestNested(t *testing.T) {
	t.Parallel()
	seed := testkit.Seed()
	found, crossing, refused := 0, 0, 0
	for i := range 200 {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		rows := placedRows(r, 1+r.IntN(60))
		x := opened(t, tables.Segment(t, placedTable(rows)), placedOptions())
		o := testkit.Value(x.NewOverlaps())(t)
		most := len(rows)
		if i%8 == 0 {
			most = r.IntN(5)
		}
		for range 6 {
			q := &Query{Coarsest: r.IntN(2) == 0, Filters: []Filter{number(AtLeast, r.Int64N(1000), "number")}}
			var page Page
			all := *q
			all.Limit = len(rows)
			testkit.Must(t, x.Select(&all, &page))
			passing := listRanges(page.Ranges)
			anyPeriod, groups := r.IntN(3) == 0, uint32(1+r.IntN(2))
			contains := func(a, b uint32) bool {
				p, other := &rows[a], &rows[b]
				return a%groups == b%groups && p.contains(other) && p.sameFields(other) &&
					(anyPeriod || p.start <= other.end && other.start <= p.end)
			}
			want := false
			for _, a := range passing {
				want = want || slices.ContainsFunc(passing, func(b uint32) bool { return contains(a, b) })
			}
			var got *Overlap
			goesOn := r.IntN(2) == 0
			err := o.Nested(q, &Search{
				GroupOf: func(row uint32) uint32 { return row % groups }, AnyPeriod: anyPeriod, Most: most,
			}, func(found Overlap) bool {
				if !contains(found.A, found.B) {
					t.Errorf("seed %d table %d: %v of %+v", seed, i, found, rows)
				}
				got = &found
				return goesOn
			})
			if errors.Is(err, ErrManyOverlaps) && most < len(passing) {
				refused++
				continue
			}
			if err != nil || (got != nil) != want || got != nil && !contains(got.A, got.B) {
				t.Fatalf("seed %d table %d: found %v, %v; want one %t: %s\n%+v", seed, i, got, err, want,
					describe(q), rows)
			}
			if want {
				found++
			}
			if want && q.Coarsest {
				crossing++
			}
		}
	}
	if found < 100 || found > 1100 || crossing < 20 || refused < 20 {
		t.Errorf("%d of 1200 queries have rows that contain others, %d of other periods, %d too many: "+
			"the test says little", found, crossing, refused)
	}
}
