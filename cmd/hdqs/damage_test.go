package main_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"hdqs/internal/testkit"
)

// damagedServer is a server under load whose files a test changes. Each answer must be a refusal,
// be cut short, or be what was answered before.
type damagedServer struct {
	*server
	want                 []string // fingerprints before the damage
	callers              callers
	sound, refused, torn atomic.Int64
}

func newDamagedServer(t *testing.T, s *server) *damagedServer {
	t.Helper()
	d := &damagedServer{server: s, want: s.fingerprints(t)}
	d.callers.start(4, s, func(i int, a answer, err error) bool {
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
			d.torn.Add(1)
		case err != nil:
			t.Errorf("%s: %v", swapRequests[i].path, err)
			return false
		case a.status == 503 && a.header.Get("Cache-Control") == "no-store" && a.header.Get("Retry-After") == "5":
			d.refused.Add(1)
		case fingerprint(&a) == d.want[i]:
			d.sound.Add(1)
		default:
			t.Errorf("%s: %d with %d bytes, which is not what was answered before: %.200s",
				swapRequests[i].path, a.status, len(a.body), a.body)
			return false
		}
		return true
	})
	t.Cleanup(d.callers.end)
	return d
}

// serveDamaged serves a store, which it does not look at again, under load.
func serveDamaged(t *testing.T, store, scrub string) *damagedServer {
	t.Helper()
	return newDamagedServer(t, serve(t,
		"--store", store, "--snapshot-poll", "1h", "--scrub", scrub))
}

// awaitSound waits until all requests are answered as before the damage.
func (d *damagedServer) awaitSound(t *testing.T) {
	t.Helper()
	for i, r := range swapRequests {
		testkit.WaitFor(t, "a sound answer of "+r.path, func() bool {
			a, err := tryAsk("GET", d.base+with(r.path), r.fields...)
			if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
				return false
			}
			if err != nil {
				t.Fatalf("%v\n%s", err, d.log)
			}
			return fingerprint(&a) == d.want[i]
		})
	}
}

// metric returns a sample of /metrics; without labels, name is that of the only one.
func (d *damagedServer) metric(t *testing.T, name string) float64 {
	t.Helper()
	line := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + ` (\S+)$`)
	found := line.FindSubmatch(ask(t, "GET", d.admin+"/metrics").body)
	if found == nil {
		t.Fatalf("/metrics has no %s", name)
	}
	n, err := strconv.ParseFloat(string(found[1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// end stops the load and checks that the process is as before: no panic, and it ends with 0.
func (d *damagedServer) end(t *testing.T) {
	t.Helper()
	d.callers.end()
	t.Logf("%d requests: %d sound answers, %d refused, %d cut short",
		d.callers.asked.Load(), d.sound.Load(), d.refused.Load(), d.torn.Load())
	if n := d.metric(t, "hdqs_panics_total"); n != 0 {
		t.Errorf("%v panics\n%s", n, d.log)
	}
	// A request that read the file while it was damaged may report that after answers were sound.
	testkit.WaitFor(t, "the table not to be refused", func() bool {
		return d.metric(t, `hdqs_table_refused{table="conflict_event"}`) == 0
	})
	if code := d.stop(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, d.log)
	}
}

// TestTruncateUnderLoad empties served files, then halves them. The process lives, and the tables
// are refused until the files are written again, in place or by renaming.
func TestTruncateUnderLoad(t *testing.T) {
	parallel(t)
	store := sampleStore(t)
	backup := copyStore(t, store)
	files, err := filepath.Glob(filepath.Join(store, "segments", "*.seg"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	d := serveDamaged(t, store, "0")
	for round, restore := range []func(path string, data []byte){
		func(path string, data []byte) {
			testkit.Must(t, os.WriteFile(path, data, 0o644))
		},
		func(path string, data []byte) { testkit.ReplaceFile(t, path, data) },
	} {
		refused := d.refused.Load()
		for _, path := range files {
			size := int64(len(testkit.ReadFile(t, path)))
			testkit.Must(t, os.Truncate(path, size/2*int64(round)))
		}
		testkit.WaitFor(t, "100 refusals", func() bool { return d.refused.Load() >= refused+100 })
		testkit.WaitFor(t, "a try to open the file again", func() bool { return d.logged("cannot be opened again") })
		if n := d.metric(t, `hdqs_table_refused{table="conflict_event"}`); n != 1 {
			t.Errorf("hdqs_table_refused is %v while the file is damaged", n)
		}
		for _, path := range files {
			restore(path, testkit.ReadFile(t, filepath.Join(backup, "segments", filepath.Base(path))))
		}
		d.awaitSound(t)
	}
	if n := d.metric(t, `hdqs_segment_faults_total{kind="fault"}`); n == 0 {
		t.Error("no fault was counted")
	}
	d.end(t)
}

// TestStoreRemovedUnderLoad: when files are removed, or replaced by renaming, the served ones stay
// as they are. No request fails.
func TestStoreRemovedUnderLoad(t *testing.T) {
	parallel(t)
	store := sampleStore(t)
	path := segmentOf(t, store, "conflict_event")
	d := serveDamaged(t, store, "100ms")
	testkit.ReplaceFile(t, path, []byte("something else"))
	passes := d.metric(t, "hdqs_scrub_passes_total")
	testkit.WaitFor(t, "a pass", func() bool { return d.metric(t, "hdqs_scrub_passes_total") > passes+1 })
	testkit.Must(t, os.RemoveAll(store))
	passes = d.metric(t, "hdqs_scrub_passes_total")
	testkit.WaitFor(t, "a pass", func() bool { return d.metric(t, "hdqs_scrub_passes_total") > passes+1 })
	d.awaitSound(t)
	d.end(t)
	if d.refused.Load()+d.torn.Load() > 0 {
		t.Error("some requests failed")
	}
}

// TestLinksOfStore: with --data-dir, a replica starts though a segment was removed from its store
// and another one was replaced by a damaged file. Links of segments that are not served are
// removed.
func TestLinksOfStore(t *testing.T) {
	parallel(t)
	store, data := sampleStore(t), t.TempDir()
	view, _ := inspect(t, store)
	args := []string{"--store", store, "--data-dir", data, "--snapshot-poll", "1h", "--scrub", "200ms"}
	links := func() int {
		t.Helper()
		found, err := filepath.Glob(filepath.Join(data, "links", "*", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	s := serve(t, args...)
	want := s.fingerprints(t)
	if n := links(); n != len(view.Tables) {
		t.Fatalf("%d links for %d tables", n, len(view.Tables))
	}
	s.stop(t)
	damaged, removed := segmentOf(t, store, "conflict_event"), segmentOf(t, store, "humanitarian_needs")
	testkit.ReplaceFile(t, damaged, []byte("damaged"))
	testkit.Must(t, os.Remove(removed))
	s = serve(t, args...)
	for i, got := range s.fingerprints(t) {
		if got != want[i] {
			t.Errorf("%s: not the answer from before", swapRequests[i].path)
		}
	}
	buildOther(t, store, "2026-12-01T00:00:00Z")
	s.signalAndWait(t, "the swap", "snapshot swapped")
	next, _ := inspect(t, store)
	testkit.WaitFor(t, "links to the new snapshot only", func() bool { return links() == len(next.Tables) })
}

// TestRebuildDamaged: a server that builds from a catalog builds a damaged table again by itself.
func TestRebuildDamaged(t *testing.T) {
	parallel(t)
	data := t.TempDir()
	d := &damagedServer{server: serve(t, "--catalog", newCatalog(t, 1), "--data-dir", data, "--scrub", "200ms")}
	d.repairs(t, segmentOf(t, filepath.Join(data, "store"), "conflict_event"))
	d.end(t)
}

// repairs flips bits of a served file, then empties it. Each time the server repairs it.
func (d *damagedServer) repairs(t *testing.T, path string) {
	t.Helper()
	d.want = d.fingerprints(t)
	sound := testkit.ReadFile(t, path)
	for n, harm := range []func() error{
		func() error { return overwrite(path, flipBit(len(sound)/2)(sound)) },
		func() error { return os.Truncate(path, 0) },
	} {
		testkit.Must(t, harm())
		testkit.WaitFor(t, "the repair", func() bool {
			return strings.Count(d.log.String(), "refused tables are served again") == n+1
		})
		d.awaitSound(t)
		if !bytes.Equal(testkit.ReadFile(t, path), sound) {
			t.Error("the repaired file has other bytes")
		}
	}
}

// overwrite writes to a file in place, which is not shorter at any time.
func overwrite(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, 0)
	return errors.Join(err, f.Close())
}

// TestCopyDamaged damages the copy of a remote store. The replica downloads the segment again by
// itself.
func TestCopyDamaged(t *testing.T) {
	parallel(t)
	store, data := sampleStore(t), t.TempDir()
	f := newFaultyServer(t, "web", store)
	d := &damagedServer{server: serveWith(t, nil, f.args(data, "--scrub", "300ms")...)}
	testkit.WaitFor(t, "the first poll", func() bool { return d.logged("snapshot fetched") })
	name := filepath.Base(segmentOf(t, store, "conflict_event"))
	d.repairs(t, filepath.Join(data, "store", "segments", name))
	d.end(t)
}
