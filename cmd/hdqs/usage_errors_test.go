package main_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

var update = flag.Bool("update", false, "rewrite golden files")

const mistakesFile = "testdata/mistakes.txt"

// TestGoldenMistakes types what people mistype, and compares the exit code and the messages with
// testdata/mistakes.txt. Each block there is a command line, after its variables, the exit code,
// and what stderr gets.
func TestGoldenMistakes(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	store, catalog := filepath.Join(dir, "store"), newCatalog(t, 1)
	mustExit(t, 0, "build", "--catalog", catalog, "--store", store, "--snapshot-time", buildTime)
	first, _ := inspect(t, store)
	for _, name := range []string{"empty", "data"} {
		testkit.Must(t, os.Mkdir(filepath.Join(dir, name), 0o755))
	}
	testkit.WriteFile(t, filepath.Join(dir, "file"), []byte("text"))
	testkit.WriteFile(t, filepath.Join(dir, "without", "reference", "location.csv"), nil)
	testkit.Must(t, os.Rename(copyStore(t, store), filepath.Join(dir, "data", "store")))
	testkit.WriteFile(t, filepath.Join(dir, "batch"), []byte("api/v2/metadata/sector\n"))
	groups := "group,name,location_code\n"
	testkit.WriteFile(t, filepath.Join(dir, "groups.csv"), []byte(groups+"west,West,MLI\nwest,,MLI\nEast 1,East,SOM\n"))
	testkit.WriteFile(t, filepath.Join(dir, "codes.csv"), []byte(groups+"west,West,MLI\nwest,,XXX\n"))
	partial := newCatalog(t, 1)
	spoil(t, partial)
	placeholders := []string{
		"$SNAPSHOT", first.ID, "$PARTIAL", partial, "$CATALOG", catalog, "$DIR", dir,
	}
	var given, found []string
	for i := 0; i < len(placeholders); i += 2 {
		given = append(given, placeholders[i], placeholders[i+1])
		found = append(found, placeholders[i+1], placeholders[i])
	}
	fill, restore := strings.NewReplacer(given...), strings.NewReplacer(found...)

	text := string(testkit.ReadFile(t, mistakesFile))
	intro, rest, _ := strings.Cut(text, "\n$ ")
	var out strings.Builder
	out.WriteString(intro)
	blocks := strings.Split(rest, "\n$ ")
	for _, block := range blocks {
		line, _, _ := strings.Cut(block, "\n")
		words := strings.Fields(fill.Replace(line))
		var env []string
		for words[0] != "hdqs" {
			env, words = append(env, words[0]), words[1:]
		}
		got := runWith(t, env, "", words[1:]...)
		if got.code == 2 && got.stdout != "" {
			t.Errorf("%s: stdout %q", line, got.stdout)
		}
		said := unstable.ReplaceAllString(restore.Replace(got.stderr), "")
		fmt.Fprintf(&out, "\n$ %s\n%d\n%s", line, got.code, said)
	}
	if *update {
		testkit.WriteFile(t, mistakesFile, []byte(out.String()))
		return
	}
	if len(blocks) < 15 {
		t.Errorf("%d mistakes, want at least 15", len(blocks))
	}
	compareLines(t, mistakesFile, text, out.String())
}

// compareLines compares the text of a golden file line by line.
func compareLines(t *testing.T, file, want, got string) {
	t.Helper()
	wanted, lines := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(wanted), len(lines)) {
		if wanted[i] != lines[i] {
			t.Errorf("%s:%d:\n got: %s\nwant: %s", file, i+1, lines[i], wanted[i])
		}
	}
	if len(wanted) != len(lines) {
		t.Errorf("%s has %d lines, want %d", file, len(wanted), len(lines))
	}
}

// unstable matches what differs from run to run.
var unstable = regexp.MustCompile(`(?m)^time=.*\n|^deltas to .*\n| since \d{4}-\d\d-\d\dT[\d:]+Z`)

// spoil makes a load of a catalog partial: a file is no table any more, and another one has a wrong
// number.
func spoil(t *testing.T, catalog string) {
	t.Helper()
	testkit.Must(t, os.Remove(filepath.Join(catalog, "catalog.json")))
	testkit.WriteFile(t, pathOf(t, catalog, "poverty-rate/*.csv"), []byte("<html>later</html>\n"))
	funding := pathOf(t, catalog, "funding/*.csv")
	lines := strings.Split(string(testkit.ReadFile(t, funding)), "\n")
	lines[1] = regexp.MustCompile(`,\d{5,},`).ReplaceAllString(lines[1], ",many,")
	testkit.WriteFile(t, funding, []byte(strings.Join(lines, "\n")))
}
