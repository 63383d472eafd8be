package loader

import (
	"bufio"
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"embed"
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

// rowReader takes the rows of one file.
type rowReader interface {
	// open begins a file whose header has been read, and may refuse it.
	open(r *csvReader, report *ResourceReport) error

	// readRow takes the current row. A fault drops the row.
	readRow() *rowFault

	// skipMarked is called for a row that upstream has marked in error.
	skipMarked()

	// rowsHeld is how many rows of all files are in memory, and distinctHeld about how many bytes
	// their distinct texts take.
	rowsHeld() int
	distinctHeld() int
}

// maxDistinct bounds the distinct texts and tuples of a role, in bytes, for DefaultMaxRows. Rows
// take little memory as long as they repeat the texts of others, as those of published tables do:
// the most is 18 MB.
const maxDistinct = 64 << 20

// cancelCheckRows is how many rows are read between two looks at the context.
const cancelCheckRows = 8192

// scanner reads files of a catalog row by row.
type scanner struct {
	catalog  *catalog
	maxRows  int // of a table
	progress progress
}

// scan reads one file. Rows that upstream has marked in error are counted and not given to the
// reader. An error refuses the file as a whole.
func (s *scanner) scan(
	ctx context.Context, file resourceFile, wanted, optional []string, to rowReader,
) (*ResourceReport, error) {
	began := time.Now()
	from, err := s.catalog.openFile(file)
	if err != nil {
		return nil, err
	}
	defer from.close()
	r, err := newCSV(file.path, from, wanted, optional)
	if err != nil {
		return nil, err
	}
	report := &ResourceReport{Role: file.role, Path: file.path, ExtraColumns: r.extra, id: file.id, own: !file.embedded}
	if err := to.open(r, report); err != nil {
		return nil, err
	}
	inError := r.position("error")
	for {
		err := r.read()
		if err == io.EOF {
			break
		}
		report.Rows.Read++
		var fault *rowFault
		switch {
		case err != nil && !errors.As(err, &fault):
			return nil, err
		case err != nil:
			report.drop(fault)
			continue
		case inError >= 0 && len(r.cells[inError]) > 0 && skipRow(r, inError, report, to):
			continue
		}
		switch fault := to.readRow(); {
		case fault == nil && to.rowsHeld() > s.maxRows:
			return nil, fmt.Errorf("%s:%d: more than %d rows of this role; --max-rows raises the bound",
				file.path, r.line, s.maxRows)
		case fault == nil:
			report.Rows.Kept++
		case fault.byRule:
			report.skip(fault)
		default:
			report.drop(fault)
		}
		if report.Rows.Read%cancelCheckRows == 0 {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			most := maxDistinct * max(1, s.maxRows/DefaultMaxRows)
			if n := to.distinctHeld(); n > most {
				return nil, fmt.Errorf("%s:%d: the distinct texts of this role take %d bytes, at most %d are held; "+
					"each %d of --max-rows give room for %d", file.path, r.line, n, most, DefaultMaxRows, maxDistinct)
			}
			s.progress.move(from)
		}
	}
	s.progress.move(from)
	if report.Rows.Read == 0 {
		report.Faults = append(report.Faults, "no rows under the header")
	}
	report.SHA256, err = from.finish()
	report.Bytes = from.packed
	report.Seconds = time.Since(began).Seconds()
	return report, err
}

// noErrorWords are what programs write into the column error of a row without one: their words for
// an empty cell, an empty list and a flag that is not set. A row with such a word is read. Of any
// other text nobody can say that it means no error.
var noErrorWords = strings.Fields(`nan na n/a #n/a <na> nat none null nil undefined false f no n 0 0.0 - -- ` +
	`[] {} () '' "" set() ok`)

// skipRow decides about a row whose column error is not empty, and counts it.
func skipRow(r *csvReader, inError int, report *ResourceReport, to rowReader) bool {
	switch word := bytes.ToLower(bytes.TrimSpace(r.cells[inError])); {
	case len(word) == 0: // nobody meant it
		report.drop(r.cellFault(blankError, "error", r.cells[inError]))
	case slices.Contains(noErrorWords, string(word)):
		report.odd(r.cellFault(noErrorWord, "error", r.cells[inError]))
		return false
	default:
		report.Rows.InError++
		to.skipMarked()
	}
	return true
}

// DefaultMaxRows is three times the rows of the largest table of the generated catalog.
const DefaultMaxRows = 10_000_000

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

// plainName is a file's name without folder and compression.
func plainName(p string) string { return catalogfile.TrimCompression(path.Base(p)) }

// embedded are the lists that a catalog may leave out: codes and names are facts, kept as the
// taxonomy has them.
//
//go:embed reference/*.csv
var embedded embed.FS

func (c *catalog) holder(f resourceFile) fs.FS {
	if f.embedded {
		return embedded
	}
	return c.fsys
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

// Progress is how much of the files has been read, in bytes on disk.
type Progress struct {
	Path        string
	Done, Total int64
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
