//go:build !race

package loader

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"hdqs/internal/testkit"
	"hdqs/snapshot"
)

// TestTagged compares isHXL with its case file: the newest check that succeeded decides.
func TestTagged(t *testing.T) {
	t.Parallel()
	for _, c := range readCases(t, "testdata/packages/tagged.txt") {
		info, want := c.cut(" -> ")
		asText := testkit.Value(json.Marshal(info))(t)
		forms := []json.RawMessage{[]byte(info), asText} // the catalog writes JSON within JSON
		if info == "absent" {
			forms = []json.RawMessage{nil, []byte("null"), []byte(`""`)}
		}
		for _, form := range forms {
			if got := (&resourceInfo{CheckInfo: form}).isHXL(); got != (want == "true") {
				t.Errorf("%s: got %t, want %s, of %s", c.at, got, want, form)
			}
		}
	}
}

func TestParsePackage(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"id": "a", "name": "n", "title": null, "organization": null, "resources": [{"id": "r", "size": null}]}`,
		`{"success": true, "result": {"id": "a", "name": "n", "resources": [{"id": "r", "size": "12"}]}}`,
		`{"result": {"id": "a", "name": "n", "resources": [{"id": "r", "size": 12, "fs_check_info": null}]}}`,
		`{"id": "a", "name": "n", "result": "a field of that name", "resources": [{"id": "r"}]}`,
	} {
		p, err := parsePackage([]byte(text))
		if err != nil || p.ID != "a" || p.Name != "n" || len(p.Resources) != 1 || p.Resources[0].ID != "r" {
			t.Errorf("%s: got %+v, %v", text, p, err)
		}
	}
	for _, text := range []string{
		``, `[]`, `{}`, `{"success": false, "error": {}}`, `{"id": 5}`,
		`{"success": true, "result": null}`, `{"id": "a"`,
	} {
		if p, err := parsePackage([]byte(text)); err == nil {
			t.Errorf("%s: got %+v", text, p)
		}
	}
}

// FuzzPackage checks that any bytes give a package with an id or an error, and that methods of its
// resources do not panic.
func FuzzPackage(f *testing.F) {
	f.Add([]byte(smallPackage))
	f.Add([]byte(`{"success": true, "result": ` + smallPackage + `}`))
	f.Add([]byte(strings.Replace(smallPackage, `"size": 1`, `"fs_check_info": "[{\"state\": \"success\"}]"`, 1)))
	f.Add([]byte(describedPackage))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := parsePackage(data)
		if err != nil {
			return
		}
		if p.ID == "" {
			t.Fatal("a package without an id")
		}
		d := p.describe()
		if _, ok := webLink(d.LicenseURL); d.LicenseURL != "" && !ok {
			t.Fatalf("the licence's link is %q", d.LicenseURL)
		}
		for _, text := range []string{d.Name, d.Title, d.Publisher, d.License, d.Terms, d.Caveats} {
			if len(text) > maxDescription+len("...") {
				t.Fatalf("a text of %d bytes", len(text))
			}
		}
		for i := range p.Resources {
			p.Resources[i].isHXL()
			if at, ok := p.Resources[i].modified(); ok && at%second != 0 {
				t.Fatalf("modified at %d", at)
			}
		}
	})
}

func TestPrintedLinks(t *testing.T) {
	t.Parallel()
	for _, c := range readCases(t, "testdata/uri/printed.txt") {
		stored, want := c.cut(" -> ")
		if got, _ := webLink(stored); got != want {
			t.Errorf("%s: %q is printed %q, want %q", c.at, stored, got, want)
		}
	}
	if link, ok := webLink("\thttps://x.example/a\n"); !ok || link != "https://x.example/a" {
		t.Errorf("blanks around a link: %q", link)
	}
}

// FuzzPrintedLinks checks that a web link is printed in ASCII without blanks and controls, except
// for its host, and that a printed link is printed as itself.
func FuzzPrintedLinks(f *testing.F) {
	for _, seed := range []string{
		"http://x.org", "HTTPS://A@b:443/../a b?c d#e f", "https://x/%2e%2E/%", "a://b",
		"://", "http://é/\t\n\\", "javascript:alert(1)", "http:///x", "https://a:b@c:1/?#",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		got, ok := webLink(uri)
		if again, _ := webLink(got); again != got {
			t.Errorf("%q is printed %q, and that %q", uri, got, again)
		}
		if !ok {
			return // as stored
		}
		scheme, rest, _ := strings.Cut(got, "://")
		if scheme != "http" && scheme != "https" || strings.ContainsAny(got, " \t\r\n\"<>") {
			t.Errorf("%q is taken for the link %q", uri, got)
		}
		for _, c := range []byte(rest[strings.IndexByte(rest, '/'):]) {
			if c <= ' ' || c >= 0x7f {
				t.Errorf("%q is printed %q", uri, got)
			}
		}
	})
}

// TestProviderNamesAreStored checks that every table whose records print a row's units also has
// what the provider called them, in the tuple that holds the units, for the columns that the CSV
// form of the public service adds.
func TestProviderNamesAreStored(t *testing.T) {
	t.Parallel()
	found := 0
	for name, e := range readContract(t) {
		units := slices.ContainsFunc(e.Fields, func(f contractField) bool { return f.Name == "admin_level" })
		if !units || name == "data_availability" {
			continue
		}
		for _, f := range e.Fields {
			if f.Name != "admin1_name" && f.Name != "admin2_name" {
				continue
			}
			found++
			table := tableNamed(name)
			stored, _ := columnOf(table, "stored_"+f.Name)
			c, ok := columnOf(table, "provider_"+f.Name)
			if !ok || c.kind != snapshot.Text || c.nullable || c.group == "" || c.group != stored.group {
				t.Errorf("%s: column provider_%s is %+v, want a text beside stored_%s", name, f.Name, c, f.Name)
			}
		}
	}
	if found < 19 { // nine tables down to level 2, one down to level 1
		t.Errorf("%d columns, want 19 or more", found)
	}
}

// notLinks are texts that no client should follow.
var notLinks = []string{
	"", "not a url", "javascript:alert(1)", "JavaScript://x.example/%0aalert(1)", "data:text/html,x",
	"ftp://x.example/a",
	"//x.example/a", "http://", "https:///a", "https://?x", "http://a b/", "https://x.example:port/", "file:///etc/passwd",
}

// TestCatalogURLs loads catalogs whose site is no address, from catalog.json and from an option:
// nothing is published, as all links begin with it. Another site than before is said.
func TestCatalogURLs(t *testing.T) {
	t.Parallel()
	st, said := openStore(t), ""
	for _, site := range []string{"https://a.example", "https://b.example"} {
		r := testkit.Value(Build(t.Context(), Options{Catalog: smallCatalog(t), Store: st, CatalogURL: site}))(t)
		said += strings.Join(append(r.Losses(), site), "\n")
	}
	if strings.Count(said, "note: links lead to https://b.example, before to https://a.example") != 1 {
		t.Errorf("said: %s", said)
	}
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
