package upstream

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"hdqs/internal/atomicfile"
	"hdqs/loader"
	"hdqs/loader/catalogfile"
)

// locationPath is where a tree has the list of locations, which no catalog publishes.
const locationPath = catalogfile.ReferenceFolder + "/" + catalogfile.LocationRole + ".csv"

// writeTree links the files into a new tree, writes catalog.json last, and replaces the old tree.
func (s *syncRun) writeTree() error {
	next, err := os.MkdirTemp(s.options.Cache, ".tree-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(next)
	c := catalogfile.File{
		Format: catalogfile.Format, CatalogURL: s.url, SnapshotTime: s.snapshotTime, Datasets: s.described,
	}
	saved := savedListing{Source: s.options.Source, CatalogURL: s.url, Datasets: s.described}
	linked := map[string]bool{}
	for i := range s.summary.Files {
		f := &s.summary.Files[i]
		if f.SHA256 != "" && linked[f.Path] {
			f.State, f.Why = loader.SourceRefused, listedBefore
		}
		if f.SHA256 == "" || f.State == loader.SourceRefused {
			continue
		}
		linked[f.Path] = true
		if err := s.cache.link(f.SHA256, filepath.Join(next, filepath.FromSlash(path.Clean(f.Path)))); err != nil {
			return err
		}
		c.Resources = append(c.Resources, s.entryOf(f))
		saved.Files = append(saved.Files, *f)
	}
	if !slices.ContainsFunc(c.Resources, func(e catalogfile.Entry) bool { return e.Role != catalogfile.PackageRole }) {
		return s.nothing()
	}
	if s.options.Location != "" && !linked[locationPath] {
		entry, err := addLocations(next, s.options.Location)
		if err != nil {
			return err
		}
		c.Resources = append(c.Resources, entry)
	}
	s.summary.Linked = len(c.Resources)
	data, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		return err
	}
	if err := atomicfile.Write(filepath.Join(next, catalogfile.Name), data); err != nil {
		return err
	}
	if data, err = json.MarshalIndent(saved, "", " "); err != nil {
		return err
	}
	if err := atomicfile.Write(filepath.Join(s.options.Cache, lastListing), data); err != nil {
		return err
	}
	tree := filepath.Join(s.options.Cache, "tree")
	if err := errors.Join(os.Chmod(next, 0o755), os.RemoveAll(tree), os.Rename(next, tree)); err != nil {
		return err
	}
	s.summary.Dir = tree
	return nil
}

// nothing is the error of a catalog without a file that could be read.
func (s *syncRun) nothing() error {
	const shown = 5
	var refused []loader.SourceReport
	for _, f := range s.summary.Files {
		if f.State == loader.SourceRefused {
			refused = append(refused, f.SourceReport)
		}
	}
	slices.SortStableFunc(refused, loader.ByHelp)
	var lines []error
	for _, r := range refused[:min(shown, len(refused))] {
		lines = append(lines, fmt.Errorf("%s: %s", r.Path, r.Why))
	}
	if more := len(refused) - shown; more > 0 {
		lines = append(lines, fmt.Errorf("and %d more", more))
	}
	return fmt.Errorf("%w: %d of %d files could not be downloaded:\n%w",
		ErrUnreachable, len(refused), len(s.summary.Files), errors.Join(lines...))
}

// entryOf is a file's entry in catalog.json.
func (s *syncRun) entryOf(f *FileState) catalogfile.Entry {
	e := catalogfile.Entry{
		Role: f.Role, Path: f.Path, Dataset: f.Dataset, ID: f.ID,
		LastModified: f.LastModified, Size: f.Bytes, SHA256: f.SHA256,
	}
	if f.Role == catalogfile.RiskRole && s.from.kind() == "ckan" {
		// Its rows belong to the workbook's resource, which the loader finds among the packages.
		e.Dataset, e.ID = "", ""
	}
	return e
}

// addLocations copies a list of locations into a tree.
func addLocations(tree, file string) (e catalogfile.Entry, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return e, err
	}
	to := filepath.Join(tree, filepath.FromSlash(locationPath))
	if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), atomicfile.Write(to, data)); err != nil {
		return e, err
	}
	return catalogfile.Entry{
		Role: catalogfile.LocationRole, Path: locationPath, Size: int64(len(data)),
		SHA256: fmt.Sprintf("%x", sha256.Sum256(data)),
	}, nil
}
