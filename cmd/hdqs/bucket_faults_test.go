package main_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"hdqs/internal/testkit"
)

// TestBucketKill kills a load with SIGKILL at each stage of publishing. The bucket shows the
// complete old snapshot until the pointer is written, and the next load succeeds.
func TestBucketKill(t *testing.T) { onS3Servers(t, testBucketKill) }

func testBucketKill(t *testing.T, o *objectStore) {
	files, data := smallCatalog(t), t.TempDir()
	load := []string{"build", "--catalog", files, "--store", storeAddress, "--data-dir", data}

	// Into an empty bucket: there is nothing to see until the load has ended.
	o.killAt(t, "/segments/", 3, append(load, "--snapshot-time", buildTime))
	o.run(t, 1, "verify", "--store", storeAddress)
	o.run(t, 0, append(load, "--snapshot-time", buildTime)...)
	old := o.inspect(t, data).ID

	for i, stage := range []struct {
		name string
		nth  int
	}{{"/segments/", 1}, {"/segments/", 2}, {".report.json", 1}, {"/manifests/", 2}, {"/channels/", 1}} {
		t.Run(fmt.Sprintf("%s %d", strings.Trim(stage.name, "/"), stage.nth), func(t *testing.T) {
			changeRows(t, files, "poverty-rate")
			next := append(load, "--snapshot-time", fmt.Sprintf("2026-11-22T0%d:00:00Z", i))
			o.killAt(t, stage.name, stage.nth, next)
			// The data directory of the killed load, an empty one, and the bucket itself are as
			// before.
			for _, dir := range []string{data, t.TempDir()} {
				if now := o.inspect(t, dir).ID; now != old {
					t.Errorf("the store shows %s, want %s", now, old)
				}
			}
			o.run(t, 0, "verify", "--store", storeAddress)
			if i%2 == 1 { // in every other stage the next load is a different one
				changeRows(t, files, "poverty-rate")
			}
			o.run(t, 0, next...)
			now := o.inspect(t, t.TempDir()).ID
			if now == old {
				t.Error("the next load published nothing")
			}
			old = now
			o.run(t, 0, "verify", "--store", storeAddress)
		})
	}
}

// killAt runs a command and kills it at its nth PUT of a path with the given part.
func (o *objectStore) killAt(t *testing.T, part string, nth int, args []string) {
	t.Helper()
	load := o.start(t, args...)
	var mu sync.Mutex
	o.beforeEach(func(r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.Method != http.MethodPut || !strings.Contains(r.URL.Path, part) {
			return
		}
		if nth--; nth == 0 {
			load.kill()
			panic(http.ErrAbortHandler)
		}
	})
	<-load.ended
	o.beforeEach(nil)
	if load.cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the load was not killed: %v\n%s", load.cmd.ProcessState, load.log)
	}
}

// pauseAtChannel holds the first request that writes a channel until release is closed.
func (o *objectStore) pauseAtChannel() (reached, release chan struct{}) {
	reached, release = make(chan struct{}), make(chan struct{})
	var once sync.Once
	o.beforeEach(func(r *http.Request) {
		if r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/channels/") {
			first := false
			once.Do(func() { first = true })
			if first {
				close(reached)
				<-release
			}
		}
	})
	return reached, release
}

// TestBucketLock: one load at a time writes to a data directory. Of two loads on different machines
// the later one finds that the channel has moved.
func TestBucketLock(t *testing.T) { onS3Servers(t, testBucketLock) }

func testBucketLock(t *testing.T, o *objectStore) {
	files, data := smallCatalog(t), t.TempDir()
	load := []string{"build", "--catalog", files, "--store", storeAddress}
	lock := filepath.Join(data, "store", "lock")
	o.run(t, 0, append(load, "--data-dir", data)...)
	changeRows(t, files, "poverty-rate")

	reached, release := o.pauseAtChannel()
	slow := o.start(t, append(load, "--data-dir", data, "--snapshot-time", "2026-11-22T00:00:00Z")...)
	<-reached
	held := fmt.Sprintf("is held by process %d on ", slow.cmd.Process.Pid)
	second := o.run(t, 1, append(load, "--data-dir", data)...)
	if !strings.Contains(second.stderr, held) || !strings.Contains(second.stderr, "build from "+files) {
		t.Errorf("a second load on the same directory: %s, want %q", second.stderr, held)
	}
	for _, command := range []string{"gc", "rollback"} {
		got := o.run(t, 1, command, "--store", filepath.Join(data, "store"))
		if !strings.Contains(got.stderr, held) {
			t.Errorf("%s during a load: %s, want %q", command, got.stderr, held)
		}
	}

	// A load on another machine publishes first.
	changeRows(t, files, "poverty-rate")
	o.run(t, 0, append(load, "--data-dir", t.TempDir(), "--snapshot-time", "2026-11-23T00:00:00Z")...)
	winner := o.inspect(t, t.TempDir()).ID
	close(release)
	if code := slow.wait(t); code != 1 || !slow.logged("moved by someone else") || !slow.logged(winner) {
		t.Errorf("the slower load: exit code %d\n%s", code, slow.log)
	}
	if now := o.inspect(t, data).ID; now != winner {
		t.Errorf("the channel shows %s, want %s, which was published first", now, winner)
	}
	if _, err := os.Stat(lock); !os.IsNotExist(err) {
		t.Errorf("the lock file is still there: %v", err)
	}
	o.run(t, 0, append(load, "--data-dir", data, "--snapshot-time", "2026-11-24T00:00:00Z")...)

	// A killed load leaves its lock file, which no process holds.
	reached, release = o.pauseAtChannel()
	changeRows(t, files, "poverty-rate")
	slow = o.start(t, append(load, "--data-dir", data, "--snapshot-time", "2026-11-25T00:00:00Z")...)
	<-reached
	slow.kill()
	close(release)
	if _, err := os.Stat(lock); err != nil {
		t.Errorf("a killed load has left no lock file (%v): this tests nothing", err)
	}
	o.run(t, 0, append(load, "--data-dir", data, "--snapshot-time", "2026-11-25T00:00:00Z")...)
}

// TestBucketSignature: a reader that requires signatures accepts nothing else.
func TestBucketSignature(t *testing.T) { onS3Servers(t, testBucketSignature) }

func testBucketSignature(t *testing.T, o *objectStore) {
	files, data, keys := smallCatalog(t), t.TempDir(), t.TempDir()
	private, public := o.newKey(t, keys, "one")
	private2, public2 := o.newKey(t, keys, "two")
	if info, err := os.Stat(private); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("private key: %v %v", info, err)
	}
	o.run(t, 1, "keygen", "--private", private, "--public", filepath.Join(keys, "other")) // keys are not overwritten
	both := filepath.Join(keys, "both.pub")
	testkit.WriteFile(t, both, append(testkit.ReadFile(t, public), testkit.ReadFile(t, public2)...))

	load := []string{"build", "--catalog", files, "--store", storeAddress, "--data-dir", data}
	mustVerify := func(what, keys string, code int, says string) {
		t.Helper()
		args := []string{"verify", "--store", storeAddress, "--require-signature", "--public-key", keys}
		if got := runWith(t, o.env, "", args...); got.code != code || !strings.Contains(got.stderr, says) {
			t.Errorf("%s: exit code %d, want %d; %s", what, got.code, code, got.stderr)
		}
	}
	o.run(t, 0, load...)
	mustVerify("unsigned", public, 4, "has no signature")
	id := o.inspect(t, data).ID
	o.run(t, 0, append(load, "--sign-key", private)...) // the same snapshot, now signed
	mustVerify("signed by an unchanged load", public, 0, "")
	mustVerify("another key", public2, 4, "any of the 1 trusted keys")
	mustVerify("both keys", both, 0, "")
	o.run(t, 2, "verify", "--store", storeAddress, "--require-signature")
	absent := filepath.Join(keys, "absent")
	o.run(t, 2, "verify", "--store", storeAddress, "--require-signature", "--public-key", absent)
	o.run(t, 2, append(load, "--sign-key", public)...)

	strict := []string{"--store", storeAddress, "--require-signature", "--public-key", both}
	s := o.serve(t, append(strict, "--data-dir", t.TempDir())...)
	changeRows(t, files, "poverty-rate")
	o.take(t)
	o.run(t, 2, append(load, "--snapshot-time", "2026-11-22T00:00:00Z")...)
	o.unsign(t) // what somebody without the key can do
	o.run(t, 0, append(load, "--snapshot-time", "2026-11-22T00:00:00Z")...)
	unsigned := o.inspect(t, data).ID
	o.take(t)
	o.mustRefuse(t, s, strict, "an unsigned snapshot")
	for _, p := range o.take(t) {
		if strings.Contains(p.path, "/segments/") {
			t.Errorf("%s was fetched for a snapshot that is not signed", p)
		}
	}
	good := o.get(t, "store/manifests/"+id+".sig")
	o.put(t, "store/manifests/"+unsigned+".sig", good)
	o.mustRefuse(t, s, strict, "the signature of another manifest")
	o.put(t, "store/manifests/"+unsigned+".sig", []byte("signed, honestly\n"))
	o.mustRefuse(t, s, strict, "text in place of a signature")

	o.run(t, 0, append(load, "--sign-key", private2, "--snapshot-time", "2026-11-22T00:00:00Z")...)
	o.run(t, 0, append([]string{"verify"}, strict...)...)
	s.signal(t, syscall.SIGHUP)
	testkit.WaitFor(t, "the swap to the newly signed snapshot", func() bool { return s.logged("to=" + unsigned) })
	if s.logged("panic") {
		t.Error(s.log)
	}
}

// unsign removes the signature from the channel of the bucket.
func (o *objectStore) unsign(t *testing.T) {
	t.Helper()
	const channel = "store/channels/stable.json"
	o.put(t, channel, regexp.MustCompile(`,"signature":"[^"]*"`).ReplaceAll(o.get(t, channel), nil))
}

// newKey makes a pair of keys in a folder.
func (o *objectStore) newKey(t *testing.T, dir, name string) (private, public string) {
	t.Helper()
	private, public = filepath.Join(dir, name+".pem"), filepath.Join(dir, name+".pub")
	o.run(t, 0, "keygen", "--private", private, "--public", public)
	return private, public
}

// mustRefuse checks that a running replica keeps its snapshot, and that neither a replica with an
// empty data directory nor a query starts. Strict are the flags of all three.
func (o *objectStore) mustRefuse(t *testing.T, s *server, strict []string, what string) {
	t.Helper()
	s.signalAndWait(t, what, oldOneStays)
	s.mustAnswer(t)
	cold := append([]string{"serve"}, append(strict, "--data-dir", t.TempDir(), "--listen", "127.0.0.1:0")...)
	if got := o.run(t, 4, cold...); !strings.Contains(got.stderr, "signature refused") {
		t.Errorf("%s: a start with an empty data directory: %s", what, got.stderr)
	}
	path := with("/api/v2/metadata/location?limit=1")
	o.run(t, 4, append([]string{"query"}, append(strict, "--data-dir", t.TempDir(), path)...)...)
}

// TestBucketRewind: a writer of the bucket who has no key cannot move a channel back to an older,
// signed snapshot. The operator, who has the key, can.
func TestBucketRewind(t *testing.T) { onS3Servers(t, testBucketRewind) }

func testBucketRewind(t *testing.T, o *objectStore) {
	files, data := smallCatalog(t), t.TempDir()
	private, public := o.newKey(t, t.TempDir(), "key")
	const channel = "store/channels/stable.json"
	load := []string{"build", "--catalog", files, "--store", storeAddress, "--data-dir", data, "--sign-key", private}
	o.run(t, 0, append(load, "--snapshot-time", "2026-11-21T00:00:00Z")...)
	first, old := o.inspect(t, data).ID, o.get(t, channel)
	changeRows(t, files, "poverty-rate")
	o.run(t, 0, append(load, "--snapshot-time", "2026-11-22T00:00:00Z")...)
	second := o.inspect(t, data).ID
	move := []string{"--store", storeAddress, "--data-dir", data}
	o.run(t, 0, append([]string{"publish", "--channel", "canary", "--sign-key", private, first}, move...)...)

	replica := t.TempDir()
	strict := []string{"--store", storeAddress, "--require-signature", "--public-key", public}
	s := o.serve(t, append(strict, "--data-dir", replica)...)
	canary := o.get(t, "store/channels/canary.json")
	for name, put := range map[string][]byte{"an older file": old, "another channel's file": canary} {
		good := o.get(t, channel)
		o.put(t, channel, put)
		s.signalAndWait(t, name, oldOneStays)
		s.mustAnswer(t)
		again := o.serve(t, append(strict, "--data-dir", replica)...)
		if !again.logged("serving snapshot " + second) {
			t.Errorf("%s: a restarted replica: %s", name, again.log)
		}
		testkit.WaitFor(t, name+" to be refused after a restart", func() bool {
			return again.logged("signature refused")
		})
		again.stop(t)
		o.put(t, channel, good)
	}
	if s.logged("to=" + first) {
		t.Errorf("the older snapshot was served: %s", s.log)
	}
	shown := o.get(t, channel)
	o.run(t, 2, append([]string{"rollback"}, move...)...)
	if !bytes.Equal(o.get(t, channel), shown) {
		t.Error("a rollback without the key has changed the channel")
	}
	o.run(t, 0, append([]string{"rollback", "--sign-key", private}, move...)...)
	s.signalAndWait(t, "a rollback with the key", "to="+first)
	s.mustAnswer(t)
	o.run(t, 0, append([]string{"verify"}, strict...)...)
}

// TestRewindOfDirectory: a replica of a store on its own disk refuses an older pointer, too,
// for as long as the process remembers the newer one.
func TestRewindOfDirectory(t *testing.T) {
	parallel(t)
	o := new(objectStore) // without a server, for its commands
	files, store := smallCatalog(t), filepath.Join(t.TempDir(), "store")
	private, public := o.newKey(t, t.TempDir(), "key")
	load := []string{"build", "--catalog", files, "--store", store, "--sign-key", private, "--snapshot-time"}
	o.run(t, 0, append(load, "2026-11-21T00:00:00Z")...)
	channel := filepath.Join(store, "channels", "stable.json")
	old := testkit.ReadFile(t, channel)
	changeRows(t, files, "poverty-rate")
	o.run(t, 0, append(load, "2026-11-22T00:00:00Z")...)
	s := o.serve(t, "--store", store, "--require-signature", "--public-key", public)
	testkit.ReplaceFile(t, channel, old)
	s.signalAndWait(t, "an older file in a directory", "moved back")
	s.mustAnswer(t)
}

// TestBucketMistakes: what is wrong with the way to a bucket, or with a channel there, is said.
func TestBucketMistakes(t *testing.T) { onS3Servers(t, testBucketMistakes) }

func testBucketMistakes(t *testing.T, o *objectStore) {
	o.run(t, 0, "build", "--catalog", smallCatalog(t), "--store", storeAddress, "--data-dir", t.TempDir())
	data := t.TempDir()
	for _, args := range [][]string{{"inspect"}, {"serve"}, {"query", "/api/v2/metadata/sector"}} {
		got := o.run(t, 1, append(args, "--store", storeAddress, "--channel", "staple", "--data-dir", data)...)
		if want := `has no channel "staple"; it has stable`; !strings.Contains(got.stderr, want) {
			t.Errorf("%q: %s, want %s", args, got.stderr, want)
		}
	}
	if strings.Contains(t.Name(), "moto") {
		return // which takes any secret
	}
	wrong := append(slices.Clone(o.env), "AWS_SECRET_ACCESS_KEY=wrong")
	got := runWith(t, wrong, "", "inspect", "--store", storeAddress, "--data-dir", data)
	if got.code != 3 || !strings.Contains(got.stderr, "it refused access, check the credentials") {
		t.Errorf("a wrong secret: %d, %s", got.code, got.stderr)
	}
}
