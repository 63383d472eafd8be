//go:build !race

package render

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"hdqs/api/encode"
	"hdqs/index"
)

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

// TestSubsets compares records with some of their fields with the naive writers: plain, measured,
// in parts and compressed, in all formats.
func TestSubsets(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	tables := 60
	if testing.Short() {
		tables = 20
	}
	features := 0
	for range tables {
		tab := randomTable(t, r, r.IntN(1+r.IntN(3000)))
		var numbers []string
		for _, f := range tab.fields {
			if c, err := tab.seg.Column(f.Column); err == nil && c.Kind.String() == "decimal" {
				numbers = append(numbers, f.Column)
			}
		}
		plain, err := New(tab.seg, tab.fields, encode.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(numbers) > 1 {
			features++
			if plain, err = plain.WithPoints(tab.fields, numbers[0], numbers[1]); err != nil {
				t.Fatal(err)
			}
		}
		for range 8 {
			ranges := randomRanges(r, tab.rows)
			if r.IntN(4) == 0 && tab.rows > 0 {
				ranges = []index.Range{{From: 0, To: uint32(tab.rows)}}
			}
			at := randomFields(r, len(tab.fields))
			some := tab.fewer(at)
			checkForm(t, plain.Subset(plain.JSON(), at), ranges, naiveJSON(some, ranges))
			checkForm(t, plain.Subset(plain.CSV(), at), ranges, naiveCSV(some, ranges))
			if plain.Points() != nil {
				want := naivePoints(tab, some.fields, numbers[0], numbers[1], ranges)
				checkForm(t, plain.Subset(plain.Points(), at), ranges, want)
			}
		}
	}
	if features == 0 {
		t.Error("no table had points")
	}
}

func checkForm(t *testing.T, f *Form, ranges []index.Range, want string) {
	t.Helper()
	got := string(f.Append([]byte("front"), ranges))
	if got != "front"+want {
		t.Fatalf("%v:\n got %s\nwant %s", ranges, difference(got, "front"+want), difference("front"+want, got))
	}
	if length := f.Length(ranges); length != len(want) {
		t.Fatalf("%v: length %d, want %d", ranges, length, len(want))
	}
	var body Body
	body.Start(f, ranges)
	var parts []byte
	for more := true; more; {
		parts, more = body.AppendPart(parts)
	}
	if string(parts) != want || body.Len() != len(want) {
		got := string(parts)
		t.Fatalf("%v: the parts are %s, want %s", ranges, difference(got, want), difference(want, got))
	}
	checkCoded(t, f, ranges, want)
}

// TestSubsetBytes checks that different subsets take a bounded memory, and that they give it up.
func TestSubsetBytes(t *testing.T) {
	t.Parallel()
	seg, fields := benchTable(t, "events", 200_000)
	r, err := New(seg, fields, encode.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ranges := []index.Range{{From: 0, To: 20_000}}
	all := r.JSON().Append(nil, ranges)
	before, seen := r.Bytes(), map[string]bool{}
	limit := blockBytes(seg.Rows()) / subsetPart
	source := rand.New(rand.NewPCG(1, 2))
	most := int64(0)
	for range 300 {
		at := randomFields(source, len(fields))
		seen[fmt.Sprint(at)] = true
		form := r.Subset(r.JSON(), at)
		for range 3 {
			form.AppendCoded(nil, encode.Gzip, ranges)
			most = max(most, r.Bytes()-before)
		}
		if len(r.subsets.recent) > maxSubsets {
			t.Fatalf("%d forms are kept", len(r.subsets.recent))
		}
	}
	if len(seen) < 100 || most == 0 || most > 2*limit {
		t.Errorf("%d subsets took %d bytes, the limit is %d", len(seen), most, limit)
	}
	r.Forget()
	if left := r.subsets.size(); left != 0 {
		t.Errorf("%d bytes are left", left)
	}
	if got := r.JSON().Append(nil, ranges); !slices.Equal(got, all) {
		t.Error("the whole records are different afterwards")
	}
}

// BenchmarkSubsets renders and compresses pages with three fields beside those with all.
func BenchmarkSubsets(b *testing.B) {
	for _, shape := range []string{"events", "rain"} {
		seg, fields := benchTable(b, shape, benchRows)
		render, err := New(seg, fields, encode.Options{})
		if err != nil {
			b.Fatal(err)
		}
		for _, sel := range []string{"contiguous", "scattered", "month"} {
			ranges := selection(sel)
			for _, fewer := range []struct {
				name string
				at   []int
			}{{"all", nil}, {"place", []int{0, 2, 4}}, {"figure", []int{0, 9, 11}}, {"dates", []int{2, 11, 12}}} {
				form := func() *Form {
					if fewer.at == nil {
						return render.JSON()
					}
					return render.Subset(render.JSON(), fewer.at)
				}
				name := fmt.Sprintf("shape=%s,rows=%s,fields=%s,coding=", shape, sel, fewer.name)
				benchBody(b, name+"identity", func(dst []byte) []byte { return form().Append(dst, ranges) })
				for _, coding := range []encode.Coding{encode.Gzip, encode.Zstd} {
					benchBody(b, name+coding.String(), func(dst []byte) []byte {
						return form().AppendCoded(dst, coding, ranges)
					})
				}
			}
		}
	}
}
