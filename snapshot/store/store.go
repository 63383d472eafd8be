package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"hdqs/internal/atomicfile"
	"hdqs/internal/objects"
	"hdqs/snapshot"
)

// The folders of a store and the extensions of the names in them. A file is written under a
// temporary name in its final folder and renamed once it is complete and on disk, so a file with
// its final name is complete. Only channels are ever replaced.
const (
	segmentsDir  = "segments"  // <sha256>.seg
	manifestsDir = "manifests" // <id>.json, <id>.report.json, <id>.sig
	channelsDir  = "channels"  // <name>.json
	deltasDir    = "deltas"    // <sha256>-<sha256>.delta
	figuresDir   = "figures"   // <sha256>.zst
	segmentExt   = ".seg"
	deltaExt     = ".delta"
	figuresExt   = ".zst"
	jsonExt      = ".json"
)

// Store is a directory of segments, manifests and channels, which it reads anew for each call: any
// number of goroutines and processes may use one directory at once. Its own methods are those of
// the directory as a whole.
type Store struct {
	Keys      *Keys
	Segments  *Segments
	Snapshots *Snapshots
	Channels  *Channels
}

// Snapshots are the manifests of a store with what is beside them: reports and signatures.
type Snapshots struct {
	dir      string
	recent   *recentManifests
	keys     *Keys
	segments *Segments
}

// Segments are the segments of a store.
type Segments struct {
	folder string
}

// Open opens a directory as a store. The first write makes a missing directory.
func Open(dir string) (*Store, error) {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fmt.Errorf("store %s is not a directory", dir)
	}
	return assemble(dir, Keys{}, new(recentManifests)), nil
}

func assemble(dir string, keys Keys, recent *recentManifests) *Store {
	s := &Snapshots{dir, recent, &keys, &Segments{filepath.Join(dir, segmentsDir)}}
	return &Store{s.keys, s.segments, s, &Channels{s}}
}

// Dir is the store's directory.
func (s *Store) Dir() string { return s.Snapshots.dir }

// SegmentPath is the path of the segment with a hash, whether or not it exists.
func (s *Segments) SegmentPath(hash string) (string, error) {
	if err := checkHash(hash); err != nil {
		return "", err
	}
	return filepath.Join(s.folder, hash+segmentExt), nil
}

// Path is where the store has a file, by its name with slashes.
func (s *Snapshots) Path(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }

// PutFile stores a file under its name. Files of a snapshot have functions of their own.
func (s *Snapshots) PutFile(name string, data []byte) error {
	return atomicfile.Write(s.Path(name), data)
}

// read reads a file whose name has an id.
func (s *Snapshots) read(id, name string, limit int64) ([]byte, error) {
	if err := CheckID(id); err != nil {
		return nil, err
	}
	return ReadFile(s.Path(name), limit)
}

// PutSegment writes a table as a segment, unless the store has the same segment already. It opens
// the file as replicas do before it gives it its name.
func (s *Segments) PutSegment(t *snapshot.TableData) (SegmentRef, error) {
	f, err := CreatePending(s.folder)
	if err != nil {
		return SegmentRef{}, err
	}
	defer f.Discard()
	if err := snapshot.WriteSegment(f, t); err != nil {
		return SegmentRef{}, err
	}
	ref := SegmentRef{Table: t.Name, Rows: t.Rows}
	if ref.Bytes, ref.SHA256, err = f.Finish(); err != nil {
		return SegmentRef{}, err
	}
	// An existing file may have been damaged since: it stays only if its content still has the hash
	// in its name. Keeping it keeps its pages in the page cache.
	if s.HasSegment(ref, true) {
		return ref, nil
	}
	written, err := openAs(ref, f.Name(), runtime.GOMAXPROCS(0))
	if err == nil {
		err = written.Close()
	}
	if err != nil {
		return SegmentRef{}, err
	}
	return ref, f.CommitAs(filepath.Join(s.folder, ref.SHA256+segmentExt))
}

// PutManifest adds a manifest whose segments are in the store. Writing the same manifest again
// changes nothing. Another one with the same id is refused.
func (s *Snapshots) PutManifest(m *Manifest) error {
	data, err := m.encode()
	if err != nil {
		return err
	}
	if err := s.segments.checkSegments(m); err != nil {
		return err
	}
	if err := s.segments.syncSegments(m); err != nil {
		return err
	}
	// The signature comes first, so a reader never finds the manifest without it.
	if s.keys.signer != nil {
		if err := s.putSignature(m.ID, encodeSignature(s.keys.signer, data)); err != nil {
			return err
		}
	}
	switch old, err := s.manifestFile(m.ID); {
	case err == nil && bytes.Equal(old, data):
		return nil
	case err == nil:
		return fmt.Errorf("manifest %s with other content: %w", m.ID, fs.ErrExist)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return s.PutFile(ManifestName(m.ID), data)
}

// checkSegments checks that each segment of a manifest has a file of the right size.
func (s *Segments) checkSegments(m *Manifest) error {
	for _, ref := range m.Tables {
		path, err := s.SegmentPath(ref.SHA256)
		if err != nil {
			return err
		}
		info, err := os.Stat(path)
		if err != nil {
			return fmt.Errorf("manifest %s, table %q: %w", m.ID, ref.Table, err)
		}
		if info.Size() != ref.Bytes {
			return corruptf("manifest %s, table %q: segment has %d bytes, want %d", m.ID, ref.Table, info.Size(),
				ref.Bytes)
		}
	}
	return nil
}

// syncSegments makes the names of segments durable before the manifest is written. The writer of a
// segment that was there already may have failed to do so.
func (s *Segments) syncSegments(m *Manifest) error {
	if len(m.Tables) == 0 {
		return nil
	}
	return atomicfile.SyncDir(s.folder)
}

// PutReport stores a JSON text beside the manifest of an id. The snapshot does not depend on it.
func (s *Snapshots) PutReport(id string, report []byte) error {
	if err := CheckID(id); err != nil {
		return err
	}
	if !json.Valid(report) {
		return fmt.Errorf("report of %s is not JSON", id)
	}
	return s.PutFile(ReportName(id), report)
}

// Report reads what PutReport stored. Without one the error is fs.ErrNotExist.
func (s *Snapshots) Report(id string) ([]byte, error) {
	return s.read(id, ReportName(id), MaxManifest)
}

// Manifest reads the manifest of an id. If there is none the error is fs.ErrNotExist. Callers share
// it, and must not change it.
func (s *Snapshots) Manifest(id string) (*Manifest, error) {
	m, _, err := s.manifest(id)
	return m, err
}

func (s *Snapshots) manifest(id string) (m *Manifest, hash string, err error) {
	data, err := s.manifestFile(id)
	if err == nil {
		err = s.checkSigned(id, data)
	}
	if err != nil {
		return nil, "", err
	}
	hash = hashOf(data)
	if m, err = s.recent.parse(id, hash, data); err != nil {
		return nil, "", fmt.Errorf("%s: %w", filepath.Join(s.dir, ManifestName(id)), err)
	}
	return m, hash, nil
}

// Manifests are the ids of all snapshots, sorted.
func (s *Snapshots) Manifests() ([]string, error) { return NamesIn(s.Path(manifestsDir)) }

// NamesIn are the ids or names of which a folder has JSON files, sorted.
func NamesIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), jsonExt); ok && CheckID(name) == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// Snapshot is all tables at one moment, with its segments in memory. It never changes, so any
// number of goroutines may share it.
type Snapshot struct {
	Manifest *Manifest
	Segments map[string]*snapshot.Segment // by table
}

// Open reads all segments of a snapshot and checks sizes, checksums and contents.
func (s *Snapshots) Open(id string) (*Snapshot, error) { return s.OpenAfter(id, nil) }

// OpenAfter is Open, but segments that are also in an earlier snapshot, which must still be open,
// are shared with it: they are the same *snapshot.Segment. The others are opened on one core, since
// the earlier snapshot is in use. Both must be closed, in any order.
func (s *Snapshots) OpenAfter(id string, earlier *Snapshot) (*Snapshot, error) {
	m, err := s.Manifest(id)
	if err != nil {
		return nil, err
	}
	return s.openManifest(m, earlier)
}

// OpenPointer is OpenAfter for the pointer of a channel. The manifest must be exactly the published
// one.
func (s *Snapshots) OpenPointer(p Pointer, earlier *Snapshot) (*Snapshot, error) {
	m, err := s.Published(p)
	if err != nil {
		return nil, &ManifestError{err}
	}
	return s.openManifest(m, earlier)
}

// Published reads the manifest of a channel's pointer. It must be exactly the published one.
func (s *Snapshots) Published(p Pointer) (*Manifest, error) {
	m, hash, err := s.manifest(p.ID)
	if errors.Is(err, fs.ErrNotExist) {
		// A channel moves only after its manifest is written, so this one was lost: the store is
		// damaged.
		return nil, corruptf("a channel points to %s: %v", p.ID, err)
	}
	if err != nil {
		return nil, err
	}
	if hash != p.SHA256 {
		return nil, corruptf("manifest %s has the SHA-256 %s, published was %s", p.ID, hash, p.SHA256)
	}
	return m, nil
}

func (s *Snapshots) openManifest(m *Manifest, earlier *Snapshot) (*Snapshot, error) {
	shared := map[string]*snapshot.Segment{}
	if earlier != nil {
		for _, ref := range earlier.Manifest.Tables {
			if segment := earlier.Segments[ref.Table]; segment != nil {
				shared[ref.Table+ref.SHA256] = segment
			}
		}
	}
	cores := runtime.GOMAXPROCS(0)
	if earlier != nil { // it is served, and requests need the other cores
		cores = 1
	}
	snap := &Snapshot{Manifest: m, Segments: make(map[string]*snapshot.Segment, len(m.Tables))}
	var errs []error // of all tables, not of the first one only
	for _, ref := range m.Tables {
		segment, err := shared[ref.Table+ref.SHA256], error(nil)
		if segment != nil {
			segment.Acquire()
		} else if segment, err = s.segments.openRef(ref, cores); err != nil {
			errs = append(errs, err)
			continue
		}
		snap.Segments[ref.Table] = segment
	}
	if err := errors.Join(errs...); err != nil {
		return nil, errors.Join(fmt.Errorf("snapshot %s: %w", m.ID, err), snap.Close())
	}
	return snap, nil
}

// openRef opens a segment of the store on so many cores.
func (s *Segments) openRef(ref SegmentRef, cores int) (*snapshot.Segment, error) {
	path, err := s.SegmentPath(ref.SHA256)
	if err != nil {
		return nil, err
	}
	return openAs(ref, path, cores)
}

// openAs opens a file and checks that it is the segment that a manifest describes.
func openAs(ref SegmentRef, path string, cores int) (segment *snapshot.Segment, err error) {
	if err = asCorrupt(objects.CheckRegular(path)); err == nil {
		segment, err = snapshot.OpenSegmentOn(path, cores)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		// A manifest is written after its segments, so this one was lost: the snapshot is damaged.
		return nil, corruptf("table %q: %v", ref.Table, err)
	case err != nil:
		return nil, fmt.Errorf("table %q: %w", ref.Table, err)
	}
	if size := segment.Bytes(); segment.Name() != ref.Table || segment.Rows() != ref.Rows || size != ref.Bytes {
		err := corruptf("%s is table %q with %d rows, %d bytes; the manifest says %q, %d, %d",
			path, segment.Name(), segment.Rows(), size, ref.Table, ref.Rows, ref.Bytes)
		return nil, errors.Join(err, segment.Close())
	}
	return segment, nil
}

// Acquire returns the same snapshot again. Each of the two must be closed, in any order.
func (s *Snapshot) Acquire() *Snapshot {
	other := &Snapshot{Manifest: s.Manifest, Segments: make(map[string]*snapshot.Segment, len(s.Segments))}
	for table, segment := range s.Segments {
		other.Segments[table] = segment.Acquire()
	}
	return other
}

// Close gives up the segments. Nothing they have returned may be used afterwards, unless another
// snapshot shares them.
func (s *Snapshot) Close() error {
	var errs []error
	for _, segment := range s.Segments {
		errs = append(errs, segment.Close())
	}
	s.Segments = nil
	return errors.Join(errs...)
}
