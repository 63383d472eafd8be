package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path"

	"hdqs/internal/atomicfile"
)

// The parts for copying a snapshot between stores. Names are relative to the store's root and have
// slashes, so they are names of objects in a bucket as well as of files.

// SegmentName is the name of the segment with a hash.
func SegmentName(hash string) string { return path.Join(segmentsDir, hash+segmentExt) }

// ManifestName is the name of an id's manifest.
func ManifestName(id string) string { return path.Join(manifestsDir, id+jsonExt) }

// ReportName is the name of the report beside a manifest.
func ReportName(id string) string { return path.Join(manifestsDir, id+reportSuffix+jsonExt) }

// SignatureName is the name of the signature beside a manifest.
func SignatureName(id string) string { return path.Join(manifestsDir, id+signatureExt) }

// ChannelName is the name of a channel. The error is ErrName if it cannot be one.
func ChannelName(channel string) (string, error) {
	return path.Join(channelsDir, channel+jsonExt), checkID(channel)
}

// CheckID checks the id of a snapshot, or the name of a channel. The error is ErrName.
func CheckID(id string) error { return checkID(id) }

// ReadFile reads a regular file of at most limit bytes, for packages that keep files beside those
// of a store.
func ReadFile(path string, limit int64) ([]byte, error) { return readFile(path, limit) }

// HashFile is the SHA-256 of a regular file.
func HashFile(path string) (string, error) { return hashFile(path) }

// The size limits of the files of a store other than segments, in bytes.
const (
	MaxManifest  = maxManifest  // also of a report
	MaxChannel   = maxPointer   // of a channel
	MaxSignature = maxSignature // of a signature
)

// ManifestFile returns the file of a manifest, byte for byte, and its SHA-256. It is checked as by
// Manifest.
func (s *Snapshots) ManifestFile(id string) (data []byte, hash string, err error) {
	if _, hash, err = s.manifest(id); err != nil {
		return nil, "", err
	}
	data, err = s.manifestFile(id)
	return data, hash, err
}

func (s *Snapshots) manifestFile(id string) ([]byte, error) {
	path, err := s.jsonPath(manifestsDir, id, "")
	if err != nil {
		return nil, err
	}
	return readFile(path, maxManifest)
}

// CheckManifest parses the manifest of a pointer. It must be exactly the published one, signed as
// the store requires.
func (s *Snapshots) CheckManifest(p Pointer, data, signature []byte) (*Manifest, error) {
	sum := sha256.Sum256(data)
	if hash := hex.EncodeToString(sum[:]); hash != p.SHA256 {
		return nil, corruptf("manifest %s has the SHA-256 %s, published was %s", p.ID, hash, p.SHA256)
	}
	if err := s.checkSignature("manifest "+p.ID, data, signature); err != nil {
		return nil, err
	}
	m, err := ParseManifest(data)
	if err != nil {
		return nil, err
	}
	if m.ID != p.ID {
		return nil, corruptf("the manifest of %s is that of %s", p.ID, m.ID)
	}
	return m, nil
}

// AddManifest is CheckManifest followed by storing the manifest and its signature, if any. It
// replaces a manifest with the same id: the pointer decides which of the two is right.
func (s *Snapshots) AddManifest(p Pointer, data, signature []byte) error {
	m, err := s.CheckManifest(p, data, signature)
	if err != nil {
		return err
	}
	if err := errors.Join(s.checkSegments(m), s.syncSegments(m)); err != nil {
		return err
	}
	if len(signature) > 0 {
		if err := s.putSignature(p.ID, signature); err != nil {
			return err
		}
	}
	path, err := s.jsonPath(manifestsDir, m.ID, "")
	if err != nil {
		return err
	}
	return atomicfile.Write(path, data)
}

// HasSegment reports whether the store has a segment: by its size or, with whole, by its content.
func (s *Segments) HasSegment(ref SegmentRef, whole bool) bool {
	path, err := s.SegmentPath(ref.SHA256)
	return err == nil && HasFile(path, ref.Bytes, ref.SHA256, whole)
}

// AddSegment stores a segment that fill writes to a file. The file gets its name only if its
// content has the right hash.
func (s *Segments) AddSegment(ref SegmentRef, fill func(*os.File) error) error {
	path, err := s.SegmentPath(ref.SHA256)
	if err != nil {
		return err
	}
	if err := AddFile(path, ref.SHA256, fill); err != nil {
		return fmt.Errorf("segment of table %q: %w", ref.Table, err)
	}
	return nil
}
