package main_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestPurgeOfSteps: every command that moves a channel prints the keys that 'hdqs diff' gives for the step, and no step prints none.
func TestPurgeOfSteps(t *testing.T) {
	files, store := newCatalog(t, 1), filepath.Join(t.TempDir(), "store")
	build := []string{"build", "--catalog", files, "--store", store}
	purged := func(out string) []string {
		if m := regexp.MustCompile(`(?m)^purge: (.*)\n\z`).FindStringSubmatch(out); m != nil {
			return strings.Fields(m[1])
		}
		if strings.Contains(out, "purge") {
			t.Errorf("the keys do not stand at the end: %s", out)
		}
		return nil
	}
	if keys := purged(wants(t, 0, append(build, "--snapshot-time", buildTime)...).out); keys != nil {
		t.Errorf("the first snapshot: %q", keys)
	}
	first, _ := inspect(t, store)
	dropRow(t, files, "poverty-rate")
	built := purged(wants(t, 0, append(build, "--snapshot-time", "2026-11-22T00:00:00Z")...).out)
	if !slices.Contains(built, "ep-poverty-rate") || !slices.Contains(built, "landing") || slices.Contains(built, "ep-funding") {
		t.Errorf("a load: %q", built)
	}
	second, _ := inspect(t, store)
	want := decode[struct{ Purge []string }](t, []byte(wants(t, 0, "diff", "--store", store, "--json", first.ID, second.ID).out)).Purge
	for what, keys := range map[string][]string{
		"build":    built,
		"diff":     purged(wants(t, 0, "diff", "--store", store, first.ID, second.ID).out),
		"rollback": purged(wants(t, 0, "rollback", "--store", store).out),
		"publish":  purged(wants(t, 0, "publish", "--store", store, second.ID).out),
	} {
		if !slices.Equal(keys, want) {
			t.Errorf("%s: %q, want %q", what, keys, want)
		}
	}
	if keys := purged(wants(t, 0, "publish", "--store", store, "--channel", "canary", first.ID).out); keys != nil {
		t.Errorf("a channel that showed nothing: %q", keys)
	}
	if keys := purged(wants(t, 0, append(build, "--snapshot-time", "2026-11-23T00:00:00Z")...).out); keys != nil {
		t.Errorf("a load that changes nothing: %q", keys)
	}
	dropRow(t, files, "funding")
	type printed struct{ Purge []string }
	told := decode[printed](t, []byte(wants(t, 0, append(build, "--json", "--snapshot-time", "2026-11-24T00:00:00Z")...).out)).Purge
	if !slices.Contains(told, "ep-funding") || slices.Contains(told, "ep-poverty-rate") {
		t.Errorf("as JSON: %q", told)
	}

	// What cannot be compared may differ in everything, and does not keep a good snapshot from being shown.
	third, _ := inspect(t, store)
	if err := os.Remove(filepath.Join(store, "manifests", third.ID+".json")); err != nil {
		t.Fatal(err)
	}
	o := wants(t, 0, "publish", "--store", store, first.ID)
	if keys := purged(o.out); !slices.Equal(keys, []string{"all"}) || !strings.Contains(o.errors, third.ID) {
		t.Errorf("after a lost manifest: %q, %s", keys, o.errors)
	}
}
