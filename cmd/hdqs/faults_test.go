package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// damage is something that happened to a store after it was written.
type damage struct {
	name string
	do   func(t *testing.T, store string)
	says string // a word of the message, besides the file's name
}

// pathOf finds the one file, or the first of several, that a pattern below the store names.
func pathOf(t *testing.T, store, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(store, filepath.FromSlash(pattern)))
	if err != nil || len(found) == 0 {
		t.Fatalf("%s: nothing like %s, %v", store, pattern, err)
	}
	return found[0]
}

// segmentOf is the file of a table.
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

// manifestOf is the manifest's file: the one that is no report.
func manifestOf(t *testing.T, store string) string {
	t.Helper()
	return strings.TrimSuffix(pathOf(t, store, "manifests/*.report.json"), ".report.json") + ".json"
}

// change rewrites a file as another one in its place, as every careful writer does. Bytes of a file that is mapped never change.
func change(t *testing.T, path string, with func([]byte) []byte) {
	t.Helper()
	data := with(readFile(t, path))
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, data)
}

// flip changes one bit.
func flip(at int) func([]byte) []byte {
	return func(b []byte) []byte {
		b = bytes.Clone(b)
		b[(at+len(b))%len(b)] ^= 1
		return b
	}
}

// versioned gives a segment another version: it stands behind the first magic number and before the last one.
func versioned(b []byte, version ...byte) []byte {
	b = bytes.Clone(b)
	copy(b[4:8], version)
	copy(b[len(b)-8:], version)
	return b
}

func cut(b []byte) []byte   { return b[:len(b)/2] }
func nothing([]byte) []byte { return nil }
func foreign([]byte) []byte {
	return []byte("PK\x03\x04 this is another program's file, long enough to have a tail to look at\n")
}
func otherJSON([]byte) []byte { return []byte(`{"some":"other","program":1}` + "\n") }

// damages of a store, each of which must be told by name and never served.
func damages(t *testing.T, whole string) []damage {
	t.Helper()
	segment := filepath.Base(segmentOf(t, whole, "conflict_event"))
	manifest := filepath.Base(manifestOf(t, whole))
	inSegment := func(name string, with func([]byte) []byte) damage {
		return damage{"segment " + name, func(t *testing.T, store string) { change(t, filepath.Join(store, "segments", segment), with) }, "conflict_event"}
	}
	inManifest := func(name string, with func([]byte) []byte) damage {
		return damage{"manifest " + name, func(t *testing.T, store string) { change(t, filepath.Join(store, "manifests", manifest), with) }, "manifest"}
	}
	inPointer := func(name string, with func([]byte) []byte) damage {
		return damage{"pointer " + name, func(t *testing.T, store string) { change(t, filepath.Join(store, "channels", "stable.json"), with) }, "stable.json"}
	}
	list := []damage{
		inSegment("empty", nothing), inSegment("truncated", cut), inSegment("of another program", foreign),
		inSegment("of a later version", func(b []byte) []byte { return versioned(b, 2, 0, 0, 0) }),
		inSegment("of the other byte order", func(b []byte) []byte { return versioned(b, 0, 0, 0, 1) }),
		inManifest("of a later version", func(b []byte) []byte { return bytes.Replace(b, []byte(`"format": 1`), []byte(`"format": 2`), 1) }),
		inManifest("empty", nothing), inManifest("truncated", cut), inManifest("of another program", otherJSON), inManifest("not JSON", foreign),
		inManifest("with a flipped bit", func(b []byte) []byte {
			// A digit of a row count: still good JSON.
			at := bytes.Index(b, []byte(`"rows"`))
			at += bytes.IndexAny(b[at:], "123456789")
			return flip(at)(b)
		}),
		inPointer("empty", nothing), inPointer("truncated", cut), inPointer("of another program", otherJSON), inPointer("not JSON", foreign),
		{"segment missing", func(t *testing.T, store string) {
			if err := os.Remove(filepath.Join(store, "segments", segment)); err != nil {
				t.Fatal(err)
			}
		}, "conflict_event"},
		{"manifest missing", func(t *testing.T, store string) {
			if err := os.Remove(filepath.Join(store, "manifests", manifest)); err != nil {
				t.Fatal(err)
			}
		}, "manifest"},
		{"segment of another table", func(t *testing.T, store string) {
			other := readFile(t, segmentOf(t, whole, "idps"))
			change(t, filepath.Join(store, "segments", segment), func([]byte) []byte { return other })
		}, "conflict_event"},
	}
	size := len(readFile(t, filepath.Join(whole, "segments", segment)))
	for _, at := range []int{0, 9, size / 3, size / 2, size * 3 / 4, -30, -1} {
		list = append(list, inSegment(fmt.Sprintf("with a flipped bit at %d", at), flip(at)))
	}
	return list
}

// copyStore copies a store, so that a test can damage it.
func copyStore(t *testing.T, store string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "store")
	if err := os.CopyFS(to, os.DirFS(store)); err != nil {
		t.Fatal(err)
	}
	return to
}

// TestDamagedStore: every command refuses a damaged snapshot with exit code 4 and says which file it is about.
func TestDamagedStore(t *testing.T) {
	whole := newStore(t, newCatalog(t, 1))
	for _, d := range damages(t, whole) {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			store := copyStore(t, whole)
			d.do(t, store)
			for _, args := range [][]string{
				{"serve", "--store", store, "--listen", "127.0.0.1:0"},
				{"query", "--store", store, with("/api/v2/metadata/sector")},
				{"inspect", "--store", store},
				{"verify", "--store", store},
			} {
				o := run(t, args...)
				if o.code != 4 || o.out != "" {
					t.Errorf("%s: exit code %d, stdout %.200q; want 4 and nothing", args[0], o.code, o.out)
				}
				if !strings.Contains(o.errors, d.says) || strings.Contains(o.errors, "goroutine") {
					t.Errorf("%s: %q does not say %q", args[0], o.errors, d.says)
				}
			}
			o := run(t, "verify", "--store", store, "--json")
			var result struct {
				OK    bool
				Fault string
			}
			if err := json.Unmarshal([]byte(o.out), &result); o.code != 4 || (err == nil && (result.OK || result.Fault == "")) {
				t.Errorf("verify --json: exit code %d, %s", o.code, o.out)
			}
		})
	}
}

// TestVerify says that a whole store is whole, in both forms.
func TestVerify(t *testing.T) {
	store := newStore(t, newCatalog(t, 1))
	view, _ := inspect(t, store)
	if o := wants(t, 0, "verify", "--store", store); !strings.Contains(o.out, view.ID) {
		t.Errorf("verify: %q", o.out)
	}
	result := decode[struct {
		ID    string
		OK    bool
		Fault string
	}](t, []byte(wants(t, 0, "verify", "--store", store, "--json").out))
	if result.ID != view.ID || !result.OK || result.Fault != "" {
		t.Errorf("verify --json: %+v", result)
	}
}

// TestDamagedStoreIsRepaired: building the same input again makes a damaged segment whole.
func TestDamagedStoreIsRepaired(t *testing.T) {
	files := newCatalog(t, 1)
	store := newStore(t, files)
	before := stored(t, store)
	change(t, segmentOf(t, store, "conflict_event"), flip(100))
	wants(t, 4, "verify", "--store", store)
	wants(t, 0, "build", "--catalog", files, "--store", store, "--snapshot-time", buildTime)
	wants(t, 0, "verify", "--store", store)
	if names := differentFiles(before, stored(t, store)); len(names) > 0 {
		t.Errorf("after the repair %q differ", names)
	}
}
