package iceberg

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// What a metadata file has, in the order in which it is written.
type (
	metadataJSON struct {
		FormatVersion   int               `json:"format-version"`
		UUID            string            `json:"table-uuid"`
		Location        string            `json:"location"`
		LastSequence    int64             `json:"last-sequence-number"`
		LastUpdated     int64             `json:"last-updated-ms"`
		LastColumn      int               `json:"last-column-id"`
		CurrentSchema   int               `json:"current-schema-id"`
		Schemas         []schemaJSON      `json:"schemas"`
		DefaultSpec     int               `json:"default-spec-id"`
		Specs           []specJSON        `json:"partition-specs"`
		LastPartition   int               `json:"last-partition-id"`
		DefaultOrder    int               `json:"default-sort-order-id"`
		Orders          []orderJSON       `json:"sort-orders"`
		Properties      map[string]string `json:"properties"`
		CurrentSnapshot int64             `json:"current-snapshot-id"`
		Refs            map[string]ref    `json:"refs"`
		Snapshots       []snapshotJSON    `json:"snapshots"`
		SnapshotLog     []logJSON         `json:"snapshot-log"`
		MetadataLog     []json.RawMessage `json:"metadata-log"`
	}
	schemaJSON struct {
		Type   string      `json:"type"`
		ID     int         `json:"schema-id"`
		Fields []fieldJSON `json:"fields"`
	}
	fieldJSON struct {
		ID       int    `json:"id"`
		Name     string `json:"name"`
		Required bool   `json:"required"`
		Type     Type   `json:"type"`
		Doc      string `json:"doc,omitempty"`
	}
	specJSON struct {
		ID     int             `json:"spec-id"`
		Fields []partitionJSON `json:"fields"`
	}
	partitionJSON struct {
		Name      string `json:"name"`
		Transform string `json:"transform"`
		SourceID  int    `json:"source-id"`
		FieldID   int    `json:"field-id"`
	}
	orderJSON struct {
		ID     int        `json:"order-id"`
		Fields []struct{} `json:"fields"`
	}
	ref struct {
		Snapshot int64  `json:"snapshot-id"`
		Type     string `json:"type"`
	}
	snapshotJSON struct {
		ID       int64             `json:"snapshot-id"`
		Parent   int64             `json:"parent-snapshot-id,omitempty"`
		Sequence int64             `json:"sequence-number"`
		Time     int64             `json:"timestamp-ms"`
		List     string            `json:"manifest-list"`
		Summary  map[string]string `json:"summary"`
		Schema   int               `json:"schema-id"`
	}
	logJSON struct {
		Time     int64 `json:"timestamp-ms"`
		Snapshot int64 `json:"snapshot-id"`
	}
)

// digestKey is the property that has the SHA-256 of the metadata file as it is without it.
const digestKey = "hdqs.sha256"

func (m *metadataJSON) encode() ([]byte, error) {
	m.Properties = map[string]string{}
	text, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	m.Properties[digestKey] = hex.EncodeToString(sum[:])
	text, err = json.Marshal(m)
	return append(text, '\n'), err
}

// newSchema returns the schema of a state. No column is required: whether a column has nulls may
// change from one state to the next, and a required column must not become another.
func newSchema(id int, fields []Field) schemaJSON {
	s := schemaJSON{Type: "struct", ID: id, Fields: []fieldJSON{}}
	for _, f := range fields {
		s.Fields = append(s.Fields, fieldJSON{ID: f.ID, Name: f.Name, Type: f.Type, Doc: f.Meaning})
	}
	return s
}

// Ids of partition fields begin at 1000.
const firstPartition = 1000

func newSpec(id int, s *State) specJSON {
	spec := specJSON{ID: id, Fields: []partitionJSON{}}
	if s.PartitionBy != "" {
		spec.Fields = append(spec.Fields,
			partitionJSON{s.PartitionBy, "identity", s.Fields[s.partition()].ID, firstPartition})
	}
	return spec
}
