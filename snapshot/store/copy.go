package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path"
	"sync"
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
	return path.Join(channelsDir, channel+jsonExt), CheckID(channel)
}

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
	return s.read(id, ManifestName(id), MaxManifest)
}

// CheckManifest parses the manifest of a pointer. It must be exactly the published one, signed as
// the store requires.
func (s *Snapshots) CheckManifest(p Pointer, data, signature []byte) (*Manifest, error) {
	hash := hashOf(data)
	if hash != p.SHA256 {
		return nil, corruptf("manifest %s has the SHA-256 %s, published was %s", p.ID, hash, p.SHA256)
	}
	if err := s.keys.checkSignature("manifest "+p.ID, data, signature); err != nil {
		return nil, err
	}
	return s.recent.parse(p.ID, hash, data)
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// recentManifests are the last two that were parsed, by their digests. At full scale it takes 20 ms
// to parse one, and a replica that goes from one snapshot to the next needs each several times.
type recentManifests struct {
	sync.Mutex
	parsed [2]struct {
		*Manifest
		hash string
	}
}

// parse parses a manifest with a digest, which must be that of a snapshot.
func (r *recentManifests) parse(id, hash string, data []byte) (*Manifest, error) {
	r.Lock()
	defer r.Unlock()
	for _, known := range r.parsed {
		if known.hash == hash && known.ID == id {
			return known.Manifest, nil
		}
	}
	m, err := ParseManifest(data)
	if err != nil {
		return nil, err
	}
	if m.ID != id {
		return nil, corruptf("the manifest of %s is that of %s", id, m.ID)
	}
	r.parsed[1] = r.parsed[0]
	r.parsed[0].Manifest, r.parsed[0].hash = m, hash
	return m, nil
}

// AddManifest is CheckManifest followed by storing the manifest and its signature, if any. It
// replaces a manifest with the same id: the pointer decides which of the two is right.
func (s *Snapshots) AddManifest(p Pointer, data, signature []byte) error {
	m, err := s.CheckManifest(p, data, signature)
	if err != nil {
		return err
	}
	if err := errors.Join(s.segments.checkSegments(m), s.segments.syncSegments(m)); err != nil {
		return err
	}
	if len(signature) > 0 {
		if err := s.putSignature(p.ID, signature); err != nil {
			return err
		}
	}
	return s.PutFile(ManifestName(m.ID), data)
}

// HasSegment reports whether the store has a segment: by its size or, with whole, by its content.
func (s *Segments) HasSegment(ref SegmentRef, whole bool) bool {
	path, err := s.SegmentPath(ref.SHA256)
	return err == nil && HasFile(path, ref.Bytes, ref.SHA256, whole)
}
