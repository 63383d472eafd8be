package render

import (
	"errors"
	"fmt"

	"hdqs/api/encode"
	"hdqs/internal/cache"
	"hdqs/snapshot"
)

// Field is a key of a record: its name on the wire and the column with its values.
type Field struct {
	Name   string
	Column string
}

// Renderer renders rows of one segment. It never changes, except for fragments that it builds when
// they are first needed, so any number of goroutines may share it. It reads the segment's memory,
// so it must not be used after the segment's Close.
type Renderer struct {
	forms [formKinds]*Form // the last three are nil without them

	// What renderers of the same rows with other names share.
	seg     *snapshot.Segment
	options encode.Options
	shared  sharedFragments
	subsets *cache.Cache[subsetKey, *Form]

	properties  []int // of points: the position of each field of a record among the form's, 0 without
	pointFields []boundField
}

// The forms of a renderer.
const (
	jsonForm = iota
	csvForm
	linesForm // of JSON, one record each
	pointsForm
	featuresForm
	entitiesForm
	formKinds
)

// New binds the fields of a record to a segment's columns. The error joins all faults, not only the
// first. The options apply to compressed bodies; without a block cache, the renderer has one of its
// own.
func New(seg *snapshot.Segment, fields []Field, o encode.Options) (*Renderer, error) {
	if o.Cache == nil {
		o.Cache = cache.NewClock(blockBytes(seg.Rows()))
	}
	r := &Renderer{
		seg: seg, options: o, shared: sharedFragments{}, subsets: cache.New[subsetKey, *Form](maxSubsets, nil),
	}
	return r.Renamed(fields, fields)
}

// Renamed returns a renderer of the same rows with other names of fields, and with columns of its
// own in CSV. Both share the block cache, and the fragments whose texts are the same. One goroutine
// at a time may call it.
func (r *Renderer) Renamed(fields, csv []Field) (*Renderer, error) {
	boundJSON, err := bind(r.seg, fields)
	if err != nil {
		return nil, err
	}
	boundCSV, err := bind(r.seg, csv)
	if err != nil {
		return nil, err
	}
	return r.with(jsonForm, boundJSON, jsonDialect{}).with(linesForm, boundJSON, linesDialect{}).
		with(csvForm, boundCSV, csvDialect{}), nil
}

// with returns a renderer with another form of a kind.
func (r *Renderer) with(kind int, fields []boundField, d dialect) *Renderer {
	other := *r
	other.forms[kind] = newForm(r.seg.Rows(), fields, d, r.shared, r.options)
	return &other
}

// Bytes is the memory of the fragments that have been made, and of all stored blocks in the cache,
// for renderers with other names as well.
func (r *Renderer) Bytes() int64 {
	n := r.options.Cache.Bytes()
	for _, f := range r.shared {
		n += f.bytes()
	}
	return n
}

// Forget gives up fragments and stored blocks, also for renderers with other names. They are made
// again when they are needed.
func (r *Renderer) Forget() {
	r.options.Cache.Clear()
	r.subsets.Clear()
	for _, f := range r.shared {
		f.forget()
	}
}

// A renderer's own block cache has cachedBytes for each row, enough for the gzip blocks of all rows
// of most tables, or for both codings of half of them. So the memory of stored blocks is
// proportional to what is served: 330 MB for 12 million rows, if all are requested.
const (
	cachedBytes = 27
	minCache    = 9 << 17
)

// boundField is a field with its column. A point has two: column is its latitude.
type boundField struct {
	name   string
	column *snapshot.Column
	lon    *snapshot.Column // nil unless the field is a point
	times  timeForm         // of a time
}

func bind(seg *snapshot.Segment, fields []Field) ([]boundField, error) {
	var faults []error
	if len(fields) == 0 {
		faults = append(faults, fmt.Errorf("render: table %q: no fields", seg.Name()))
	}
	bound := make([]boundField, 0, len(fields))
	seen := make(map[string]bool, len(fields))
	for _, f := range fields {
		if seen[f.Name] {
			faults = append(faults, fmt.Errorf("render: table %q: field %q is named twice", seg.Name(), f.Name))
		}
		seen[f.Name] = true
		c, err := seg.Column(f.Column)
		if err != nil {
			faults = append(faults, fmt.Errorf("render: field %q: %w", f.Name, err))
			continue
		}
		bound = append(bound, boundField{name: f.Name, column: c})
	}
	if len(bound) > maxPieces {
		faults = append(faults,
			fmt.Errorf("render: table %q: %d fields, at most %d", seg.Name(), len(bound), maxPieces))
	}
	return bound, errors.Join(faults...)
}

// JSON returns the form of JSON records.
func (r *Renderer) JSON() *Form { return r.forms[jsonForm] }

// Lines returns the form of NDJSON: JSON records, one a line.
func (r *Renderer) Lines() *Form { return r.forms[linesForm] }

// CSV returns the form of CSV lines.
func (r *Renderer) CSV() *Form { return r.forms[csvForm] }

// Points returns the form of GeoJSON features, nil unless the renderer is one of WithPoints.
func (r *Renderer) Points() *Form { return r.forms[pointsForm] }
