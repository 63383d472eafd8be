package upstream

import (
	"context"
	"fmt"
	"net/url"
	"slices"

	"hdqs/internal/fetch"
	"hdqs/loader/catalogfile"
)

// mirrorSource is a tree at an HTTP address.
type mirrorSource struct {
	listsAll
	base    string
	client  *fetch.Client
	catalog catalogfile.File
	fault   error // why the catalog cannot be used, nil when it can
}

func (m *mirrorSource) kind() string         { return "mirror" }
func (m *mirrorSource) counts() fetch.Counts { return m.client.Counts() }

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

func (m *mirrorSource) download(ctx context.Context, f *FileState, d destination) (fetch.Result, error) {
	q := fetch.Request{URL: f.link, Size: f.size, SHA256: f.SHA256, ETag: d.etag, Part: d.part, Received: d.received}
	return m.client.Download(ctx, q, d.to)
}
