package main_test

import (
	bin "encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"hdqs/internal/testkit"
)

// publishedUnits are squares of first-level units, as OCHA publishes boundaries.
func publishedUnits(codes ...string) []byte {
	var features []string
	for i, code := range codes {
		features = append(features, fmt.Sprintf(`{"type":"Feature","properties":{"ADM1_PCODE":%q,"ADM1_EN":"Unit",`+
			`"ADM0_PCODE":%q},"geometry":{"type":"Polygon","coordinates":[[[%d,0],[%d,0],[%d,1],[%d,0]]]}}`,
			code, code[:2], i, i+1, i+1, i))
	}
	return []byte(`{"type":"FeatureCollection","features":[` + strings.Join(features, ",") + `]}`)
}

// countryRow and unitRow are rows of GeoParquet files of boundaries.
type countryRow struct {
	Name     string `parquet:"adm0_name"`
	Code     string `parquet:"adm0_pcode"`
	Geometry []byte `parquet:"geometry"`
}

type unitRow struct {
	Name     string `parquet:"adm1_name"`
	Code     string `parquet:"adm1_pcode"`
	Geometry []byte `parquet:"geometry"`
}

func writeParquet[R any](t *testing.T, to io.Writer, row R) {
	w := parquet.NewGenericWriter[R](to)
	_, err := w.Write([]R{row})
	testkit.Must(t, errors.Join(err, w.Close()))
}

// TestBoundariesCatalog reads a catalog of the web, whose countries have no level below the first:
// all that it links to, or those that are asked for.
func TestBoundariesCatalog(t *testing.T) {
	parallel(t)
	shape := bin.LittleEndian.AppendUint32([]byte{1}, 3) // a polygon with one ring of four positions
	shape = bin.LittleEndian.AppendUint32(bin.LittleEndian.AppendUint32(shape, 1), 4)
	for _, v := range []float64{1, 1, 2, 1, 2, 2, 1, 1} {
		shape = bin.LittleEndian.AppendUint64(shape, math.Float64bits(v))
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		code, of, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/cod/"), "/")
		switch {
		case code == "catalog.json":
			fmt.Fprint(w, `{"links":[{"rel":"child","href":"./afg/catalog.json"},
				{"rel":"child","href":"./som/catalog.json"},{"rel":"child","href":"./global/catalog.json"},
				{"rel":"self","href":"./xyz/catalog.json"}]}`)
		case of == "latest/adm0/original.parquet" && code != "tcd":
			writeParquet(t, w, countryRow{"Land", strings.ToUpper(code[:2]), shape})
		case of == "latest/adm1/original.parquet":
			writeParquet(t, w, unitRow{"One", strings.ToUpper(code[:2]) + "01", shape})
		default:
			http.NotFound(w, r)
		}
	}))
	defer web.Close()
	file := filepath.Join(t.TempDir(), "b.geojson")
	args := []string{
		"boundaries", "--from", web.URL + "/cod/catalog.json", "--out", file, "--allow-http", "--allow-private-hosts",
	}
	if got := mustExit(t, 0, args...).stdout; !strings.Contains(got, "2 countries, 2 first-level units, 0 ") {
		t.Errorf("of all: %q", got)
	}
	got := mustExit(t, 0, append(args, "--countries", "AFG")...).stdout
	if !strings.Contains(got, "1 countries, 1 first-level units, 0 ") {
		t.Errorf("of one: %q", got)
	}
	text := testkit.Value(os.ReadFile(file))(t)
	if !strings.Contains(string(text), `"location_code":"AFG"`) {
		t.Errorf("the file is %s", text)
	}
	failed := mustExit(t, 3, append(args, "--countries", "TCD")...)
	if !strings.Contains(failed.stderr, "tcd/latest/adm0/original.parquet") {
		t.Errorf("of a country without boundaries: %q", failed.stderr)
	}
}

// TestClientsLayers reads layers of which only some places have boundaries with GDAL, as QGIS does:
// the first ten features decide what a layer is.
func TestClientsLayers(t *testing.T) {
	parallel(t)
	python := filepath.Join(clientsDir(t), "polars2", "bin", "python")
	dir := t.TempDir()
	testkit.WriteFile(t, filepath.Join(dir, "afg_adm1.geojson"), publishedUnits("AF33", "AF34"))
	file := filepath.Join(dir, "b.geojson")
	mustExit(t, 0, "boundaries", "--from", filepath.Join(dir, "afg_adm1.geojson"), "--out", file)
	s := serve(t, "--store", sampleStore(t), "--boundaries", file)
	var plan strings.Builder
	layers := []string{
		"admin1", "admin1_population", "admin1_people_in_need", "admin1_internally_displaced", "wfp_market",
		"admin1_rainfall_percent_of_normal",
	}
	for _, layer := range layers {
		fmt.Fprintf(&plan, "%s/ogc\t%s\n", s.base, layer)
	}
	read := fetchProgram(python, filepath.Join("testdata", "clients", "layers.py"))(t, plan.String())
	lines := strings.Split(strings.TrimSpace(read), "\n")
	if len(lines) != len(layers) {
		t.Fatalf("%d layers read:\n%s", len(lines), read)
	}
	for i, line := range lines {
		fields := strings.Split(line, "\t")
		var page struct {
			NumberMatched int
			Features      []struct{ Geometry any }
		}
		items := "/ogc/collections/" + layers[i] + "/items?limit=10000"
		testkit.Must(t, json.Unmarshal(ask(t, "GET", s.base+items).body, &page))
		placed := 0
		for _, f := range page.Features {
			if f.Geometry != nil {
				placed++
			}
		}
		want := fmt.Sprintf("%s\t%d\t%d\t%d\t", layers[i], min(10, placed), page.NumberMatched, placed)
		if !strings.HasPrefix(line, want) || placed == 0 || fields[5] == "-180 -90 180 90" {
			t.Errorf("GDAL read\n%s\nwant\n%s", line, want)
		}
		if strings.Contains(line, "List") {
			t.Errorf("%s: a property is a list, which few formats have: %s", layers[i], fields[4])
		}
	}
}
