package upstream

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"sync/atomic"

	"hdqs/internal/objects"
	"hdqs/loader"
	"hdqs/loader/catalogfile"
)

// dirSource is a tree on this disk. A load reads such a tree directly; here it is copied, for a
// mirror that lists every one of its files.
type dirSource struct {
	objects.Dir
	bytes atomic.Int64 // that were copied
}

func (s *dirSource) kind() string { return "directory" }

// Traffic is that of copies.
func (s *dirSource) Traffic() objects.Traffic { return objects.Traffic{Received: s.bytes.Load()} }

// Download copies a file that lies in the directory.
func (s *dirSource) Download(ctx context.Context, q objects.Request, path string) (objects.Result, error) {
	if err := catalogfile.Dir(s.Dir).Check(q.Name); err != nil {
		return objects.Result{}, err
	}
	result, err := s.Dir.Download(ctx, q, path)
	s.bytes.Add(result.Bytes)
	return result, err
}

func (s *dirSource) list(context.Context) (*listing, error) {
	tree := catalogfile.Dir(s.Dir)
	c, others, err := catalogfile.Find(tree, loader.IsDataRole)
	if err == nil {
		err = c.CheckPaths()
	}
	if err == nil && len(c.Resources) == 0 {
		err = errNoTree
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Dir, err)
	}
	l := treeListing(c)
	for i := range l.files {
		if info, err := fs.Stat(tree, l.files[i].Path); err == nil && l.files[i].size == 0 {
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
