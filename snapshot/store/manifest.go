package store

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"hdqs/snapshot"
)

// Manifest names the segments of one snapshot. It is a JSON file, written after its segments and
// never changed.
type Manifest struct {
	Format       int             `json:"format"` // ManifestFormat, or an earlier one
	ID           string          `json:"id"`
	SnapshotTime time.Time       `json:"snapshot_time"`
	CatalogURL   string          `json:"catalog_url"`
	Tables       []SegmentRef    `json:"tables"`
	Sources      []TableSource   `json:"sources,omitempty"`  // of tables, from format 2
	Datasets     []Dataset       `json:"datasets,omitempty"` // that sources name, by id, from format 2
	State        json.RawMessage `json:"state,omitempty"`    // private to the writer, not read here
}

// SegmentRef names a table's segment by its content.
type SegmentRef struct {
	Table  string `json:"table"`
	SHA256 string `json:"sha256"` // 64 hexadecimal digits, lower case
	Rows   int    `json:"rows"`
	Bytes  int64  `json:"bytes"`
}

// Pointer is what a channel points to: a snapshot, the time of publication, and the hash of its
// manifest.
type Pointer struct {
	ID          string    `json:"id"`
	PublishedAt time.Time `json:"published_at"`
	SHA256      string    `json:"sha256"`            // of the manifest's file
	Figures     string    `json:"figures,omitempty"` // SHA-256 of the publication's file of figures; empty without one
}

// Same reports whether two pointers are of one publication.
func (p Pointer) Same(q Pointer) bool {
	return p.ID == q.ID && p.SHA256 == q.SHA256 && p.PublishedAt.Equal(q.PublishedAt)
}

// ManifestFormat is the format of new manifests. Format 1 had no sources and no datasets; it is
// still read.
const ManifestFormat = 2

// The size limits of the files of a store other than segments, in bytes.
const (
	MaxManifest  = 64 << 20 // also of a report
	MaxChannel   = 16 << 10 // also of the lock file
	MaxSignature = 1 << 10
	MaxFigures   = 16 << 20
)

const (
	maxTables = 1000
	maxID     = 128
	// reportSuffix is between the id and .json in the name of a report's file.
	reportSuffix = ".report"
)

// ParseManifest parses a manifest and checks all that can be checked without its segments.
func ParseManifest(data []byte) (*Manifest, error) {
	if len(data) > MaxManifest {
		return nil, corruptf("manifest of %d bytes, at most %d are read", len(data), MaxManifest)
	}
	m := &Manifest{}
	if err := decodeStrict(data, m); err != nil {
		// A later format may have fields that this program does not know.
		var version struct {
			Format int `json:"format"`
		}
		if json.Unmarshal(data, &version) == nil {
			if err := checkFormat(version.Format); err != nil {
				return nil, err
			}
		}
		return nil, corruptf("manifest: %v", err)
	}
	return m, m.check()
}

func decodeStrict(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("more after the end at byte %d", d.InputOffset())
	}
	return nil
}

// check returns the first invalid field as an error.
func (m *Manifest) check() error {
	if err := checkFormat(m.Format); err != nil {
		return err
	}
	if err := CheckID(m.ID); err != nil {
		return corruptf("manifest: %v", err)
	}
	if year := m.SnapshotTime.Year(); m.SnapshotTime.IsZero() || year < 1 || year > 9999 {
		return corruptf("manifest %s has snapshot time %v", m.ID, m.SnapshotTime)
	}
	if len(m.Tables) > maxTables {
		return corruptf("manifest %s has %d tables, at most %d are possible", m.ID, len(m.Tables), maxTables)
	}
	seen := map[string]bool{}
	for i, ref := range m.Tables {
		switch err := checkHash(ref.SHA256); {
		case err != nil:
			return corruptf("manifest %s, table %q: %v", m.ID, ref.Table, err)
		case !snapshot.ValidName(ref.Table):
			return corruptf("manifest %s: table %d has the name %.40q", m.ID, i, ref.Table)
		case seen[ref.Table]:
			return corruptf("manifest %s has table %q twice", m.ID, ref.Table)
		case ref.Rows < 0 || ref.Rows > snapshot.MaxRows:
			return corruptf("manifest %s, table %q: %d rows, want 0 to %d", m.ID, ref.Table, ref.Rows, snapshot.MaxRows)
		case ref.Bytes < snapshot.MinSegmentBytes:
			return corruptf("manifest %s, table %q: %d bytes, a segment has at least %d", m.ID, ref.Table, ref.Bytes,
				snapshot.MinSegmentBytes)
		}
		seen[ref.Table] = true
	}
	return m.checkSources()
}

func checkFormat(format int) error {
	if format < 1 || format > ManifestFormat {
		return corruptf("manifest has format %d, this program reads 1 to %d", format, ManifestFormat)
	}
	return nil
}

// encode returns the manifest's file. It is indented, for people and for diffs.
func (m *Manifest) encode() ([]byte, error) {
	c := *m
	c.SnapshotTime = c.SnapshotTime.UTC()
	if err := c.check(); err != nil {
		return nil, err
	}
	data, err := json.MarshalIndent(&c, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("manifest %s: %w", m.ID, err)
	}
	if len(data) >= MaxManifest {
		return nil, fmt.Errorf("manifest %s has %d bytes, at most %d can be read again", m.ID, len(data), MaxManifest)
	}
	return append(data, '\n'), nil
}

// CheckID checks that the id of a snapshot, or the name of a channel, has only letters, digits and
// - _ . and starts with a letter or digit: it becomes part of a file name. The error is ErrName.
func CheckID(id string) error {
	ok := id != "" && len(id) <= maxID && !strings.HasSuffix(id, reportSuffix)
	for i := 0; i < len(id) && ok; i++ {
		c := id[i]
		alnum := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		ok = alnum || i > 0 && (c == '-' || c == '_' || c == '.')
	}
	if !ok {
		return namef("%.140q, want 1 to %d letters, digits, - _ . starting with a letter or digit, not ending in %s",
			id, maxID, reportSuffix)
	}
	return nil
}

func checkHash(text string) error {
	if b, err := hex.DecodeString(text); err != nil || len(b) != 32 || strings.ToLower(text) != text {
		return namef("%.80q is not a SHA-256 in 64 lower-case hexadecimal digits", text)
	}
	return nil
}
