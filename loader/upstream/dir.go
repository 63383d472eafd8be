package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync/atomic"

	"hdqs/internal/fetch"
	"hdqs/loader/catalogfile"
)

// dirSource is a tree on this disk. A load reads such a tree directly; here it is copied, for a
// mirror that lists every one of its files.
type dirSource struct {
	listsAll
	dir   string
	bytes atomic.Int64
}

func (s *dirSource) kind() string { return "directory" }

func (s *dirSource) counts() fetch.Counts { return fetch.Counts{Bytes: s.bytes.Load()} }

func (s *dirSource) list(context.Context) (*listing, error) {
	tree := os.DirFS(s.dir)
	var c catalogfile.File
	data, err := catalogfile.ReadFile(tree, catalogfile.Name, catalogfile.MaxBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if c.Resources, err = listTree(tree); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	default:
		read, err := parseTree(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.dir, err)
		}
		c = *read
	}
	found, err := fs.Glob(tree, c.PackagePattern())
	if err != nil {
		return nil, fmt.Errorf("%s: catalog.json: packages %q: %w", s.dir, c.Packages, err)
	}
	if err := c.AddPackages(found); err != nil {
		return nil, fmt.Errorf("%s: %w", s.dir, err)
	}
	return treeListing(&c, func(p string) string { return p }), nil
}

// listTree finds the files of a tree without catalog.json: a folder is a role, except that
// reference has one file for each role.
func listTree(tree fs.FS) ([]catalogfile.Entry, error) {
	var found []catalogfile.Entry
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		plain := strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
		role, file, nested := strings.Cut(plain, "/")
		if !nested || role == "packages" || path.Ext(plain) != ".csv" &&
			!(role == catalogfile.RiskRole && path.Ext(plain) == ".xlsx") {
			return nil
		}
		if role == "reference" {
			role = strings.TrimSuffix(path.Base(file), ".csv")
		}
		if len(found) == catalogfile.MaxFiles {
			return &catalogfile.TooManyError{What: "the folder has", Limit: catalogfile.MaxFiles, Unit: "files"}
		}
		found = append(found, catalogfile.Entry{Role: role, Path: name})
		return nil
	})
	if err == nil && len(found) == 0 {
		err = errNoTree
	}
	return found, err
}

func (s *dirSource) download(ctx context.Context, f *FileState, d destination) (fetch.Result, error) {
	etag, to := d.etag, d.to
	in, info, err := catalogfile.Open(os.DirFS(s.dir), f.link)
	if err != nil {
		return fetch.Result{}, err
	}
	defer in.Close()
	result, err := copyObject(&cancelReader{ctx, in}, to, info.Size(), d.received)
	s.bytes.Add(result.Bytes)
	result.ETag = result.SHA256
	switch {
	case err != nil:
	case f.SHA256 != "" && result.SHA256 != f.SHA256:
		err = fmt.Errorf("%s: sha256 %s, the catalog says %s", f.link, result.SHA256, f.SHA256)
	case result.SHA256 == etag:
		return fetch.Result{NotModified: true, ETag: etag}, os.Remove(to)
	default:
		return result, nil
	}
	return result, errors.Join(err, os.Remove(to))
}

// cancelReader reads until its context ends.
type cancelReader struct {
	ctx  context.Context
	from io.Reader
}

// Read reads from the file.
func (r *cancelReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.from.Read(p)
}

// byteCounter is a writer that reports how much is written to it.
type byteCounter func(n int64)

// Write counts.
func (c byteCounter) Write(p []byte) (int, error) {
	c(int64(len(p)))
	return len(p), nil
}

// copyObject copies a file of at most limit bytes.
func copyObject(from io.Reader, to string, limit int64, received func(n int64)) (result fetch.Result, err error) {
	file, err := os.Create(to)
	if err != nil {
		return result, fmt.Errorf("%w: %w", fetch.ErrDisk, err)
	}
	defer file.Close() // after Sync, whose error counts
	part := fetch.NewPart(file)
	_, err = io.Copy(io.MultiWriter(part, byteCounter(received)), io.LimitReader(from, limit+1))
	result.Bytes, result.SHA256 = part.Written, part.SHA256()
	if err == nil && result.Bytes > limit {
		err = fmt.Errorf("over the size limit of %d bytes", limit)
	}
	if err == nil {
		if err = file.Sync(); err != nil {
			err = fmt.Errorf("%w: %w", fetch.ErrDisk, err)
		}
	}
	return result, err
}
