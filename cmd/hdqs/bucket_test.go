package main_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"hdqs/api/contract"
	"hdqs/internal/testkit"
)

const (
	mirrorAddress = "s3://" + bucketName + "/mirror"
	storeAddress  = "s3://" + bucketName + "/store"
)

// oldOneStays is what a replica logs when it keeps its snapshot.
const oldOneStays = "the old one stays"

// TestBucket follows a store in a bucket: a catalog is mirrored into the bucket, a load reads the
// mirror and publishes beside it, replicas follow, and then one thing after another goes wrong.
func TestBucket(t *testing.T) {
	o := onVersity(t)
	files, build := smallCatalog(t), t.TempDir()
	o.testMirror(t, files, build)
	o.testBuild(t, files, build)
	one, two := t.TempDir(), t.TempDir()
	replicas := []*server{
		o.serve(t, "--store", storeAddress, "--data-dir", one),
		o.serve(t, "--store", storeAddress, "--data-dir", two),
	}
	o.testChange(t, files, build, replicas)
	o.testOutage(t, one, replicas[0])
	o.testDamage(t, files, build, replicas[1])
	o.testRollback(t, build, replicas[1])
	o.testCollect(t, build)
}

// testMirror mirrors twice. The second time nothing is written.
func (o *objectStore) testMirror(t *testing.T, files, data string) {
	said := o.run(t, 0, "mirror", "--catalog", files, "--to", mirrorAddress, "--data-dir", data).stdout
	requests := o.take(t)
	if last := requests[len(requests)-1]; last.method != "PUT" || last.path != "mirror/catalog.json" {
		t.Errorf("the last request is %s, want catalog.json", last)
	}
	t.Log(strings.TrimSpace(said))
	again := o.run(t, 0, "mirror", "--catalog", files, "--to", mirrorAddress, "--data-dir", data).stdout
	if !strings.Contains(again, ": 0 written") {
		t.Errorf("a second mirror: %s, want 0 written", again)
	}
	dir := filepath.Join(t.TempDir(), "mirror")
	o.run(t, 0, "mirror", "--catalog", mirrorAddress, "--to", dir, "--data-dir", data)
	got, want := testkit.ReadFile(t, filepath.Join(dir, "catalog.json")), o.get(t, "mirror/catalog.json")
	if !bytes.Equal(got, want) {
		t.Errorf("catalog.json of a mirror of the mirror:\n%.300s\n%.300s", got, want)
	}
}

// testBuild: a load from the bucket equals the load from the directory. Segments are written first
// and the channel last, so that readers never see an incomplete snapshot.
func (o *objectStore) testBuild(t *testing.T, files, data string) {
	o.take(t)
	o.run(t, 0, "build", "--catalog", mirrorAddress, "--store", storeAddress, "--data-dir", data)
	requests := o.take(t)
	local, _ := inspect(t, smallStore(t))
	remote := o.inspect(t, data)
	if len(remote.Tables) != len(contract.Endpoints) || fmt.Sprint(remote.Tables) != fmt.Sprint(local.Tables) {
		t.Errorf("tables from the mirror: %v\ntables from the directory: %v", remote.Tables, local.Tables)
	}
	var order []string
	for _, p := range requests {
		if p.method == "PUT" {
			order = append(order, strings.Split(p.path, "/")[1])
		}
	}
	if got := strings.Join(slices.Compact(order), " "); got != "segments manifests channels" {
		t.Errorf("order of PUTs: %s", got)
	}
	o.run(t, 0, "build", "--catalog", mirrorAddress, "--store", storeAddress, "--data-dir", data)
	for _, p := range o.take(t) {
		if p.method == "PUT" {
			t.Errorf("an unchanged load wrote %s", p)
		}
	}
	o.run(t, 0, "verify", "--store", storeAddress)
}

// longNumber is a field of a row: a number in which another last digit is as good.
var longNumber = regexp.MustCompile(`,(\d+\.\d+|\d{5,}),`)

// changeRows changes the long numbers in a role's first file, and updates catalog.json.
func changeRows(t *testing.T, dir, role string) {
	t.Helper()
	path := filepath.Join(dir, "catalog.json")
	c := decode[map[string]any](t, testkit.ReadFile(t, path))
	for _, entry := range c["resources"].([]any) {
		r := entry.(map[string]any)
		if r["role"] != role {
			continue
		}
		file := filepath.Join(dir, r["path"].(string))
		data := bytes.TrimRight(testkit.ReadFile(t, file), "\r\n")
		numbers := longNumber.FindAllIndex(data, -1)
		if numbers == nil {
			t.Fatalf("%s: no long number", file)
		}
		for _, number := range numbers {
			digit := &data[number[1]-2]
			*digit = '0' + (*digit-'0'+1)%10
		}
		testkit.WriteFile(t, file, data)
		sum := sha256.Sum256(data)
		r["size"], r["sha256"] = len(data), hex.EncodeToString(sum[:])
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		testkit.WriteFile(t, path, text)
		return
	}
	t.Fatalf("no file of role %s", role)
}

// publishChange drops a row, mirrors and builds. It returns the ids of the snapshots before and
// after, and the hashes of the new segments.
func (o *objectStore) publishChange(
	t *testing.T, files, data, role string,
) (from, to string, changed map[string]bool) {
	t.Helper()
	before := o.inspect(t, data)
	changeRows(t, files, role)
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
		t.Fatalf("from %s to %s: %d tables changed, want the one that lost a row and those derived from it",
			before.ID, after.ID, len(changed))
	}
	return before.ID, after.ID, changed
}

// testChange: replicas follow a change. That only what has changed is transferred is tested in
// internal/replica.
func (o *objectStore) testChange(t *testing.T, files, data string, replicas []*server) {
	from, to, changed := o.publishChange(t, files, data, "poverty-rate")
	got := o.run(t, 0, "diff", "--store", storeAddress, "--data-dir", t.TempDir(), from, to).stdout
	if want := fmt.Sprintf("%d tables changed", len(changed)); !strings.Contains(got, want) {
		t.Errorf("diff prints %s, want %q", got, want)
	}
	for _, s := range replicas {
		s.signalAndWait(t, "the replica to swap", "to="+to)
	}
}

// testOutage: a replica goes on serving while its store cannot be reached, and starts again without
// it.
func (o *objectStore) testOutage(t *testing.T, data string, s *server) {
	o.setOffline(true)
	defer o.setOffline(false)
	s.signalAndWait(t, "the failed request for the channel", oldOneStays)
	s.mustAnswer(t)
	if code := s.stop(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
	again := o.serve(t, "--store", storeAddress, "--data-dir", data)
	again.mustAnswer(t)
	testkit.WaitFor(t, "the first poll of a replica without its store", func() bool {
		return again.logged(oldOneStays) && again.logged("remote store is unavailable")
	})
	path := with("/api/v2/metadata/location?limit=1")
	query := o.run(t, 0, "query", "--store", storeAddress, "--data-dir", data, path)
	if !strings.Contains(query.stderr, "the store is unavailable") {
		t.Errorf("query without its store: %s", query.stderr)
	}
	o.run(t, 3, "serve", "--store", storeAddress, "--data-dir", t.TempDir())
	o.run(t, 3, "verify", "--store", storeAddress, "--data-dir", data)
	o.run(t, 3, "build", "--catalog", mirrorAddress, "--store", storeAddress, "--data-dir", data)
	// The copy of one store is not served as that of another.
	o.run(t, 3, "serve", "--store", "s3://"+bucketName+"/elsewhere", "--data-dir", data)
	again.stop(t)
}

// testDamage damages the bucket: a running replica keeps its snapshot, a replica with a copy of
// the store serves the copy, and a replica without one does not start. internal/replica and
// internal/follow have all kinds of damage.
func (o *objectStore) testDamage(t *testing.T, files, data string, s *server) {
	query := []string{"query", "--store", storeAddress, with("/api/v2/metadata/location?limit=1"), "--data-dir"}
	kept := t.TempDir()
	o.run(t, 0, append(query, kept)...)
	from, to, changed := o.publishChange(t, files, data, "poverty-rate")
	segment := "store/segments/" + slices.Sorted(maps.Keys(changed))[0] + ".seg"
	flip := func(b []byte) []byte { return flipBit(len(b) / 2)(b) }
	good := o.get(t, segment)
	o.put(t, segment, flip(good))
	cold := o.run(t, 4, "serve", "--store", storeAddress, "--data-dir", t.TempDir(), "--listen", "127.0.0.1:0")
	if !strings.Contains(cold.stderr, "SHA-256") || strings.Contains(cold.stderr, "listening") {
		t.Errorf("a start with an empty data directory: %s", cold.stderr)
	}
	o.run(t, 4, "verify", "--store", storeAddress)
	warm := o.serve(t, "--store", storeAddress, "--data-dir", kept)
	if !warm.logged("serving snapshot " + from) {
		t.Errorf("a start with a copy of the store: %s", warm.log)
	}
	testkit.WaitFor(t, "the refusal at the start", func() bool { return warm.logged(oldOneStays) })
	warm.stop(t)
	s.signalAndWait(t, "the refusal", oldOneStays)
	s.mustAnswer(t)
	o.put(t, segment, good)
	if s.logged("to=" + to) {
		t.Errorf("a damaged snapshot was served:\n%s", s.log)
	}
	s.signal(t, syscall.SIGHUP)
	testkit.WaitFor(t, "the swap to the undamaged snapshot", func() bool { return s.logged("to=" + to) })

	// A load finds and repairs the damage, though none of its tables has changed.
	o.put(t, segment, flip(o.get(t, segment)))
	repair := o.run(t, 5, "build", "--catalog", mirrorAddress, "--store", storeAddress, "--data-dir", t.TempDir())
	if !strings.Contains(repair.stderr, "damaged and will be replaced") {
		t.Errorf("a load onto a damaged store: %s", repair.stderr)
	}
	o.run(t, 0, "verify", "--store", storeAddress)

	// A replica whose own copy is damaged fetches it again.
	damaged := t.TempDir()
	o.run(t, 0, append(query, damaged)...)
	own := filepath.Join(damaged, segment)
	testkit.WriteFile(t, own, flip(testkit.ReadFile(t, own)))
	again := o.serve(t, "--store", storeAddress, "--data-dir", damaged)
	if !again.logged("damaged") {
		t.Errorf("a replica with a damaged copy:\n%s", again.log)
	}
	again.mustAnswer(t)
	again.stop(t)
}

// testRollback moves a channel back and forth; a second channel is independent of it.
func (o *objectStore) testRollback(t *testing.T, data string, s *server) {
	move := []string{"--store", storeAddress, "--data-dir", data}
	now := o.inspect(t, data).ID
	printed := o.run(t, 0, append([]string{"rollback"}, move...)...).stdout
	before := o.inspect(t, data).ID
	if before == now || !strings.Contains(printed, before) || !strings.Contains(printed, "\npurge: landing ep-") {
		t.Errorf("rollback from %s to %s prints %s", now, before, printed)
	}
	s.signal(t, syscall.SIGHUP)
	testkit.WaitFor(t, "the replica to go back", func() bool { return s.logged("to=" + before) })
	o.run(t, 0, append([]string{"publish", "--channel", "canary", before}, move...)...)
	o.run(t, 0, append([]string{"rollback", "--to", now}, move...)...)
	if again := o.inspect(t, data).ID; again != now {
		t.Errorf("rollback --to %s shows %s", now, again)
	}
	const absent = "no-such-snapshot"
	for _, command := range []string{"publish", "verify", "inspect", "diff"} {
		if got := o.run(t, 1, append([]string{command, absent}, move...)...); !strings.Contains(got.stderr, absent) {
			t.Errorf("%s of a snapshot that does not exist: %s", command, got.stderr)
		}
	}
	o.run(t, 1, append([]string{"rollback", "--channel", "canary"}, move...)...)
}

// testCollect: gc removes what no channel needs, and nothing else.
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
	gc := []string{"gc", "--store", storeAddress, "--data-dir", data, "--keep", "0"}
	o.run(t, 0, gc...) // all objects are younger than the default --grace
	dry := o.run(t, 0, append(gc, "--grace", "0s", "--dry-run")...).stdout
	if !maps.Equal(all, o.list(t, "store/")) || !strings.Contains(dry, "would remove") {
		t.Errorf("gc within its grace, or with --dry-run, removed something: %s", dry)
	}
	printed := o.run(t, 0, append(gc, "--grace", "0s")...).stdout
	left := o.list(t, "store/")
	t.Logf("%d objects of %d are left: %s", len(left), len(all), strings.TrimSpace(printed))
	if count(left, "manifests/") != 4 || count(left, "channels/") != 2 ||
		count(left, "segments/") >= count(all, "segments/") {
		t.Errorf("objects after gc: %v", slices.Sorted(maps.Keys(left)))
	}
	for _, channel := range []string{"stable", "canary"} {
		o.run(t, 0, "verify", "--store", storeAddress, "--channel", channel)
	}
}
