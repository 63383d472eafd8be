package render

import (
	"slices"

	"hdqs/snapshot"
)

// pointsDialect writes a GeoJSON FeatureCollection (RFC 7946): each row is a feature whose
// geometry, the first field, is a point, and whose properties are the other fields.
type pointsDialect struct {
	jsonDialect
	properties int
}

func (pointsDialect) head([]boundField) []byte {
	return []byte(`{"type":"FeatureCollection","features":[`)
}

func (d pointsDialect) before(i int, name string) []byte {
	switch i {
	case 0:
		return []byte(`{"type":"Feature","geometry":`)
	case 1:
		return append(AppendJSONText([]byte(`,"properties":{`), name), ':')
	}
	return d.jsonDialect.before(i, name)
}

func (d pointsDialect) end() []byte {
	if d.properties == 0 {
		return []byte(`,"properties":{}},`)
	}
	return []byte(`}},`)
}

// WithPoints returns a renderer that also writes rows as GeoJSON: columns lat and lon are the place
// of a row, in degrees, and the other fields its properties. One goroutine at a time may call it.
func (r *Renderer) WithPoints(fields []Field, lat, lon string) (*Renderer, error) {
	place, err := bind(r.seg, []Field{{lat, lat}, {lon, lon}})
	if err != nil {
		return nil, err
	}
	properties, positions := make([]Field, 0, len(fields)), make([]int, len(fields))
	for i, f := range fields {
		if f.Column != lat && f.Column != lon {
			properties = append(properties, f)
			positions[i] = len(properties)
		}
	}
	bound := []boundField{{name: "geometry", column: place[0].column, lon: place[1].column}}
	if len(properties) > 0 {
		others, err := bind(r.seg, properties)
		if err != nil {
			return nil, err
		}
		bound = append(bound, others...)
	}
	other := r.with(pointsForm, bound, pointsDialect{properties: len(properties)})
	other.properties, other.pointFields = positions, bound
	return other, nil
}

// featuresDialect writes points that have an id after their properties. What is around them differs
// from answer to answer (Form.Framed). All fragments but the last are those of points.
type featuresDialect struct {
	pointsDialect
	version string // of the table, with which ids begin
}

func (d featuresDialect) before(i int, name string) []byte {
	if name == RowKeyField {
		return append(append([]byte(`},"id":"`), d.version...), '-')
	}
	return d.pointsDialect.before(i, name)
}

func (featuresDialect) end() []byte { return []byte(`},`) }

// WithFeatures returns a renderer that also writes points with ids, which are the keys of rows, if
// it is one of WithPoints. One goroutine at a time may call it.
func (r *Renderer) WithFeatures(version string) *Renderer {
	if r.Points() == nil {
		return r
	}
	bound := append(slices.Clip(r.pointFields), boundField{name: RowKeyField, column: rowNumbers})
	return r.with(featuresForm, bound, featuresDialect{pointsDialect{properties: len(bound) - 2}, version})
}

// Features returns the form of points with ids, nil unless the renderer is one of WithFeatures.
func (r *Renderer) Features() *Form { return r.forms[featuresForm] }

// newPointWriter writes points of two columns, which are null where one of them is. Both have the
// same group, or positions are row ids.
func newPointWriter(f boundField, before []byte, d dialect) fieldWriter {
	lat, lon := newFieldWriter(boundField{column: f.column}, nil, d), newFieldWriter(boundField{column: f.lon}, nil, d)
	at := func(_ *snapshot.Column, i uint32) uint32 { return i }
	if f.column.Group != f.lon.Group {
		at = (*snapshot.Column).Position
	}
	null := d.null()
	return fieldWriter{column: f.column, before: before, null: null, at: func(dst []byte, i uint32) []byte {
		y, x := at(f.column, i), at(f.lon, i)
		if f.column.IsNull(y) || f.lon.IsNull(x) {
			return append(dst, null...)
		}
		dst = lon.at(append(dst, `{"type":"Point","coordinates":[`...), x)
		return append(lat.at(append(dst, ','), y), `]}`...)
	}}
}
