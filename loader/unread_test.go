package loader

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"hdqs/internal/testkit"
	"hdqs/snapshot/store"
)

// TestUnreadForms: files beside those that are read, and folders with nearly the name of a role,
// are named, and the load is partial.
func TestUnreadForms(t *testing.T) {
	t.Parallel()
	for path, named := range map[string]bool{
		"idps/e_2025.tsv": true, "idps/e_2025.txt": true, "idps/e_2025.xlsx": true, "idps/e_2025.parquet": true,
		"idps/e_2025.json": true, "idps/e_2025.zip": true, "idps/e_2025.csv.bz2": true, "idps/e_2025.xz": true,
		"idps/e_2025.csv.part": true, "idps/e_2025": true, "idps/old/e.csv": true, "Idps/e.csv": true,
		"reference/market_2.csv": true, "reference/market.xlsx": true, "idps/README.md": false, "idps/guide.pdf": false,
		"idps/LICENSE": false, "idps/.hidden.csv": false,
		"notes/e.txt": false, "notes/e.csv": true, "e.csv.gz": true, "e.txt": false,
	} {
		files := fstest.MapFS{"idps/e_2024.csv": {Data: []byte("x")}, path: {Data: []byte("x")}}
		c := testkit.Value(openCatalog(files, "test"))(t)
		isNamed := len(c.unread) == 1 && strings.HasPrefix(path, strings.TrimSuffix(c.unread[0].Path, "/"))
		if isNamed != named || !named && len(c.unread) > 0 {
			t.Errorf("%s: %v", path, c.unread)
		}
	}
}

// TestCountFiles: an entry of catalog.json that is left out, and one that nothing reads, are
// refused.
func TestCountFiles(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{
		"catalog.json": {Data: []byte(`{"format": 1, "resources": [{"role": "idps", "path": "idps/a.csv", "last_modified": "1 May"},
			{"role": "funding", "path": "idps/a.csv"}]}`)},
		"idps/a.csv": {Data: []byte("x")},
	}
	c, err := openCatalog(files, "test")
	if err != nil || len(c.unread) != 1 || !strings.Contains(c.unread[0].Why, "lists it before") ||
		len(c.notes) != 1 || !strings.Contains(c.notes[0], `idps/a.csv is no time and is not used: "1 May"`) {
		t.Fatalf("%v, %v, %v", c.unread, c.notes, err)
	}
	c.files["idps"] = append(c.files["idps"], resourceFile{role: "idps", path: "idps/lost.csv"})
	r := newResult((*store.Store)(nil), &Report{Resources: []*ResourceReport{{Role: "idps", Path: "idps/a.csv"}}})
	l := &load{scanner: scanner{catalog: c}, opts: Options{Fetched: &FetchReport{Linked: 5, Sources: []SourceReport{
		{State: SourceRefused, Path: "hdx-hapi-idps/x", Why: "no role takes it"}, {State: SourceNew, Role: "idps"},
	}}}}
	l.countFiles(r)
	r.report.finish()
	var refused []string
	for _, f := range r.report.Refused {
		refused = append(refused, f.Path)
	}
	want := []string{"catalog.json", "hdx-hapi-idps/x", "idps/a.csv", "idps/lost.csv"}
	if !slices.Equal(refused, want) || !r.report.Partial || r.report.Files != (FileCounts{2, 1, 1, 2}) {
		t.Errorf("refused %q, %+v, partial %t", refused, r.report.Files, r.report.Partial)
	}
	if said := strings.Join(r.report.Losses(), "\n"); strings.Count(said, "refused: ") != len(want) {
		t.Errorf("said: %s", said)
	}
}

// TestByReason: files with the same reason are one line, whatever address it names.
func TestByReason(t *testing.T) {
	t.Parallel()
	got := ByReason([]Reason{
		{"stale ", "a: ", "fetch https://x.example/a.csv?x=1: status 403"},
		{"stale ", "b: ", "another"},
		{"stale ", "c: ", "fetch https://x.example/c.csv: status 403"},
		{"refused ", "d: ", "another"},
	})
	want := []string{
		"stale 2 files, the first a: fetch https://x.example/a.csv?x=1: status 403", "stale b: another",
		"refused d: another",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	r := &Report{Refused: []Refusal{{"package", "p/a", "p/a: no id"}, {"package", "p/b", "p/b: no id"}}}
	if said := r.Losses(); !slices.Equal(said, []string{"refused: 2 files, the first p/a: no id"}) {
		t.Errorf("said %q", said)
	}
}
