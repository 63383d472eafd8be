//go:build linux

package render

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/gzip"

	"hdqs/api/encode"
	"hdqs/index"
	"hdqs/internal/tables"
	"hdqs/internal/testkit"
	"hdqs/snapshot"
)

// benchRows is the size of the benchmarks' tables: with 3,300 places, fragments and codes together
// exceed the second-level cache.
const benchRows = 640_000

// places returns a group like the places of a real table: about 200 bytes of JSON for each tuple,
// and one run of rows for each tuple.
func places(rows, tuples int) snapshot.GroupData {
	g := snapshot.GroupData{Name: "place", Tuples: tuples, Codes: make([]uint32, rows)}
	for i := range g.Codes {
		g.Codes[i] = uint32(i * tuples / rows)
	}
	text := func(name string, of func(i int) string) {
		c := snapshot.ColumnData{Name: name, Kind: snapshot.Text}
		known := map[string]uint32{}
		for i := range tuples {
			s := of(i)
			if _, ok := known[s]; !ok {
				known[s] = uint32(len(c.Values))
				c.Values = append(c.Values, s)
			}
			c.Codes = append(c.Codes, known[s])
		}
		g.Columns = append(g.Columns, c)
	}
	iso := func(i int) string { k := i / 88; return string([]byte{'A' + byte(k/26%26), 'A' + byte(k%26), 'X'}) }
	text("location_code", iso)
	text("location_name", func(i int) string { return "Republic of " + iso(i) + " Long Name" })
	text("admin1_code", func(i int) string { return fmt.Sprintf("%s%02d", iso(i)[:2], i/6%15) })
	text("admin1_name", func(i int) string { return fmt.Sprintf("Province %d", i/6) })
	text("admin2_code", func(i int) string { return fmt.Sprintf("%s%02d%02d", iso(i)[:2], i/6%15, i%6) })
	text("admin2_name", func(i int) string { return fmt.Sprintf("District of %x", uint32(i)*2654435761) })
	provider := func(i int) string {
		if i%5 > 0 {
			return ""
		}
		return fmt.Sprintf("Unit %d", i/6)
	}
	text("provider_admin1_name", provider)
	text("provider_admin2_name", provider)
	level := snapshot.ColumnData{Name: "admin_level", Kind: snapshot.Int, Ints: make([]int64, tuples)}
	for i := range level.Ints {
		level.Ints[i] = 2
	}
	g.Columns = append(g.Columns, level)
	return g
}

// months returns a group of periods.
func months(rows, n int) snapshot.GroupData {
	g := snapshot.GroupData{Name: "period", Tuples: n, Codes: make([]uint32, rows)}
	for i := range g.Codes {
		g.Codes[i] = uint32(i % n)
	}
	start := snapshot.ColumnData{Name: "reference_period_start", Kind: snapshot.Time}
	end := snapshot.ColumnData{Name: "reference_period_end", Kind: snapshot.Time}
	for i := range n {
		start.Ints = append(start.Ints, int64(i)*30*86_400_000_000+1e15)
		end.Ints = append(end.Ints, int64(i)*30*86_400_000_000+1e15+29*86_400_000_000)
	}
	g.Columns = []snapshot.ColumnData{start, end}
	return g
}

func coded(name string, kind snapshot.Kind, values []string, rows int, code func(i int) uint32) snapshot.ColumnData {
	c := snapshot.ColumnData{Name: name, Kind: kind, Values: values, Codes: make([]uint32, rows)}
	for i := range c.Codes {
		c.Codes[i] = code(i)
	}
	return c
}

var placeFields = []string{
	"location_code", "location_name", "admin1_code", "admin1_name", "admin2_code", "admin2_name",
	"admin_level",
}

// benchTable returns a table shaped like one of the big ones: "events" has two counts, "rain" three
// decimals with four digits after the point.
func benchTable(b testing.TB, shape string, rows int) (*snapshot.Segment, []Field) {
	r := rand.New(rand.NewPCG(1, 2))
	data := &snapshot.TableData{Name: shape, Rows: rows}
	data.Groups = append(data.Groups, places(rows, 3300), months(rows, 64))
	var sources []string
	for i := range 40 {
		sources = append(sources, fmt.Sprintf("%08x-1f2e-4a5b-8c9d-%012x", uint32(i)*2654435761, i*7919))
	}
	data.Columns = append(data.Columns,
		coded("resource_catalog_id", snapshot.Text, sources, rows, func(i int) uint32 { return uint32(i * 40 / rows) }))
	names := append([]string{}, placeFields...)
	names = append(names, "resource_catalog_id")
	switch shape {
	case "events":
		data.Columns = append(data.Columns,
			coded("event_type", snapshot.Enum, []string{"civilian_targeting", "demonstration", "political_violence"},
				rows, func(i int) uint32 { return uint32(i / 64 % 3) }))
		for _, name := range []string{"events", "fatalities"} {
			c := snapshot.ColumnData{Name: name, Kind: snapshot.Int, Ints: make([]int64, rows)}
			for i := range c.Ints {
				c.Ints[i] = int64(r.ExpFloat64() * 6)
			}
			data.Columns = append(data.Columns, c)
		}
		names = append(names, "event_type", "events", "fatalities")
	case "rain":
		data.Columns = append(data.Columns,
			coded("aggregation_period", snapshot.Enum, []string{"1-month", "3-month", "dekad"},
				rows, func(i int) uint32 { return uint32(i / 64 % 3) }))
		names = append(names, "aggregation_period")
		for _, name := range []string{"rainfall", "rainfall_long_term_average", "rainfall_anomaly_pct"} {
			c := snapshot.ColumnData{Name: name, Kind: snapshot.Decimal, Decimals: make([]snapshot.Dec, rows)}
			for i := range c.Decimals {
				m := r.Int64N(3_000_000)
				if m%10 == 0 {
					m++
				}
				c.Decimals[i] = snapshot.Dec{Mantissa: m, Scale: 4}
			}
			data.Columns = append(data.Columns, c)
			names = append(names, name)
		}
		pixels := snapshot.ColumnData{Name: "number_pixels", Kind: snapshot.Int, Ints: make([]int64, rows)}
		for i := range pixels.Ints {
			pixels.Ints[i] = int64(i / 192 % 400)
		}
		data.Columns = append(data.Columns, pixels,
			coded("version", snapshot.Enum, []string{"final", "preliminary"}, rows, func(int) uint32 { return 0 }))
		names = append(names, "number_pixels", "version")
	}
	names = append(names, "reference_period_start", "reference_period_end")
	var fields []Field
	for _, name := range names {
		fields = append(fields, Field{Name: name, Column: name})
	}
	return tables.Segment(b, data), fields
}

// selection returns 10,000 rows: one run, one row in twelve, or one period of every place.
func selection(name string) []index.Range {
	const n, from = 10_000, 100_003
	var ranges []index.Range
	switch name {
	case "contiguous":
		return []index.Range{{From: from, To: from + n}}
	case "stretches": // each with some stored blocks
		for i := range uint32(n / 500) {
			ranges = append(ranges, index.Range{From: i * 1003, To: i*1003 + 500})
		}
	case "scattered":
		for i := range uint32(n) {
			ranges = append(ranges, index.Range{From: i * 12, To: i*12 + 1})
		}
	case "month":
		for i := range uint32(n) {
			ranges = append(ranges, index.Range{From: i * 64, To: i*64 + 1})
		}
	}
	return ranges
}

// BenchmarkRender renders 10,000 rows.
func BenchmarkRender(b *testing.B) {
	for _, shape := range []string{"events", "rain"} {
		seg, fields := benchTable(b, shape, benchRows)
		render := newRenderer(b, seg, fields, encode.Options{})
		for _, sel := range []string{"contiguous", "scattered", "month"} {
			ranges := selection(sel)
			for format, form := range map[string]*Form{"json": render.JSON(), "csv": render.CSV()} {
				benchBody(b, fmt.Sprintf("shape=%s,rows=%s,format=%s", shape, sel, format),
					func(dst []byte) []byte { return form.Append(dst, ranges) })
			}
		}
	}
}

// BenchmarkCoded compresses 10,000 rows with each tier. The control of gzip is level 6 of the whole
// body, rendered each time.
func BenchmarkCoded(b *testing.B) {
	level6, err := gzip.NewWriterLevel(nil, 6)
	testkit.Must(b, err)
	for _, shape := range []string{"events", "rain"} {
		seg, fields := benchTable(b, shape, benchRows)
		for _, sel := range []string{"contiguous", "scattered", "month"} {
			ranges := selection(sel)
			for _, coding := range []encode.Coding{encode.Gzip, encode.Zstd} {
				for _, tier := range []encode.Tier{encode.Stored, encode.Pieces, encode.Whole} {
					if tier == encode.Stored && sel != "contiguous" {
						continue // the same as Pieces
					}
					render := newRenderer(b, seg, fields, encode.Options{Tier: tier})
					benchBody(b, fmt.Sprintf("shape=%s,rows=%s,coding=%s,tier=%v", shape, sel, coding, tier),
						func(dst []byte) []byte { return render.JSON().AppendCoded(dst, coding, ranges) })
				}
			}
			render := newRenderer(b, seg, fields, encode.Options{})
			var plain []byte
			benchBody(b, fmt.Sprintf("shape=%s,rows=%s,coding=gzip,control=level6", shape, sel),
				func(dst []byte) []byte {
					plain = render.JSON().Append(plain[:0], ranges)
					out := bytes.NewBuffer(dst)
					level6.Reset(out)
					_, err := level6.Write(plain)
					testkit.Must(b, err)
					testkit.Must(b, level6.Close())
					return out.Bytes()
				})
		}
	}
}

func benchBody(b *testing.B, name string, appendBody func(dst []byte) []byte) {
	b.Run(name, func(b *testing.B) {
		var body []byte
		for range 20 { // a request makes a few stored blocks only
			body = appendBody(body[:0])
		}
		testkit.MeasureCPU(b, func() {
			if body = appendBody(body[:0]); len(body) < 100 {
				b.Fatal("too short")
			}
		})
		b.ReportMetric(float64(len(body)), "bytes")
	})
}
