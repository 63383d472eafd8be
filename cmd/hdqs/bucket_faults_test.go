package main_test

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// TestBucketKill ends a load by kill -9 at each stage of its publishing. The bucket shows the old snapshot, whole, until the pointer has been put, and the
// next load goes through.
func TestBucketKill(t *testing.T) {
	o := newObjectStore(t)
	files, data := newCatalog(t, 1), t.TempDir()
	load := []string{"build", "--catalog", files, "--store", storeAddress, "--data-dir", data}
	killed := func(stage string, nth int, snapshotTime string, args ...string) {
		t.Helper()
		load := o.start(t, append(append([]string{}, args...), "--snapshot-time", snapshotTime)...)
		var once sync.Mutex
		o.hold(func(r *http.Request) {
			once.Lock()
			defer once.Unlock()
			if r.Method != http.MethodPut || !strings.Contains(r.URL.Path, stage) {
				return
			}
			if nth--; nth == 0 {
				_ = load.cmd.Process.Kill()
				<-load.ended
				panic(http.ErrAbortHandler)
			}
		})
		<-load.ended
		o.hold(nil)
		if load.cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Fatalf("the load was not killed at %s: %v\n%s", stage, load.cmd.ProcessState, load.said)
		}
	}

	// Into an empty bucket: there is nothing to see until the load is through.
	killed("/segments/", 3, buildTime, load...)
	o.run(t, 1, "verify", "--store", storeAddress)
	o.run(t, 0, append(load, "--snapshot-time", buildTime)...)
	old := o.inspect(t, data).ID

	for i, stage := range []struct {
		name string
		nth  int
	}{{"/segments/", 1}, {"/segments/", 2}, {".report.json", 1}, {"/manifests/", 2}, {"/channels/", 1}} {
		dropRow(t, files, "poverty-rate")
		at := fmt.Sprintf("2026-11-22T0%d:00:00Z", i)
		killed(stage.name, stage.nth, at, load...)
		// The data directory of the killed load, an empty one, and the bucket itself are all as before.
		for _, dir := range []string{data, t.TempDir()} {
			if now := o.inspect(t, dir).ID; now != old {
				t.Errorf("killed at %s %d: the store shows %s, want %s", stage.name, stage.nth, now, old)
			}
		}
		o.run(t, 0, "verify", "--store", storeAddress)
		if i%2 == 1 { // now and then the next load is another one
			dropRow(t, files, "poverty-rate")
		}
		o.run(t, 0, append(load, "--snapshot-time", at)...)
		now := o.inspect(t, t.TempDir()).ID
		if now == old {
			t.Errorf("killed at %s %d: the next load published nothing", stage.name, stage.nth)
		}
		old = now
		o.run(t, 0, "verify", "--store", storeAddress)
	}
}

// TestBucketResume: a file of a mirror whose answer is cut goes on where it stopped, in the same load and in the next one; of an object that was replaced
// meanwhile nothing old is kept.
func TestBucketResume(t *testing.T) {
	o := newObjectStore(t)
	files := newCatalog(t, 1)
	const name = "conflict-events/hdx_hapi_conflict_event_global_2025.csv"
	o.run(t, 0, "mirror", "--catalog", files, "--to", mirrorAddress, "--data-dir", t.TempDir())
	data := o.get(t, "mirror/"+name)
	size := int64(len(data))
	asked := func() (ranges []string, match map[string]bool, received int64) {
		match = map[string]bool{}
		for _, p := range o.take(t) {
			if p.path == "mirror/"+name && p.method == http.MethodGet {
				ranges, received = append(ranges, p.ranged), received+p.received
				if p.ranged != "" {
					match[p.match] = true
				}
			}
		}
		return ranges, match, received
	}
	// cutting cuts the first answers for the file, and is told of each request for it.
	cutting := func(times int, told func(n int)) {
		n := 0
		var mu sync.Mutex
		o.cut(func(r *http.Request) int64 {
			if r.Method != http.MethodGet || !strings.HasSuffix(r.URL.Path, name) {
				return 0
			}
			mu.Lock()
			defer mu.Unlock()
			n++
			if told != nil {
				told(n)
			}
			if n <= times {
				return size / 4
			}
			return 0
		})
	}
	wantTables := func(what, dir string, want snapshotView) {
		t.Helper()
		if got, _ := inspect(t, filepath.Join(dir, "store")); fmt.Sprint(got.Tables) != fmt.Sprint(want.Tables) {
			t.Errorf("%s: the tables are not those of the whole files", what)
		}
	}
	load := func(dir string) []string {
		return []string{"build", "--catalog", mirrorAddress, "--store", filepath.Join(dir, "store"), "--data-dir", dir, "--snapshot-time", buildTime}
	}
	want, _ := inspect(t, newStore(t, files))

	dir := t.TempDir()
	o.take(t)
	cutting(2, nil)
	o.run(t, 0, load(dir)...)
	ranges, match, received := asked()
	quarters := fmt.Sprint([]string{"", fmt.Sprintf("bytes=%d-", size/4), fmt.Sprintf("bytes=%d-", 2*(size/4))})
	sum := md5.Sum(data)
	if fmt.Sprint(ranges) != quarters || len(match) != 1 || !match[`"`+hex.EncodeToString(sum[:])+`"`] || received != size {
		t.Errorf("asked for %q, if it is %v; %d bytes came of %d; want %s", ranges, match, received, size, quarters)
	}
	wantTables("cut twice", dir, want)

	// The load is killed while it waits for the rest; the next one asks for that only.
	dir = t.TempDir()
	killed := make(chan *server, 1)
	cutting(1, func(n int) {
		if n == 2 {
			s := <-killed
			_ = s.cmd.Process.Kill()
			<-s.ended
		}
	})
	s := o.start(t, load(dir)...)
	killed <- s
	s.wait(t)
	o.cut(nil)
	late := 0
	waitFor(t, "both requests to be over", func() bool {
		ranges, _, _ := asked()
		late += len(ranges)
		return late == 2
	})
	o.run(t, 0, load(dir)...)
	if ranges, _, received := asked(); len(ranges) != 1 || ranges[0] != fmt.Sprintf("bytes=%d-", size/4) || received != size-size/4 {
		t.Errorf("after a kill: asked for %q, %d bytes came of %d", ranges, received, size-size/4)
	}
	wantTables("killed", dir, want)

	// The object is replaced while the load waits. The catalog's list must not tell its size and sum, or the load would refuse what is there now.
	next := bytes.Replace(readFile(t, filepath.Join(files, name)), []byte(",civilian_targeting,"), []byte(",demonstration,"), 1)
	c := decode[map[string]any](t, o.get(t, "mirror/catalog.json"))
	for _, entry := range c["resources"].([]any) {
		delete(entry.(map[string]any), "size")
		delete(entry.(map[string]any), "sha256")
	}
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	o.put(t, "mirror/catalog.json", text)
	dir = t.TempDir()
	o.put(t, "mirror/"+name, data)
	cutting(1, func(n int) {
		if n == 2 {
			o.put(t, "mirror/"+name, next)
		}
	})
	asked()
	o.run(t, 0, load(dir)...)
	if ranges, _, _ := asked(); len(ranges) != 3 || ranges[0] != "" || ranges[1] == "" || ranges[2] != "" {
		t.Errorf("of a replaced object is asked for %q", ranges)
	}
	got := readFile(t, filepath.Join(dir, "catalogs", filepath.Base(pathOf(t, dir, "catalogs/*")), "tree", name))
	if !bytes.Equal(got, next) || bytes.Equal(next[:size/4], data[:size/4]) {
		t.Errorf("%d bytes are kept of the replaced object, which has %d", len(got), len(next))
	}
}

// TestBucketLock: one load at a time writes to a data directory, and of two on different machines one finds the channel moved.
func TestBucketLock(t *testing.T) {
	o := newObjectStore(t)
	files, data := newCatalog(t, 1), t.TempDir()
	load := []string{"build", "--catalog", files, "--store", storeAddress}
	o.run(t, 0, append(load, "--data-dir", data)...)
	dropRow(t, files, "poverty-rate")

	reached, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	o.hold(func(r *http.Request) {
		if r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/channels/") {
			first := false
			once.Do(func() { first = true })
			if first {
				close(reached)
				<-release
			}
		}
	})
	slow := o.start(t, append(load, "--data-dir", data, "--snapshot-time", "2026-11-22T00:00:00Z")...)
	<-reached
	second := o.run(t, 1, append(load, "--data-dir", data)...)
	want := fmt.Sprintf("is held by process %d on ", slow.cmd.Process.Pid)
	if !strings.Contains(second.errors, want) || !strings.Contains(second.errors, "build from "+files) {
		t.Errorf("a second load on the same directory says %s, want %q", second.errors, want)
	}
	for _, args := range [][]string{
		{"gc", "--store", filepath.Join(data, "store")},
		{"rollback", "--store", filepath.Join(data, "store")},
	} {
		if got := o.run(t, 1, args...); !strings.Contains(got.errors, want) {
			t.Errorf("%s meanwhile says %s", args[0], got.errors)
		}
	}
	dropRow(t, files, "poverty-rate")
	o.run(t, 0, append(load, "--data-dir", t.TempDir(), "--snapshot-time", "2026-11-23T00:00:00Z")...)
	winner := o.inspect(t, t.TempDir()).ID
	close(release)
	if code := slow.wait(t); code != 1 || !strings.Contains(slow.said.String(), "moved by someone else") || !strings.Contains(slow.said.String(), winner) {
		t.Errorf("the load that was overtaken: exit code %d\n%s", code, slow.said)
	}
	if now := o.inspect(t, data).ID; now != winner {
		t.Errorf("the channel shows %s, want the winner's %s", now, winner)
	}
	if _, err := os.Stat(filepath.Join(data, "store", "lock")); !os.IsNotExist(err) {
		t.Errorf("a lock was left: %v", err)
	}
	o.run(t, 0, append(load, "--data-dir", data, "--snapshot-time", "2026-11-24T00:00:00Z")...)

	// A killed load leaves its lock's file, which nobody holds any more.
	reached, once = make(chan struct{}), sync.Once{}
	release = make(chan struct{})
	dropRow(t, files, "poverty-rate")
	slow = o.start(t, append(load, "--data-dir", data, "--snapshot-time", "2026-11-25T00:00:00Z")...)
	<-reached
	slow.signal(t, syscall.SIGKILL)
	slow.wait(t)
	close(release)
	if _, err := os.Stat(filepath.Join(data, "store", "lock")); err != nil {
		t.Errorf("a killed load leaves no lock behind (%v): this tests nothing", err)
	}
	o.run(t, 0, append(load, "--data-dir", data, "--snapshot-time", "2026-11-25T00:00:00Z")...)
}

// TestBucketSignature: a reader who asks for signatures is given nothing else.
func TestBucketSignature(t *testing.T) {
	o := newObjectStore(t)
	files, data, keys := newCatalog(t, 1), t.TempDir(), t.TempDir()
	key := func(name string) (private, public string) {
		private, public = filepath.Join(keys, name+".pem"), filepath.Join(keys, name+".pub")
		o.run(t, 0, "keygen", "--private", private, "--public", public)
		return private, public
	}
	private, public := key("one")
	private2, public2 := key("two")
	if info, err := os.Stat(private); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("private key: %v %v", info, err)
	}
	o.run(t, 1, "keygen", "--private", private, "--public", filepath.Join(keys, "other")) // no key is overwritten
	both := filepath.Join(keys, "both.pub")
	writeFile(t, both, append(readFile(t, public), readFile(t, public2)...))

	load := []string{"build", "--catalog", files, "--store", storeAddress, "--data-dir", data}
	ask := func(keys string) outcome {
		t.Helper()
		return runWith(t, o.env, "", "verify", "--store", storeAddress, "--require-signature", "--public-key", keys)
	}
	wantCode := func(what string, got outcome, code int, says string) {
		t.Helper()
		if got.code != code || !strings.Contains(got.errors, says) {
			t.Errorf("%s: exit code %d, want %d; says %s", what, got.code, code, got.errors)
		}
	}

	o.run(t, 0, load...)
	wantCode("unsigned", ask(public), 4, "has no signature")
	id := o.inspect(t, data).ID
	o.run(t, 0, append(load, "--sign-key", private)...) // nothing has changed, but now it is signed
	wantCode("signed after an unchanged load", ask(public), 0, "")
	wantCode("another key", ask(public2), 4, "none of the 1 trusted keys")
	wantCode("both keys", ask(both), 0, "")
	o.run(t, 2, "verify", "--store", storeAddress, "--require-signature")
	o.run(t, 2, "verify", "--store", storeAddress, "--require-signature", "--public-key", filepath.Join(keys, "absent"))
	o.run(t, 2, append(load, "--sign-key", public)...)

	strict := []string{"--store", storeAddress, "--require-signature", "--public-key", both}
	s := o.serve(t, append(strict, "--data-dir", t.TempDir())...)
	refused := func(what string) {
		t.Helper()
		lines := strings.Count(s.said.String(), "the old one stays")
		s.signal(t, syscall.SIGHUP)
		waitFor(t, what, func() bool { return strings.Count(s.said.String(), "the old one stays") > lines })
		s.answers(t)
		cold := o.run(t, 4, append(append([]string{"serve"}, strict...), "--data-dir", t.TempDir(), "--listen", "127.0.0.1:0")...)
		if !strings.Contains(cold.errors, "signature refused") {
			t.Errorf("%s: a cold start says %s", what, cold.errors)
		}
		o.run(t, 4, append(append([]string{"query"}, strict...), "--data-dir", t.TempDir(), with("/api/v2/metadata/location?limit=1"))...)
	}
	dropRow(t, files, "poverty-rate")
	o.take(t)
	o.run(t, 0, append(load, "--snapshot-time", "2026-11-22T00:00:00Z")...)
	unsigned := o.inspect(t, data).ID
	o.take(t)
	refused("an unsigned snapshot")
	for _, p := range o.take(t) {
		if strings.Contains(p.path, "/segments/") {
			t.Errorf("%s was fetched for a snapshot that is not signed", p)
		}
	}
	good := o.get(t, "store/manifests/"+id+".sig")
	o.put(t, "store/manifests/"+unsigned+".sig", good) // of another manifest
	refused("another manifest's signature")
	o.put(t, "store/manifests/"+unsigned+".sig", []byte("signed, honestly\n"))
	refused("no signature but a text")
	o.run(t, 0, append(load, "--sign-key", private2, "--snapshot-time", "2026-11-22T00:00:00Z")...)
	o.run(t, 0, append([]string{"verify"}, strict...)...)
	s.signal(t, syscall.SIGHUP)
	waitFor(t, "the swap to the snapshot of the new key", func() bool { return strings.Contains(s.said.String(), "to="+unsigned) })
	if strings.Contains(s.said.String(), "panic") {
		t.Error(s.said)
	}
}

// TestBucketRewind: someone who can write the bucket, but has no key, cannot bring a channel back to an older snapshot, though that is signed; the operator
// can, with the key.
func TestBucketRewind(t *testing.T) {
	o := newObjectStore(t)
	files, data, keys := newCatalog(t, 1), t.TempDir(), t.TempDir()
	private, public := filepath.Join(keys, "key.pem"), filepath.Join(keys, "key.pub")
	o.run(t, 0, "keygen", "--private", private, "--public", public)
	const channel = "store/channels/stable.json"
	load := []string{"build", "--catalog", files, "--store", storeAddress, "--data-dir", data, "--sign-key", private}
	o.run(t, 0, append(load, "--snapshot-time", "2026-11-21T00:00:00Z")...)
	first, old := o.inspect(t, data).ID, o.get(t, channel)
	dropRow(t, files, "poverty-rate")
	o.run(t, 0, append(load, "--snapshot-time", "2026-11-22T00:00:00Z")...)
	second := o.inspect(t, data).ID
	o.run(t, 0, "publish", "--store", storeAddress, "--data-dir", data, "--channel", "canary", "--sign-key", private, first)

	kept := t.TempDir()
	strict := []string{"--store", storeAddress, "--require-signature", "--public-key", public}
	s := o.serve(t, append(strict, "--data-dir", kept)...)
	look := func(what, says string) {
		t.Helper()
		lines := strings.Count(s.said.String(), says)
		s.signal(t, syscall.SIGHUP)
		waitFor(t, what, func() bool { return strings.Count(s.said.String(), says) > lines })
		s.answers(t)
	}
	for name, put := range map[string][]byte{"an older file": old, "another channel's file": o.get(t, "store/channels/canary.json")} {
		good := o.get(t, channel)
		o.put(t, channel, put)
		look(name, "the old one stays")
		again := o.serve(t, append(strict, "--data-dir", kept)...)
		if !strings.Contains(again.said.String(), "serving snapshot "+second) || !strings.Contains(again.said.String(), "signature refused") {
			t.Errorf("%s: a replica that is started again says %s", name, again.said)
		}
		again.stop(t)
		o.put(t, channel, good)
	}
	if strings.Contains(s.said.String(), "to="+first) {
		t.Errorf("the older snapshot was served: %s", s.said)
	}
	o.run(t, 0, "rollback", "--store", storeAddress, "--data-dir", data)
	look("a rollback without the key", "the old one stays")
	o.run(t, 0, "rollback", "--store", storeAddress, "--data-dir", data, "--sign-key", private)
	o.run(t, 0, "rollback", "--store", storeAddress, "--data-dir", data, "--sign-key", private)
	look("the rollback of who has the key", "to="+first)
	o.run(t, 0, append([]string{"verify"}, strict...)...)

	// The same for a store on this disk, as far as one process can remember.
	local := filepath.Join(t.TempDir(), "store")
	load = []string{"build", "--catalog", files, "--store", local, "--sign-key", private, "--snapshot-time"}
	o.run(t, 0, append(load, "2026-11-21T00:00:00Z")...)
	path := filepath.Join(local, "channels", "stable.json")
	old = readFile(t, path)
	dropRow(t, files, "poverty-rate")
	o.run(t, 0, append(load, "2026-11-22T00:00:00Z")...)
	s = o.serve(t, "--store", local, "--require-signature", "--public-key", public)
	replace(t, path, old)
	look("an older file in a directory", "moved back")
}
