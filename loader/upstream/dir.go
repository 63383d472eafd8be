package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync/atomic"

	"hdqs/internal/fetch"
	"hdqs/loader"
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
	c, others, err := catalogfile.Find(catalogfile.Dir(s.dir), loader.IsDataRole)
	if err == nil {
		err = c.CheckPaths()
	}
	if err == nil && len(c.Resources) == 0 {
		err = errNoTree
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.dir, err)
	}
	l := treeListing(c, func(p string) string { return p })
	for i := range l.files {
		if info, err := fs.Stat(catalogfile.Dir(s.dir), l.files[i].Path); err == nil && l.files[i].size == 0 {
			l.files[i].size = info.Size()
		}
	}
	var left []string
	for _, other := range others {
		if r := loader.Unread(other); r != nil {
			l.unread = append(l.unread, FileState{SourceReport: loader.SourceReport{
				Role: r.Role, Path: r.Path, State: loader.SourceRefused, Why: r.Why,
			}})
		} else {
			left = append(left, other)
		}
	}
	if len(left) > 0 {
		l.note = "not copied, since a load does not read them: " + strings.Join(left, ", ")
	}
	return l, nil
}

func (s *dirSource) download(ctx context.Context, f *FileState, d destination) (result fetch.Result, err error) {
	in, info, err := catalogfile.Open(catalogfile.Dir(s.dir), f.link)
	if err != nil {
		return result, err
	}
	defer in.Close()
	result, err = copyObject(&progressReader{ctx, in, d.received}, d.to, info.Size())
	s.bytes.Add(result.Bytes)
	result.ETag = result.SHA256
	switch {
	case err != nil:
	case f.SHA256 != "" && result.SHA256 != f.SHA256:
		err = fmt.Errorf("%s: sha256 %s, the catalog says %s", f.link, result.SHA256, f.SHA256)
	case result.SHA256 == d.etag:
		result.NotModified = true
	default:
		return result, nil
	}
	return result, errors.Join(err, os.Remove(d.to))
}

// progressReader reads until its context ends, and reports how much.
type progressReader struct {
	ctx      context.Context
	from     io.Reader
	received func(n int64)
}

// Read reads from the file.
func (r *progressReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := r.from.Read(p)
	r.received(int64(n))
	return n, err
}

// copyObject copies a file of at most limit bytes.
func copyObject(from io.Reader, to string, limit int64) (result fetch.Result, err error) {
	file, err := os.Create(to)
	if err != nil {
		return result, fmt.Errorf("%w: %w", fetch.ErrDisk, err)
	}
	defer file.Close() // after Sync, whose error counts
	part := fetch.NewPart(file)
	_, err = io.Copy(part, io.LimitReader(from, limit+1))
	if err == nil && part.Written > limit {
		err = fmt.Errorf("over the size limit of %d bytes", limit)
	}
	if err == nil {
		if err = file.Sync(); err != nil {
			err = fmt.Errorf("%w: %w", fetch.ErrDisk, err)
		}
	}
	return fetch.Result{Bytes: part.Written, SHA256: part.SHA256()}, err
}
