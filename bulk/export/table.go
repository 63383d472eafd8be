package export

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/url"
	"path"
	"slices"
	"strings"

	"hdqs/api/contract"
	"hdqs/bulk"
	"hdqs/columnar"
	"hdqs/index"
	"hdqs/snapshot"
)

// layoutVersion changes with everything that changes the bytes of files and is no column of the
// table, such as the encodings.
const layoutVersion = 1

// partitionField is the field by whose values large tables are partitioned.
const partitionField = "location_code"

// timeField is the field by which the rows of a country are sorted first if the order of the table
// begins with a unit. In that order the rows of all years of a unit follow each other, so each row
// group has rows of every year, and who asks for the latest reads them all. Food prices, in the
// order of markets, stay in it: by time first they would have 1.6 times the bytes.
const timeField = contract.PeriodStart

// partName is the name of a Parquet file in its folder.
const partName = "part-0.parquet"

// pointField is the field of the points of records that have a latitude and a longitude.
const (
	pointField   = "geometry"
	pointMeaning = "The place of lat and lon as a point in WKB: longitude and latitude on WGS 84. " +
		"Null where one of them is."
)

type table struct {
	endpoint *contract.Endpoint
	hapi     *contract.Endpoint // the same under the names of HDX HAPI
	seg      *snapshot.Segment
	fields   []columnar.Field
	parts    []part
	info     bulk.Table
}

func newTable(e, hapi *contract.Endpoint, seg *snapshot.Segment, digest string, o *Options) (*table, error) {
	t := &table{endpoint: e, hapi: hapi, seg: seg, info: bulk.Table{
		Table: e.Table, Endpoint: e.Path, Title: e.Summary, Rows: seg.Rows(), Segment: digest,
	}}
	for i := range e.Fields {
		f := &e.Fields[i]
		column, err := seg.Column(f.Column())
		if err != nil {
			return nil, err
		}
		t.add(columnar.Field{
			Name: f.Name, Column: column, Meaning: e.Texts().Meaning(f.Name), Unit: e.Texts().Unit(f.Name),
		}, hapi.Fields[i].Name, f.Nullable || column.Nullable)
	}
	if e.HasPoints() {
		lat, err := seg.Column(contract.LatField)
		if err != nil {
			return nil, err
		}
		lon, err := seg.Column(contract.LonField)
		if err != nil {
			return nil, err
		}
		t.add(columnar.Field{Name: pointField, Column: lat, Lon: lon, Meaning: pointMeaning}, pointField, true)
	}
	if seg.Rows() > o.PartitionRows && t.field(partitionField) != nil {
		t.info.PartitionedBy = partitionField
	}
	basis := []any{layoutVersion, t.info.PartitionedBy, t.info.Schema, e.Order}
	if t.byTime() {
		basis = append(basis, timeField)
	}
	layout, err := json.Marshal(basis)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(layout)
	t.info.Layout = hex.EncodeToString(sum[:8])
	t.parts = t.split()
	sorted := t.orderFields()
	for _, p := range t.parts {
		sorted = columnar.SortedBy(sorted, p.rows)
	}
	for i := range sorted {
		t.info.SortedBy = append(t.info.SortedBy, sorted[i].Name)
	}
	return t, nil
}

// part is the rows of one Parquet file.
type part struct {
	folder string        // below that of the table, empty for one file
	rows   columnar.Rows // in the order of the file
	all    columnar.Rows // the same, ascending
}

// byTime reports whether the rows of a file are sorted by time first.
func (t *table) byTime() bool {
	return t.info.PartitionedBy != "" && t.field(timeField) != nil && refCodes[t.endpoint.Order[0]] != nil
}

// split divides the rows of a table into those of its Parquet files.
func (t *table) split() []part {
	if t.info.PartitionedBy == "" {
		return []part{{rows: columnar.All(t.seg), all: columnar.All(t.seg)}}
	}
	var parts []part
	for _, p := range partitions(t.field(t.info.PartitionedBy).Column) {
		next := part{folder: t.info.PartitionedBy + "=" + p.folder(), all: slices.Values(p.ranges)}
		if next.rows = next.all; t.byTime() {
			next.rows = columnar.Sorted(t.field(timeField), next.all)
		}
		parts = append(parts, next)
	}
	return parts
}

func (t *table) add(f columnar.Field, hapiName string, nullable bool) {
	t.fields = append(t.fields, f)
	t.info.Schema = append(t.info.Schema, bulk.Column{
		Name: f.Name, HAPIName: hapiName, Type: f.Type().String(), Nullable: nullable, Meaning: f.Meaning, Unit: f.Unit,
	})
}

func (t *table) field(name string) *columnar.Field {
	i := slices.IndexFunc(t.fields, func(f columnar.Field) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	return &t.fields[i]
}

// refCodes are the codes of places in the order in which their numbers are given.
var refCodes = map[string][]string{
	"location_ref": {"location_code"},
	"admin1_ref":   {"location_code", "admin1_code"},
	"admin2_ref":   {"location_code", "admin1_code", "admin2_code"},
}

// orderFields returns the sort order of a file: the time first if byTime, then the endpoint's order
// up to its first column that is not exported.
func (t *table) orderFields() (fields []columnar.Field) {
	if t.byTime() {
		fields = append(fields, *t.field(timeField))
	}
	for _, column := range t.endpoint.Order {
		names := refCodes[column]
		if names == nil {
			names = []string{column}
		}
		for _, name := range names {
			f := t.field(name)
			if f == nil {
				return fields
			}
			if t.byTime() && name == timeField {
				continue
			}
			fields = append(fields, *f)
		}
	}
	return fields
}

// codesOf are the fields with codes, which are looked up by value.
func codesOf(all []columnar.Field) (fields []*columnar.Field) {
	for i := range all {
		f := &all[i]
		if f.Type() == columnar.String && (f.Name == "code" || strings.HasSuffix(f.Name, "_code")) {
			fields = append(fields, f)
		}
	}
	return fields
}

func (t *table) writeParquet(ctx context.Context, to *target) ([]bulk.File, error) {
	files := make([]bulk.File, len(t.parts))
	for i, p := range t.parts {
		f := bulk.File{Path: path.Join(t.info.Table, p.folder, partName), Format: bulk.Parquet}
		var err error
		if files[i], err = t.writePart(ctx, f, t.fields, &p, t.info.SortedBy, to); err != nil {
			return nil, err
		}
	}
	return files, nil
}

func (t *table) writePart(
	ctx context.Context, f bulk.File, fields []columnar.Field, of *part, sortedBy []string, to *target,
) (bulk.File, error) {
	p, err := to.create(&f)
	if err != nil {
		return f, err
	}
	defer p.Discard()
	o := columnar.ParquetOptions{SortedBy: sortedBy, Metadata: map[string]string{"title": t.info.Title}}
	bounded := codesOf(fields)
	for _, code := range bounded {
		o.Bloom = append(o.Bloom, code.Name)
	}
	if f.Rows, err = columnar.WriteParquet(stoppable{ctx, p}, fields, of.rows, o); err != nil {
		return f, err
	}
	for i := range fields {
		if fields[i].TimeText || fields[i].Type() == columnar.Timestamp {
			bounded = append(bounded, &fields[i])
		}
	}
	f.Min, f.Max = map[string]string{}, map[string]string{}
	for _, field := range bounded {
		if least, most, ok := columnar.Bounds(field, of.all); ok {
			f.Min[field.Name], f.Max[field.Name] = least, most
		}
	}
	return f, to.commit(p, &f)
}

// stoppable is a writer until its context ends.
type stoppable struct {
	ctx context.Context
	w   io.Writer
}

// Write implements io.Writer.
func (s stoppable) Write(b []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, context.Cause(s.ctx)
	}
	return s.w.Write(b)
}

// partition is the rows with one value of a column. Null is the empty text.
type partition struct {
	value  string
	ranges []index.Range
}

// partitions returns the rows of each value of a text column, in the order of the values, null
// last.
func partitions(c *snapshot.Column) []partition {
	all := make([]partition, c.Cardinality()+1)
	last := c.Cardinality()
	for code := range last {
		all[code].value = c.TextOf(uint32(code))
	}
	n := c.Len()
	if c.Group != nil {
		n = c.Group.Codes.Len()
	}
	for row := range uint32(n) {
		p := &all[c.Codes().At(c.Position(row))]
		if p.value == "" {
			p = &all[last]
		}
		p.ranges = appendRow(p.ranges, row)
	}
	return slices.DeleteFunc(all, func(p partition) bool { return len(p.ranges) == 0 })
}

// appendRow appends a row to ascending ranges.
func appendRow(ranges []index.Range, row uint32) []index.Range {
	if k := len(ranges) - 1; k >= 0 && ranges[k].To == row {
		ranges[k].To++
		return ranges
	}
	return append(ranges, index.Range{From: row, To: row + 1})
}

// folder is how Hive and everything after it writes a value in the name of a folder.
func (p *partition) folder() string {
	if p.value == "" {
		return "__HIVE_DEFAULT_PARTITION__"
	}
	// QueryEscape keeps letters, digits and -_.~, and writes a blank as +.
	return strings.NewReplacer("+", "%20", "~", "%7E").Replace(url.QueryEscape(p.value))
}
