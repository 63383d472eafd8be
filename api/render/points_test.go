//go:build !race

package render

import (
	"math/rand/v2"
	"strings"
	"testing"

	"hdqs/api/encode"
	"hdqs/index"
)

// TestPoints compares features of random tables with what the values say, byte by byte: of two
// columns in the same group, in different ones, and in none.
func TestPoints(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 8))
	same, different, none, bare := 0, 0, 0, 0
	for same < 5 || different < 5 || none < 5 || bare < 3 {
		tab := randomTable(t, r, 1+r.IntN(700))
		var numbers []string
		for _, f := range tab.fields {
			if c, err := tab.seg.Column(f.Column); err != nil {
				t.Fatal(err)
			} else if c.Kind.String() == "decimal" {
				numbers = append(numbers, f.Column)
			}
		}
		if len(numbers) < 2 {
			continue
		}
		r.Shuffle(len(numbers), func(i, j int) { numbers[i], numbers[j] = numbers[j], numbers[i] })
		lat, lon := numbers[0], numbers[1]
		a, _ := tab.seg.Column(lat)
		b, _ := tab.seg.Column(lon)
		switch {
		case a.Group != b.Group:
			different++
		case a.Group != nil:
			same++
		default:
			none++
		}
		fields := tab.fields
		if r.IntN(5) == 0 { // only the two, so that there are no properties
			fields = []Field{{lat, lat}, {lon, lon}}
			bare++
		}
		plain, err := New(tab.seg, tab.fields, encode.Options{})
		if err != nil {
			t.Fatal(err)
		}
		render, err := plain.WithPoints(fields, lat, lon)
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			ranges := randomRanges(r, tab.rows)
			want := naivePoints(tab, fields, lat, lon, ranges)
			if got := string(render.Points().Append(nil, ranges)); got != want {
				t.Fatalf("%s, %s:\n got %s\nwant %s", lat, lon, difference(got, want), difference(want, got))
			}
			if got := render.Points().Length(ranges); got != len(want) {
				t.Fatalf("length %d of %v, want %d", got, ranges, len(want))
			}
			checkCoded(t, render.Points(), ranges, want)
		}
	}
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
