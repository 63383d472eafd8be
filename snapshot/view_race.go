//go:build race

package snapshot

import (
	"encoding/binary"

	"github.com/RoaringBitmap/roaring/v2"
)

// viewFrozen returns a copy of a frozen bitmap. FrozenView of roaring v2.30 converts pointers of
// empty slices, which is harmless but ends a program under the race detector: its pointer checks
// (checkptr) refuse it.
func viewFrozen(data []byte, rows int) (*roaring.Bitmap, error) {
	out := roaring.New()
	err := Containers(data, rows, true, func(c Container) {
		base := uint64(c.Key) << chunkBits
		switch c.Type {
		case BitmapContainer:
			for i := range uint64(chunkRows) {
				if data[uint64(c.At)+i/8]>>(i%8)&1 != 0 {
					out.Add(uint32(base + i))
				}
			}
		case ArrayContainer:
			for i := range c.N {
				out.Add(uint32(base) + uint32(binary.LittleEndian.Uint16(data[c.At+2*i:])))
			}
		case RunContainer:
			for i := range c.N {
				first := base + uint64(binary.LittleEndian.Uint16(data[c.At+4*i:]))
				out.AddRange(first, first+uint64(binary.LittleEndian.Uint16(data[c.At+4*i+2:]))+1)
			}
		}
	})
	return out, err
}
