package api_test

import (
	"fmt"
	"log"
	"os"
	"time"

	"hdqs/api"
	"hdqs/api/state"
	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

// Write a table of two sectors to a store and query it without a network.
func Example() {
	dir, err := os.MkdirTemp("", "hdqs-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	st, err := store.Open(dir)
	if err != nil {
		log.Fatal(err)
	}
	sectors, err := st.Segments.PutSegment(&snapshot.TableData{
		Name: "sector",
		Rows: 2,
		Columns: []snapshot.ColumnData{
			{Name: "code", Kind: snapshot.Text, Index: true, Values: []string{"EDU", "WSH"}, Codes: []uint32{0, 1}},
			{Name: "name", Kind: snapshot.Text, Values: []string{"Education", "Water"}, Codes: []uint32{0, 1}},
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	manifest := &store.Manifest{
		Format: 1, ID: "example", SnapshotTime: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC),
		Tables: []store.SegmentRef{sectors},
	}
	if err := st.Snapshots.PutManifest(manifest); err != nil {
		log.Fatal(err)
	}
	snap, err := st.Snapshots.Open("example")
	if err != nil {
		log.Fatal(err)
	}

	server := api.New(state.Options{Identifier: state.IgnoreIdentifier})
	if err := server.State.Swap(state.Release{Snapshot: snap}); err != nil {
		log.Fatal(err)
	}
	answer := server.Answer("GET", "/api/v2/metadata/sector?name=water", nil)
	fmt.Println(answer.Status, string(answer.Body))
	// Output: 200 {"data":[{"code":"WSH","name":"Water"}]}
}
