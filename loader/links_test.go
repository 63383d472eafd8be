//go:build !race

package loader

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

// notLinks are texts that no client should follow.
var notLinks = []string{
	"", "not a url", "javascript:alert(1)", "JavaScript://x.example/%0aalert(1)", "data:text/html,x",
	"ftp://x.example/a",
	"//x.example/a", "http://", "https:///a", "https://?x", "http://a b/", "https://x.example:port/", "file:///etc/passwd",
}

func TestWebLink(t *testing.T) {
	t.Parallel()
	for _, uri := range notLinks {
		if link, ok := webLink(uri); ok {
			t.Errorf("%q is taken for the link %q", uri, link)
		}
	}
	for uri, want := range map[string]string{
		"HTTPS://X.example": "https://x.example/", "http://x:80/a b?q#f": "http://x/a%20b?q#f",
		"https://[::1]:8443/": "https://[::1]:8443/", "\thttps://x.example/a\n": "https://x.example/a",
	} {
		if link, ok := webLink(uri); !ok || link != want {
			t.Errorf("%q: got %q, %t; want %q", uri, link, ok, want)
		}
	}
}

// TestLinksOfPackages loads a package whose links are none, or that has no organisation: it is
// reported and not listed, and its rows of data stay.
func TestLinksOfPackages(t *testing.T) {
	t.Parallel()
	const describe = `{"id": "set", "name": "n", "title": "t", "organization": %s, "resources": [` +
		`{"id": "res-1", "name": "x", "format": "CSV", "url": %q, "last_modified": "2026-01-01T00:00:00"}]}`
	organization := `{"name": "org", "title": "Org"}`
	for _, c := range []struct {
		organization, url   string
		datasets, resources int
		want                string
	}{
		{organization, "https://x.example/a.csv", 1, 1, ""},
		{`null`, "https://x.example/a.csv", 0, 0, "bad_link: package set: no catalog_provider_stub for provider_catalog_link"},
		{`{"name": "", "title": "Org"}`, "https://x.example/a", 0, 0, "bad_link: package set: no catalog_provider_stub"},
		{organization, "javascript:alert(1)", 1, 0, `bad_link: resource res-1: download_url: "javascript:alert(1)"`},
		{organization, "", 1, 0, `bad_link: resource res-1: download_url: ""`},
		{organization, "not a url", 1, 0, `bad_link: resource res-1: download_url: "not a url"`},
	} {
		files := smallCatalog(t)
		files["packages/p.json"] = &fstest.MapFile{Data: fmt.Appendf(nil, describe, c.organization, c.url)}
		report, snap := buildFiles(t, files)
		datasets, resources := snap.Segments["dataset"].Rows(), snap.Segments["resource"].Rows()
		if datasets != c.datasets || resources != c.resources || snap.Segments["idps"].Rows() == 0 {
			t.Errorf("%+v: %d datasets, %d resources, %d rows", c, datasets, resources, snap.Segments["idps"].Rows())
		}
		var text strings.Builder
		for _, r := range report.Resources {
			for reason, e := range r.Drops {
				fmt.Fprintf(&text, "%s: %s\n", reason, strings.Join(e.First, "\n"))
			}
		}
		words := strings.SplitN(c.want, ": ", 2)
		for _, word := range words {
			if !strings.Contains(text.String(), word) || c.want != "" && !report.Partial {
				t.Errorf("%+v: partial %t, the report says %s", c, report.Partial, text.String())
			}
		}
	}
}

// TestCatalogURLs loads catalogs whose site is no address, from catalog.json and from an option:
// nothing is published, as all links begin with it.
func TestCatalogURLs(t *testing.T) {
	t.Parallel()
	for _, site := range append(notLinks[1:], "https://x.example/?q=", "https://x.example/#") {
		st := openStore(t)
		opts := Options{Catalog: smallCatalog(t), CatalogName: "test", Store: st, CatalogURL: site}
		if _, err := Build(t.Context(), opts); err == nil || !strings.Contains(err.Error(), "catalog_url") {
			t.Errorf("option %q: %v", site, err)
		}
		views, _ := smallViews(t)
		for _, files := range []fstest.MapFS{smallCatalog(t), views} {
			files["catalog.json"] = &fstest.MapFile{Data: fmt.Appendf(nil, `{"format": 1, "catalog_url": %q}`, site)}
			opts := Options{Catalog: files, CatalogName: "test", Store: st}
			if _, err := Build(t.Context(), opts); err == nil || !strings.Contains(err.Error(), "catalog_url") {
				t.Errorf("catalog.json with %q: %v", site, err)
			}
		}
	}
}
