package iceberg

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// mainBranch is the name under which engines find the current state.
const mainBranch = "main"

// Metadata is the metadata of a table.
type Metadata struct {
	Files map[string][]byte // manifests and manifest lists, by their names in metadata/
	JSON  []byte            // the metadata file
}

type origin struct {
	snapshot, sequence int64
	spec               int
	file               *File
}

// builder adds one state after the other.
type builder struct {
	table     *Table
	out       *Metadata
	metadata  metadataJSON
	live      map[string]origin // the files of the state before
	manifests []manifest        // and its manifests
}

// Build returns the metadata of a table. The last of its states is the current one.
func Build(t *Table) (*Metadata, error) {
	if len(t.States) == 0 {
		return nil, fmt.Errorf("iceberg: table %s has no state", t.Name)
	}
	id := sha256.Sum256([]byte("hdqs table " + t.Name + "\n" + t.Location))
	b := &builder{
		table: t, out: &Metadata{Files: map[string][]byte{}}, live: map[string]origin{},
		metadata: metadataJSON{
			FormatVersion: 2, UUID: uuid(id), Location: t.Location, LastPartition: firstPartition - 1,
			Orders: []orderJSON{{Fields: []struct{}{}}}, Refs: map[string]ref{},
			MetadataLog: []json.RawMessage{},
		},
	}
	for _, s := range t.history() {
		if err := b.add(&s); err != nil {
			return nil, err
		}
	}
	b.metadata.Refs[mainBranch] = ref{b.metadata.CurrentSnapshot, "branch"}
	var err error
	b.out.JSON, err = b.metadata.encode()
	return b.out, err
}

// uuid writes the begin of a hash as a UUID of version 8, which has no further meaning.
func uuid(sum [sha256.Size]byte) string {
	sum[6] = sum[6]&0x0f | 0x80
	sum[8] = sum[8]&0x3f | 0x80
	h := hex.EncodeToString(sum[:16])
	return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
}

// SnapshotID returns the number of a state in Iceberg metadata.
func SnapshotID(state string) int64 {
	sum := sha256.Sum256([]byte("hdqs snapshot " + state))
	return int64(binary.BigEndian.Uint64(sum[:]) >> 1)
}

func (b *builder) add(s *State) error {
	if err := s.check(); err != nil {
		return err
	}
	m := &b.metadata
	if _, twice := m.Refs[s.ID]; twice || s.ID == mainBranch || s.ID == "" {
		return fmt.Errorf("iceberg: table %s: the id %q of a state is empty, reserved or used twice", b.table.Name,
			s.ID)
	}
	// Times and sequence numbers must grow. Both are milliseconds, so that manifests do not change
	// when an earlier state is no longer listed.
	at := max(s.Time.UnixMilli(), m.LastUpdated+1)
	next := snapshotJSON{
		ID: SnapshotID(s.ID), Parent: m.CurrentSnapshot, Sequence: at, Time: at, Schema: b.schemaOf(s),
	}
	b.specOf(s)
	entries := b.entries(s, &next)
	next.Summary = summary(s, entries)
	if len(entries[added])+len(entries[deleted]) > 0 {
		if err := b.write(entries, &next); err != nil {
			return err
		}
	}
	next.Summary[manifestsKey] = b.manifestNames()
	list := listFile(b.manifests, next.ID, next.Parent, next.Sequence)
	next.List = b.put("snap-"+strconv.FormatInt(next.ID, 10)+"-", list)

	m.CurrentSnapshot, m.LastSequence, m.LastUpdated = next.ID, next.Sequence, at
	m.Snapshots = append(m.Snapshots, next)
	m.SnapshotLog = append(m.SnapshotLog, logJSON{at, next.ID})
	m.Refs[s.ID] = ref{next.ID, "tag"}
	return nil
}

// schemaOf returns the id of the schema of a state, which becomes the current one.
func (b *builder) schemaOf(s *State) int {
	m := &b.metadata
	for _, f := range s.Fields {
		m.LastColumn = max(m.LastColumn, f.ID)
	}
	made := newSchema(len(m.Schemas), s.Fields)
	same := func(o schemaJSON) bool { return slices.Equal(o.Fields, made.Fields) }
	if m.CurrentSchema = slices.IndexFunc(m.Schemas, same); m.CurrentSchema < 0 {
		m.CurrentSchema, m.Schemas = made.ID, append(m.Schemas, made)
	}
	return m.CurrentSchema
}

func (b *builder) specOf(s *State) {
	m := &b.metadata
	made := newSpec(len(m.Specs), s)
	same := func(o specJSON) bool { return slices.Equal(o.Fields, made.Fields) }
	if m.DefaultSpec = slices.IndexFunc(m.Specs, same); m.DefaultSpec < 0 {
		m.DefaultSpec, m.Specs = made.ID, append(m.Specs, made)
	}
	if s.PartitionBy != "" {
		m.LastPartition = firstPartition
	}
}

// entries returns the entries of a state by their status, and makes its files the live ones.
func (b *builder) entries(s *State, next *snapshotJSON) (entries [3][]origin) {
	live := make(map[string]origin, len(s.Files))
	for i := range s.Files {
		f := &s.Files[i]
		was, ok := b.live[f.Path]
		if ok && was.spec == b.metadata.DefaultSpec {
			was.file = f
			live[f.Path] = was
			entries[existing] = append(entries[existing], was)
			continue
		}
		live[f.Path] = origin{next.ID, next.Sequence, b.metadata.DefaultSpec, f}
		entries[added] = append(entries[added], live[f.Path])
	}
	for name, was := range b.live {
		if now, ok := live[name]; !ok || now.spec != was.spec {
			entries[deleted] = append(entries[deleted], was)
		}
	}
	for _, of := range entries {
		slices.SortFunc(of, func(a, b origin) int { return strings.Compare(a.file.Path, b.file.Path) })
	}
	b.live = live
	return entries
}

// What summaries have besides what engines know: the tag of the state, and the names of its
// manifests, from which Write finds the files in use.
const (
	stateKey     = "hdqs.snapshot-id"
	manifestsKey = "hdqs.manifests"
)

func summary(s *State, entries [3][]origin) map[string]string {
	count := func(of []origin) (files string, rows string) {
		var n int64
		for _, e := range of {
			n += e.file.Rows
		}
		return strconv.Itoa(len(of)), strconv.FormatInt(n, 10)
	}
	operation := "append"
	if len(entries[deleted]) > 0 {
		operation = "overwrite"
	}
	out := map[string]string{"operation": operation, stateKey: s.ID}
	out["added-data-files"], out["added-records"] = count(entries[added])
	out["deleted-data-files"], out["deleted-records"] = count(entries[deleted])
	out["total-data-files"], out["total-records"] = count(slices.Concat(entries[existing], entries[added]))
	return out
}

// write writes the manifests of a state, one for each partitioning.
func (b *builder) write(entries [3][]origin, next *snapshotJSON) error {
	b.manifests = nil
	for i := range b.metadata.Specs {
		spec := &b.metadata.Specs[i]
		var of []entry
		for status, all := range entries {
			for _, o := range all {
				if o.spec != spec.ID {
					continue
				}
				e := entry{status, o.snapshot, o.sequence, o.file}
				if status == deleted {
					e.snapshot = next.ID
				}
				of = append(of, e)
			}
		}
		if len(of) == 0 {
			continue
		}
		file, err := manifestFile(of, &b.metadata.Schemas[next.Schema], spec)
		if err != nil {
			return err
		}
		m := newManifest(of, spec.ID, len(spec.Fields) > 0, next.Sequence, next.ID)
		m.path, m.bytes = b.put("manifest-", file), len(file)
		b.manifests = append(b.manifests, m)
	}
	return nil
}

// manifestNames are the names of the manifests of the state, with blanks between them.
func (b *builder) manifestNames() string {
	var names []string
	for _, m := range b.manifests {
		names = append(names, path.Base(m.path))
	}
	return strings.Join(names, " ")
}

func (b *builder) put(prefix string, file []byte) string {
	sum := sha256.Sum256(file)
	name := prefix + hex.EncodeToString(sum[:16]) + ".avro"
	b.out.Files[name] = file
	return b.table.Location + "/metadata/" + name
}
