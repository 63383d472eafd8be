package main_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

const (
	mirrorAddress = "s3://" + bucketName + "/mirror"
	storeAddress  = "s3://" + bucketName + "/store"
)

// TestBucket is the life of a store in a bucket: a catalog is mirrored into it, a load reads the mirror and publishes beside it, replicas follow, and one
// thing after another goes wrong.
func TestBucket(t *testing.T) {
	o := newObjectStore(t)
	files, build := newCatalog(t, 1), t.TempDir()
	o.testMirror(t, files, build)
	o.testBuild(t, files, build)
	one, two := filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "two")
	replicas := []*server{o.serve(t, "--store", storeAddress, "--data-dir", one), o.serve(t, "--store", storeAddress, "--data-dir", two)}
	o.testChange(t, files, build, replicas)
	o.testAway(t, one, replicas[0])
	o.testDamage(t, files, build, replicas[1])
	o.testRollback(t, build, replicas[1])
	o.testCollect(t, build)
	o.testWeb(t)
}

// testMirror: the second time nothing is written.
func (o *objectStore) testMirror(t *testing.T, files, data string) {
	said := o.run(t, 0, "mirror", "--catalog", files, "--to", mirrorAddress, "--data-dir", data).out
	passed := o.take(t)
	if last := passed[len(passed)-1]; last.method != "PUT" || last.path != "mirror/catalog.json" {
		t.Errorf("the last request is %s, want the catalog's", last)
	}
	t.Log(strings.TrimSpace(said))
	again := o.run(t, 0, "mirror", "--catalog", files, "--to", mirrorAddress, "--data-dir", data).out
	if !strings.Contains(again, ": 0 written") {
		t.Errorf("second mirror: %s", again)
	}
	dir := filepath.Join(t.TempDir(), "mirror")
	o.run(t, 0, "mirror", "--catalog", mirrorAddress, "--to", dir, "--data-dir", data)
	if got, want := readFile(t, filepath.Join(dir, "catalog.json")), o.get(t, "mirror/catalog.json"); !bytes.Equal(got, want) {
		t.Errorf("catalog.json of a mirror's mirror differs:\n%.300s\n%.300s", got, want)
	}
}

// testBuild: a load from the bucket is the load from the directory, and arrives in the order that leaves readers whole.
func (o *objectStore) testBuild(t *testing.T, files, data string) {
	o.take(t)
	o.run(t, 0, "build", "--catalog", mirrorAddress, "--store", storeAddress, "--data-dir", data)
	passed := o.take(t)
	local, _ := inspect(t, newStore(t, files))
	remote := o.inspect(t, data)
	if len(remote.Tables) != 25 || fmt.Sprint(remote.Tables) != fmt.Sprint(local.Tables) {
		t.Errorf("tables from the mirror differ from those of the directory:\n%v\n%v", remote.Tables, local.Tables)
	}
	var order []string
	for _, p := range passed {
		if p.method == "PUT" {
			order = append(order, strings.Split(p.path, "/")[1])
		}
	}
	if got := strings.Join(slices.Compact(order), " "); got != "segments manifests channels" {
		t.Errorf("order of what was put: %s", got)
	}
	o.run(t, 0, "build", "--catalog", mirrorAddress, "--store", storeAddress, "--data-dir", data)
	for _, p := range o.take(t) {
		if p.method == "PUT" {
			t.Errorf("an unchanged load sends %s", p)
		}
	}
	o.run(t, 0, "verify", "--store", storeAddress)
}

// inspect gives the snapshot of the store in the bucket.
func (o *objectStore) inspect(t *testing.T, data string) snapshotView {
	t.Helper()
	return decode[snapshotView](t, []byte(o.run(t, 0, "inspect", "--store", storeAddress, "--data-dir", data, "--json").out))
}

// dropRow removes the last row of a role's first file, and tells catalog.json so.
func dropRow(t *testing.T, dir, role string) {
	t.Helper()
	path := filepath.Join(dir, "catalog.json")
	c := decode[map[string]any](t, readFile(t, path))
	for _, entry := range c["resources"].([]any) {
		r := entry.(map[string]any)
		if r["role"] != role {
			continue
		}
		file := filepath.Join(dir, r["path"].(string))
		data := bytes.TrimRight(readFile(t, file), "\r\n")
		data = data[:bytes.LastIndexByte(data, '\n')+1]
		writeFile(t, file, data)
		sum := sha256.Sum256(data)
		r["size"], r["sha256"] = len(data), hex.EncodeToString(sum[:])
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, path, text)
		return
	}
	t.Fatalf("no file of role %s", role)
}

// publishChange drops a row, mirrors and builds, and gives the ids of both snapshots and the segments that are new.
func (o *objectStore) publishChange(t *testing.T, files, data, role string) (from, to string, changed map[string]bool) {
	t.Helper()
	before := o.inspect(t, data)
	dropRow(t, files, role)
	o.run(t, 0, "mirror", "--catalog", files, "--to", mirrorAddress, "--data-dir", data)
	o.take(t)
	o.run(t, 0, "build", "--catalog", mirrorAddress, "--store", storeAddress, "--data-dir", data)
	after := o.inspect(t, data)
	changed = map[string]bool{}
	for _, table := range after.Tables {
		changed[table.SHA256] = true
	}
	for _, table := range before.Tables {
		delete(changed, table.SHA256)
	}
	if before.ID == after.ID || len(changed) == 0 || len(changed) > 3 {
		t.Fatalf("from %s to %s: %d tables changed, want the one that lost a row and what is derived from it", before.ID, after.ID, len(changed))
	}
	return before.ID, after.ID, changed
}

// testChange: of a change only the segments of its tables travel, to the bucket and to each replica, and nobody who asks meanwhile is turned away.
func (o *objectStore) testChange(t *testing.T, files, data string, replicas []*server) {
	ask := newAsking(replicas)
	from, to, changed := o.publishChange(t, files, data, "poverty-rate")
	passed := o.take(t)
	for _, args := range [][]string{{from, to}, {from}} { // two snapshots are compared by their manifests
		got := o.run(t, 0, append([]string{"diff", "--store", storeAddress, "--data-dir", t.TempDir()}, args...)...).out
		var asked []string
		for _, p := range o.take(t) {
			asked = append(asked, p.path)
		}
		if !strings.Contains(got, fmt.Sprintf("%d tables changed", len(changed))) || len(asked) > 5 || strings.Contains(strings.Join(asked, " "), "/segments/") {
			t.Errorf("diff asks for %q and says %s", asked, got)
		}
	}
	sent := o.segments(t, "PUT", passed, changed)
	t.Logf("to the bucket: %d segments, %d bytes of segments, %d bytes in %d requests in all", len(changed), sent, total(passed), len(passed))
	for i, s := range replicas {
		s.signal(t, syscall.SIGHUP)
		waitFor(t, "the replica to swap", func() bool { return strings.Contains(s.said.String(), "snapshot swapped") })
		if !strings.Contains(s.said.String(), "to="+to) {
			t.Errorf("replica %d did not swap to %s:\n%s", i, to, s.said)
		}
		passed := o.take(t)
		got := o.segments(t, "GET", passed, changed)
		t.Logf("to replica %d: %d bytes of segments, %d bytes in %d requests in all", i, got, total(passed), len(passed))
	}
	for _, s := range replicas { // once more, with nothing to be had
		s.signal(t, syscall.SIGHUP)
	}
	waitFor(t, "two looks at the channel", func() bool {
		o.mu.Lock()
		defer o.mu.Unlock()
		return len(o.passed) == 2 && o.inside == 0
	})
	for _, p := range o.take(t) {
		if p.status != http.StatusNotModified || p.received != 0 {
			t.Errorf("a look at an unchanged channel: %s with %d bytes", p, p.received)
		}
	}
	if answers, failed := ask.end(); failed != "" || answers == 0 {
		t.Errorf("%d answers, and %s", answers, failed)
	}
}

// segments wants exactly the given segments to have travelled, each once and whole, and gives their bytes.
func (o *objectStore) segments(t *testing.T, method string, passed []*passage, want map[string]bool) (bytes int64) {
	t.Helper()
	sizes := o.list(t, "store/segments/")
	got := map[string]bool{}
	for _, p := range passed {
		hash, is := strings.CutPrefix(p.path, "store/segments/")
		if hash = strings.TrimSuffix(hash, ".seg"); !is || p.method != method {
			continue
		}
		if got[hash] {
			t.Errorf("%s travelled twice", hash)
		}
		got[hash] = true
		bytes += sizes[p.path]
		if n := max(p.sent, p.received); n < sizes[p.path] || n > sizes[p.path]+4096 { // a signed body has more bytes than the object
			t.Errorf("%s: %d bytes travelled of %d", hash, n, sizes[p.path])
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("%s of the segments %v, want %v", method, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
	return bytes
}

func total(passed []*passage) (bytes int64) {
	for _, p := range passed {
		bytes += p.sent + p.received
	}
	return bytes
}

// asking sends requests to servers until it ends.
type asking struct {
	stop    chan struct{}
	wait    sync.WaitGroup
	answers atomic.Int64
	failed  atomic.Pointer[string]
}

func newAsking(servers []*server) *asking {
	a := &asking{stop: make(chan struct{})}
	for _, s := range servers {
		a.wait.Go(func() {
			for {
				select {
				case <-a.stop:
					return
				case <-time.After(time.Millisecond):
				}
				got, err := tryAsk("GET", s.base+with("/api/v2/food-security-nutrition-poverty/poverty-rate?limit=10"))
				if err != nil || got.status != 200 {
					text := fmt.Sprintf("%s: %d %v", s.base, got.status, err)
					a.failed.Store(&text)
				}
				a.answers.Add(1)
			}
		})
	}
	return a
}

func (a *asking) end() (answers int64, failed string) {
	close(a.stop)
	a.wait.Wait()
	if text := a.failed.Load(); text != nil {
		failed = *text
	}
	return a.answers.Load(), failed
}

// answers wants the server to answer.
func (s *server) answers(t *testing.T) {
	t.Helper()
	if a := ask(t, "GET", s.base+with("/api/v2/metadata/location?limit=1")); a.status != 200 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// testAway: a replica outlives its store, and can be started again without it.
func (o *objectStore) testAway(t *testing.T, data string, s *server) {
	o.close(true)
	defer o.close(false)
	s.signal(t, syscall.SIGHUP)
	waitFor(t, "the failed look", func() bool { return strings.Contains(s.said.String(), "the old one stays") })
	s.answers(t)
	if code := s.stop(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
	again := o.serve(t, "--store", storeAddress, "--data-dir", data)
	if !strings.Contains(again.said.String(), "the store is away; serving the last good one") {
		t.Errorf("a replica without its store says:\n%s", again.said)
	}
	again.answers(t)
	query := o.run(t, 0, "query", "--store", storeAddress, "--data-dir", data, with("/api/v2/metadata/location?limit=1"))
	if !strings.Contains(query.errors, "the store is away") {
		t.Errorf("query says %s", query.errors)
	}
	o.run(t, 3, "serve", "--store", storeAddress, "--data-dir", t.TempDir())
	o.run(t, 3, "verify", "--store", storeAddress, "--data-dir", data)
	o.run(t, 3, "build", "--catalog", mirrorAddress, "--store", storeAddress, "--data-dir", data)
	// What was kept of one store is not served as another's.
	o.run(t, 3, "serve", "--store", "s3://"+bucketName+"/elsewhere", "--data-dir", data)
	again.stop(t)
}

// testDamage: whatever is wrong in the bucket, a running replica keeps its snapshot, and a new one does not start.
func (o *objectStore) testDamage(t *testing.T, files, data string, s *server) {
	kept := t.TempDir()
	o.run(t, 0, "query", "--store", storeAddress, "--data-dir", kept, with("/api/v2/metadata/location?limit=1"))
	from, to, changed := o.publishChange(t, files, data, "poverty-rate")
	segment := "store/segments/" + slices.Sorted(maps.Keys(changed))[0] + ".seg"
	manifest, channel := "store/manifests/"+to+".json", "store/channels/stable.json"
	flip := func(b []byte) []byte {
		b = bytes.Clone(b)
		b[len(b)/2] ^= 1
		return b
	}
	for _, fault := range []struct {
		name, object string
		damage       func([]byte) []byte // nil removes the object
		says         string
	}{
		{"flipped bit in a segment", segment, flip, "SHA-256"},
		{"cut segment", segment, func(b []byte) []byte { return b[:len(b)/2] }, "bytes"},
		{"longer segment", segment, func(b []byte) []byte { return append(bytes.Clone(b), 0) }, "bytes"},
		{"empty segment", segment, func([]byte) []byte { return nil }, "bytes"},
		{"missing segment", segment, nil, "not there"},
		{"flipped bit in the manifest", manifest, flip, "SHA-256"},
		{"empty manifest", manifest, func([]byte) []byte { return nil }, "SHA-256"},
		{"missing manifest", manifest, nil, "not there"},
		{"cut pointer", channel, func(b []byte) []byte { return b[:20] }, "channel"},
		{"pointer to nothing", channel, func(b []byte) []byte { return bytes.ReplaceAll(b, []byte(to), []byte("no-such-snapshot")) }, "not there"},
		{"pointer with unknown keys", channel, func([]byte) []byte { return []byte(`{"next":1}`) }, "channel"},
	} {
		good := o.get(t, fault.object)
		if fault.damage == nil {
			o.remove(t, fault.object)
		} else {
			o.put(t, fault.object, fault.damage(good))
		}
		cold := o.run(t, 4, "serve", "--store", storeAddress, "--data-dir", t.TempDir(), "--listen", "127.0.0.1:0")
		if !strings.Contains(cold.errors, fault.says) || strings.Contains(cold.errors, "listening") {
			t.Errorf("%s: a cold start says %s", fault.name, cold.errors)
		}
		o.run(t, 4, "verify", "--store", storeAddress)
		// One that has kept the snapshot before starts with that, and says why.
		warm := o.serve(t, "--store", storeAddress, "--data-dir", kept)
		if !strings.Contains(warm.said.String(), "serving the last good one") || !strings.Contains(warm.said.String(), "serving snapshot "+from) {
			t.Errorf("%s: a start from what was kept says %s", fault.name, warm.said)
		}
		warm.stop(t)
		lines := strings.Count(s.said.String(), "the old one stays")
		s.signal(t, syscall.SIGHUP)
		waitFor(t, "the refusal: "+fault.name, func() bool { return strings.Count(s.said.String(), "the old one stays") > lines })
		s.answers(t)
		o.put(t, fault.object, good)
	}
	if strings.Contains(s.said.String(), "to="+to) {
		t.Errorf("a damaged snapshot was served:\n%s", s.said)
	}
	s.signal(t, syscall.SIGHUP)
	waitFor(t, "the swap after all is well again", func() bool { return strings.Contains(s.said.String(), "to="+to) })

	// A load finds the damage and mends it, though none of its tables has changed.
	o.put(t, segment, flip(o.get(t, segment)))
	mended := o.run(t, 0, "build", "--catalog", mirrorAddress, "--store", storeAddress, "--data-dir", t.TempDir())
	if !strings.Contains(mended.errors, "damaged and will be replaced") {
		t.Errorf("a load onto a damaged store says %s", mended.errors)
	}
	o.run(t, 0, "verify", "--store", storeAddress)

	// And a replica whose own copy rots fetches it anew.
	rotten := t.TempDir()
	o.run(t, 0, "query", "--store", storeAddress, "--data-dir", rotten, with("/api/v2/metadata/location?limit=1"))
	mine := filepath.Join(rotten, segment)
	writeFile(t, mine, flip(readFile(t, mine)))
	again := o.serve(t, "--store", storeAddress, "--data-dir", rotten)
	if !strings.Contains(again.said.String(), "damaged") {
		t.Errorf("a replica with a rotten copy says:\n%s", again.said)
	}
	again.answers(t)
	again.stop(t)
}

// testRollback: a channel goes back and forth, and a second channel is another's business.
func (o *objectStore) testRollback(t *testing.T, data string, s *server) {
	now := o.inspect(t, data).ID
	said := o.run(t, 0, "rollback", "--store", storeAddress, "--data-dir", data).out
	before := o.inspect(t, data).ID
	if before == now || !strings.Contains(said, before) || !strings.Contains(said, "\npurge: landing ep-") {
		t.Errorf("rollback from %s to %s says %s", now, before, said)
	}
	s.signal(t, syscall.SIGHUP)
	waitFor(t, "the replica to go back", func() bool { return strings.Contains(s.said.String(), "to="+before) })
	o.run(t, 0, "publish", "--store", storeAddress, "--data-dir", data, "--channel", "canary", before)
	o.run(t, 0, "rollback", "--store", storeAddress, "--data-dir", data, "--to", now)
	if again := o.inspect(t, data).ID; again != now {
		t.Errorf("rollback --to %s gives %s", now, again)
	}
	for _, command := range []string{"publish", "verify", "inspect", "diff"} {
		if got := o.run(t, 1, command, "--store", storeAddress, "--data-dir", data, "no-such-snapshot"); !strings.Contains(got.errors, "no-such-snapshot") {
			t.Errorf("%s of a snapshot that is not there says %s", command, got.errors)
		}
	}
	o.run(t, 1, "rollback", "--store", storeAddress, "--data-dir", data, "--channel", "canary")
}

// testCollect: what nobody needs goes, and only that.
func (o *objectStore) testCollect(t *testing.T, data string) {
	all := o.list(t, "store/")
	count := func(found map[string]int64, folder string) (n int) {
		for name := range found {
			if strings.HasPrefix(name, "store/"+folder) {
				n++
			}
		}
		return n
	}
	o.run(t, 0, "gc", "--store", storeAddress, "--data-dir", data, "--keep", "0") // all are younger than the grace
	said := o.run(t, 0, "gc", "--store", storeAddress, "--data-dir", data, "--keep", "0", "--grace", "0s", "--dry-run").out
	if !maps.Equal(all, o.list(t, "store/")) || !strings.Contains(said, "would remove") {
		t.Errorf("gc within its grace, or dry, removed something: %s", said)
	}
	said = o.run(t, 0, "gc", "--store", storeAddress, "--data-dir", data, "--keep", "0", "--grace", "0s").out
	left := o.list(t, "store/")
	t.Logf("%d objects of %d are left: %s", len(left), len(all), strings.TrimSpace(said))
	if count(left, "manifests/") != 4 || count(left, "channels/") != 2 || count(left, "segments/") >= count(all, "segments/") {
		t.Errorf("left are %v", slices.Sorted(maps.Keys(left)))
	}
	for _, channel := range []string{"stable", "canary"} {
		o.run(t, 0, "verify", "--store", storeAddress, "--channel", channel)
	}
}

// testWeb: a replica follows the store of any web server.
func (o *objectStore) testWeb(t *testing.T) {
	dir := t.TempDir()
	for name := range o.list(t, "store/") {
		writeFile(t, filepath.Join(dir, strings.TrimPrefix(name, "store/")), o.get(t, name))
	}
	web := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer web.Close()
	s := o.serve(t, "--store", web.URL, "--data-dir", t.TempDir(), "--allow-http", "--allow-private-hosts")
	s.answers(t)
	o.run(t, 0, "verify", "--store", web.URL, "--allow-http", "--allow-private-hosts")
	o.run(t, 3, "verify", "--store", web.URL, "--allow-http")
	o.run(t, 3, "verify", "--store", web.URL)
	o.run(t, 1, "gc", "--store", web.URL, "--allow-http", "--allow-private-hosts")
	segments, err := filepath.Glob(filepath.Join(dir, "segments", "*.seg"))
	if err != nil || len(segments) == 0 {
		t.Fatal(err)
	}
	for _, path := range segments { // one of them is the channel's
		if err := os.Truncate(path, 10); err != nil {
			t.Fatal(err)
		}
	}
	o.run(t, 4, "serve", "--store", web.URL, "--data-dir", t.TempDir(), "--allow-http", "--allow-private-hosts")
}
