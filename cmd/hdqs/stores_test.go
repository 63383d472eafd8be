package main_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"hdqs/api/contract"
	"hdqs/internal/testkit"
	"hdqs/snapshot"
	snapshots "hdqs/snapshot/store"
)

// report is what these tests read of a load's report.
type report struct {
	Snapshot string `json:"snapshot"`
	Outcome  string `json:"outcome"`
	Partial  bool   `json:"partial"`
	Refused  []struct {
		Path, Why string
	} `json:"refused"`
	Resources []struct {
		Role, Path string
		Rows       struct{ Read, Dropped, Kept int }
		Drops      map[string]struct {
			Count int
			First []string
		}
	} `json:"resources"`
	Tables []struct {
		Table  string
		Rows   int
		SHA256 string
	} `json:"tables"`
	Rows struct{ Read, Dropped, Kept int } `json:"rows"`
}

// storedFile is a file of a store.
type storedFile struct {
	data    []byte
	changed time.Time
}

// stored reads every file of a store.
func stored(t *testing.T, store string) map[string]storedFile {
	t.Helper()
	files := map[string]storedFile{}
	err := filepath.WalkDir(store, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(store, path)
		files[name] = storedFile{testkit.ReadFile(t, path), info.ModTime()}
		return err
	})
	testkit.Must(t, err)
	return files
}

// times matches what differs between the reports of two runs.
var times = regexp.MustCompile(`"seconds": [-+.0-9e]+`)

// bulkManifest is what these tests read of a manifest.
type bulkManifest struct {
	Snapshot string
	Tables   []bulkTable
}

type bulkTable struct {
	Table string
	Rows  int
	Files []struct{ Path, SHA256 string }
}

func readBulkManifest(t *testing.T, path string) (m bulkManifest) {
	t.Helper()
	testkit.Must(t, json.Unmarshal(testkit.ReadFile(t, path), &m))
	return m
}

// pathOf returns the first file below the store that matches a pattern.
func pathOf(t *testing.T, store, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(store, filepath.FromSlash(pattern)))
	if err != nil || len(found) == 0 {
		t.Fatalf("%s: no file matches %s, %v", store, pattern, err)
	}
	return found[0]
}

// segmentOf returns the file of a table.
func segmentOf(t *testing.T, store, table string) string {
	t.Helper()
	view, _ := inspect(t, store)
	for _, ref := range view.Tables {
		if ref.Table == table {
			return pathOf(t, store, "segments/"+ref.SHA256+".seg")
		}
	}
	t.Fatalf("no table %s", table)
	return ""
}

// change replaces a file by one with changed bytes.
func change(t *testing.T, path string, with func([]byte) []byte) {
	t.Helper()
	before := testkit.ReadFile(t, path)
	after := with(bytes.Clone(before))
	if bytes.Equal(before, after) {
		t.Fatalf("%s did not change", path)
	}
	testkit.ReplaceFile(t, path, after)
}

// flipBit changes one bit; a negative offset counts from the end.
func flipBit(at int) func([]byte) []byte {
	return func(b []byte) []byte {
		b = bytes.Clone(b)
		b[(at+len(b))%len(b)] ^= 1
		return b
	}
}

func truncate(b []byte) []byte { return b[:len(b)/2] }

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
		var answer struct {
			Status  int
			Headers map[string]string
			Body    *string
		}
		if err := answers.Decode(&answer); err != nil || answer.Status != 200 || answer.Body == nil {
			t.Fatalf("%s: status %d, %v\n%s", list.Path, answer.Status, err, o.stderr)
		}
		fmt.Fprintf(&digests, "%-70s %5s rows %x\n",
			list.Path, answer.Headers["X-Total-Count"], sha256.Sum256([]byte(*answer.Body)))
	}
	return digests.String()
}

// TestKeys looks for rows with one key in generated tables, and TestFixtures in real ones.
func TestKeys(t *testing.T) {
	parallel(t)
	checkKeys(t, sampleStore(t))
}

// checkKeys looks for rows with one key, and for a first column of the key that does not go with
// the first one by which rows are sorted. The judge compares the order of rows.
func checkKeys(t *testing.T, dir string) {
	t.Helper()
	snap := stableSnapshot(t, dir)
	for i := range contract.Endpoints {
		e := &contract.Endpoints[i]
		seg := snap.Segments[e.Table]
		if seg == nil || seg.Rows() == 0 {
			t.Errorf("%s: no rows", e.Table)
			continue
		}
		seen := make(map[string]int, seg.Rows())
		firstOf := [2]map[string]string{{}, {}}
		for row := range seg.Rows() {
			var key []byte
			first := [2]string{cellOf(t, seg, e.Key[0], row), cellOf(t, seg, e.Order[0], row)}
			for k, of := range firstOf {
				if other, known := of[first[k]]; known && other != first[1-k] {
					t.Errorf("%s: %s goes with %s and %s", e.Table, first[k], other, first[1-k])
				}
				of[first[k]] = first[1-k]
			}
			for _, name := range e.Key {
				key = append(key, cellOf(t, seg, name, row)...)
			}
			if earlier, twice := seen[string(key)]; twice {
				t.Errorf("%s: rows %d and %d have the key %s", e.Table, earlier, row, key)
				break
			}
			seen[string(key)] = row
		}
	}
}

// stableSnapshot opens the published snapshot of a store until the test ends.
func stableSnapshot(t *testing.T, dir string) *snapshots.Snapshot {
	t.Helper()
	s := testkit.Value(snapshots.Open(dir))(t)
	p := testkit.Value(s.Channels.Channel("stable"))(t)
	snap := testkit.Value(s.Snapshots.Open(p.ID))(t)
	t.Cleanup(func() { _ = snap.Close() })
	return snap
}

// cellOf is a value as text, with its length before it, so that keys cannot run into one another.
func cellOf(t *testing.T, seg *snapshot.Segment, name string, row int) string {
	t.Helper()
	c := testkit.Value(seg.Column(name))(t)
	at := uint32(row)
	if c.Group != nil {
		at = uint32(c.Group.Codes.At(at))
	}
	var text string
	if c.Kind == snapshot.Text || c.Kind == snapshot.Enum {
		text = c.Text(at)
	} else {
		text = fmt.Sprint(c.Int(at))
	}
	return fmt.Sprintf("%d:%s null %t, ", len(text), text, c.IsNull(at))
}

// newKey makes a pair of keys in a folder.
func newKey(t *testing.T, dir, name string) (private, public string) {
	t.Helper()
	private, public = filepath.Join(dir, name+".pem"), filepath.Join(dir, name+".pub")
	mustExit(t, 0, "keygen", "--private", private, "--public", public)
	return private, public
}
