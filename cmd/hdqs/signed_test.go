package main_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

// filesOf returns the files of a folder with their content, but for locks.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && e.Name() != "lock" {
			files[strings.TrimPrefix(path, dir)] = string(testkit.ReadFile(t, path))
		}
		return err
	})
	testkit.Must(t, err)
	return files
}

// newKey makes a pair of keys in a folder.
func newKey(t *testing.T, dir, name string) (private, public string) {
	t.Helper()
	private, public = filepath.Join(dir, name+".pem"), filepath.Join(dir, name+".pub")
	mustExit(t, 0, "keygen", "--private", private, "--public", public)
	return private, public
}

// TestSignedStaysSigned: no command leaves a signed channel unsigned. Without the key nothing in
// the store changes; with it the channel moves, also back to a snapshot from before the store was
// signed.
func TestSignedStaysSigned(t *testing.T) {
	parallel(t)
	keys, data := t.TempDir(), t.TempDir()
	files, store := smallCatalog(t), filepath.Join(data, "store")
	private, public := newKey(t, keys, "key")
	private2, public2 := newKey(t, keys, "other")
	load := []string{"build", "--catalog", files, "--store", store, "--bulk", "--snapshot-time"}
	mustExit(t, 0, append(load, "2026-11-21T00:00:00Z")...)
	first, _ := inspect(t, store)
	changeRows(t, files, "poverty-rate")
	mustExit(t, 0, append(load, "2026-11-22T00:00:00Z", "--sign-key", private)...) // the first signed one
	second, _ := inspect(t, store)
	changeRows(t, files, "poverty-rate")
	strict := []string{"verify", "--store", store, "--require-signature", "--public-key"}
	mustExit(t, 0, append(strict, public)...)

	before := filesOf(t, store)
	for _, args := range [][]string{
		{"rollback", "--store", store},
		{"rollback", "--store", store, "--to", first.ID},
		{"publish", "--store", store, first.ID},
		{"publish", "--store", store, second.ID},
		append(load, "2026-11-23T00:00:00Z"),
		append(load, "2026-11-22T00:00:00Z"),
		{"export", filepath.Join(keys, "out"), "--catalog", files, "--data-dir", data},
	} {
		got := mustExit(t, 2, args...)
		if !strings.Contains(got.stderr, "channel stable is signed: moving it needs --sign-key") {
			t.Errorf("%q: %s", args, got.stderr)
		}
		if !maps.Equal(before, filesOf(t, store)) {
			t.Errorf("%q changed the store", args)
		}
	}
	mustExit(t, 0, "gc", "--store", store, "--grace", "0", "--keep", "1")
	mustExit(t, 0, append(strict, public)...)
	mustExit(t, 0, "publish", "--store", store, "--channel", "canary", first.ID) // has never been signed

	mustExit(t, 0, "rollback", "--store", store, "--sign-key", private)
	if now, _ := inspect(t, store); now.ID != first.ID {
		t.Errorf("after a rollback: %s, want %s", now.ID, first.ID)
	}
	s := serve(t, "--store", store, "--require-signature", "--public-key", public)
	s.mustAnswer(t)
	for _, line := range []string{"rollback", "build"} {
		args := []string{line, "--store", store, "--sign-key", private2}
		if line == "build" {
			args = append(load, "2026-11-23T00:00:00Z", "--sign-key", private)
		}
		if got := mustExit(t, 0, args...); !strings.Contains(got.stderr, "signed with another key than --sign-key") {
			t.Errorf("%s with another key: no warning in %s", line, got.stderr)
		}
	}
	mustExit(t, 4, append(strict, public2)...)
	mustExit(t, 0, append(strict, public)...)
}

// TestRewound: a replica refuses an older pointer while it runs, and after a start if it has a data
// directory.
func TestRewound(t *testing.T) {
	parallel(t)
	files, store := smallCatalog(t), filepath.Join(t.TempDir(), "store")
	private, public := newKey(t, t.TempDir(), "key")
	load := []string{"build", "--catalog", files, "--store", store, "--sign-key", private, "--snapshot-time"}
	mustExit(t, 0, append(load, "2026-11-21T00:00:00Z")...)
	channel := filepath.Join(store, "channels", "stable.json")
	old := testkit.ReadFile(t, channel)
	changeRows(t, files, "poverty-rate")
	mustExit(t, 0, append(load, "2026-11-22T00:00:00Z")...)
	latest, _ := inspect(t, store)
	args := []string{
		"--store", store, "--require-signature", "--public-key", public, "--snapshot-poll", "1h",
		"--data-dir", t.TempDir(), "--replica", "r1",
	}
	s := serve(t, args...)
	testkit.ReplaceFile(t, channel, old)
	s.signalAndWait(t, "an older file in a directory", "moved back")
	s.mustAnswer(t)
	s.stop(t)
	s = serve(t, args...)
	if !s.logged("moved back") || !s.logged("serving snapshot "+latest.ID) {
		t.Errorf("started again: want snapshot %s\n%s", latest.ID, s.log)
	}
}

// TestNewKeys replaces the keys of a running replica: the new public key is added to its file, the
// load signs with the new private key, and then the old key is removed.
func TestNewKeys(t *testing.T) {
	parallel(t)
	files, store := smallCatalog(t), filepath.Join(t.TempDir(), "store")
	private, public := newKey(t, t.TempDir(), "old")
	private2, public2 := newKey(t, t.TempDir(), "new")
	load := []string{"build", "--catalog", files, "--store", store, "--snapshot-time"}
	mustExit(t, 0, append(load, "2026-11-21T00:00:00Z", "--sign-key", private)...)
	s := serve(t, "--store", store, "--require-signature", "--public-key", public, "--snapshot-poll", "1h")
	changeRows(t, files, "poverty-rate")
	mustExit(t, 0, append(load, "2026-11-22T00:00:00Z", "--sign-key", private2)...)
	s.signalAndWait(t, "a key that is not trusted", "not signed by any of the 1 trusted keys")
	old, key := testkit.ReadFile(t, public), testkit.ReadFile(t, public2)
	testkit.WriteFile(t, public, append(old, key...))
	s.signalAndWait(t, "the new key", "snapshot swapped")
	testkit.WriteFile(t, public, []byte("no key"))
	s.signalAndWait(t, "a damaged file of keys", "--public-key "+public)
	testkit.WriteFile(t, public, key)
	changeRows(t, files, "poverty-rate")
	mustExit(t, 0, append(load, "2026-11-23T00:00:00Z", "--sign-key", private2)...)
	s.signalAndWait(t, "the new key alone", "snapshot swapped")
	changeRows(t, files, "poverty-rate")
	mustExit(t, 0, append(load, "2026-11-24T00:00:00Z", "--sign-key", private)...)
	s.signalAndWait(t, "the old key", "not signed by any of the 1 trusted keys")
}

// TestKeysThatDoNothing: a key that would not be used is an error, and keys are not overwritten.
func TestKeysThatDoNothing(t *testing.T) {
	parallel(t)
	files, store := smallCatalog(t), smallStore(t)
	private, public := newKey(t, t.TempDir(), "key")
	if info, err := os.Stat(private); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("private key: %v %v", info, err)
	}
	mustExit(t, 1, "keygen", "--private", private, "--public", public+".other")
	mustExit(t, 2, "verify", "--store", store, "--require-signature")
	mustExit(t, 2, "verify", "--store", store, "--require-signature", "--public-key", public+".absent")
	mustExit(t, 2, "build", "--catalog", files, "--store", store, "--sign-key", public)
	for _, args := range [][]string{
		{"inspect", "--store", store, "--public-key", public},
		{"serve", "--check", "--store", store, "--public-key", public},
		{"serve", "--public-key", public},
		{"serve", "--require-signature", "--public-key", public},
		{"query", "--require-signature", "--public-key", public, "/api/v2/metadata/sector"},
		{"export", t.TempDir(), "--require-signature", "--public-key", public},
		{"serve", "--catalog", files, "--require-signature", "--public-key", public},
		{"build", "--catalog", files, "--dry-run", "--sign-key", private},
	} {
		if got := mustExit(t, 2, args...); !strings.Contains(got.stderr, "-key") {
			t.Errorf("%q: %s", args, got.stderr)
		}
	}
}
