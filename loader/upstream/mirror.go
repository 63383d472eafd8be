package upstream

import (
	"context"
	"fmt"
	"net/url"
	"slices"

	"hdqs/loader/catalogfile"
)

// mirrorSource is a tree at an HTTP address.
type mirrorSource struct {
	listsAll
	remote
	base    string
	catalog catalogfile.File
	fault   error // why the catalog cannot be used, nil when it can
}

func (m *mirrorSource) kind() string { return "mirror" }

// readCatalog asks for catalog.json. It makes one request, so that a site that has no such file is
// not asked again.
func (m *mirrorSource) readCatalog(ctx context.Context) error {
	err := m.client.JSON(ctx, m.base+"/"+catalogfile.Name, catalogfile.MaxBytes, &m.catalog)
	if err != nil {
		return err
	}
	return checkTree(&m.catalog)
}

func (m *mirrorSource) list(context.Context) (*listing, error) {
	if m.fault != nil {
		return nil, m.fault
	}
	l := treeListing(&m.catalog, func(p string) string {
		return m.base + (&url.URL{Path: "/" + p}).EscapedPath()
	})
	isPackage := func(f FileState) bool { return f.Role == catalogfile.PackageRole }
	if m.catalog.Packages != "" && !slices.ContainsFunc(l.files, isPackage) {
		l.note = fmt.Sprintf(
			"catalog.json names its packages only by the pattern %q, which cannot be listed over HTTP: "+
				"sources will lack their description; a tree that 'hdqs mirror' writes names each of them",
			m.catalog.Packages)
	}
	return l, nil
}
