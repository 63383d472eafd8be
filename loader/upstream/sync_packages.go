package upstream

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"hdqs/loader/catalogfile"
)

// fetchPackages reads the packages that rows name. Without them the data is complete but its
// sources lack their description, so the last copies are used then.
func (s *syncRun) fetchPackages(ctx context.Context, last *savedListing) error {
	from, has := s.from.(packageSource)
	if !has {
		return nil
	}
	datasets, err := s.datasets(ctx)
	if err != nil {
		return err
	}
	first := len(s.summary.Files)
	if n := len(datasets); n > catalogfile.MaxFiles {
		err = fmt.Errorf("rows name %d packages, at most %d are read", n, catalogfile.MaxFiles)
	} else {
		err = s.bounded(ctx, "the list of packages", func(ctx context.Context) error {
			return from.packages(ctx, datasets, func(l *listing) { s.fetchAll(ctx, l) })
		})
	}
	if err != nil {
		s.note("not all source packages could be read, the last ones are used: " + err.Error())
		s.keepPackages(last, err)
		copies := func(isPackage bool) bool {
			return slices.ContainsFunc(s.summary.Files, func(f FileState) bool {
				return f.SHA256 != "" && (f.Role == catalogfile.PackageRole) == isPackage
			})
		}
		if copies(false) && !copies(true) { // else each of them is stale
			l := &listing{}
			l.refuse("packages", err.Error())
			s.fetchAll(ctx, l)
		}
	}
	slices.SortFunc(s.summary.Files[first:], func(a, b FileState) int { return strings.Compare(a.Path, b.Path) })
	return nil
}

// keepPackages uses the last copies of the packages.
func (s *syncRun) keepPackages(last *savedListing, why error) {
	if last == nil {
		return
	}
	read := map[string]bool{}
	for _, f := range s.summary.Files {
		read[f.Path] = true
	}
	for _, f := range last.Files {
		if f.Role == catalogfile.PackageRole && !read[f.Path] {
			s.keepCopy(f, why)
		}
	}
}

// datasets are the source packages that the rows of all data files name. They are known from the
// check of a download; only copies that an older program left are read for them.
func (s *syncRun) datasets(ctx context.Context) ([]string, error) {
	all := map[string]bool{}
	for _, f := range s.summary.Files {
		isData := !catalogfile.IsReference(f.Role) && f.Role != catalogfile.PackageRole
		if f.SHA256 == "" || !isData || !strings.HasSuffix(f.Path, ".csv") {
			continue
		}
		e := s.cache.entries[f.key]
		if !e.Scanned || e.SHA256 != f.SHA256 {
			found, err := s.options.check(ctx, f.Role, f.Path, s.cache.objectPath(f.SHA256))
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if err != nil {
				s.note(fmt.Sprintf("%s: not read to its end for the packages its rows name: %v", f.Path, err))
			}
			e.Datasets, e.Scanned = found, true
			s.cache.entries[f.key] = e
		}
		for _, id := range e.Datasets {
			all[id] = true
		}
	}
	return slices.Sorted(maps.Keys(all)), nil
}
