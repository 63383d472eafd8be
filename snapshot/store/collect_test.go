package store

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hdqs/internal/atomicfile"
	"hdqs/internal/testkit"
	"hdqs/snapshot"
)

// age makes the younger files of a store look this old.
func age(t *testing.T, s *Store, now time.Time, by time.Duration) {
	t.Helper()
	for _, dir := range []string{segmentsDir, manifestsDir, channelsDir} {
		paths, _ := filepath.Glob(filepath.Join(s.Dir(), dir, "*"))
		for _, path := range paths {
			if info, err := os.Stat(path); err == nil && now.Sub(info.ModTime()) < by {
				testkit.Must(t, os.Chtimes(path, now.Add(-by), now.Add(-by)))
			}
		}
	}
}

func TestCollect(t *testing.T) {
	t.Parallel()
	s, now := newStore(t), time.Now()
	put := func(id string, by time.Duration, tables ...*snapshot.TableData) {
		putSnapshot(t, s, id, tables...)
		testkit.Must(t, s.Snapshots.PutReport(id, []byte("{}")))
		age(t, s, now, by)
	}
	// Oldest last: each call makes files look older, and leaves files that are old enough.
	put("young", time.Minute, smallTable("a", 1), smallTable("b", 1))
	put("kept", 50*time.Hour, smallTable("a", 1), smallTable("b", 2))
	put("gone", 100*time.Hour, smallTable("a", 3), smallTable("b", 1))
	put("shown", 200*time.Hour, smallTable("a", 4))
	testkit.Must(t, s.Channels.Publish("channel", "shown", noon))
	o := CollectOptions{Keep: 1, Grace: 24 * time.Hour, Now: now}
	times := map[string]time.Duration{
		"young": time.Minute, "kept": 50 * time.Hour, "gone": 100 * time.Hour,
		"shown": 200 * time.Hour,
	}
	for id, by := range times { // as aging goes by folder, set each manifest's own time
		for _, suffix := range []string{".json", ".report.json"} {
			path := filepath.Join(s.Dir(), manifestsDir, id+suffix)
			testkit.Must(t, os.Chtimes(path, now.Add(-by), now.Add(-by)))
		}
	}
	before, _ := filepath.Glob(filepath.Join(s.Dir(), "*", "*"))
	dry := o
	dry.DryRun = true
	would := testkit.Value(Collect(t.Context(), s.Files(), dry))(t)
	if after, _ := filepath.Glob(filepath.Join(s.Dir(), "*", "*")); !slices.Equal(before, after) {
		t.Error("a dry run removed something")
	}
	did := testkit.Value(Collect(t.Context(), s.Files(), o))(t)
	testkit.Equal(t, fmt.Sprint(*did), fmt.Sprint(*would), "did %+v, would %+v", did, would)
	if !slices.Equal(did.Manifests, []string{"gone"}) || did.Segments != 1 || did.Kept != 3 || did.Bytes == 0 {
		t.Errorf("%+v", did)
	}
	for _, id := range []string{"young", "kept", "shown"} {
		testkit.Must(t, s.Verify(id))
	}
	testkit.Equal(t, string(testkit.Value(s.Snapshots.Report("kept"))(t)), "{}", "a kept report")
	if _, err := s.Snapshots.Report("gone"); err == nil {
		t.Error("the report of a removed snapshot remains")
	}
}

// TestCollectIsCareful: if it cannot read something, it removes nothing.
func TestCollectIsCareful(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(*Store) error{
		"damaged channel": func(s *Store) error {
			return os.WriteFile(filepath.Join(s.Dir(), channelsDir, "other.json"), []byte("{"), 0o644)
		},
		"damaged manifest": func(s *Store) error {
			return os.WriteFile(filepath.Join(s.Dir(), manifestsDir, "s1.json"), []byte("{"), 0o644)
		},
		"missing manifest": func(s *Store) error { return os.Remove(filepath.Join(s.Dir(), manifestsDir, "s1.json")) },
	} {
		s := newStore(t)
		putSnapshot(t, s, "s1", smallTable("a", 1))
		putSnapshot(t, s, "s2", smallTable("a", 2))
		testkit.Must(t, s.Channels.Publish("channel", "s1", noon))
		testkit.Must(t, damage(s))
		before, _ := filepath.Glob(filepath.Join(s.Dir(), "*", "*"))
		if found, err := Collect(t.Context(), s.Files(), CollectOptions{Now: time.Now().Add(time.Hour)}); err == nil {
			t.Errorf("%s: collected %+v", name, found)
		}
		if after, _ := filepath.Glob(filepath.Join(s.Dir(), "*", "*")); !slices.Equal(before, after) {
			t.Errorf("%s: files were removed", name)
		}
	}
}

// TestCollectRandom: after any sequence, every remaining snapshot is complete and every remaining
// segment is used.
func TestCollectRandom(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 7))
	for range 20 {
		s := newStore(t)
		for i := range 2 + random.IntN(8) {
			id := fmt.Sprint("s", i)
			putSnapshot(t, s, id, smallTable("a", random.Int64N(4)), smallTable("b", random.Int64N(4)),
				smallTable("c", random.Int64N(4)))
			if random.IntN(3) == 0 {
				testkit.Must(t, s.Channels.Publish(fmt.Sprint("channel", random.IntN(2)), id, noon))
			}
		}
		keep := random.IntN(3)
		o := CollectOptions{Keep: keep, Now: time.Now().Add(time.Hour)}
		testkit.Value(Collect(t.Context(), s.Files(), o))(t)
		used := map[string]bool{}
		ids := testkit.Value(s.Snapshots.Manifests())(t)
		channels, _ := s.Channels.Names()
		if len(ids) > keep+len(channels) {
			t.Errorf("%d snapshots remain, keep %d and %d channels", len(ids), keep, len(channels))
		}
		for _, id := range ids {
			testkit.Must(t, s.Verify(id))
			m, _ := s.Snapshots.Manifest(id)
			for _, ref := range m.Tables {
				used[ref.SHA256] = true
			}
		}
		for _, name := range channels {
			if p, err := s.Channels.Channel(name); err != nil || !slices.Contains(ids, p.ID) {
				t.Errorf("channel %s points to %s (%v), remaining are %v", name, p.ID, err, ids)
			}
		}
		segments, _ := filepath.Glob(filepath.Join(s.Dir(), segmentsDir, "*"+segmentExt))
		for _, path := range segments {
			if !used[strings.TrimSuffix(filepath.Base(path), segmentExt)] {
				t.Errorf("%s remains, but no snapshot uses it", path)
			}
		}
	}
}

// TestSweep: temporary files of killed writers are removed in every folder, and nothing else.
func TestSweep(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	stays := map[string]bool{}
	for _, folder := range []string{"segments", "channels", "bulk/data/price", "bulk/iceberg/price/metadata"} {
		for name, kept := range map[string]bool{
			".part1234567": false, ".young1234567": true, ".locked1234567": true, "v1.metadata.json": true,
			".hidden": true,
		} {
			path := filepath.Join(s.Dir(), folder, name)
			stays[path] = kept
			testkit.WriteFile(t, path, []byte("text"))
			if old := noon.Add(-time.Hour); name != ".young1234567" {
				testkit.Must(t, os.Chtimes(path, old, old))
			}
			if name == ".locked1234567" {
				f, err := os.Open(path)
				if err == nil {
					err = atomicfile.TryLock(f)
				}
				testkit.Must(t, err)
				defer f.Close()
			}
		}
	}
	testkit.Must(t, s.Sweep(time.Hour))
	for path, kept := range stays {
		if _, err := os.Stat(path); (err == nil) != kept {
			t.Errorf("%s: kept %v, want %v", path, err == nil, kept)
		}
	}
	testkit.Must(t, s.Sweep(0))
	for path, kept := range stays {
		kept = kept && filepath.Base(path) != ".young1234567"
		if _, err := os.Stat(path); (err == nil) != kept {
			t.Errorf("without a grace: %s: kept %v, want %v", path, err == nil, kept)
		}
	}
}
