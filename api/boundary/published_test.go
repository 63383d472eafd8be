package boundary

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parquet-go/parquet-go"

	"hdqs/internal/testkit"
)

// publishedSquare is a feature as cod-ab has it, a square with its corner at x.
func publishedSquare(properties string, x int) string {
	return fmt.Sprintf(`{"type":"Feature","properties":{%s},"geometry":{"type":"MultiPolygon","coordinates":`+
		`[[[[%d,1],[%d,1],[%d,2],[%d,1]]]]}}`, properties, x, x+1, x+1, x)
}

func publishedFile(features ...string) []byte {
	return []byte(`{"type":"FeatureCollection","features":[` + strings.Join(features, ",") + `]}`)
}

// wkbOf is polygons in well-known binary, of ISO with size coordinates a position.
func wkbOf(order binary.AppendByteOrder, size int, polygons [][][][]float64) []byte {
	mark := byte(0)
	if order.String() == binary.LittleEndian.String() {
		mark = 1
	}
	more := uint32(size-2) * wkbDimensions
	out := order.AppendUint32([]byte{mark}, wkbMultiPolygon+more)
	out = order.AppendUint32(out, uint32(len(polygons)))
	for _, rings := range polygons {
		out = order.AppendUint32(append(out, mark), wkbPolygon+more)
		out = order.AppendUint32(out, uint32(len(rings)))
		for _, ring := range rings {
			out = order.AppendUint32(out, uint32(len(ring)))
			for _, p := range ring {
				for i := range size {
					v := 7.5
					if i < 2 {
						v = p[i]
					}
					out = order.AppendUint64(out, math.Float64bits(v))
				}
			}
		}
	}
	return out
}

type publishedRow struct {
	Name     string `parquet:"adm1_name"`
	Code     string `parquet:"adm1_pcode,optional"`
	Country  string `parquet:"adm0_pcode"`
	Geometry []byte `parquet:"geometry"`
}

// parquetOf is a GeoParquet file with rows.
func parquetOf(t *testing.T, meta string, rows ...publishedRow) []byte {
	t.Helper()
	var out bytes.Buffer
	w := parquet.NewGenericWriter[publishedRow](&out, parquet.KeyValueMetadata("geo", meta))
	testkit.Value(w.Write(rows))(t)
	testkit.Must(t, w.Close())
	return out.Bytes()
}

const geoOfWKB = `{"version":"1.1.0","primary_column":"geometry","columns":{"geometry":{"encoding":"WKB"}}}`

var oneSquare = [][][][]float64{{{{1, 1}, {2, 1}, {2, 2}, {1, 1}}}}

// TestPublished reads a tree as OCHA publishes it: folders of countries with versions, other
// geometries beside the boundaries, levels that are not used, GeoJSON, GeoParquet and zip files.
func TestPublished(t *testing.T) {
	t.Parallel()
	var zipped bytes.Buffer
	z := zip.NewWriter(&zipped)
	inside, err := z.Create("pak_admin2.geojson")
	testkit.Must(t, err)
	_, err = inside.Write(publishedFile(publishedSquare(`"ADM2_PCODE":"PK0101","ADM2_FR":"Deux","ADM0_PCODE":"PK"`, 5)))
	testkit.Must(t, err)
	testkit.Must(t, z.Close())
	square := wkbOf(binary.LittleEndian, 2, oneSquare)
	files := map[string][]byte{
		"afg/latest/adm1/original.parquet": parquetOf(t, geoOfWKB,
			publishedRow{"One", "AF01", "AF", square}, publishedRow{"None", "", "AF", square}),
		"afg/latest/adm1/matched.parquet":   []byte("not read"),
		"afg/latest/lines/original.parquet": []byte("not read"),
		"afg/v01/adm1/original.parquet":     []byte("not read"),
		"afg/latest/catalog.json":           []byte("not read"),
		"afg/latest/README.md":              []byte("not read"),
		"afg/latest/adm0.geojson":           publishedFile(publishedSquare(`"ADM0_PCODE":"AF","ADM0_EN":"Land"`, 1)),
		"afg/latest/adm3.geojson": publishedFile(
			publishedSquare(`"ADM3_PCODE":"AF010101","ADM2_PCODE":"AF0101","ADM0_PCODE":"AF"`, 1)),
		"pak.zip": zipped.Bytes(),
		"more/som_admin1.geojson": publishedFile(
			publishedSquare(`"adm1_pcode":"SO11","adm1_name":"","adm1_name1":"Two parts","adm0_pcode":"SO"`, 7),
			publishedSquare(`"adm1_pcode":"SO11","adm1_name":"","adm1_name1":"Two parts","adm0_pcode":"SO"`, 9)),
	}
	tree := fstest.MapFS{}
	for name, data := range files {
		tree[name] = &fstest.MapFile{Data: data}
	}
	var p Published
	testkit.Must(t, p.AddTree(tree))
	text, counts, err := p.Write("a test")
	testkit.Must(t, err)
	if counts != [3]int{1, 2, 1} || p.Uncoded != 1 || p.Deeper != 1 {
		t.Errorf("%v by level, %d without a code, %d deeper", counts, p.Uncoded, p.Deeper)
	}
	set := testkit.Value(Read(bytes.NewReader(text), ""))(t)
	var got []string
	for _, areas := range set.Areas {
		for _, a := range areas {
			got = append(got, fmt.Sprintf("%s %s %s %d", a.Code, a.Country, a.Name, len(a.Polygons)))
		}
	}
	want := []string{"AFG AFG Land 1", "AF01 AFG One 1", "SO11 SOM Two parts 2", "PK0101 PAK Deux 1"}
	if !reflect.DeepEqual(got, want) || set.Source != "a test" {
		t.Errorf("%q of %s, want %q", got, set.Source, want)
	}
	if got := set.Areas[1][0].Polygons[0][0]; !reflect.DeepEqual(got, [][2]float64{{1, 1}, {2, 1}, {2, 2}, {1, 1}}) {
		t.Errorf("the ring of the Parquet file is %v", got)
	}
}

// TestPublishedFaults adds files that cannot be used: errors name the file, the feature and what is
// wrong.
func TestPublishedFaults(t *testing.T) {
	t.Parallel()
	square := wkbOf(binary.LittleEndian, 2, oneSquare)
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"afg_a.geojson", []byte("{"), "afg_a.geojson: no JSON"},
		{"afg_a.geojson", []byte(`{"type":"Topology"}`), "FeatureCollection is wanted"},
		{"afg_a.geojson", publishedFile(publishedSquare(`"x":"1","y":2`, 1)), "feature 1: it has no code"},
		{"afg_a.geojson", publishedFile(publishedSquare(`"x":"1","y":2`, 1)), "It has x, y"},
		{"units.geojson", publishedFile(publishedSquare(`"ADM1_PCODE":"AF01"`, 1)), "units.geojson: feature 1: nothing says"},
		{"afg_a.geojson", publishedFile(publishedSquare(`"ADM1_PCODE":"AF01"`, 400)), "feature 1: AF01: polygon 1, ring 1"},
		{
			"afg_a.geojson",
			publishedFile(`{"type":"Feature","properties":{"ADM1_PCODE":"AF01"},"geometry":{"type":"Point","coordinates":[1,2]}}`),
			`a "Point"`,
		},
		{"afg_a.parquet", []byte("PAR1"), "afg_a.parquet: "},
		{"afg_a.parquet", parquetOf(t, "{"), `metadata "geo"`},
		{"afg_a.parquet", parquetOf(t, strings.Replace(geoOfWKB, "WKB", "point", 1)), `"geometry" is encoded as "point"`},
		{"afg_a.parquet", parquetOf(t, strings.ReplaceAll(geoOfWKB, `"geometry"`, `"shape"`)), `no column "shape"`},
		{
			"afg_a.parquet", parquetOf(t, strings.Replace(geoOfWKB, `"WKB"`,
				`"WKB","crs":{"id":{"authority":"EPSG","code":3857}}`, 1)),
			"EPSG:3857",
		},
		{
			"afg_a.parquet", parquetOf(t, geoOfWKB, publishedRow{"", "AF01", "", square[:40]}),
			"feature 1: AF01: its well-known binary ends early",
		},
		{"a.zip", []byte("PK"), "a.zip: "},
		{"afg_b.geojson", publishedFile(publishedSquare(`"ADM1_PCODE":"AF99"`, 1)), "AF99 is in feature 1 of afg_z.geojson too"},
	} {
		var p Published
		testkit.Must(t, p.Add("afg_z.geojson", publishedFile(publishedSquare(`"ADM1_PCODE":"AF99"`, 1))))
		if err := p.Add(c.name, c.data); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// TestPublishedEmpty: a geometry without a polygon is refused by its feature, however it is empty.
func TestPublishedEmpty(t *testing.T) {
	t.Parallel()
	const feature = `{"type":"Feature","properties":{"iso3":"AFG","adm1_pcode":"AF01"},"geometry":{"type":%q,` +
		`"coordinates":%s}}`
	hollow := wkbOf(binary.LittleEndian, 2, make([][][][]float64, 2))
	files := map[string][]byte{
		"afg/1.parquet": parquetOf(t, geoOfWKB, publishedRow{"", "AF01", "AF", wkbOf(binary.LittleEndian, 2, nil)}),
		"afg/2.parquet": parquetOf(t, geoOfWKB, publishedRow{"", "AF01", "AF", hollow}),
	}
	for _, c := range [][2]string{
		{"Polygon", "[]"},
		{"Polygon", "[[]]"},
		{"Polygon", "null"},
		{"Polygon", "[null]"},
		{"MultiPolygon", "[]"},
		{"MultiPolygon", "[[]]"},
		{"MultiPolygon", "[[],[]]"},
		{"MultiPolygon", "[[[]]]"},
	} {
		files["afg "+c[0]+c[1]+".geojson"] = publishedFile(fmt.Sprintf(feature, c[0], c[1]))
	}
	for name, data := range files {
		p := Published{Tolerance: 0.005}
		err := p.Add(name, data)
		if err == nil || !strings.Contains(err.Error(), name+": feature 1: AF01: ") {
			t.Errorf("%s: %v, want a refusal of feature 1", name, err)
			_, _, _ = p.Write("a test")
		}
	}
}

// TestWKB reads what was written in each order and with heights and measures.
func TestWKB(t *testing.T) {
	t.Parallel()
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		for size := 2; size <= 3; size++ {
			got, err := polygonsOf(wkbOf(order, size, oneSquare))
			if err != nil || !reflect.DeepEqual(got, oneSquare) {
				t.Errorf("%s, %d: %v %v", order, size, got, err)
			}
		}
	}
	post := wkbOf(binary.LittleEndian, 2, oneSquare)[9:] // the polygon alone, with a reference system
	post = append(append(append([]byte{1}, 3, 0, 0, 0x20), 0xe6, 0x10, 0, 0), post[5:]...)
	if got, err := polygonsOf(post); err != nil || !reflect.DeepEqual(got, oneSquare) {
		t.Errorf("of PostGIS: %v %v", got, err)
	}
}

// FuzzWKB: any bytes give polygons or an error, and take memory in proportion.
func FuzzWKB(f *testing.F) {
	f.Add(wkbOf(binary.LittleEndian, 2, oneSquare))
	f.Add(wkbOf(binary.BigEndian, 4, oneSquare))
	f.Add([]byte{1, 6, 0, 0, 0, 255, 255, 255, 255})
	f.Add([]byte{1, 3, 0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		polygons, err := polygonsOf(data)
		points := 0
		for _, rings := range polygons {
			for _, ring := range rings {
				points += len(ring)
			}
		}
		if err == nil && points*16 > len(data) {
			t.Fatalf("%d points of %d bytes", points, len(data))
		}
	})
}
