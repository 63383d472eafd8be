//go:build !race

package snapshot

import (
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
)

// checkFrozenView lets the library look at our bytes. Its views convert pointers in a way that the checks of the race detector refuse.
func checkFrozenView(t *testing.T, frozen []byte, want *roaring.Bitmap) {
	t.Helper()
	got := roaring.New()
	if err := got.MustFrozenView(frozen); err != nil {
		t.Fatal(err)
	}
	if !got.Equals(want) {
		t.Fatalf("the library reads %d rows, want %d", got.GetCardinality(), want.GetCardinality())
	}
}
