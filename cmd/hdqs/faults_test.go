package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

// damage is a way to damage a store.
type damage struct {
	name string
	do   func(t *testing.T, store string)
	says string // part of the error message
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

// manifestOf returns the manifest's file, which has the report's name without ".report".
func manifestOf(t *testing.T, store string) string {
	t.Helper()
	return strings.TrimSuffix(pathOf(t, store, "manifests/*.report.json"), ".report.json") + ".json"
}

// change replaces a file by one with changed bytes. It does not write to the file in place: the
// bytes of a mapped file never change.
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

// setVersion changes the version of a segment: it follows the first magic number and precedes the
// last one.
func setVersion(version ...byte) func([]byte) []byte {
	return func(b []byte) []byte {
		b = bytes.Clone(b)
		copy(b[4:8], version)
		copy(b[len(b)-8:], version)
		return b
	}
}

func truncate(b []byte) []byte { return b[:len(b)/2] }
func empty([]byte) []byte      { return nil }
func otherFormat([]byte) []byte {
	return []byte("PK\x03\x04 this is another program's file, long enough to have a tail to look at\n")
}
func otherJSON([]byte) []byte { return []byte(`{"some":"other","program":1}` + "\n") }

// damages returns the ways to damage copies of a store. Each must be refused with a message that
// names the file.
func damages(t *testing.T, whole string) []damage {
	t.Helper()
	segment := filepath.Join("segments", filepath.Base(segmentOf(t, whole, "conflict_event")))
	manifest := filepath.Join("manifests", filepath.Base(manifestOf(t, whole)))
	in := func(file, what, says string) func(string, func([]byte) []byte) damage {
		return func(name string, with func([]byte) []byte) damage {
			return damage{what + " " + name, func(t *testing.T, store string) {
				change(t, filepath.Join(store, file), with)
			}, says}
		}
	}
	inSegment := in(segment, "segment", "conflict_event")
	inManifest := in(manifest, "manifest", "manifest")
	inPointer := in(filepath.Join("channels", "stable.json"), "pointer", "stable.json")
	remove := func(file string) func(*testing.T, string) {
		return func(t *testing.T, store string) {
			if err := os.Remove(filepath.Join(store, file)); err != nil {
				t.Fatal(err)
			}
		}
	}
	otherTable := testkit.ReadFile(t, segmentOf(t, whole, "idps"))
	list := []damage{
		inSegment("empty", empty), inSegment("truncated", truncate), inSegment("of another program", otherFormat),
		inSegment("of a later version", setVersion(2, 0, 0, 0)),
		inSegment("of the other byte order", setVersion(0, 0, 0, 1)),
		inSegment("of another table", func([]byte) []byte { return otherTable }),
		inManifest("of a later version", func(b []byte) []byte {
			return bytes.Replace(b, []byte(`"format": `), []byte(`"format": 9`), 1)
		}),
		inManifest("empty", empty), inManifest("truncated", truncate), inManifest("of another program", otherJSON),
		inManifest("not JSON", otherFormat),
		inManifest("with a flipped bit", func(b []byte) []byte {
			// A digit of a row count, so that it is still valid JSON.
			at := bytes.Index(b, []byte(`"rows"`))
			at += bytes.IndexAny(b[at:], "123456789")
			return flipBit(at)(b)
		}),
		inPointer("empty", empty), inPointer("truncated", truncate), inPointer("of another program", otherJSON),
		inPointer("not JSON", otherFormat),
		{"segment missing", remove(segment), "conflict_event"},
		{"manifest missing", remove(manifest), "manifest"},
	}
	size := len(testkit.ReadFile(t, filepath.Join(whole, segment)))
	for _, at := range []int{0, 9, size / 3, size / 2, size * 3 / 4, -30, -1} {
		list = append(list, inSegment(fmt.Sprintf("with a flipped bit at %d", at), flipBit(at)))
	}
	return list
}

// TestDamagedStore: every command refuses a damaged snapshot with exit code 4 and names the file.
func TestDamagedStore(t *testing.T) {
	parallel(t)
	whole := sampleStore(t)
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
				if o.code != 4 || o.stdout != "" {
					t.Errorf("%s: exit code %d, stdout %.200q; want 4 and no output", args[0], o.code, o.stdout)
				}
				if !strings.Contains(o.stderr, d.says) || strings.Contains(o.stderr, "goroutine") {
					t.Errorf("%s: %q, want %q in it and no stack trace", args[0], o.stderr, d.says)
				}
			}
			o := run(t, "verify", "--store", store, "--json")
			var result struct {
				OK    bool
				Fault string
			}
			err := json.Unmarshal([]byte(o.stdout), &result)
			if o.code != 4 || (err == nil && (result.OK || result.Fault == "")) {
				t.Errorf("verify --json: exit code %d, %s", o.code, o.stdout)
			}
		})
	}
}

// TestVerify accepts an undamaged store, as text and as JSON.
func TestVerify(t *testing.T) {
	parallel(t)
	store := sampleStore(t)
	view, _ := inspect(t, store)
	if o := mustExit(t, 0, "verify", "--store", store); !strings.Contains(o.stdout, view.ID) {
		t.Errorf("verify: %q", o.stdout)
	}
	result := decode[struct {
		ID    string
		OK    bool
		Fault string
	}](t, []byte(mustExit(t, 0, "verify", "--store", store, "--json").stdout))
	if result.ID != view.ID || !result.OK || result.Fault != "" {
		t.Errorf("verify --json: %+v", result)
	}
}

// TestDamagedStoreIsRepaired: building the same input again replaces a damaged segment.
func TestDamagedStoreIsRepaired(t *testing.T) {
	parallel(t)
	files, store := newCatalog(t, 1), sampleStore(t)
	before := stored(t, store)
	change(t, segmentOf(t, store, "conflict_event"), flipBit(100))
	mustExit(t, 4, "verify", "--store", store)
	mustExit(t, 0, "build", "--catalog", files, "--store", store, "--snapshot-time", buildTime)
	mustExit(t, 0, "verify", "--store", store)
	if names := differentFiles(before, stored(t, store)); len(names) > 0 {
		t.Errorf("after the repair these files differ: %q", names)
	}
}
