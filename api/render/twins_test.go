//go:build !race

package render

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"hdqs/api/encode"
	"hdqs/index"
	"hdqs/internal/testkit"
	"hdqs/snapshot"
)

// TestAgainstTwins renders random ranges of random tables in each format, whole and with some of
// their fields. It compares bodies, their lengths, parts and codings with the naive writers.
func TestAgainstTwins(t *testing.T) {
	t.Parallel()
	r := testkit.Random(t)
	tables := 100
	if testing.Short() {
		tables = 25
	}
	places := 0
	for range tables {
		tab := randomTable(t, r, r.IntN(1+r.IntN(3000)))
		render := newRenderer(t, tab.seg, tab.fields, encode.Options{})
		lat, lon := tab.twoNumbers(t, r)
		if lon != "" {
			places++
			render = testkit.Value(render.WithPoints(tab.fields, lat, lon))(t)
		}
		for range 4 {
			ranges := randomRanges(r, tab.rows)
			if r.IntN(4) == 0 && tab.rows > 0 {
				ranges = []index.Range{{From: 0, To: uint32(tab.rows)}}
			}
			at := randomFields(r, len(tab.fields))
			some := tab.fewer(at)
			checkForm(t, render.JSON(), ranges, naiveJSON(tab, ranges))
			checkForm(t, render.Lines(), ranges, naiveLines(tab, ranges))
			checkForm(t, render.CSV(), ranges, naiveCSV(tab, ranges))
			checkForm(t, render.Subset(render.JSON(), at), ranges, naiveJSON(some, ranges))
			checkForm(t, render.Subset(render.Lines(), at), ranges, naiveLines(some, ranges))
			checkForm(t, render.Subset(render.CSV(), at), ranges, naiveCSV(some, ranges))
			if lon != "" {
				checkForm(t, render.Points(), ranges, naivePoints(tab, tab.fields, lat, lon, ranges))
				want := naivePoints(tab, some.fields, lat, lon, ranges)
				checkForm(t, render.Subset(render.Points(), at), ranges, want)
			}
		}
	}
	if places == 0 {
		t.Error("no table had two columns of decimals")
	}
}

// checkForm compares a body, its parts, its length and its codings with what it must be.
func checkForm(t *testing.T, f *Form, ranges []index.Range, want string) {
	t.Helper()
	got := string(f.Append([]byte("front"), ranges))
	if got != "front"+want {
		t.Fatalf("%v:\n got %s\nwant %s", ranges, difference(got, "front"+want), difference("front"+want, got))
	}
	for range 2 { // measured, then known
		testkit.Equal(t, f.Length(ranges), len(want), "%v: length", ranges)
	}
	var body Body
	body.Start(f, ranges)
	var parts []byte
	for more := true; more; {
		parts, more = body.AppendPart(parts)
	}
	if got := string(parts); got != want || body.Len() != len(want) {
		t.Fatalf("%v: the parts are %s, want %s", ranges, difference(got, want), difference(want, got))
	}
	checkCoded(t, f, ranges, want)
}

// twoNumbers draws two columns of decimals for the points of a table; lon is empty without them.
func (tab *table) twoNumbers(t *testing.T, r *rand.Rand) (lat, lon string) {
	t.Helper()
	for _, i := range r.Perm(len(tab.fields)) {
		name := tab.fields[i].Column
		c := testkit.Value(tab.seg.Column(name))(t)
		if c.Kind == snapshot.Decimal {
			lat, lon = name, lat
		}
	}
	return lat, lon
}

// randomFields returns the positions of some of n fields, in ascending order.
func randomFields(r *rand.Rand, n int) []int {
	var fields []int
	for at := range n {
		if r.IntN(n) < 2 {
			fields = append(fields, at)
		}
	}
	if len(fields) == 0 {
		fields = []int{r.IntN(n)}
	}
	return fields
}

// fewer is a table with some of its fields.
func (tab *table) fewer(at []int) *table {
	other := *tab
	other.fields = nil
	for _, i := range at {
		other.fields = append(other.fields, tab.fields[i])
	}
	other.alone = len(at) == 1
	return &other
}

func naivePoints(tab *table, fields []Field, lat, lon string, ranges []index.Range) string {
	var features []string
	for _, rng := range ranges {
		for row := rng.From; row < rng.To; row++ {
			geometry := "null"
			if x, y := tab.values[lon][row], tab.values[lat][row]; x != nil && y != nil {
				geometry = `{"type":"Point","coordinates":[` + naiveJSONValue(x) + "," + naiveJSONValue(y) + "]}"
			}
			var properties []string
			for _, f := range fields {
				if f.Column != lat && f.Column != lon {
					properties = append(properties, naiveQuote(f.Name)+":"+naiveJSONValue(tab.values[f.Column][row]))
				}
			}
			features = append(features, `{"type":"Feature","geometry":`+geometry+
				`,"properties":{`+strings.Join(properties, ",")+"}}")
		}
	}
	return `{"type":"FeatureCollection","features":[` + strings.Join(features, ",") + "]}"
}

// TestManyValues renders columns with too many values for fragments.
func TestManyValues(t *testing.T) {
	t.Parallel()
	n := maxCodes + 10
	texts := snapshot.ColumnData{Name: "a", Kind: snapshot.Text}
	times := snapshot.ColumnData{Name: "b", Kind: snapshot.Time}
	decimals := snapshot.ColumnData{Name: "c", Kind: snapshot.Decimal}
	for i := range n {
		code, at, d := uint32(i), int64(i)*1_000_000, snapshot.Dec{Mantissa: int64(10*i + 5), Scale: 1}
		texts.Values = append(texts.Values, fmt.Sprintf("%s %d", oddTexts[i%len(oddTexts)], i))
		if i%1000 == 7 {
			code, at, d = snapshot.NullCode, snapshot.NullInt, snapshot.Dec{Scale: snapshot.DecNull}
		}
		texts.Codes, times.Ints = append(texts.Codes, code), append(times.Ints, at)
		decimals.Decimals = append(decimals.Decimals, d)
	}
	tab := newTable(t, &snapshot.TableData{
		Name: "wide", Rows: n, Columns: []snapshot.ColumnData{texts, times, decimals},
	})
	render := newRenderer(t, tab.seg, tab.fields, encode.Options{})
	ranges := []index.Range{{From: 0, To: 3000}, {From: uint32(n) - 5, To: uint32(n)}}
	checkForm(t, render.JSON(), ranges, naiveJSON(tab, ranges))
	checkForm(t, render.CSV(), ranges, naiveCSV(tab, ranges))
}

// tableRecords are some rows of a table, as records that are written value by value.
type tableRecords struct {
	rows   []uint32
	values []*Values
}

func (r tableRecords) Len() int { return len(r.rows) }

func (r tableRecords) AppendCell(dst []byte, record, field int, csv bool) []byte {
	return r.values[field].AppendRow(dst, r.rows[record], csv)
}

// TestRecords compares records that are written value by value with the naive writers, and each
// code's value with that of a row.
func TestRecords(t *testing.T) {
	t.Parallel()
	r := testkit.Random(t)
	for range 25 {
		tab := randomTable(t, r, r.IntN(400))
		var ranges []index.Range
		if tab.rows > 0 {
			ranges = randomRanges(r, tab.rows)
		}
		records := tableRecords{}
		for _, rng := range ranges {
			for row := rng.From; row < rng.To; row++ {
				records.rows = append(records.rows, row)
			}
		}
		var names []string
		for _, f := range tab.fields {
			c := testkit.Value(tab.seg.Column(f.Column))(t)
			names = append(names, f.Name)
			v := NewValues(c)
			records.values = append(records.values, v)
			for row := range uint32(tab.rows) {
				var want *string
				written := v.AppendRow(nil, row, false)
				if err := json.Unmarshal(written, &want); err != nil { // a number or flag
					want = new(string(written))
				}
				if text, ok := v.AppendText(nil, row); ok != (want != nil) || ok && string(text) != *want {
					t.Fatalf("%s, row %d: the text of %s is %q, %v", f.Name, row, written, text, ok)
				}
			}
		}
		tab.alone = len(tab.fields) == 1
		for csv, want := range map[bool]string{false: naiveJSON(tab, ranges), true: naiveCSV(tab, ranges)} {
			if got := string(AppendRecords([]byte("front"), names, records, csv)); got != "front"+want {
				t.Fatalf("CSV %v of %v:\n got %s\nwant %s", csv, ranges, difference(got, want), difference(want, got))
			}
		}
	}
}
