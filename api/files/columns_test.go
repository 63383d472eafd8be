package files_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"hdqs/api/apitest"
	"hdqs/api/state"
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
	file, err := parquet.OpenFile(bytes.NewReader(body), int64(len(body)))
	testkit.Must(t, err)
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
