//go:build race

package snapshot

import (
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
)

func checkFrozenView(*testing.T, []byte, *roaring.Bitmap) {}
