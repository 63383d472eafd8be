package render

import (
	"encoding/binary"
	"time"

	"hdqs/snapshot"
)

// RowKeyField is the last field of entities: a key that says which row it is, in a version of the
// table. Keys are as long as one another, so they sort as the rows do.
const (
	RowKeyField  = "row_key"
	RowKeyDigits = 10
)

// AppendRowNumber appends the number of a row as its key has it.
func AppendRowNumber(dst []byte, row uint32) []byte {
	var digits [cellSize]byte
	putRowNumber(&digits, row)
	return append(dst, digits[cellSize-RowKeyDigits:]...)
}

// putRowNumber writes the number at the end of a cell.
func putRowNumber(to *[cellSize]byte, row uint32) {
	high := row / 1e8 * 2 // two digits
	to[cellSize-RowKeyDigits], to[cellSize-RowKeyDigits+1] = pairs[high], pairs[high+1]
	binary.LittleEndian.PutUint64(to[cellSize-8:], eightDigits(uint64(row%1e8)))
}

// rowNumbers stands for the column of a field whose value is the number of the row.
var rowNumbers = &snapshot.Column{Name: RowKeyField, Kind: snapshot.Int}

// timeForm is how a time is written: as the dialect does, as its day, or with the zone.
type timeForm uint8

const (
	dialectTime timeForm = iota
	dayOnly
	withZone
)

func (t timeForm) writer(d dialect) func(dst []byte, micros int64) []byte {
	switch t {
	case dayOnly:
		return AppendDay
	case withZone:
		return AppendZoned
	}
	return d.appendTime
}

// AppendDay appends the day of a time as JSON.
func AppendDay(dst []byte, micros int64) []byte {
	return append(time.UnixMicro(micros).UTC().AppendFormat(append(dst, '"'), time.DateOnly), '"')
}

// AppendZoned appends a time with its zone, UTC, as JSON.
func AppendZoned(dst []byte, micros int64) []byte {
	return append(appendTime(append(dst, '"'), micros, 'T'), `Z"`...)
}

// entitiesDialect writes rows as JSON objects with a key after the other fields. What is around
// them differs from answer to answer (Form.Framed). All fragments but those of times and the last
// are those of JSON.
type entitiesDialect struct {
	jsonDialect
	version string // of the table, with which keys begin
}

func (d entitiesDialect) before(i int, name string) []byte {
	text := d.jsonDialect.before(i, name)
	if name == RowKeyField {
		text = append(append(append(text, '"'), d.version...), '-')
	}
	return text
}

// WithEntities returns a renderer that also writes rows as entities, whose keys begin with a
// version of the table. Times are written with their zone, but for those that days names: only
// their day. One goroutine at a time may call it.
func (r *Renderer) WithEntities(fields []Field, version string, days func(column string) bool) (*Renderer, error) {
	bound, err := bind(r.seg, fields)
	if err != nil {
		return nil, err
	}
	for i := range bound {
		if bound[i].column.Kind != snapshot.Time {
			continue
		}
		bound[i].times = withZone
		if days(bound[i].column.Name) {
			bound[i].times = dayOnly
		}
	}
	bound = append(bound, boundField{name: RowKeyField, column: rowNumbers})
	return r.with(entitiesForm, bound, entitiesDialect{version: version}), nil
}

// Entities returns the form of entities, nil unless the renderer is one of WithEntities.
func (r *Renderer) Entities() *Form { return r.forms[entitiesForm] }

// writeNumbers writes the numbers of the batch's rows.
func (b *rowBatch) writeNumbers(l *lane) int {
	size, stride := 0, l.cells.stride
	for k, row := range b.IDs() {
		cell := l.cells.bytes[k*stride:]
		putRowNumber((*[cellSize]byte)(cell), row)
		l.texts[k] = cell[cellSize-RowKeyDigits : stride]
		size += stride - (cellSize - RowKeyDigits)
	}
	return size
}
