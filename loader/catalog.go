package loader

import (
	"bufio"
	"cmp"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"hdqs/loader/catalogfile"
)

// DefaultCatalogURL is the site in links when neither Options nor catalog.json names one.
const DefaultCatalogURL = "https://data.humdata.org"

// catalog lists the files of a directory by role, each role in load order.
type catalog struct {
	fsys     fs.FS
	name     string
	url      string
	time     time.Time // of catalog.json; zero when it has none
	files    map[string][]resourceFile
	packages []resourceFile

	described []catalogfile.Dataset // what catalog.json says about datasets

	listed int       // files in catalog.json, packages included
	notes  []string  // what is not read
	unread []Refusal // of these, what may have rows
}

// Unread is the refusal of what a tree has beside the files that are read. It is nil where that can
// have no rows. Folders end in a slash.
func Unread(other string) *Refusal {
	role, file, _ := strings.Cut(other, "/")
	folder := strings.ToLower(role)
	switch {
	case !IsDataRole(folder) && folder != catalogfile.ReferenceFolder:
		return nil
	case role != folder:
		return &Refusal{folder, other, other + " is not read: want a folder with the name " + folder}
	case !strings.HasSuffix(file, "/") && !catalogfile.MayHaveRows("", file):
		return nil
	case folder == catalogfile.ReferenceFolder:
		return &Refusal{folder, other, other + " is not read: want one file for each list, such as " +
			folder + "/market.csv"}
	}
	return &Refusal{role, other, other + " is not read: want files in the folder " + role +
		" itself, with names that end in .csv, .csv.gz or .csv.zst"}
}

// resourceFile is one file of a catalog, with what catalog.json says about it.
type resourceFile struct {
	role         string
	path         string
	id           string
	lastModified string
	size         int64
	sha256       string
	plainMD5     string // of the unpacked text, for view dumps with a hash file
	embedded     bool   // one of the loader's own lists
}

// openCatalog lists a directory: by its catalog.json when that names resources, else by its
// folders.
func openCatalog(fsys fs.FS, name string) (*catalog, error) {
	c := &catalog{fsys: fsys, name: name, url: DefaultCatalogURL, files: map[string][]resourceFile{}}
	m, others, err := catalogfile.Find(fsys, IsDataRole)
	if err == nil {
		c.time, err = m.Time()
	}
	if err == nil {
		err = m.CheckPaths()
	}
	if err != nil {
		return nil, fmt.Errorf("catalog %s: %w", name, err)
	}
	if m.CatalogURL != "" {
		c.url = strings.TrimRight(m.CatalogURL, "/")
	}
	c.described = m.Datasets
	for _, other := range others {
		if refusal := Unread(other); refusal != nil {
			c.unread = append(c.unread, *refusal)
			continue
		}
		c.notes = append(c.notes, other+" is no file of a known role and is not read")
	}
	c.listed = len(m.Resources)
	c.take(m.Resources)
	slices.SortStableFunc(c.packages, func(a, b resourceFile) int { return strings.Compare(a.path, b.path) })
	for role := range c.files {
		slices.SortStableFunc(c.files[role], func(a, b resourceFile) int {
			return cmp.Or(strings.Compare(plainName(a.path), plainName(b.path)), strings.Compare(a.path, b.path))
		})
	}
	c.preferCSV()
	if len(c.files) == 0 {
		return nil, fmt.Errorf(
			"catalog %s: no file of any known role; folders are named like conflict-events or reference", name)
	}
	return c, nil
}

// preferCSV leaves out the workbook of the national risk index where its CSV form exists: both have
// the same rows.
func (c *catalog) preferCSV() {
	isBook := func(f resourceFile) bool { return catalogfile.IsWorkbook(f.path) }
	var tables []resourceFile
	for _, f := range c.files[catalogfile.RiskRole] {
		if !isBook(f) {
			tables = append(tables, f)
		}
	}
	if tables == nil {
		return
	}
	for _, f := range c.files[catalogfile.RiskRole] {
		if isBook(f) {
			c.notes = append(c.notes, f.path+" is not read: the same index is there as CSV")
		}
	}
	c.files[catalogfile.RiskRole] = tables
}

// plainName is a file's name without folder and compression.
func plainName(p string) string { return catalogfile.TrimCompression(path.Base(p)) }

func (c *catalog) take(entries []catalogfile.Entry) {
	seen := map[string]bool{}
	for _, e := range entries {
		f := resourceFile{
			role: e.Role, path: e.Path, id: e.ID,
			lastModified: e.LastModified, size: e.Size, sha256: strings.ToLower(e.SHA256),
		}
		switch {
		case seen[e.Path]:
			c.unread = append(c.unread, Refusal{e.Role, e.Path, e.Path + " is not read as role " + e.Role +
				" again: catalog.json lists it before"})
			continue
		case e.Role == catalogfile.PackageRole:
			c.packages = append(c.packages, f)
		case catalogfile.IsReference(e.Role), IsDataRole(e.Role):
			c.files[e.Role] = append(c.files[e.Role], f)
		default:
			c.unread = append(c.unread, Refusal{
				"", e.Path,
				fmt.Sprintf("catalog.json: %s has the unknown role %q and is not read", e.Path, e.Role),
			})
			continue
		}
		seen[e.Path] = true
	}
}

// Bounds of a file. The ratio stops an archive that is small on disk and endless when unpacked; up
// to ratioFloor any ratio is accepted.
const (
	maxFileBytes = 2 << 30
	maxRatio     = 100 // published files unpack to 12 to 22 times their size
	ratioFloor   = 16 << 20
	// maxZstdWindow is the window that every decoder must support (RFC 8878 section 3.1.1.1.2). Of
	// zstd's levels, only those of --ultra and --long need more.
	maxZstdWindow = 8 << 20
)

// stream is one file of a catalog, unpacked while it is read. It counts and hashes the bytes of the
// file itself.
type stream struct {
	file     resourceFile
	raw      fs.File
	packed   int64 // bytes of the file read
	reported int64 // of these, already in the progress
	unpacked int64
	sum      hash.Hash
	plain    hash.Hash // of the unpacked bytes, when their sum is known
	from     io.Reader
	zstd     *zstd.Decoder
}

// openFile begins to read a file. It checks the size in catalog.json; finish checks the sum.
func (c *catalog) openFile(f resourceFile) (*stream, error) {
	raw, info, err := catalogfile.Open(c.holder(f), f.path)
	if err != nil {
		return nil, err
	}
	switch {
	case info.Size() > maxFileBytes:
		err = fmt.Errorf("%s: %d bytes, at most %d are read", f.path, info.Size(), int64(maxFileBytes))
	case f.size > 0 && info.Size() != f.size:
		err = fmt.Errorf("%s: %d bytes, catalog.json says %d", f.path, info.Size(), f.size)
	}
	s := &stream{file: f, raw: raw, sum: sha256.New()}
	if f.plainMD5 != "" {
		s.plain = md5.New()
	}
	if err == nil {
		err = s.unpack()
	}
	if err != nil {
		raw.Close()
		return nil, err
	}
	return s, nil
}

func (c *catalog) holder(f resourceFile) fs.FS {
	if f.embedded {
		return embedded
	}
	return c.fsys
}

// unpack puts the decoder for the file's suffix between the file and its reader.
func (s *stream) unpack() (err error) {
	switch {
	case strings.HasSuffix(s.file.path, ".gz"):
		s.from, err = gzip.NewReader(bufio.NewReaderSize(packedBytes{s}, csvBuffer))
	case strings.HasSuffix(s.file.path, ".zst"):
		s.zstd, err = zstd.NewReader(packedBytes{s}, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxZstdWindow))
		s.from = s.zstd
	case catalogfile.IsWorkbook(s.file.path):
		s.from, err = riskTable(packedBytes{s})
	default:
		s.from = packedBytes{s}
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF // an empty file is no archive
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.file.path, err)
	}
	return nil
}

// packedBytes reads the file as it is on disk.
type packedBytes struct{ s *stream }

func (p packedBytes) Read(b []byte) (int, error) {
	n, err := p.s.raw.Read(b)
	p.s.packed += int64(n)
	p.s.sum.Write(b[:n])
	if p.s.packed > maxFileBytes {
		return 0, fmt.Errorf("more than %d bytes", int64(maxFileBytes))
	}
	return n, err
}

// Read reads unpacked bytes.
func (s *stream) Read(b []byte) (int, error) {
	n, err := s.from.Read(b)
	s.unpacked += int64(n)
	if s.plain != nil {
		s.plain.Write(b[:n])
	}
	if s.unpacked > ratioFloor && s.unpacked/maxRatio > s.packed {
		return 0, fmt.Errorf("unpacks to more than %d times its size (%d bytes from %d); publish it unpacked",
			maxRatio, s.unpacked, s.packed)
	}
	if errors.Is(err, zstd.ErrWindowSizeExceeded) {
		err = fmt.Errorf("%w: at most %d bytes, so compress it without --long and --ultra", err, maxZstdWindow)
	}
	return n, err
}

// finish reads the file to its end, compares it with what catalog.json says about it, and returns
// its sum.
func (s *stream) finish() (sum string, err error) {
	// Bytes after the end of an archive belong to the file too.
	if _, err := io.Copy(io.Discard, packedBytes{s}); err != nil {
		return "", fmt.Errorf("%s: %w", s.file.path, err)
	}
	sum = hex.EncodeToString(s.sum.Sum(nil))
	if s.file.sha256 != "" && sum != s.file.sha256 {
		return sum, fmt.Errorf("%s: sha256 is %s, catalog.json says %s", s.file.path, sum, s.file.sha256)
	}
	if s.plain != nil {
		if got := hex.EncodeToString(s.plain.Sum(nil)); got != s.file.plainMD5 {
			return sum, fmt.Errorf("%s: md5 of its text is %s, the hash file beside it says %s", s.file.path, got,
				s.file.plainMD5)
		}
	}
	return sum, nil
}

func (s *stream) close() {
	if s.zstd != nil {
		s.zstd.Close()
	}
	s.raw.Close()
}

// bytesOf is the size of a role's files on disk, without those that cannot be found.
func (c *catalog) bytesOf(role string) int64 {
	var n int64
	for _, f := range c.files[role] {
		if info, err := fs.Stat(c.holder(f), f.path); err == nil {
			n += info.Size()
		}
	}
	return n
}

// progress sums what all streams have read.
type progress struct {
	call        func(Progress)
	total, done atomic.Int64
}

// restart begins at zero and finds out how much there is to read.
func (p *progress) restart(c *catalog) {
	if p.call == nil {
		return
	}
	p.done.Store(0)
	p.total.Store(0)
	for role := range c.files {
		p.total.Add(c.bytesOf(role))
	}
}

// move reports what was read of s since the last time.
func (p *progress) move(s *stream) {
	if p.call == nil {
		return
	}
	done := p.done.Add(s.packed - s.reported)
	s.reported = s.packed
	p.call(Progress{Path: s.file.path, Done: done, Total: p.total.Load()})
}
