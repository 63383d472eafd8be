package catalogfile

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestForm(t *testing.T) {
	t.Parallel()
	for format, want := range map[string]string{
		"CSV": "csv", " csv ": "csv", ".csv": "csv", "text/csv": "csv", "text/csv; charset=utf-8": "csv",
		"\u00a0CSV": "csv", "Google Sheet": "googlesheet", "XLSX": "xlsx", "": "", "csv/zip": "zip",
	} {
		if got := Form(format); got != want {
			t.Errorf("%q: %q, want %q", format, got, want)
		}
	}
}

// TestMayHaveRows: whatever is not known to have no rows may be a table.
func TestMayHaveRows(t *testing.T) {
	t.Parallel()
	tables := "e.csv e.CSV e.csv.zip e.csv.part e.tsv e.txt e.xlsx e.xls e.parquet e.json e.zip e.bz2 e.xz e.gz " +
		"e.zst e e.ods e.csv.pdf e.7z e.arrow events_2025 a/b/e"
	for name := range strings.FieldsSeq(tables) {
		if !MayHaveRows("", name) {
			t.Errorf("%s can be no table", name)
		}
	}
	others := "e.pdf e.PDF README readme.md README.txt LICENSE e.png SHA256SUMS e.md5 e.html"
	for name := range strings.FieldsSeq(others) {
		if MayHaveRows("", name) {
			t.Errorf("%s may be a table", name)
		}
	}
	for format, want := range map[string]bool{
		"XLSX": true, "Google Sheet": true, "application/pdf": false, "Web App": false, "Geoservice": false, "?": true,
		"image/png": false, "application/vnd.ms-excel": true, "CSV (zipped)": true,
	} {
		if got := MayHaveRows(format, "download"); got != want {
			t.Errorf("format %q: %t", format, got)
		}
	}
}

// FuzzText checks that any JSON gives a text, that a text is taken as it is, and that nothing else
// fails.
func FuzzText(f *testing.F) {
	for text, want := range map[string]string{
		`"a"`: "a", `""`: "", `5`: "5", `-1.5e3`: "-1.5e3", `true`: "true", `null`: "", `{}`: "", `{"a": "b"}`: "",
		`["CSV"]`: "CSV", `["a", "b"]`: "a", `[]`: "", `[5]`: "", `[["a"]]`: "", `"\u00e9\n"`: "é\n",
	} {
		var got Text
		if err := json.Unmarshal([]byte(text), &got); err != nil || string(got) != want {
			f.Errorf("%s: %q, %v; want %q", text, got, err, want)
		}
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var got Text
		if err := json.Unmarshal(data, &got); (err == nil) != json.Valid(data) {
			t.Fatalf("%q: %v", data, err)
		}
		var text string
		if json.Unmarshal(data, &text) == nil && text != string(got) {
			t.Fatalf("%q gives %q", data, got)
		}
	})
}
