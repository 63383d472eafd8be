package iceberg

import (
	"cmp"
	"encoding/json"
	"strconv"
)

// mapOf returns the type of a map from column ids, which Avro has only for text keys.
func mapOf(id, key, value int, valueType string) string {
	k, v := strconv.Itoa(key), strconv.Itoa(value)
	return `["null",{"type":"array","logicalType":"map","items":{"type":"record","name":"k` + k + `_v` + v +
		`","fields":[` +
		`{"name":"key","type":"int","field-id":` + k + `},{"name":"value","type":"` + valueType + `","field-id":` + v +
		`}]}}],"default":null,"field-id":` + strconv.Itoa(id)
}

// entrySchema returns the Avro schema of a manifest's entries.
func entrySchema(partitions string) string {
	return `{"type":"record","name":"manifest_entry","fields":[` +
		`{"name":"status","type":"int","field-id":0},` +
		`{"name":"snapshot_id","type":["null","long"],"default":null,"field-id":1},` +
		`{"name":"sequence_number","type":["null","long"],"default":null,"field-id":3},` +
		`{"name":"file_sequence_number","type":["null","long"],"default":null,"field-id":4},` +
		`{"name":"data_file","field-id":2,"type":{"type":"record","name":"r2","fields":[` +
		`{"name":"content","type":"int","field-id":134},` +
		`{"name":"file_path","type":"string","field-id":100},` +
		`{"name":"file_format","type":"string","field-id":101},` +
		`{"name":"partition","field-id":102,"type":{"type":"record","name":"r102","fields":[` + partitions + `]}},` +
		`{"name":"record_count","type":"long","field-id":103},` +
		`{"name":"file_size_in_bytes","type":"long","field-id":104},` +
		`{"name":"column_sizes","type":` + mapOf(108, 117, 118, "long") + `},` +
		`{"name":"value_counts","type":` + mapOf(109, 119, 120, "long") + `},` +
		`{"name":"null_value_counts","type":` + mapOf(110, 121, 122, "long") + `},` +
		`{"name":"lower_bounds","type":` + mapOf(125, 126, 127, "bytes") + `},` +
		`{"name":"upper_bounds","type":` + mapOf(128, 129, 130, "bytes") + `}` +
		`]}}]}`
}

// listSchema is the Avro schema of a manifest list.
const listSchema = `{"type":"record","name":"manifest_file","fields":[` +
	`{"name":"manifest_path","type":"string","field-id":500},` +
	`{"name":"manifest_length","type":"long","field-id":501},` +
	`{"name":"partition_spec_id","type":"int","field-id":502},` +
	`{"name":"content","type":"int","field-id":517},` +
	`{"name":"sequence_number","type":"long","field-id":515},` +
	`{"name":"min_sequence_number","type":"long","field-id":516},` +
	`{"name":"added_snapshot_id","type":"long","field-id":503},` +
	`{"name":"added_files_count","type":"int","field-id":504},` +
	`{"name":"existing_files_count","type":"int","field-id":505},` +
	`{"name":"deleted_files_count","type":"int","field-id":506},` +
	`{"name":"added_rows_count","type":"long","field-id":512},` +
	`{"name":"existing_rows_count","type":"long","field-id":513},` +
	`{"name":"deleted_rows_count","type":"long","field-id":514},` +
	`{"name":"partitions","default":null,"field-id":507,"type":["null",{"type":"array","element-id":508,` +
	`"items":{"type":"record","name":"r508","fields":[` +
	`{"name":"contains_null","type":"boolean","field-id":509},` +
	`{"name":"contains_nan","type":["null","boolean"],"default":null,"field-id":518},` +
	`{"name":"lower_bound","type":["null","bytes"],"default":null,"field-id":510},` +
	`{"name":"upper_bound","type":["null","bytes"],"default":null,"field-id":511}]}}]}` +
	`]}`

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

// appendEntry appends an entry of a manifest.
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

// newManifest describes a manifest with the given entries.
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

// manifestFile returns the bytes of a manifest.
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
	return avroFile(entrySchema(partitions), []property{
		{"schema", string(columns)},
		{"schema-id", strconv.Itoa(schema.ID)},
		{"partition-spec", string(fields)},
		{"partition-spec-id", strconv.Itoa(spec.ID)},
		{"format-version", "2"},
		{"content", "data"},
	}, len(entries), block.bytes), nil
}

// listFile returns the bytes of a manifest list.
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
