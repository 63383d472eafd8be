package bulk

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"hdqs/columnar"
	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

// Manifest lists the bulk files of a snapshot. It is a JSON file, written after them and never
// changed.
type Manifest struct {
	Format   int       `json:"format"` // ManifestFormat
	Snapshot string    `json:"snapshot"`
	Created  time.Time `json:"created"` // the time of the snapshot
	Tables   []Table   `json:"tables"`
	Files    []File    `json:"files"` // of no table, such as sources.csv

	byPath map[string]*File
}

// Table is the files of a table, and how to read them. Tables with the same Segment and Layout have
// the same files.
type Table struct {
	Table    string `json:"table"`
	Endpoint string `json:"endpoint"` // path of the list of its rows in the interface
	Title    string `json:"title"`
	Rows     int    `json:"rows"`
	Segment  string `json:"segment"` // digest of the rows
	Layout   string `json:"layout"`  // of the files: fields, their meanings, how they are written

	// SortedBy are the fields by which the rows of each Parquet file are sorted. Each Parquet file
	// has one value of PartitionedBy, if that is set.
	SortedBy      []string `json:"sorted_by,omitempty"`
	PartitionedBy string   `json:"partitioned_by,omitempty"`

	Schema  []Column `json:"schema"`
	Sources []Source `json:"sources,omitempty"`
	Files   []File   `json:"files"`
}

// Column is one column of a table.
type Column struct {
	Name     string `json:"name"`
	HAPIName string `json:"hapi_name"` // in the interface of the public service
	Type     string `json:"type"`      // string, boolean, int64, double, timestamp or geometry
	Nullable bool   `json:"nullable"`  // a value can be missing
	Meaning  string `json:"meaning,omitempty"`
	Unit     string `json:"unit,omitempty"`
}

// Source is a dataset that rows were taken from. A text that its provider does not give is empty.
type Source struct {
	Dataset    string    `json:"dataset"` // its id
	Title      string    `json:"title,omitempty"`
	Provider   string    `json:"provider,omitempty"`
	License    string    `json:"license,omitempty"`
	LicenseURL string    `json:"license_url,omitempty"`
	Updated    time.Time `json:"updated,omitzero"`
}

// Format is what a file is written in.
type Format string

// The formats. A CSV file has the lines of the interface's CSV answers, and is compressed but for
// those of no table.
const (
	Parquet Format = "parquet"
	CSVZstd Format = "csv.zst"
	CSVGzip Format = "csv.gz"
	CSV     Format = "csv"

	// HAPIParquet is Parquet as OCHA publishes it (docs/bulk.md): other paths, the names of
	// HDX HAPI, times as text.
	HAPIParquet Format = "hapi-parquet"
)

var formats = []Format{Parquet, CSVZstd, CSVGzip, CSV, HAPIParquet}

// extension is how names of files end.
func (f Format) extension() string {
	if f == HAPIParquet {
		f = Parquet
	}
	return "." + string(f)
}

// File is one file. Min and Max have the smallest and the largest value of codes and times in a
// Parquet file, by the name of the field; a field without values is in neither.
type File struct {
	Path   string            `json:"path"` // relative to the manifest
	Format Format            `json:"format"`
	Rows   int               `json:"rows"`
	Bytes  int64             `json:"bytes"`
	SHA256 string            `json:"sha256"`
	Min    map[string]string `json:"min,omitempty"`
	Max    map[string]string `json:"max,omitempty"`
}

// ManifestFormat is the format of manifests.
const ManifestFormat = 1

// Limits of manifests.
const (
	MaxManifest = 64 << 20
	maxTables   = 1000
	maxFiles    = 200_000
	maxPath     = 512
)

// ParseManifest parses a manifest and checks all that can be checked without its files.
func ParseManifest(data []byte) (*Manifest, error) {
	if len(data) > MaxManifest {
		return nil, corruptf("manifest of %d bytes, at most %d are read", len(data), MaxManifest)
	}
	m := &Manifest{}
	d := json.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(m); err != nil {
		return nil, corruptf("manifest: %v", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, corruptf("manifest: more after its end at byte %d", d.InputOffset())
	}
	return m, m.check()
}

// Encode returns the manifest's file.
func (m *Manifest) Encode() ([]byte, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	data, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return nil, fmt.Errorf("manifest of %s: %w", m.Snapshot, err)
	}
	if len(data) >= MaxManifest {
		return nil, fmt.Errorf("manifest of %s has %d bytes, at most %d can be read again", m.Snapshot, len(data),
			MaxManifest)
	}
	return append(data, '\n'), nil
}

// Find finds a file by its path.
func (m *Manifest) Find(path string) (*File, bool) {
	f, ok := m.byPath[path]
	return f, ok
}

// Table finds a table by its name, nil if there is none.
func (m *Manifest) Table(name string) *Table {
	i := slices.IndexFunc(m.Tables, func(t Table) bool { return t.Table == name })
	if i < 0 {
		return nil
	}
	return &m.Tables[i]
}

// All yields all files: those of tables, then the others.
func (m *Manifest) All(yield func(*File) bool) {
	for i := range m.Tables {
		for k := range m.Tables[i].Files {
			if !yield(&m.Tables[i].Files[k]) {
				return
			}
		}
	}
	for k := range m.Files {
		if !yield(&m.Files[k]) {
			return
		}
	}
}

// check returns the first invalid field as an error, and sets byPath.
func (m *Manifest) check() error {
	switch {
	case m.Format != ManifestFormat:
		return corruptf("manifest has format %d, this program reads %d", m.Format, ManifestFormat)
	case store.CheckID(m.Snapshot) != nil:
		return corruptf("manifest: %v", store.CheckID(m.Snapshot))
	case len(m.Tables) > maxTables:
		return corruptf("manifest of %s has %d tables, at most %d are possible", m.Snapshot, len(m.Tables), maxTables)
	}
	if year := m.Created.Year(); m.Created.IsZero() || year < 1 || year > 9999 {
		return corruptf("manifest of %s is of %v", m.Snapshot, m.Created)
	}
	seen := map[string]bool{}
	for i := range m.Tables {
		t := &m.Tables[i]
		if seen[t.Table] {
			return corruptf("manifest of %s has table %q twice", m.Snapshot, t.Table)
		}
		seen[t.Table] = true
		if err := t.check(); err != nil {
			return corruptf("manifest of %s, table %.80q: %v", m.Snapshot, t.Table, err)
		}
	}
	m.byPath = map[string]*File{}
	for f := range m.All {
		err := f.check()
		switch {
		case err != nil:
			return corruptf("manifest of %s, file %.80q: %v", m.Snapshot, f.Path, err)
		case m.byPath[f.Path] != nil:
			return corruptf("manifest of %s has file %q twice", m.Snapshot, f.Path)
		case len(m.byPath) == maxFiles:
			return corruptf("manifest of %s has more than %d files", m.Snapshot, maxFiles)
		}
		m.byPath[f.Path] = f
	}
	return nil
}

func (t *Table) check() error {
	switch {
	case !validPath(t.Table) || strings.Contains(t.Table, "/"):
		return errors.New("the name is not valid")
	case t.Rows < 0 || t.Rows > snapshot.MaxRows:
		return fmt.Errorf("%d rows, want 0 to %d", t.Rows, snapshot.MaxRows)
	case !isDigest(t.Segment):
		return fmt.Errorf("segment %.80q is not a SHA-256 in 64 lower-case hexadecimal digits", t.Segment)
	}
	names := map[string]bool{}
	for _, c := range t.Schema {
		if _, ok := columnar.ParseType(c.Type); !ok || c.Name == "" || names[c.Name] {
			return fmt.Errorf("column %.80q of type %.40q: want a known type, and names that differ", c.Name, c.Type)
		}
		names[c.Name] = true
	}
	for _, name := range append([]string{t.PartitionedBy}, t.SortedBy...) {
		if name != "" && !names[name] {
			return fmt.Errorf("it is sorted or partitioned by %.80q, which is no column", name)
		}
	}
	return nil
}

func (f *File) check() error {
	switch {
	case !slices.Contains(formats, f.Format):
		return fmt.Errorf("format %.40q is not one of %q", f.Format, formats)
	case !validPath(f.Path) || !strings.HasSuffix(f.Path, f.Format.extension()):
		return fmt.Errorf("the path is not up to %d letters, digits and - _ . = %% in folders, ending in %s",
			maxPath, f.Format.extension())
	case f.Rows < 0 || f.Bytes < 0:
		return fmt.Errorf("%d rows in %d bytes", f.Rows, f.Bytes)
	case !isDigest(f.SHA256):
		return fmt.Errorf("%.80q is not a SHA-256 in 64 lower-case hexadecimal digits", f.SHA256)
	}
	return nil
}

// Name is the file's name in a store, with slashes.
func (f *File) Name() string {
	return path.Join(dataDir, path.Dir(f.Path), f.SHA256+f.Format.extension())
}

// validPath accepts only paths that stay below their folder: no part is empty or starts with a dot.
func validPath(p string) bool {
	if len(p) > maxPath {
		return false
	}
	for part := range strings.SplitSeq(p, "/") {
		if part == "" || part[0] == '.' {
			return false
		}
		for i := range len(part) {
			c := part[i]
			alnum := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
			if !alnum && !strings.ContainsRune("-_.=%", rune(c)) {
				return false
			}
		}
	}
	return true
}

func isDigest(text string) bool {
	b, err := hex.DecodeString(text)
	return err == nil && len(b) == 32 && strings.ToLower(text) == text
}

func corruptf(format string, args ...any) error {
	return fmt.Errorf("%w: bulk %s", snapshot.ErrCorrupt, fmt.Sprintf(format, args...))
}
