package store

import (
	"cmp"
	"os"
	"testing"

	"hdqs/internal/testkit"
)

// BenchmarkOpenStore opens the snapshot that channel HDQS_BENCH_CHANNEL (stable) of the store at
// HDQS_BENCH_STORE shows; without one it is skipped.
func BenchmarkOpenStore(b *testing.B) {
	dir := os.Getenv("HDQS_BENCH_STORE")
	if dir == "" {
		b.Skip("HDQS_BENCH_STORE names no store")
	}
	s, err := Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	p, err := s.Channels.Channel(cmp.Or(os.Getenv("HDQS_BENCH_CHANNEL"), "stable"))
	if err != nil {
		b.Fatal(err)
	}
	rows, bytes := 0, int64(0)
	b.ReportAllocs()
	for b.Loop() {
		snap, err := s.Snapshots.Open(p.ID)
		if err != nil {
			b.Fatal(err)
		}
		rows, bytes = 0, 0
		for _, ref := range snap.Manifest.Tables {
			rows += ref.Rows
			bytes += ref.Bytes
		}
		testkit.Must(b, snap.Close())
	}
	b.ReportMetric(float64(rows), "rows")
	b.ReportMetric(float64(bytes)/float64(max(rows, 1)), "B/row")
}
