package main_test

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

// backupLoop returns the lines of docs/operating.md that copy a store, for two folders.
func backupLoop(t *testing.T, from, to string, restore bool) string {
	t.Helper()
	text := string(testkit.ReadFile(t, "../../docs/operating.md"))
	m := regexp.MustCompile(`(?s)\n    (for part in ([^;]+); do\n.*?\n    done)\n    hdqs verify --store BACKUP\n`).
		FindStringSubmatch(text)
	if m == nil {
		t.Fatal("docs/operating.md does not say how to copy a store")
	}
	loop := strings.NewReplacer("STORE", from, "BACKUP", to).Replace(m[1])
	if restore {
		parts := strings.Fields(m[2])
		slices.Reverse(parts)
		loop = strings.Replace(loop, m[2], strings.Join(parts, " "), 1)
	}
	return loop
}

// TestBackup: a store that was copied, damaged and restored answers as before, is still signed, and
// has all its files.
func TestBackup(t *testing.T) {
	parallel(t)
	dir, files := t.TempDir(), smallCatalog(t)
	private, public := newKey(t, dir, "key")
	store, backup, restored := filepath.Join(dir, "store"), filepath.Join(dir, "backup"), filepath.Join(dir, "restored")
	build := []string{"build", "--catalog", files, "--bulk", "--sign-key", private, "--store"}
	mustExit(t, 0, append(build, store, "--snapshot-time", buildTime)...)
	want := listDigests(t, store)
	copyAll := func(from, to string, restore bool) {
		t.Helper()
		if out, err := exec.Command("sh", "-ec", backupLoop(t, from, to, restore)).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	copyAll(store, backup, false)
	for _, file := range []string{"segments/*", "manifests/*.json", "channels/*", "bulk/data/*/*.parquet"} {
		testkit.WriteFile(t, pathOf(t, store, file), []byte("damaged"))
	}
	if got := run(t, "verify", "--store", store); got.code == 0 {
		t.Error("the damaged store agrees")
	}
	copyAll(backup, restored, true)
	mustExit(t, 0, "verify", "--store", restored, "--require-signature", "--public-key", public)
	if got := listDigests(t, restored); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	s := serve(t, "--store", restored, "--bulk", "--require-signature", "--public-key", public)
	s.mustAnswer(t)
	mustExit(t, 2, "build", "--catalog", files, "--store", restored)
	changeRows(t, files, "poverty-rate")
	mustExit(t, 0, append(build, restored, "--snapshot-time", "2026-11-22T00:00:00Z")...)
	mustExit(t, 0, "verify", "--store", restored, "--require-signature", "--public-key", public)
}
