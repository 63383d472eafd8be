package columnar

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"hdqs/index"
	"hdqs/snapshot"
)

// ParquetOptions are what a Parquet file has besides its rows. The zero value suits any rows.
type ParquetOptions struct {
	RowGroup int               // most rows of a row group, 0 means RowGroup
	SortedBy []string          // fields that the rows are sorted by, nulls last (SortedBy)
	Bloom    []string          // fields to write bloom filters of: codes that are looked up
	Metadata map[string]string // of the file
}

// RowGroup is the most rows of a row group. Readers skip whole groups by their smallest and largest
// values, so small groups of sorted rows mean little to read.
const RowGroup = 20_000

// pageBytes is about the size of a page before it is compressed: a third of a row group's column.
// Readers with a use for the page index skip pages.
const pageBytes = 32 << 10

// Metadata that describes fields: these keys, a colon and the field's name.
const (
	meaningKey = "meaning:"
	unitKey    = "unit:"
)

// WriteParquet writes rows as a Parquet file and returns how many there were. Row groups are sent
// as soon as they are complete, so that memory does not depend on the number of rows. The same rows
// of the same segment give the same bytes.
func WriteParquet(w io.Writer, fields []Field, rows Rows, o ParquetOptions) (int, error) {
	if o.RowGroup == 0 {
		o.RowGroup = RowGroup
	}
	p := &parquetWriter{fields: fields, bounds: make([]box, len(fields)), times: make([][]string, len(fields))}
	for i, f := range fields {
		if f.TimeText {
			for code := range f.Column.Cardinality() {
				p.times[i] = append(p.times[i], formatTime(f.Column.IntOf(uint32(code))))
			}
		}
	}
	p.file = parquet.NewGenericWriter[any](w, p.options(&o)...)
	total := 0
	for b := range index.Batches(rows, o.RowGroup) {
		for i, column := range p.file.ColumnWriters() {
			p.read(b, i)
			// In parts, so that pages end at pageBytes.
			for part := range slices.Chunk(p.values, 1024) {
				if _, err := column.WriteRowValues(part); err != nil {
					return total, fmt.Errorf("field %q: %w", fields[i].Name, err)
				}
			}
		}
		if err := p.file.Flush(); err != nil {
			return total, err
		}
		total += b.Len()
	}
	if text := geo(fields, p.bounds); text != "" {
		p.file.SetKeyValueMetadata("geo", text)
	}
	return total, p.file.Close()
}

// codec compresses all files.
var codec = &zstd.Codec{Level: zstd.DefaultLevel}

// parquetWriter reads columns into the values of the library.
type parquetWriter struct {
	fields []Field
	file   *parquet.GenericWriter[any]
	values []parquet.Value
	floats []float64
	points []byte
	bounds []box      // of points, by field
	times  [][]string // texts of times by code, by field
}

func (p *parquetWriter) options(o *ParquetOptions) []parquet.WriterOption {
	nodes := make([]parquet.Field, len(p.fields))
	options := []parquet.WriterOption{
		parquet.Compression(codec), parquet.PageBufferSize(pageBytes),
		parquet.CreatedBy("hdqs", "1.0.0", "1"), parquet.MaxRowsPerRowGroup(int64(o.RowGroup)),
	}
	for i := range p.fields {
		f := &p.fields[i]
		nodes[i] = namedNode{parquet.FieldID(parquet.Optional(leafOf(f)), i+1), f.Name}
		if f.Meaning != "" {
			options = append(options, parquet.KeyValueMetadata(meaningKey+f.Name, f.Meaning))
		}
		if f.Unit != "" {
			options = append(options, parquet.KeyValueMetadata(unitKey+f.Name, f.Unit))
		}
	}
	for key, value := range o.Metadata {
		options = append(options, parquet.KeyValueMetadata(key, value))
	}
	var sorting []parquet.SortingColumn
	for _, name := range o.SortedBy {
		sorting = append(sorting, parquet.Ascending(name)) // nulls last
	}
	if len(sorting) > 0 {
		options = append(options, parquet.SortingWriterConfig(parquet.SortingColumns(sorting...)))
	}
	var filters []parquet.BloomFilterColumn
	for _, name := range o.Bloom {
		filters = append(filters, parquet.SplitBlockFilter(10, name)) // one wrong hit in a hundred
	}
	if len(filters) > 0 {
		options = append(options, parquet.BloomFilters(filters...))
	}
	return append(options, parquet.NewSchema("rows", orderedGroup{fields: nodes}))
}

// read sets values to those of a field in the rows of a batch.
func (p *parquetWriter) read(b *index.Batch, i int) {
	f := &p.fields[i]
	p.values = slices.Grow(p.values[:0], b.Len())[:b.Len()]
	switch c := f.Column; f.Type() {
	case String:
		null, texts := uint32(c.Cardinality()), c.TextOf
		if f.TimeText {
			texts = func(code uint32) string { return p.times[i][code] }
		}
		for k, code := range b.Codes(c) {
			if code == null {
				p.values[k] = parquet.NullValue()
			} else {
				p.set(k, i, parquet.ByteArrayValue(viewOf(texts(code))))
			}
		}
	case Boolean:
		p.readInts(b, i, func(v int64) parquet.Value { return parquet.BooleanValue(v != 0) })
	case Int64, Timestamp:
		p.readInts(b, i, parquet.Int64Value)
	case Double:
		p.floats = appendFloats(p.floats[:0], b, c)
		for k, v := range p.floats {
			if math.IsNaN(v) {
				p.values[k] = parquet.NullValue()
			} else {
				p.set(k, i, parquet.DoubleValue(v))
			}
		}
	default:
		p.readPoints(b, i)
	}
}

func (p *parquetWriter) readInts(b *index.Batch, i int, value func(int64) parquet.Value) {
	for k, v := range b.Ints(p.fields[i].Column) {
		if v == snapshot.NullInt {
			p.values[k] = parquet.NullValue()
		} else {
			p.set(k, i, value(v))
		}
	}
}

// readPoints makes points of latitudes and longitudes. A point without one of them is null.
func (p *parquetWriter) readPoints(b *index.Batch, i int) {
	n := b.Len()
	p.floats = appendFloats(p.floats[:0], b, p.fields[i].Column)
	p.floats = appendFloats(p.floats, b, p.fields[i].Lon)
	p.points = slices.Grow(p.points[:0], n*pointBytes)
	for k, lat := range p.floats[:n] {
		lon := p.floats[n+k]
		if math.IsNaN(lat) || math.IsNaN(lon) {
			p.values[k] = parquet.NullValue()
			continue
		}
		p.bounds[i].add(lon, lat)
		at := len(p.points)
		p.points = appendPoint(p.points, lon, lat)
		p.set(k, i, parquet.ByteArrayValue(p.points[at:]))
	}
}

func (p *parquetWriter) set(k, i int, v parquet.Value) { p.values[k] = v.Level(0, 1, i) }
