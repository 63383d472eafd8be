package columnar

import (
	"encoding/binary"
	"encoding/json"
	"math"
)

// pointBytes is the size of a point in WKB: the byte order, the type, and two coordinates.
const pointBytes = 1 + 4 + 8 + 8

func appendPoint(dst []byte, x, y float64) []byte {
	dst = append(dst, 1)
	dst = binary.LittleEndian.AppendUint32(dst, 1)
	dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(x))
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(y))
}

// box is the smallest one around some points.
type box struct {
	some                     bool
	west, south, east, north float64
}

func (b *box) add(x, y float64) {
	if !b.some {
		*b = box{true, x, y, x, y}
		return
	}
	b.west, b.south, b.east, b.north = min(b.west, x), min(b.south, y), max(b.east, x), max(b.north, y)
}

// geo is the GeoParquet metadata of a file with points, empty for others. Coordinates are longitude
// and latitude on WGS 84, which is what a file without a reference system has.
func geo(fields []Field, bounds []box) string {
	type column struct {
		Encoding string    `json:"encoding"`
		Types    []string  `json:"geometry_types"`
		Box      []float64 `json:"bbox,omitempty"`
	}
	meta := struct {
		Version string            `json:"version"`
		Primary string            `json:"primary_column"`
		Columns map[string]column `json:"columns"`
	}{Version: "1.1.0", Columns: map[string]column{}}
	for i := range fields {
		if fields[i].Type() != Point {
			continue
		}
		c := column{Encoding: "WKB", Types: []string{"Point"}}
		if b := bounds[i]; b.some {
			c.Box = []float64{b.west, b.south, b.east, b.north}
		}
		meta.Columns[fields[i].Name] = c
		if meta.Primary == "" {
			meta.Primary = fields[i].Name
		}
	}
	if meta.Primary == "" {
		return ""
	}
	text, err := json.Marshal(meta)
	if err != nil {
		return "" // coordinates that are no numbers, which no column has
	}
	return string(text)
}
