package files_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"
	"testing"

	"hdqs/api/apitest"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/bulk"
	"hdqs/internal/testkit"
)

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
	data, err := m.Encode()
	testkit.Must(t, err)
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
		if got := apitest.Ask(t, address, "GET", "/hapi/bulk/"+path, nil); got.Status != 404 {
			t.Errorf("%s: %d", path, got.Status)
		}
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
