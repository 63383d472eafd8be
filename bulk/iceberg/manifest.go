package iceberg

import (
	"bytes"
	"cmp"
	_ "embed" // the schemas
	"encoding/json"
	"strconv"
	"strings"
)

// The Avro schemas of a manifest's entries, in which "partitions" is replaced by the fields of
// partitions, and of a manifest list. Maps from column ids are arrays, since those of Avro have
// text keys only.
var (
	//go:embed manifest_entry.avsc
	manifestEntry []byte
	//go:embed manifest_list.avsc
	manifestList []byte

	entrySchema, listSchema = compact(manifestEntry), compact(manifestList)
)

func compact(schema []byte) string {
	var b bytes.Buffer
	if err := json.Compact(&b, schema); err != nil {
		panic(err) // the files are part of the program
	}
	return b.String()
}

// The status of a file in a manifest.
const (
	existing = iota
	added
	deleted
)

// entry is a file in a manifest, with the snapshot that it was added or removed in, and the number
// of the snapshot that it was added in.
type entry struct {
	status   int
	snapshot int64
	sequence int64
	file     *File
}

func (r *record) appendEntry(e *entry, partitioned bool) {
	r.long(int64(e.status))
	r.present()
	r.long(e.snapshot)
	r.present()
	r.long(e.sequence)
	r.present()
	r.long(e.sequence)
	r.long(0) // data, not deletes
	r.text(e.file.Path)
	r.text("PARQUET")
	if partitioned {
		r.some(bytesOf(e.file.Partition))
	}
	r.long(e.file.Rows)
	r.long(e.file.Bytes)
	all := func(*Column) bool { return true }
	r.appendColumns(e.file, all, func(c *Column) { r.long(c.Bytes) })
	r.appendColumns(e.file, all, func(*Column) { r.long(e.file.Rows) })
	r.appendColumns(e.file, all, func(c *Column) { r.long(c.Nulls) })
	r.appendColumns(e.file, func(c *Column) bool { return c.Least != nil }, func(c *Column) { r.text(string(c.Least)) })
	r.appendColumns(e.file, func(c *Column) bool { return c.Most != nil }, func(c *Column) { r.text(string(c.Most)) })
}

// bytesOf returns the bytes of a value of the partition column, nil for null.
func bytesOf(value string) []byte {
	if value == "" {
		return nil
	}
	return []byte(value)
}

// appendColumns appends a map from the ids of the columns that have a value.
func (r *record) appendColumns(f *File, has func(*Column) bool, value func(*Column)) {
	if f.Columns == nil {
		r.null()
		return
	}
	var having []*Column
	for i := range f.Columns {
		if has(&f.Columns[i]) {
			having = append(having, &f.Columns[i])
		}
	}
	r.present()
	r.array(len(having), func(i int) {
		r.long(int64(having[i].ID))
		value(having[i])
	})
}

// manifest is a manifest with what a manifest list has of it.
type manifest struct {
	path     string
	bytes    int
	spec     int
	sequence int64 // of the snapshot that it was written for
	least    int64 // of the files in it
	snapshot int64
	files    [3]int   // by status
	rows     [3]int64 // by status
	from, to string   // smallest and largest value of the partition column, empty without one
	nulls    bool     // it has nulls
}

func newManifest(entries []entry, spec int, partitioned bool, sequence, snapshot int64) manifest {
	m := manifest{spec: spec, sequence: sequence, least: sequence, snapshot: snapshot}
	for i := range entries {
		e := &entries[i]
		m.files[e.status]++
		m.rows[e.status] += e.file.Rows
		if e.status != deleted {
			m.least = min(m.least, e.sequence)
		}
		switch value := e.file.Partition; {
		case !partitioned:
		case value == "":
			m.nulls = true
		default:
			m.from, m.to = min(cmp.Or(m.from, value), value), max(m.to, value)
		}
	}
	return m
}

func manifestFile(entries []entry, schema *schemaJSON, spec *specJSON) ([]byte, error) {
	columns, err := json.Marshal(schema)
	if err != nil {
		return nil, err
	}
	fields, err := json.Marshal(spec.Fields)
	if err != nil {
		return nil, err
	}
	partitions := ""
	for _, f := range spec.Fields {
		name, err := json.Marshal(f.Name)
		if err != nil {
			return nil, err
		}
		partitions += `{"name":` + string(name) + `,"type":["null","string"],"default":null,"field-id":` +
			strconv.Itoa(f.FieldID) + `}`
	}
	var block record
	for i := range entries {
		block.appendEntry(&entries[i], len(spec.Fields) > 0)
	}
	return avroFile(strings.Replace(entrySchema, `"partitions"`, partitions, 1), []property{
		{"schema", string(columns)},
		{"schema-id", strconv.Itoa(schema.ID)},
		{"partition-spec", string(fields)},
		{"partition-spec-id", strconv.Itoa(spec.ID)},
		{"format-version", "2"},
		{"content", "data"},
	}, len(entries), block.bytes), nil
}

func listFile(manifests []manifest, snapshot, parent, sequence int64) []byte {
	var block record
	for _, m := range manifests {
		block.text(m.path)
		block.long(int64(m.bytes))
		block.long(int64(m.spec))
		block.long(0) // data, not deletes
		block.long(m.sequence)
		block.long(m.least)
		block.long(m.snapshot)
		for _, n := range [...]int{m.files[added], m.files[existing], m.files[deleted]} {
			block.long(int64(n))
		}
		for _, n := range [...]int64{m.rows[added], m.rows[existing], m.rows[deleted]} {
			block.long(n)
		}
		block.present()
		n := 0
		if m.to != "" || m.nulls {
			n = 1
		}
		block.array(n, func(int) {
			block.bool(m.nulls)
			block.null()
			block.some(bytesOf(m.from))
			block.some(bytesOf(m.to))
		})
	}
	before := "null"
	if parent != 0 {
		before = strconv.FormatInt(parent, 10)
	}
	return avroFile(listSchema, []property{
		{"snapshot-id", strconv.FormatInt(snapshot, 10)},
		{"parent-snapshot-id", before},
		{"sequence-number", strconv.FormatInt(sequence, 10)},
		{"format-version", "2"},
	}, len(manifests), block.bytes)
}
