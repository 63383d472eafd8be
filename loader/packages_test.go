package loader

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestTagged compares isHXL with its case file: the newest check that succeeded decides.
func TestTagged(t *testing.T) {
	t.Parallel()
	for _, c := range readCases(t, "testdata/packages/tagged.txt") {
		info, want := c.cut(" -> ")
		asText, err := json.Marshal(info)
		if err != nil {
			t.Fatal(err)
		}
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
