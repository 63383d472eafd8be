package main_test

import (
	"fmt"
	"testing"

	"hdqs/api/contract"
	"hdqs/snapshot"
	snapshots "hdqs/snapshot/store"
)

// TestKeys looks for rows with one key in generated tables, and TestFixtureKeys in real ones.
func TestKeys(t *testing.T) {
	parallel(t)
	checkKeys(t, sampleStore(t))
}

func TestFixtureKeys(t *testing.T) {
	parallel(t)
	checkKeys(t, fixtureStore(t))
}

func checkKeys(t *testing.T, dir string) {
	t.Helper()
	snap := stableSnapshot(t, dir)
	for i := range contract.Endpoints {
		e := &contract.Endpoints[i]
		seg := snap.Segments[e.Table]
		if seg == nil || seg.Rows() == 0 {
			t.Errorf("%s: no rows", e.Table)
			continue
		}
		seen := make(map[string]int, seg.Rows())
		for row := range seg.Rows() {
			var key []byte
			for _, name := range e.Key {
				c, err := seg.Column(name)
				if err != nil {
					t.Fatalf("%s: %v", e.Table, err)
				}
				key = append(key, valueAt(c, uint32(row))...)
			}
			if earlier, twice := seen[string(key)]; twice {
				t.Errorf("%s: rows %d and %d have the key %s", e.Table, earlier, row, key)
				break
			}
			seen[string(key)] = row
		}
	}
}

// stableSnapshot opens the published snapshot of a store until the test ends.
func stableSnapshot(t *testing.T, dir string) *snapshots.Snapshot {
	t.Helper()
	s, err := snapshots.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Channels.Channel("stable")
	if err != nil {
		t.Fatal(err)
	}
	snap, err := s.Snapshots.Open(p.ID)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = snap.Close() })
	return snap
}

// valueAt is a value as text, with its length before it, so that keys cannot run into one another.
func valueAt(c *snapshot.Column, row uint32) string {
	at := row
	if c.Group != nil {
		at = uint32(c.Group.Codes.At(row))
	}
	var text string
	if c.Kind == snapshot.Text || c.Kind == snapshot.Enum {
		text = c.Text(at)
	} else {
		text = fmt.Sprint(c.Int(at))
	}
	return fmt.Sprintf("%d:%s null %t, ", len(text), text, c.IsNull(at))
}
