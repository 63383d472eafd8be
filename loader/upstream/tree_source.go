package upstream

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"hdqs/internal/objects"
	"hdqs/loader/catalogfile"
)

// treeSource is a tree with a catalog.json, at an HTTP address or in a bucket.
type treeSource struct {
	objects.Store
	name    string            // of the kind of source
	catalog *catalogfile.File // nil until it is read
	fault   error             // why the catalog cannot be used, nil when it can
}

func (t *treeSource) kind() string { return t.name }

func (t *treeSource) list(ctx context.Context) (*listing, error) {
	if t.fault != nil {
		return nil, t.fault
	}
	if t.catalog == nil {
		if err := t.readCatalog(ctx); err != nil {
			return nil, err
		}
	}
	note, err := t.addPackages(ctx)
	if err != nil {
		return nil, err
	}
	l := treeListing(t.catalog)
	l.note = note
	return l, nil
}

// readCatalog reads the catalog.json of a bucket.
func (t *treeSource) readCatalog(ctx context.Context) error {
	data, _, err := t.Read(ctx, catalogfile.Name, "", catalogfile.MaxBytes)
	if err != nil {
		return err
	}
	if t.catalog, err = catalogfile.Parse(data); err != nil {
		return err
	}
	return checkTree(t.catalog)
}

// addPackages adds the objects that match the pattern of packages, which may have * in its last
// part. If they cannot be listed, the note says so.
func (t *treeSource) addPackages(ctx context.Context) (note string, err error) {
	c := t.catalog
	pattern := c.PackagePattern()
	all, err := t.List(ctx, path.Dir(pattern))
	if errors.Is(err, objects.ErrReadOnly) {
		isPackage := func(e catalogfile.Entry) bool { return e.Role == catalogfile.PackageRole }
		if c.Packages != "" && !slices.ContainsFunc(c.Resources, isPackage) {
			note = fmt.Sprintf(
				"catalog.json names its packages only by the pattern %q, which cannot be listed over HTTP: "+
					"sources will lack their description; a tree that 'hdqs mirror' writes names each of them",
				c.Packages)
		}
		return note, nil
	}
	if err != nil {
		return "", err
	}
	var found []string
	for _, o := range all {
		fits, err := path.Match(pattern, o.Name)
		if err != nil {
			return "", fmt.Errorf("catalog.json: packages %q: %w", pattern, err)
		}
		if fits && fs.ValidPath(o.Name) {
			found = append(found, o.Name)
		}
	}
	return "", c.AddPackages(found)
}
