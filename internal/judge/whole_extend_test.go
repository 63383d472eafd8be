package judge

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

// judgeExtensions makes requests that go beyond the contract.
func judgeExtensions(t *testing.T, w *world, base, seed string) {
	t.Helper()
	judgeKinds(t, w, "in,fields,latest,geojson,aggregate,facets", base, seed)
}

// judgeChanges compares the snapshot of dumps with that of an edited copy.
func judgeChanges(t *testing.T, w *world, binary, views, seed string) {
	t.Helper()
	store, edited := filepath.Join(t.TempDir(), "store"), filepath.Join(t.TempDir(), "edited")
	build := []string{"build", "--store", store, "--snapshot-time", wholeTime, "--catalog"}
	command(t, binary, append(build, views)...)
	base := serveStore(t, binary, store, "--snapshot-poll", "50ms")
	since := snapshotOf(t, base)
	if err := run([]string{
		"edit", "-contract", contractFile, "-views", views, "-out", edited, "-seed", seed,
	}, io.Discard); err != nil {
		t.Fatal(err)
	}
	command(t, binary, append(build, edited, "--allow-shrink")...)
	testkit.WaitFor(t, "the edited snapshot", func() bool { return snapshotOf(t, base) != since })
	later := worldOf(t, "-views", edited)
	later.before, later.since = w, since
	judgeKinds(t, later, "changes", base, seed)
}

// snapshotOf is the id of the served snapshot.
func snapshotOf(t *testing.T, base string) string {
	t.Helper()
	c, err := newClient(base)
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.send(request{Method: "GET", Path: pathPrefix + "metadata/sector?limit=0&app_identifier=" + goodOne})
	if err != nil {
		t.Fatal(err)
	}
	return got.Headers.Get("X-Snapshot-Id")
}

// judgeKinds makes HDQS_TEST_QUERIES requests of each kind of extension, or a few.
func judgeKinds(t *testing.T, w *world, kinds, base, seed string) {
	t.Helper()
	text, err := runIn(t, w, options.check, "-parallel", "4", "-extensions", kinds, "-n", queries(), "-base", base,
		"-seed", seed)
	if err != nil {
		t.Errorf("extensions: %v\n%s", err, text)
	}
	t.Logf("%s: %s", kinds, text)
}

// queries is how many requests are made of a kind.
func queries() string { return cmp.Or(os.Getenv("HDQS_TEST_QUERIES"), "60") }

// worldOf reads the rows that flags name.
func worldOf(t *testing.T, flags ...string) *world {
	t.Helper()
	o, _, err := parse(append([]string{"check", "-contract", contractFile, "-snapshot-time", wholeTime}, flags...))
	if err != nil {
		t.Fatal(err)
	}
	w, err := o.world()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// runIn runs a command on rows that have been read, and returns what it says.
func runIn(
	t *testing.T, w *world, command func(options, *world, io.Writer) error, flags ...string,
) (string, error) {
	t.Helper()
	o, _, err := parse(append([]string{"run"}, flags...))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	err = command(o, w, &out)
	return strings.TrimSpace(out.String()), err
}

// judgePages asks for HDQS_TEST_QUERIES pages of records, or a few, and judges every number on
// them.
func judgePages(t *testing.T, w *world, base, seed string) {
	t.Helper()
	text, err := runIn(t, w, options.pages, "-parallel", "4", "-n", queries(), "-base", base, "-seed", seed)
	if err != nil {
		t.Errorf("pages: %v\n%s", err, text)
	}
	t.Log(text)
	var pages, wrong, facets, figures, refused, titles int
	last := text[strings.LastIndexByte(text, '\n')+1:]
	const form = "%d pages: %d with an error, %d counts by value, %d figures, %d sums refused, %d titles"
	if _, err := fmt.Sscanf(last, form,
		&pages, &wrong, &facets, &figures, &refused, &titles); err != nil || facets < 5*pages || 3*figures < pages ||
		refused == 0 || titles == 0 || 2*wrong > pages {
		t.Errorf("too little was compared: %s %v", last, err)
	}
}

// TestJudgeFixtures judges the extensions on the real input, and changes between it and the same
// without some lines and with other digits in some. The rows of both are read from a server that
// has both.
func TestJudgeFixtures(t *testing.T) {
	fixtures := testkit.Fixtures(t)
	if testing.Short() {
		t.Skip("builds and runs the whole program")
	}
	binary := hdqsBinary(t)
	store, catalog := filepath.Join(t.TempDir(), "store"), filepath.Join(t.TempDir(), "catalog")
	if err := os.CopyFS(catalog, os.DirFS(filepath.Join(fixtures, "catalog"))); err != nil {
		t.Fatal(err)
	}
	build := []string{"build", "--catalog", catalog, "--store", store, "--snapshot-time"}
	command(t, binary, append(build, wholeTime)...)
	before := serveStore(t, binary, store, "--snapshot-poll", "1h")
	base := serveStore(t, binary, store, "--snapshot-poll", "50ms", "--keep-previous", "1h")
	since := snapshotOf(t, base)
	editLines(t, catalog)
	command(t, binary, append(build, "2026-11-23T00:00:00Z", "--allow-shrink")...) // rows and a few countries are gone
	testkit.WaitFor(t, "the edited snapshot", func() bool { return snapshotOf(t, base) != since })
	w := worldOf(t, "-base", base, "-since", since)
	judgeExtensions(t, w.before, before, "27")
	judgePages(t, w.before, before, "28")
	judgeKinds(t, w, "changes", base, "29")
}

// editLines removes some lines of a catalog's themes, and puts other digits into some.
func editLines(t *testing.T, catalog string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(catalog, "*", "*.csv"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, file := range files {
		if filepath.Base(filepath.Dir(file)) == "reference" {
			continue
		}
		lines := strings.SplitAfter(string(testkit.ReadFile(t, file)), "\n")
		for i := 20; i < len(lines); i += 30 { // no cell has line ends
			lines[i] = ""
		}
		for i := 35; i < len(lines); i += 30 {
			lines[i] = otherEnd(lines[i])
		}
		testkit.WriteFile(t, file, []byte(strings.Join(lines, "")))
	}
}

// otherEnd replaces digits in the last two cells of a line of CSV.
func otherEnd(line string) string {
	at := max(0, strings.LastIndexByte(line, ','))
	at = max(0, strings.LastIndexByte(line[:at], ','))
	return line[:at] + strings.NewReplacer("1", "2", "3", "4", "5", "6").Replace(line[at:])
}
