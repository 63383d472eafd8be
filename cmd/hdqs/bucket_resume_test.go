package main_test

import (
	"bytes"
	"crypto/md5"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"hdqs/internal/testkit"
)

// resumeTrial loads a mirror in a bucket while the answer for one of its files is cut.
type resumeTrial struct {
	*objectStore
	files string // the mirrored catalog
	name  string // the file
	data  []byte
	want  snapshotView // of a load that is not cut
}

// TestBucketResume cuts the answer for a file of a mirror: its download continues where it stopped,
// and keeps nothing of an object that was replaced.
func TestBucketResume(t *testing.T) {
	r := &resumeTrial{objectStore: onVersity(t), files: smallCatalog(t)}
	r.name = "conflict-events/hdx_hapi_conflict_event_global_2025.csv"
	r.run(t, 0, "mirror", "--catalog", r.files, "--to", mirrorAddress, "--data-dir", t.TempDir())
	r.data = r.get(t, "mirror/"+r.name)
	r.want, _ = inspect(t, smallStore(t))
	t.Run("cut twice in one load", r.testCutTwice)
	t.Run("object replaced meanwhile", r.testReplaced)
}

// load is the command line of a load into a directory.
func (r *resumeTrial) load(dir string) []string {
	return []string{
		"build", "--catalog", mirrorAddress, "--store", filepath.Join(dir, "store"), "--data-dir", dir,
		"--snapshot-time", buildTime,
	}
}

// quarter is the Range header that asks for what comes after so many quarters of the file.
func (r *resumeTrial) quarter(n int) string { return fmt.Sprintf("bytes=%d-", n*(len(r.data)/4)) }

// cutFirst cuts the first answers for the file after a quarter of its size, and calls before with
// the number of each request for it.
func (r *resumeTrial) cutFirst(answers int, before func(request int)) {
	n := 0
	var mu sync.Mutex
	r.cutAnswers(func(req *http.Request) int64 {
		if req.Method != http.MethodGet || !strings.HasSuffix(req.URL.Path, r.name) {
			return 0
		}
		mu.Lock()
		defer mu.Unlock()
		n++
		if before != nil {
			before(n)
		}
		if n <= answers {
			return int64(len(r.data) / 4)
		}
		return 0
	})
}

// asked returns the Range headers of the requests for the file since the last call, the If-Match
// headers of those with a range, and the bytes received.
func (r *resumeTrial) asked(t *testing.T) (ranges, match []string, received int) {
	t.Helper()
	for _, p := range r.take(t) {
		if p.path == "mirror/"+r.name && p.method == http.MethodGet {
			ranges, received = append(ranges, p.ranged), received+int(p.received)
			if p.ranged != "" {
				match = append(match, p.match)
			}
		}
	}
	return ranges, slices.Compact(match), received
}

// mustBeWhole checks that a load has the tables of the complete files.
func (r *resumeTrial) mustBeWhole(t *testing.T, dir string) {
	t.Helper()
	if got, _ := inspect(t, filepath.Join(dir, "store")); !slices.Equal(got.Tables, r.want.Tables) {
		t.Errorf("tables %v, want %v", got.Tables, r.want.Tables)
	}
}

func (r *resumeTrial) testCutTwice(t *testing.T) {
	dir := t.TempDir()
	r.take(t)
	r.cutFirst(2, nil)
	r.run(t, 0, r.load(dir)...)
	ranges, match, received := r.asked(t)
	if want := []string{"", r.quarter(1), r.quarter(2)}; !slices.Equal(ranges, want) {
		t.Errorf("requested ranges %q, want %q", ranges, want)
	}
	if want := []string{fmt.Sprintf("%q", fmt.Sprintf("%x", md5.Sum(r.data)))}; !slices.Equal(match, want) {
		t.Errorf("If-Match %q, want %q", match, want)
	}
	if received != len(r.data) {
		t.Errorf("%d bytes received, want %d", received, len(r.data))
	}
	r.mustBeWhole(t, dir)
}

// testReplaced replaces the object between the cut answer and the request for the rest. The
// catalog's list must not give its size and checksum, or the load would refuse the new object.
func (r *resumeTrial) testReplaced(t *testing.T) {
	next := testkit.ReadFile(t, filepath.Join(r.files, r.name))
	next = bytes.Replace(next, []byte(",civilian_targeting,"), []byte(",civilian_targeting,1"), 1)
	list := decode[map[string]any](t, r.get(t, "mirror/catalog.json"))
	for _, entry := range list["resources"].([]any) {
		delete(entry.(map[string]any), "size")
		delete(entry.(map[string]any), "sha256")
	}
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	r.put(t, "mirror/catalog.json", text)

	dir := t.TempDir()
	r.put(t, "mirror/"+r.name, r.data)
	r.cutFirst(1, func(request int) {
		if request == 2 {
			r.put(t, "mirror/"+r.name, next)
		}
	})
	r.asked(t)
	r.run(t, 0, r.load(dir)...)
	ranges, _, _ := r.asked(t)
	if len(ranges) != 3 || ranges[0] != "" || ranges[1] == "" || ranges[2] != "" {
		t.Errorf("requested ranges %q, want the whole, the rest, and the whole again", ranges)
	}
	tree := filepath.Join(dir, "catalogs", filepath.Base(pathOf(t, dir, "catalogs/*")), "tree")
	got, quarter := testkit.ReadFile(t, filepath.Join(tree, r.name)), len(r.data)/4
	if !bytes.Equal(got, next) {
		t.Errorf("the cache holds %d bytes that are not those of the new object, which has %d", len(got), len(next))
	}
	if bytes.Equal(next[:quarter], r.data[:quarter]) {
		t.Error("both objects begin alike: this test would not notice a mixture")
	}
}
