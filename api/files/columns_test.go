package files_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"hdqs/api/apitest"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/bulk"
	"hdqs/internal/testkit"
)

// recordsOf are the records of a list in JSON.
func recordsOf(t *testing.T, body []byte) []map[string]any {
	t.Helper()
	var list struct{ Data []map[string]any }
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	testkit.Must(t, d.Decode(&list))
	return list.Data
}

// columnValues are the values of a file of columns.
func columnValues(t *testing.T, format string, body []byte) (names []string, rows [][]any) {
	t.Helper()
	if strings.HasPrefix(format, "arrow") {
		table, err := testkit.ReadArrow(body)
		if err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		return table.Names, table.Rows
	}
	file := testkit.Value(parquet.OpenFile(bytes.NewReader(body), int64(len(body))))(t)
	var times []bool
	for _, path := range file.Schema().Columns() {
		leaf, _ := file.Schema().Lookup(path...)
		times = append(times, strings.HasPrefix(leaf.Node.Type().String(), "TIMESTAMP"))
		names = append(names, path[0])
	}
	reader := parquet.NewReader(file)
	defer reader.Close()
	read := make([]parquet.Row, reader.NumRows())
	if n, err := reader.ReadRows(read); n < len(read) {
		t.Fatalf("%d rows of %d: %v", n, len(read), err)
	}
	for _, row := range read {
		var values []any
		for i, v := range row {
			values = append(values, parquetValue(v, times[i]))
		}
		rows = append(rows, values)
	}
	return names, rows
}

func parquetValue(v parquet.Value, isTime bool) any {
	switch {
	case v.IsNull():
		return nil
	case isTime:
		return testkit.Micros(v.Int64())
	}
	switch v.Kind() {
	case parquet.Boolean:
		return v.Boolean()
	case parquet.Int64:
		return v.Int64()
	case parquet.Double:
		return v.Double()
	}
	return string(v.ByteArray())
}

// compareValues compares the values of columns with the records of a list.
func compareValues(t *testing.T, what string, names []string, rows [][]any, records []map[string]any) {
	t.Helper()
	if len(rows) != len(records) {
		t.Fatalf("%s: %d rows, want %d", what, len(rows), len(records))
	}
	for k, record := range records {
		if len(names) != len(record) {
			t.Fatalf("%s: columns %q, want %d", what, names, len(record))
		}
		for i, name := range names {
			want, known := record[name]
			switch v := want.(type) {
			case json.Number:
				if _, isFloat := rows[k][i].(float64); isFloat {
					want, _ = v.Float64()
				} else {
					want, _ = v.Int64()
				}
			case string:
				if at, isTime := rows[k][i].(testkit.Micros); isTime {
					rows[k][i] = timeText(at)
				}
			}
			if !known || rows[k][i] != want {
				t.Fatalf("%s: row %d, %s is %v, want %v", what, k, name, rows[k][i], want)
			}
		}
	}
}

func timeText(at testkit.Micros) string {
	when := time.UnixMicro(int64(at)).UTC()
	if when.Nanosecond() != 0 {
		return when.Format("2006-01-02T15:04:05.000000")
	}
	return when.Format("2006-01-02T15:04:05")
}

// TestExportsOfLists checks that lists answer as exports where a format is of exports only, and
// exports without a table.
func TestExportsOfLists(t *testing.T) {
	t.Parallel()
	s := apitest.SampleOf(t, state.Options{}, exportedPath, 90)
	for _, format := range []string{"arrow", "parquet"} {
		query := "?limit=30000&latest=true&output_format=" + format
		list := exportAnswer(t, s, exportedPath+query)
		export := exportAnswer(t, s, exportedPath+"/export"+query)
		tag, _ := apitest.Field(list, "ETag")
		if other := apitest.Header(export, "ETag"); !bytes.Equal(list.Body, export.Body) || tag != other {
			t.Errorf("%s: %d bytes with tag %s, the export has %d with %s", format, len(list.Body), tag,
				len(export.Body), other)
		}
	}
	const empty = "/hapi/api/v2/climate/rainfall/export?output_format="
	texts := map[string]string{"csv": "", "csv-excel": "location_code,", "json": state.EmptyJSON, "ndjson": ""}
	for _, format := range apitest.Plan(exportedPath).Endpoint.ExportFormats() {
		got := s.Answer("GET", empty+format.Name+"&app_identifier="+apitest.Identifier, nil)
		want, isText := texts[format.Name]
		switch {
		case !isText && (got.Status != 422 || !strings.Contains(string(got.Body), "has no table")):
			t.Errorf("%s without a table: %d %s", format.Name, got.Status, got.Body)
		case isText && (got.Status != 200 || !strings.HasPrefix(string(got.Body), want) ||
			want == "" && len(got.Body) > 0):
			t.Errorf("%s without a table: %d %.200s", format.Name, got.Status, got.Body)
		}
	}
	hapi := "/hapi/api/v1/coordination-context/conflict-event/export?output_format=arrow"
	names, _ := columnValues(t, "arrow", exportAnswer(t, s, hapi).Body)
	if !slices.Contains(names, "resource_hdx_id") {
		t.Errorf("columns under HAPI names: %q", names)
	}
}

const (
	hapiPart = "affected-people/idps/admin_level=1/part-0.parquet"
	hapiFlat = "coordination-context/funding.parquet"
)

// catalogServer serves bulk files in the layout of HDX HAPI.
func catalogServer(t *testing.T, o state.Options) (address string, flat []byte) {
	t.Helper()
	o.Bulk = true
	s, b := apitest.Sample(t, o, 3), apitest.NewBulkDir(t)
	flat = append([]byte("PAR1"), bytes.Repeat([]byte("figures "), 1000)...)
	m := &bulk.Manifest{Format: bulk.ManifestFormat, Snapshot: apitest.SampleID, Created: apitest.SampleTime}
	for _, path := range []string{hapiPart, hapiFlat} {
		sum := sha256.Sum256(flat)
		f := bulk.File{
			Path: path, Format: bulk.HAPIParquet, Bytes: int64(len(flat)), SHA256: hex.EncodeToString(sum[:]),
		}
		testkit.WriteFile(t, b.Path(&f), flat)
		m.Tables = append(m.Tables, bulk.Table{
			Table: strings.ReplaceAll(path[:10], "/", "_"), Segment: strings.Repeat("0", 64), Files: []bulk.File{f},
			Schema: []bulk.Column{{Name: "resource_catalog_id", HAPIName: "resource_hdx_id", Type: "string"}},
		})
	}
	data := testkit.Value(m.Encode())(t)
	testkit.WriteFile(t, filepath.Join(b.Dir, bulk.ManifestName(apitest.SampleID)), data)
	testkit.Must(t, s.Files.LookForBulk(b.Bulk))
	return apitest.Listen(t, s), flat
}

// TestBulkAsOCHA: below /hapi/bulk/ the paths of OCHA's tree lead to the latest snapshot. Parts of
// a file are sent only where it does not move, but for the bytes by which readers find out whether
// it is there.
func TestBulkAsOCHA(t *testing.T) {
	t.Parallel()
	address, flat := catalogServer(t, state.Options{})
	for _, path := range []string{hapiPart, hapiFlat, "affected-people/idps.json", "affected-people/collection.json"} {
		for _, part := range []string{"", "bytes=0-3", "bytes=4-99"} {
			var header []reply.HeaderField
			if part != "" {
				header = partOf(part)
			}
			got := apitest.Ask(t, address, "GET", "/hapi/bulk/"+path, header)
			want := 302
			if part == "bytes=4-99" && strings.HasSuffix(path, ".parquet") {
				want = 400
			}
			target := "/hapi/bulk/" + apitest.SampleID + "/" + path
			if got.Status != want || want == 302 && apitest.Header(got, "Location") != target ||
				want == 400 && !strings.Contains(apitest.Header(got, "X-Hint"), target) {
				t.Errorf("%s %s: %d to %q, %q", path, part, got.Status, apitest.Header(got, "Location"),
					apitest.Header(got, "X-Hint"))
			}
		}
	}
	got := apitest.Ask(t, address, "GET", "/hapi/bulk/"+apitest.SampleID+"/"+hapiFlat, partOf("bytes=4-99"))
	if got.Status != 206 || !bytes.Equal(got.Body, flat[4:100]) ||
		apitest.Header(got, "Content-Type") != "application/vnd.apache.parquet" {
		t.Errorf("a part: %d %q", got.Status, got.Body)
	}
	for _, path := range []string{"affected-people", "affected-people/idps/admin_level=2/part-0.parquet", "x.json"} {
		testkit.Equal(t, apitest.Ask(t, address, "GET", "/hapi/bulk/"+path, nil).Status, 404, "%s", path)
	}
}

func partOf(bytes string) []reply.HeaderField {
	return apitest.Fields("Range", bytes)
}

// TestBulkDocuments: documents of a snapshot do not change; the collection where the latest one is
// found leads to paths that do not move.
func TestBulkDocuments(t *testing.T) {
	t.Parallel()
	address, _ := catalogServer(t, state.Options{BaseURL: "https://data.example"})
	for path, want := range map[string]string{
		"collection.json": `"href": "./affected-people/collection.json"`, "datapackage.json": `"profile": "data-package"`,
		"affected-people/idps.json": `"href": "./idps/admin_level=1/part-0.parquet"`,
		"croissant.json":            `"url": "https://data.example/bulk/` + apitest.SampleID + `/manifest.json"`,
	} {
		for _, prefix := range []string{"/hapi", ""} {
			got := apitest.Ask(t, address, "GET", prefix+"/bulk/"+apitest.SampleID+"/"+path, nil)
			if got.Status != 200 || !strings.Contains(string(got.Body), want) ||
				apitest.Header(got, "Cache-Control") != reply.ImmutableKept {
				t.Errorf("%s: %d %v, lacks %s:\n%s", path, got.Status, got.Header, want, got.Body)
			}
		}
	}
	got := apitest.Ask(t, address, "GET", "/hapi/bulk/collection.json", nil)
	if got.Status != 200 || apitest.Header(got, "Cache-Control") != "public, max-age=60" ||
		!strings.Contains(string(got.Body), `"href": "./`+apitest.SampleID+`/affected-people/collection.json"`) {
		t.Errorf("the latest collection: %d %v\n%s", got.Status, got.Header, got.Body)
	}
}
