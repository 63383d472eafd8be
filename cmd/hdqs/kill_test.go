package main_test

import (
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestBuildKilled ends loads by kill -9 all along their way. The store shows the old snapshot or the new one, whole, and the next load gives the bytes of one that
// nothing happened to.
func TestBuildKilled(t *testing.T) {
	files := newCatalog(t, 1)
	store := newStore(t, files)
	old, _ := inspect(t, store)
	dropRow(t, files, "poverty-rate")
	dropRow(t, files, "conflict-events")
	dropRow(t, files, "rainfall")
	began := time.Now()
	want, _ := inspect(t, newStore(t, files))
	took := time.Since(began)

	load := []string{"build", "--catalog", files, "--store", store, "--snapshot-time", buildTime}
	killed, seen := 0, map[string]int{}
	for i := range 12 {
		cmd := exec.CommandContext(t.Context(), binary, load...)
		cmd.Env = environment()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(took * time.Duration(i) / 14)
		_ = cmd.Process.Kill()
		if cmd.Wait() != nil {
			killed++
		}
		wants(t, 0, "verify", "--store", store)
		now, _ := inspect(t, store)
		seen[now.ID]++
	}
	if killed < 3 {
		t.Fatalf("%d of 12 loads were killed: this tests nothing", killed)
	}
	wants(t, 0, load...)
	now, _ := inspect(t, store)
	seen[now.ID]++
	if len(seen) != 2 || seen[old.ID] == 0 {
		t.Errorf("the store showed %v, want %s and then one other", seen, old.ID)
	}
	for i := range now.Tables {
		if now.Tables[i] != want.Tables[i] {
			t.Errorf("table %s differs from that of a load that was let be", now.Tables[i].Table)
		}
	}
	wants(t, 0, "verify", "--store", store)
	if left, _ := filepath.Glob(filepath.Join(store, "*", "*.seg")); len(left) > 2*25 {
		t.Errorf("%d segments are left of two snapshots", len(left))
	}
}
