package store_test

import (
	"fmt"
	"os"
	"time"

	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

// Example stores a table, publishes a snapshot of it and opens what the channel points to.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	s, err := store.Open(dir)
	if err != nil {
		panic(err)
	}
	segment, err := s.Segments.PutSegment(&snapshot.TableData{
		Name: "numbers", Rows: 3,
		Columns: []snapshot.ColumnData{{Name: "n", Kind: snapshot.Int, Ints: []int64{3, 5, 8}}},
	})
	if err != nil {
		panic(err)
	}
	at := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	manifest := &store.Manifest{Format: 1, ID: "first", SnapshotTime: at, Tables: []store.SegmentRef{segment}}
	if err := s.Snapshots.PutManifest(manifest); err != nil {
		panic(err)
	}
	if err := s.Channels.Publish("stable", "first", at); err != nil {
		panic(err)
	}

	pointer, err := s.Channels.Channel("stable")
	if err != nil {
		panic(err)
	}
	snap, err := s.Snapshots.OpenPointer(pointer, nil)
	if err != nil {
		panic(err)
	}
	defer snap.Close()
	n, err := snap.Segments["numbers"].Column("n")
	if err != nil {
		panic(err)
	}
	fmt.Println(pointer.ID, pointer.PublishedAt.Format(time.DateOnly), n.Int(2))
	// Output:
	// first 2026-01-02 8
}
