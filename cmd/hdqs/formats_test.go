package main_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hdqs/api/contract"
	"hdqs/internal/testkit"
)

// oldStores are archives in testdata/stores.
var oldStores = []string{"manifest-1", "manifest-2", "manifest-2-bulk-1"}

// TestOldFormats opens a store of each format that a released program has written: testdata/stores
// has them as archives, all from the sample catalog of November 2026. What they answer is in
// answers.txt, and is the same for all: the formats differ, the rows do not.
//
//   - manifest-1: no sources, no datasets; bitmaps from before roaring wrote them.
//   - manifest-2: sources and datasets in the manifest.
//   - manifest-2-bulk-1: bitmaps that roaring wrote; bulk files, Iceberg tables.
func TestOldFormats(t *testing.T) {
	parallel(t)
	want := string(testkit.ReadFile(t, filepath.Join("testdata", "stores", "answers.txt")))
	catalog := smallCatalog(t)
	for _, name := range oldStores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := filepath.Join(t.TempDir(), "store")
			unpack(t, filepath.Join("testdata", "stores", name+".tar.gz"), store)
			mustExit(t, 0, "verify", "--store", store)
			if got := listDigests(t, store); got != want {
				t.Fatalf("got\n%s\nwant\n%s", got, want)
			}

			// A new program publishes to the store, and goes back to what the old one left.
			mustExit(t, 0, "build", "--catalog", catalog, "--store", store, "--allow-shrink")
			mustExit(t, 0, "rollback", "--store", store)
			if got := listDigests(t, store); got != want {
				t.Errorf("after a build and a rollback: got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// listDigests returns a line for each list: its path, rows, and a digest of its first 10,000 rows.
func listDigests(t *testing.T, store string) string {
	t.Helper()
	var requests, digests strings.Builder
	for _, list := range contract.Endpoints {
		fmt.Fprintln(&requests, list.Path+"?output_format=csv&limit=10000&app_identifier="+identifier)
	}
	o := runWith(t, nil, requests.String(), "query", "--store", store, "--batch", "-")
	answers := json.NewDecoder(strings.NewReader(o.stdout))
	for _, list := range contract.Endpoints {
		var answer batchAnswer
		if err := answers.Decode(&answer); err != nil || answer.Status != 200 || answer.Body == nil {
			t.Fatalf("%s: status %d, %v\n%s", list.Path, answer.Status, err, o.stderr)
		}
		fmt.Fprintf(&digests, "%-70s %5s rows %x\n",
			list.Path, answer.Headers["X-Total-Count"], sha256.Sum256([]byte(*answer.Body)))
	}
	return digests.String()
}

// unpack writes the files of an archive below a folder.
func unpack(t *testing.T, archive, dir string) {
	t.Helper()
	unzipped, err := gzip.NewReader(bytes.NewReader(testkit.ReadFile(t, archive)))
	testkit.Must(t, err)
	for files := tar.NewReader(unzipped); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		testkit.Must(t, err)
		path := filepath.Join(dir, filepath.FromSlash(header.Name))
		if header.FileInfo().IsDir() {
			testkit.Must(t, os.MkdirAll(path, 0o755))
			continue
		}
		data, err := io.ReadAll(files)
		testkit.Must(t, err)
		testkit.WriteFile(t, path, data)
	}
}
