// Package objectstest has the tests that every kind of objects.Store passes, and an S3 service in
// memory, which is a web server too.
package objectstest

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hdqs/internal/objects"
	"hdqs/internal/testkit"
)

// Kind is a Store to test, which is empty, with a way to its objects behind its back.
type Kind struct {
	Store    objects.Store
	Write    func(name string, data []byte)
	Bucket   *Bucket // the server that answers; nil for a directory and for a real service
	ReadOnly bool    // it can neither be listed nor written
}

// Run tests a kind of Store. open makes one for each test.
func Run(t *testing.T, open func(t *testing.T) Kind) {
	tests := map[string]func(*testing.T, Kind){
		"read": testRead, "download": testDownload, "refusals": testRefusals, "writes": testWrites,
		"conditions": testConditions, "removal": testRemoval, "read only": testReadOnly,
		"cut": testCut, "failures": testFailures, "hang": testHang, "too large": testTooLarge,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

// data is the content of an object: some numbers, no page.
var data = []byte(strings.Repeat("1,2,3,4,5,6,7,8,9\n", 1000))

const name = "folder/deeper/a b.csv"

// request is a Request for data.
func request() objects.Request {
	sha, sum := sha256.Sum256(data), md5.Sum(data)
	return objects.Request{
		Name: name, Size: int64(len(data)), SHA256: hex.EncodeToString(sha[:]), MD5: hex.EncodeToString(sum[:]),
	}
}

func testRead(t *testing.T, k Kind) {
	ctx := t.Context()
	if _, _, err := k.Store.Read(ctx, name, "", 1<<20); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	k.Write(name, data)
	got, version, err := k.Store.Read(ctx, name, "", int64(len(data)))
	if err != nil || !bytes.Equal(got, data) || version == "" {
		t.Fatalf("%d bytes, version %q, %v", len(got), version, err)
	}
	if got, _, err := k.Store.Read(ctx, name, version, 1<<20); !errors.Is(err, objects.ErrNotModified) || got != nil {
		t.Errorf("not modified: %d bytes, %v", len(got), err)
	}
	if _, _, err := k.Store.Read(ctx, name, "", int64(len(data))-1); !errors.Is(err, objects.ErrTooLarge) {
		t.Errorf("over the limit: %v", err)
	}
	k.Write(name, data[:100])
	got, next, err := k.Store.Read(ctx, name, version, 1<<20)
	if err != nil || len(got) != 100 || next == version {
		t.Errorf("modified: %d bytes, version %q, then %q, %v", len(got), version, next, err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, _, err := k.Store.Read(ended, name, "", 1<<20); k.Bucket != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

func testDownload(t *testing.T, k Kind) {
	k.Write(name, data)
	path := filepath.Join(t.TempDir(), "new folder", "file")
	q := request()
	var received int64
	q.Received = func(n int64) { received += n }
	result, err := k.Store.Download(t.Context(), q, path)
	if err != nil || result.Bytes != q.Size || result.SHA256 != q.SHA256 || result.ETag == "" || received != q.Size {
		t.Fatalf("%+v, %v, %d bytes were reported", result, err, received)
	}
	mustBe(t, path, data)
	q.ETag = result.ETag
	if again, err := k.Store.Download(t.Context(), q, path); err != nil || !again.NotModified {
		t.Errorf("not modified: %+v, %v", again, err)
	}
	mustBe(t, path, data)
	k.Write(name, data[:18])
	changed := objects.Request{Name: name, ETag: q.ETag}
	if result, err := k.Store.Download(t.Context(), changed, path); err != nil || result.NotModified {
		t.Errorf("modified: %+v, %v", result, err)
	}
	mustBe(t, path, data[:18])
	// Several downloads of the same file at once.
	results := make(chan error, 4)
	for range cap(results) {
		go func() {
			_, err := k.Store.Download(t.Context(), objects.Request{Name: name, Size: 18}, path)
			results <- err
		}()
	}
	for range cap(results) {
		if err := <-results; err != nil {
			t.Errorf("at once: %v", err)
		}
	}
	mustBe(t, path, data[:18])
}

// mustBe checks that a file has a content and that nothing else is in its folder.
func mustBe(t *testing.T, path string, want []byte) {
	t.Helper()
	if got := testkit.ReadFile(t, path); !bytes.Equal(got, want) {
		t.Errorf("%s has %d bytes, want %d", path, len(got), len(want))
	}
	if all, err := os.ReadDir(filepath.Dir(path)); err != nil || len(all) != 1 {
		t.Errorf("beside %s: %v, %v", path, all, err)
	}
}

// testRefusals: an object that is not the right one gets no name, and an earlier file stays.
func testRefusals(t *testing.T, k Kind) {
	k.Write(name, data)
	path := filepath.Join(t.TempDir(), "file")
	testkit.WriteFile(t, path, []byte("earlier"))
	for what, c := range map[string]struct {
		spoil func(*objects.Request)
		want  error
	}{
		"missing":       {func(q *objects.Request) { q.Name = "folder/absent" }, fs.ErrNotExist},
		"longer":        {func(q *objects.Request) { q.Size-- }, objects.ErrMismatch},
		"shorter":       {func(q *objects.Request) { q.Size++ }, objects.ErrMismatch},
		"other SHA-256": {func(q *objects.Request) { q.SHA256 = strings.Repeat("0", 64) }, objects.ErrMismatch},
		"other MD5":     {func(q *objects.Request) { q.MD5 = strings.Repeat("0", 32) }, objects.ErrMismatch},
	} {
		q := request()
		c.spoil(&q)
		if _, err := k.Store.Download(t.Context(), q, path); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", what, err, c.want)
		}
		mustBe(t, path, []byte("earlier"))
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := k.Store.Download(ended, request(), path); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	mustBe(t, path, []byte("earlier"))
	blocked := filepath.Join(path, "below a file")
	if _, err := k.Store.Download(t.Context(), request(), blocked); !errors.Is(err, objects.ErrDisk) {
		t.Errorf("a file that cannot be written: %v", err)
	}
}

func testWrites(t *testing.T, k Kind) {
	if k.ReadOnly {
		return
	}
	ctx := t.Context()
	if all, err := k.Store.List(ctx, "folder"); err != nil || len(all) > 0 {
		t.Errorf("an empty store lists %v, %v", all, err)
	}
	if _, err := k.Store.Stat(ctx, name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("stat of a missing object: %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	testkit.WriteFile(t, file, data)
	testkit.Must(t, errors.Join(
		objects.PutFile(ctx, k.Store, name, file),
		objects.PutBytes(ctx, k.Store, "folder/b.json", []byte("old")),
		objects.PutBytes(ctx, k.Store, "folder/b.json", []byte("newer")),
		objects.PutBytes(ctx, k.Store, "folder2/c", []byte("c")),
		objects.PutBytes(ctx, k.Store, "folder/none", nil),
	))
	for folder, want := range map[string][]string{
		"":              {"folder/b.json", name, "folder2/c"},
		"folder":        {"folder/b.json", name},
		"folder/deeper": {name},
		"other":         nil,
	} {
		all, err := k.Store.List(ctx, folder)
		var names []string
		for _, o := range all {
			names = append(names, o.Name)
			if age := time.Since(o.Modified); age < -time.Minute || age > time.Hour {
				t.Errorf("%s was modified at %s", o.Name, o.Modified)
			}
			if o.Name == name && o.Bytes != int64(len(data)) {
				t.Errorf("%+v, want %d bytes", o, len(data))
			}
		}
		if slices.Sort(names); err != nil || !slices.Equal(names, want) {
			t.Errorf("folder %q has %q, %v, want %q", folder, names, err, want)
		}
	}
	o, err := k.Store.Stat(ctx, name)
	if sum := md5.Sum(data); err != nil || o.Bytes != int64(len(data)) || o.ETag != hex.EncodeToString(sum[:]) {
		t.Errorf("stat: %+v, %v", o, err)
	}
	if got, _, err := k.Store.Read(ctx, "folder/b.json", "", 100); err != nil || string(got) != "newer" {
		t.Errorf("replaced: %q, %v", got, err)
	}
}

// testConditions: of two writes on the same condition one succeeds, and the object is that of it.
func testConditions(t *testing.T, k Kind) {
	if k.ReadOnly {
		return
	}
	ctx := t.Context()
	version := func() string {
		_, version, err := k.Store.Read(ctx, name, "", 100)
		testkit.Must(t, err)
		return version
	}
	put := func(text string, only objects.Condition) error {
		return k.Store.Put(ctx, name, strings.NewReader(text), int64(len(text)), only)
	}
	if err := put("0", objects.Condition{ETag: "0123456789abcdef"}); !errors.Is(err, objects.ErrCondition) {
		t.Errorf("a version of a missing object: %v", err)
	}
	testkit.Must(t, put("1", objects.Condition{Absent: true}))
	if err := put("2", objects.Condition{Absent: true}); !errors.Is(err, objects.ErrCondition) {
		t.Errorf("absent, though it is there: %v", err)
	}
	first := version()
	testkit.Must(t, put("3", objects.Condition{ETag: first}))
	if err := put("4", objects.Condition{ETag: first}); !errors.Is(err, objects.ErrCondition) {
		t.Errorf("an earlier version: %v", err)
	}
	if got, _, err := k.Store.Read(ctx, name, "", 100); err != nil || string(got) != "3" {
		t.Errorf("after all writes: %q, %v", got, err)
	}
}

func testRemoval(t *testing.T, k Kind) {
	if k.ReadOnly {
		return
	}
	ctx := t.Context()
	testkit.Must(t, objects.PutBytes(ctx, k.Store, name, []byte("1")))
	all, err := k.Store.List(ctx, "")
	if err != nil || len(all) != 1 {
		t.Fatalf("%v, %v", all, err)
	}
	rewritten := all[0]
	rewritten.Modified = rewritten.Modified.Add(-time.Hour)
	if removed, err := k.Store.Remove(ctx, rewritten); err != nil || removed {
		t.Errorf("rewritten since it was listed: %v, %v", removed, err)
	}
	if removed, err := k.Store.Remove(ctx, all[0]); err != nil || !removed {
		t.Errorf("as it was listed: %v, %v", removed, err)
	}
	if removed, err := k.Store.Remove(ctx, all[0]); err != nil || removed {
		t.Errorf("missing: %v, %v", removed, err)
	}
}

func testReadOnly(t *testing.T, k Kind) {
	if !k.ReadOnly {
		return
	}
	_, listErr := k.Store.List(t.Context(), "")
	_, statErr := k.Store.Stat(t.Context(), name)
	_, removeErr := k.Store.Remove(t.Context(), objects.Object{Name: name})
	putErr := objects.PutBytes(t.Context(), k.Store, name, data)
	for i, err := range []error{listErr, statErr, removeErr, putErr} {
		if !errors.Is(err, objects.ErrReadOnly) {
			t.Errorf("operation %d: %v", i, err)
		}
	}
}
