package main_test

import (
	"strings"
	"syscall"
	"testing"

	"hdqs/internal/testkit"
)

// TestBucketPaused stops the S3 server, which then accepts connections and answers nothing, while a
// replica starts with and without a copy of its store, while it looks, and while it ends; and while
// a load begins.
func TestBucketPaused(t *testing.T) { onS3Servers(t, testBucketPaused) }

func testBucketPaused(t *testing.T, o *objectStore) {
	files, data, copied := smallCatalog(t), t.TempDir(), t.TempDir()
	load := []string{"build", "--catalog", files, "--store", storeAddress, "--data-dir", data, "--snapshot-time"}
	o.run(t, 0, append(load, buildTime)...)
	flags := []string{"--store", storeAddress, "--admin", "127.0.0.1:0", "--store-timeout"}
	replica := append([]string{"--data-dir", copied}, append(flags, "5m")...)
	first := o.serve(t, replica...)
	old := first.snapshotID(t)

	// During a poll: SIGHUP begins another one.
	o.signal(t, syscall.SIGSTOP)
	first.signal(t, syscall.SIGHUP)
	testkit.WaitFor(t, "the poll that hangs", func() bool { return first.logged("is taking long") })
	first.mustAnswer(t)
	first.signalAndWait(t, "another poll", "polling again")
	// At the end, which waits for no poll.
	if code := first.stop(t); code != 0 {
		t.Errorf("the end while the server is paused: exit code %d\n%s", code, first.log)
	}

	// At the start, with a copy of the store and without one.
	again := o.serve(t, replica...)
	if id := again.snapshotID(t); id != old {
		t.Errorf("a start while the server is paused serves %s, want %s", id, old)
	}
	cold := startServe(t, o.env, append([]string{"--data-dir", t.TempDir()}, append(flags, "5m")...)...)
	testkit.WaitFor(t, "the reason of /readyz", func() bool {
		a := ask(t, "GET", cold.admin+"/readyz")
		return a.status == 503 && strings.Contains(string(a.body), "reading channel stable")
	})
	if code := cold.stop(t); code != 130 {
		t.Errorf("SIGTERM in a start without a copy: exit code %d, want 130\n%s", code, cold.log)
	}
	serve := append([]string{"serve", "--data-dir", t.TempDir()}, append(flags, "300ms")...)
	if got := o.run(t, 3, serve...); !strings.Contains(got.stderr, "300ms") {
		t.Errorf("a start without a copy ends with %s, want the timeout in it", got.stderr)
	}
	changeRows(t, files, "poverty-rate")
	if got := o.run(t, 3, append(load, "2026-11-22T00:00:00Z")...); !strings.Contains(got.stderr, "10s") {
		t.Errorf("a load ends with %s, want the timeout in it", got.stderr)
	}

	// When the server continues, so do the poll and the next load.
	o.signal(t, syscall.SIGCONT)
	o.run(t, 0, append(load, "2026-11-22T00:00:00Z")...)
	next := o.inspect(t, data).ID
	if next == old {
		t.Fatal("the load published nothing")
	}
	again.signal(t, syscall.SIGHUP)
	testkit.WaitFor(t, "the swap to the new snapshot", func() bool { return again.logged("to=" + next) })
	again.mustAnswer(t)
}
