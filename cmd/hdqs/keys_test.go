package main_test

import (
	"fmt"
	"testing"

	"hdqs/api/contract"
	"hdqs/internal/testkit"
	"hdqs/snapshot"
	snapshots "hdqs/snapshot/store"
)

// TestKeys looks for rows with one key in generated tables, and TestFixtures in real ones.
func TestKeys(t *testing.T) {
	parallel(t)
	checkKeys(t, sampleStore(t))
}

// checkKeys looks for rows with one key, and for a first column of the key that does not go with
// the first one by which rows are sorted. The judge compares the order of rows.
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
		firstOf := [2]map[string]string{{}, {}}
		for row := range seg.Rows() {
			var key []byte
			first := [2]string{cellOf(t, seg, e.Key[0], row), cellOf(t, seg, e.Order[0], row)}
			for k, of := range firstOf {
				if other, known := of[first[k]]; known && other != first[1-k] {
					t.Errorf("%s: %s goes with %s and %s", e.Table, first[k], other, first[1-k])
				}
				of[first[k]] = first[1-k]
			}
			for _, name := range e.Key {
				key = append(key, cellOf(t, seg, name, row)...)
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
	testkit.Must(t, err)
	p, err := s.Channels.Channel("stable")
	testkit.Must(t, err)
	snap, err := s.Snapshots.Open(p.ID)
	testkit.Must(t, err)
	t.Cleanup(func() { _ = snap.Close() })
	return snap
}

// cellOf is a value as text, with its length before it, so that keys cannot run into one another.
func cellOf(t *testing.T, seg *snapshot.Segment, name string, row int) string {
	t.Helper()
	c, err := seg.Column(name)
	testkit.Must(t, err)
	at := uint32(row)
	if c.Group != nil {
		at = uint32(c.Group.Codes.At(at))
	}
	var text string
	if c.Kind == snapshot.Text || c.Kind == snapshot.Enum {
		text = c.Text(at)
	} else {
		text = fmt.Sprint(c.Int(at))
	}
	return fmt.Sprintf("%d:%s null %t, ", len(text), text, c.IsNull(at))
}
