package main_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"hdqs/api/contract"
	"hdqs/internal/generator"
	"hdqs/internal/testkit"
)

// report is what these tests read of a load's report.
type report struct {
	Snapshot string `json:"snapshot"`
	Outcome  string `json:"outcome"`
	Partial  bool   `json:"partial"`
	Refused  []struct {
		Path, Why string
	} `json:"refused"`
	Resources []struct {
		Role, Path string
		Rows       struct{ Read, Dropped, Kept int }
		Drops      map[string]struct {
			Count int
			First []string
		}
	} `json:"resources"`
	Tables []struct {
		Table  string
		Rows   int
		SHA256 string
	} `json:"tables"`
	Rows struct{ Read, Dropped, Kept int } `json:"rows"`
}

// storedFile is a file of a store.
type storedFile struct {
	data    []byte
	changed time.Time
}

// stored reads every file of a store.
func stored(t *testing.T, store string) map[string]storedFile {
	t.Helper()
	files := map[string]storedFile{}
	err := filepath.WalkDir(store, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(store, path)
		files[name] = storedFile{testkit.ReadFile(t, path), info.ModTime()}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// times matches what differs between the reports of two runs.
var times = regexp.MustCompile(`"seconds": [-+.0-9e]+`)

// differentFiles lists the files that are not in both stores, or with other bytes.
func differentFiles(a, b map[string]storedFile) []string {
	var names []string
	for name, file := range a {
		x, y := file.data, b[name].data
		if strings.HasSuffix(name, ".report.json") {
			x, y = times.ReplaceAll(x, nil), times.ReplaceAll(y, nil)
		}
		if !bytes.Equal(x, y) {
			names = append(names, name)
		}
	}
	for name := range b {
		if _, both := a[name]; !both {
			names = append(names, name)
		}
	}
	return names
}

// TestBuildIsRepeatable loads one catalog into two stores, and again into one of them.
func TestBuildIsRepeatable(t *testing.T) {
	parallel(t)
	files := newCatalog(t, 1)
	first := newStore(t, files)
	before := stored(t, first)
	if names := differentFiles(before, stored(t, newStore(t, files))); len(names) > 0 {
		t.Errorf("two stores from the same input differ in %q", names)
	}
	if len(before) != len(contract.Endpoints)+2+1 {
		t.Errorf("%d files in a store, want %d segments, a manifest, a report and a pointer", len(before),
			len(contract.Endpoints))
	}
	printed := mustExit(t, 0, "build", "--catalog", files, "--store", first, "--snapshot-time", "2026-12-24T00:00:00Z",
		"--json").stdout
	if again := decode[report](t, []byte(printed)); again.Outcome != "unchanged" {
		t.Errorf("outcome of a second load is %q, want unchanged", again.Outcome)
	}
	after := stored(t, first)
	for name, file := range before {
		if strings.HasSuffix(name, ".report.json") {
			continue
		}
		if now := after[name]; !bytes.Equal(file.data, now.data) || !file.changed.Equal(now.changed) {
			t.Errorf("a load of the same input has rewritten %s", name)
		}
	}
	if len(after) != len(before) {
		t.Errorf("%d files after a load of the same input, %d before", len(after), len(before))
	}
}

// TestBuildReport checks the report on stdout and the one beside the manifest.
func TestBuildReport(t *testing.T) {
	parallel(t)
	files, store := newCatalog(t, 1), filepath.Join(t.TempDir(), "store")
	o := mustExit(t, 0, "build", "--catalog", files, "--store", store, "--json")
	printed := decode[report](t, []byte(o.stdout))
	if printed.Outcome != "published" || printed.Partial || len(printed.Tables) != len(contract.Endpoints) ||
		printed.Rows.Kept == 0 {
		t.Errorf("report: %+v", printed)
	}
	beside := testkit.ReadFile(t, filepath.Join(store, "manifests", printed.Snapshot+".report.json"))
	kept := decode[report](t, beside)
	if kept.Snapshot != printed.Snapshot || kept.Rows != printed.Rows || len(kept.Tables) != len(contract.Endpoints) {
		t.Errorf("the report beside the manifest differs: %+v", kept)
	}
	if got := mustExit(t, 0, "inspect", "--store", store, "--report", "--json").stdout; got != string(beside) {
		t.Error("inspect --report --json does not print the report beside the manifest")
	}
	text := mustExit(t, 0, "inspect", "--store", store, "--report").stdout
	for _, table := range printed.Tables {
		if !strings.Contains(text, table.Table) {
			t.Errorf("table %s is not in the text of the report", table.Table)
		}
	}
	view, _ := inspect(t, store)
	if view.ID != printed.Snapshot || len(view.Tables) != len(contract.Endpoints) {
		t.Errorf("inspect: snapshot %s with %d tables", view.ID, len(view.Tables))
	}
	for i, table := range view.Tables {
		want := printed.Tables[i]
		if table.Table != want.Table || table.Rows != want.Rows || table.SHA256 != want.SHA256 {
			t.Errorf("inspect: %+v, report: %+v", table, want)
		}
	}
	text = mustExit(t, 0, "inspect", "--store", store, view.ID).stdout
	if !strings.Contains(text, view.ID) || !strings.Contains(text, "conflict_event") {
		t.Errorf("inspect by id: %.300s", text)
	}
}

// TestHostileCatalog builds a catalog full of faults: the sound rows are published and served, and
// the exit code is 5.
func TestHostileCatalog(t *testing.T) {
	parallel(t)
	dir := filepath.Join(t.TempDir(), "catalog")
	faults, err := generator.WriteHostile(dir, generator.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	rows, files := 0, 0
	for _, f := range faults {
		if f.Line > 0 {
			rows++
		} else {
			files++
		}
	}
	store := filepath.Join(t.TempDir(), "store")
	o := mustExit(t, 5, "build", "--catalog", dir, "--store", store, "--json")
	if r := decode[report](t, []byte(o.stdout)); !r.Partial || r.Rows.Dropped != rows || len(r.Refused) != files {
		t.Errorf("partial %t, %d rows dropped, %d files refused; want true, %d, %d",
			r.Partial, r.Rows.Dropped, len(r.Refused), rows, files)
	}
	mustExit(t, 0, "verify", "--store", store)
	s := serve(t, "--store", store)
	for _, e := range endpoints(t) {
		if a := ask(t, "GET", s.base+with(e.Path)); a.status != 200 || a.header.Get("X-Total-Count") == "0" {
			t.Errorf("%s: %d, X-Total-Count %s", e.Path, a.status, a.header.Get("X-Total-Count"))
		}
	}
}

// TestBrokenReferenceList breaks the list of locations or of admin units of a directory: the load
// keeps the previous rows and marks them as stale, as a load from a site does.
func TestBrokenReferenceList(t *testing.T) {
	parallel(t)
	for list, tables := range map[string]string{"location": "location", "pcodes": "admin2"} {
		files := newCatalog(t, 1)
		if err := os.Remove(filepath.Join(files, "catalog.json")); err != nil {
			t.Fatal(err)
		}
		store, path := newStore(t, files), filepath.Join(files, "reference", list+".csv")
		before, _ := inspect(t, store)
		good := testkit.ReadFile(t, path)
		testkit.WriteFile(t, path, []byte("<html>later</html>\n"))
		const later = "2026-11-22T00:00:00Z"
		load := []string{"build", "--catalog", files, "--store", store, "--snapshot-time", later, "--json"}
		r := decode[sourceReport](t, []byte(mustExit(t, 5, load...).stdout))
		if !r.Partial || len(r.Stale) == 0 || r.Stale[len(r.Stale)-1].Path != tables ||
			!strings.Contains(r.Stale[0].Why, "header lacks") {
			t.Errorf("%s: %+v", list, r)
		}
		after, _ := inspect(t, store)
		if fmt.Sprint(after.Tables) != fmt.Sprint(before.Tables) {
			t.Errorf("%s: tables changed:\n%v\n%v", list, after.Tables, before.Tables)
		}
		text := mustExit(t, 0, "inspect", "--store", store).stdout
		if want := "stale since " + later + ": " + tables; !strings.Contains(text, want) {
			t.Errorf("%s: inspect prints %.500s, want %q", list, text, want)
		}
		mustExit(t, 1, "build", "--catalog", files, "--store", filepath.Join(t.TempDir(), "store"))
		testkit.WriteFile(t, path, good)
		mustExit(t, 0, load...)
		if text := mustExit(t, 0, "inspect", "--store", store).stdout; strings.Contains(text, "stale") {
			t.Errorf("%s: still stale: %.500s", list, text)
		}
	}
}

// TestExitCodes checks the exit codes that scripts rely on.
func TestExitCodes(t *testing.T) {
	files, store := newCatalog(t, 1), sampleStore(t)
	nowhere := filepath.Join(t.TempDir(), "nowhere")
	fresh := filepath.Join(t.TempDir(), "store")
	empty := t.TempDir()
	noLocation := t.TempDir()
	testkit.WriteFile(t, filepath.Join(noLocation, "reference", "location.csv"), nil)
	for _, c := range []struct {
		code int
		args []string
		says string
	}{
		{1, []string{"build", "--catalog", nowhere, "--store", fresh}, "nowhere"},
		{1, []string{"build", "--catalog", empty, "--store", fresh}, "no file of any known role"},
		{1, []string{"build", "--catalog", noLocation, "--store", fresh}, "location"},
		{1, []string{"build", "--catalog", filepath.Join(files, "catalog.json"), "--store", fresh}, "catalog.json"},
		{2, []string{"build", "--catalog", files}, "--store"},
		{2, []string{"build", "--store", fresh}, "--catalog"},
		{2, []string{"build", "--nonsense"}, "nonsense"},
		{2, []string{"build", "--catalog", files, "--store", fresh, "--snapshot-time", "today"}, "--snapshot-time"},
		{2, []string{"build", "--catalog", files, "--store", fresh, "extra"}, "extra"},
		{2, []string{"nonsense"}, "nonsense"},
		{2, []string{"serve", "--identifier", "maybe"}, "--identifier"},
		{2, []string{"serve", "--log-format", "xml"}, "--log-format"},
		{2, []string{"serve", "--store", fresh, "--catalog", files}, "catalog"},
		{2, []string{"serve", "--refresh", "often"}, "refresh"},
		{1, []string{"serve", "--store", nowhere}, "nowhere"},
		{2, []string{"serve", "--listen", "127.0.0.1:99999"}, "99999"},
		{2, []string{"inspect"}, "--store"},
		{1, []string{"inspect", "--store", nowhere}, "nowhere"},
		{2, []string{"verify"}, "--store"},
		{1, []string{"verify", "--store", nowhere}, "nowhere"},
		{2, []string{"identifier", "encode", "abc", "a@b.co"}, "at least 4"},
		{0, []string{"identifier", "encode", "hdqs-test", "test@example.org"}, ""},
		{0, []string{"identifier", "decode", identifier}, ""},
		{2, []string{"identifier", "decode", "bXktYXBw"}, "not of the form application:email"},
		{1, []string{"verify", "--store", store, "no-such-snapshot"}, "no-such-snapshot"},
		{1, []string{"inspect", "--store", store, "no-such-snapshot"}, "no-such-snapshot"},
		{1, []string{"diff", "--store", store, "no-such-snapshot"}, "no-such-snapshot"},
		{1, []string{"publish", "--store", store, "no-such-snapshot"}, "no-such-snapshot"},
		{0, []string{"--help"}, ""},
		{0, []string{"--version"}, ""},
		{0, nil, ""},
	} {
		o := run(t, c.args...)
		if o.code != c.code || !strings.Contains(o.stderr, c.says) {
			t.Errorf("hdqs %s: exit code %d, %q; want %d and %q",
				strings.Join(c.args, " "), o.code, o.stderr, c.code, c.says)
		}
		if c.code != 0 && o.stdout != "" {
			t.Errorf("hdqs %s: a failed command wrote to stdout: %q", strings.Join(c.args, " "), o.stdout)
		}
	}
	if o := run(t, "identifier", "decode", identifier); o.stdout != "hdqs-test\ntest@example.org\n" {
		t.Errorf("decoded as %q", o.stdout)
	}
	if _, err := os.Stat(filepath.Join(fresh, "channels")); err == nil {
		t.Error("a failed build has written a channel")
	}
}

// TestEnvironment sets flags by environment variables; a flag wins over its variable.
func TestEnvironment(t *testing.T) {
	parallel(t)
	files, store := newCatalog(t, 1), filepath.Join(t.TempDir(), "store")
	env := []string{
		"HDQS_CATALOG=" + files, "HDQS_STORE=" + store, "HDQS_SNAPSHOT_TIME=" + buildTime,
		"HDQS_CATALOG_URL=https://catalog.example",
	}
	if o := runWith(t, env, "", "build"); o.code != 0 {
		t.Fatalf("build by variables: exit code %d\n%s", o.code, o.stderr)
	}
	view, _ := inspect(t, store)
	if at := view.SnapshotTime.Format(time.RFC3339); at != buildTime {
		t.Errorf("HDQS_SNAPSHOT_TIME: snapshot of %s", at)
	}
	env = []string{"HDQS_LISTEN=127.0.0.1:0", "HDQS_ADMIN=127.0.0.1:0", "HDQS_IDENTIFIER=require"}
	s := serveWith(t, env, "--store", store, "--identifier", "off")
	if s.admin == "" || ask(t, "GET", s.admin+"/healthz").status != 200 {
		t.Error("HDQS_ADMIN has opened no second listener")
	}
	a := ask(t, "GET", s.base+"/api/v2/metadata/dataset?limit=1")
	if a.status != 200 {
		t.Errorf("--identifier off does not win over HDQS_IDENTIFIER=require: %d", a.status)
	}
	if !bytes.Contains(a.body, []byte(`"catalog_link":"https://catalog.example/dataset/`)) {
		t.Errorf("HDQS_CATALOG_URL is not in the links: %s", a.body)
	}
	h := serveWith(t, env, "--store", store, "--identifier", "off", "--names", "hapi")
	for path, link := range map[string]string{
		"/api/v1/metadata/dataset": "hdx_link", "/hapi/api/v2/metadata/dataset": "hdx_link",
		"/contract/api/v2/metadata/dataset": "catalog_link",
	} {
		if a := ask(t, "GET", h.base+path+"?limit=1"); !bytes.Contains(a.body, []byte(`"`+link+`":"https://`)) {
			t.Errorf("with --names hapi, %s: %d %s", path, a.status, a.body)
		}
	}
	o := runWith(t, []string{"HDQS_SNAPSHOT_POLL=soon"}, "", "serve")
	if o.code != 2 || !strings.Contains(o.stderr, "HDQS_SNAPSHOT_POLL") {
		t.Errorf("a bad variable: exit code %d, %q", o.code, o.stderr)
	}
}
