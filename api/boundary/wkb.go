package boundary

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Kinds of geometries in well-known binary, and how they are marked that have heights or measures.
const (
	wkbPolygon      = 3
	wkbMultiPolygon = 6

	wkbHeight, wkbMeasure, wkbReference = 1 << 31, 1 << 30, 1 << 29 // of PostGIS
	wkbDimensions                       = 1000                      // of ISO: 1000, 2000 or 3000 more
)

var errShort = errors.New("its well-known binary ends early")

// wkb is what is left of a geometry.
type wkb struct {
	left  []byte
	order binary.ByteOrder
}

// polygonsOf reads polygons from well-known binary, with the coordinates after the second left out.
// What it takes in memory is in proportion to the bytes.
func polygonsOf(text []byte) ([][][][]float64, error) {
	w := &wkb{left: text}
	all, err := w.polygons()
	if err == nil && len(w.left) > 0 {
		return nil, fmt.Errorf("its well-known binary has %d bytes too many", len(w.left))
	}
	return all, err
}

func (w *wkb) polygons() ([][][][]float64, error) {
	kind, size, err := w.head()
	switch {
	case err != nil:
		return nil, err
	case kind == wkbPolygon:
		one, err := w.polygon(size)
		return [][][][]float64{one}, err
	case kind != wkbMultiPolygon:
		return nil, fmt.Errorf("its geometry is of kind %d in well-known binary; 3 (Polygon) and 6 (MultiPolygon) "+
			"can be drawn", kind)
	}
	n, err := w.number()
	var all [][][][]float64
	for ; err == nil && n > 0; n-- {
		var one [][][]float64
		if kind, size, err = w.head(); err == nil && kind != wkbPolygon {
			return nil, fmt.Errorf("a part of its MultiPolygon is of kind %d, not 3 (Polygon)", kind)
		}
		if err == nil {
			one, err = w.polygon(size)
		}
		all = append(all, one)
	}
	return all, err
}

// head reads what a geometry begins with: its kind, and how many coordinates a position has.
func (w *wkb) head() (kind uint32, size int, err error) {
	if len(w.left) < 1 {
		return 0, 0, errShort
	}
	if w.order = binary.ByteOrder(binary.BigEndian); w.left[0] == 1 {
		w.order = binary.LittleEndian
	}
	w.left = w.left[1:]
	if kind, err = w.number(); err != nil {
		return 0, 0, err
	}
	size = 2
	for _, more := range []uint32{wkbHeight, wkbMeasure} {
		if kind&more != 0 {
			size++
		}
	}
	if kind&wkbReference != 0 {
		if _, err = w.number(); err != nil {
			return 0, 0, err
		}
	}
	kind &^= wkbHeight | wkbMeasure | wkbReference
	if more := kind / wkbDimensions; more > 0 {
		size += 1 + int(more/3)
	}
	return kind % wkbDimensions, size, nil
}

func (w *wkb) number() (uint32, error) {
	if len(w.left) < 4 {
		return 0, errShort
	}
	n := w.order.Uint32(w.left)
	w.left = w.left[4:]
	return n, nil
}

func (w *wkb) polygon(size int) (rings [][][]float64, err error) {
	n, err := w.number()
	for ; err == nil && n > 0; n-- {
		var points uint32
		if points, err = w.number(); err != nil {
			return nil, err
		}
		if uint64(len(w.left)) < uint64(points)*uint64(8*size) {
			return nil, errShort
		}
		ring := make([][]float64, points)
		for i := range ring {
			x, y := w.order.Uint64(w.left), w.order.Uint64(w.left[8:])
			ring[i] = []float64{math.Float64frombits(x), math.Float64frombits(y)}
			w.left = w.left[8*size:]
		}
		rings = append(rings, ring)
	}
	return rings, err
}
