package main_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"hdqs/internal/testkit"
)

// TestPrintsNoPasswords: no command prints the password of an address, whatever the address is for.
func TestPrintsNoPasswords(t *testing.T) {
	parallel(t)
	files, dir := smallCatalog(t), t.TempDir()
	for _, args := range [][]string{
		{"serve", "--store", "http://user:s3cretpw@127.0.0.1:9/x"},
		{"serve", "--catalog", "https://user:s3cretpw@127.0.0.1:9/x"},
		{"build", "--store", dir, "--catalog", "https://user:s3cretpw@127.0.0.1:9"},
		{"build", "--store", "s3://user:s3cretpw@bucket/x", "--catalog", files},
		{"mirror", "--catalog", files, "--to", "https://user:s3cretpw@127.0.0.1:9/%zz", "--data-dir", dir},
		{"boundaries", "--from", "https://user:s3cretpw@127.0.0.1:9/x.zip", "--out", filepath.Join(dir, "x")},
		{"mcp", "--data-dir", dir, "--url", "ftp://user:s3cretpw@127.0.0.1:9"},
		{"mcp", "--url", "http://user:s3cretpw@127.0.0.1:9"},
		{"status", "http://user:s3cretpw@127.0.0.1:9"},
		{"status", "--admin", "http://user:s3cretpw@127.0.0.1:9/%zz"},
		{"inspect", "--store", "https://s3cret@127.0.0.1:9/x"},
		{"query", "--store", "https://user:s3cretpw@127.0.0.1:9", "/"},
		{"serve", "--stor", "https://user:s3cretpw@127.0.0.1:9"},
		{"serve", "https://user:s3cretpw@127.0.0.1:9"},
		{"serve", "--listen", "http://user:s3cretpw@127.0.0.1:9"},
		{"export", "https://user:s3cret/pw@127.0.0.1:9", "--store", "x"},
	} {
		o := runWith(t, []string{"AWS_ENDPOINT_URL=ftp://user:s3cretpw@127.0.0.1:9"},
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"lists"}}`+"\n", args...)
		if strings.Contains(o.stderr+o.stdout, "s3cret") || o.code == 0 && args[0] != "mcp" {
			t.Errorf("%q: exit code %d\n%s%s", args, o.code, o.stdout, o.stderr)
		}
	}
}

// TestPrintsNoControlCharacters: texts of a catalog, and names of its files, cannot make a terminal
// do anything, whatever command prints them, nor begin a line of their own. Data is printed as it
// is.
func TestPrintsNoControlCharacters(t *testing.T) {
	parallel(t)
	files, store := smallCatalog(t), filepath.Join(t.TempDir(), "store")
	title := regexp.MustCompile(`"title": ?"`)
	packages, err := filepath.Glob(filepath.Join(files, "packages", "*"))
	if err != nil || len(packages) == 0 {
		t.Fatal(packages, err)
	}
	for _, path := range packages {
		text := title.ReplaceAllString(string(testkit.ReadFile(t, path)),
			`"title":"\u001b]0;mine\u0007\nforged line\u009b2J\u202e\t`)
		testkit.WriteFile(t, path, []byte(text))
	}
	funding := pathOf(t, files, "funding/*.csv")
	testkit.Must(t, os.Rename(funding, strings.TrimSuffix(funding, ".csv")+"\x1b[2J.csv"))
	build := []string{"build", "--catalog", files, "--store", store, "--snapshot-time", buildTime}
	built := runWith(t, nil, "", build...)
	mustExit(t, 0, "inspect", "--store", store)
	outputs := map[string]string{
		"build": built.stdout, "messages of build": built.stderr,
		"messages of a wrong command": mustExit(t, 2, "build\x1b[2J").stderr,
	}
	for _, flag := range []string{"--datasets", "--report", "--json", "--columns"} {
		outputs[flag] = mustExit(t, 0, "inspect", "--store", store, flag).stdout
	}
	for what, text := range outputs {
		for _, line := range strings.Split(text, "\n") {
			line = strings.ReplaceAll(line, "\t", " ")
			if strings.IndexFunc(line, unicode.IsControl) >= 0 || strings.Contains(line, "\u202e") {
				t.Errorf("%s prints %q", what, line)
			}
			if strings.HasPrefix(line, "forged") {
				t.Errorf("%s prints a line of the catalog", what)
			}
		}
	}
	if !strings.Contains(outputs["--datasets"], `\u001b]0;mine\u0007\u000aforged line\u009b2J\u202e`) {
		t.Errorf("the title is not among %s", outputs["--datasets"])
	}
	got := mustExit(t, 0, "query", "--store", store, "/api/v2/metadata/dataset?output_format=csv&limit=1000").stdout
	if !strings.Contains(got, "\x1b]0;mine\a") {
		t.Errorf("the data has other bytes: %.300q", got)
	}
}
