package main_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

// TestAddingAnEndpoint follows docs/adding-an-endpoint.md in a copy of the repository: it makes the
// five edits of the document and runs its commands, the tests that compare the edits among them.
// The short form ends after the document's tests.
func TestAddingAnEndpoint(t *testing.T) {
	parallel(t)
	guide := string(testkit.ReadFile(t, filepath.Join("..", "..", "docs", "adding-an-endpoint.md")))
	blocks := codeBlocks(t, guide)
	if len(blocks) != 5 {
		t.Fatalf("%d code blocks, want theme, endpoint, meanings, entry of the contract and case", len(blocks))
	}
	root := copyTree(t)
	insertBefore(t, root, "loader/themes_climate.go", "}\n", blocks[0])
	insertBefore(t, root, "api/contract/endpoints_climate.go", "}\n", blocks[1])
	fields, rest, _ := strings.Cut(blocks[2], "\n[adding up]\n")
	sums, units, _ := strings.Cut(rest, "\n[units]\n")
	insertBefore(t, root, "api/contract/meanings.txt", "# Places.", fields)
	insertBefore(t, root, "api/contract/meanings.txt", "refugees: ", sums)
	insertBefore(t, root, "api/contract/meanings.txt", "rainfall: mm", units)
	insertBefore(t, root, "testdata/contract.json", `{"path": "/api/v2/geography-infrastructure/`, blocks[3])
	testkit.WriteFile(t, filepath.Join(root, "loader/testdata/catalogs/air_quality.txt"), []byte(blocks[4]))

	var commands []string
	for _, m := range regexp.MustCompile(`(?m)^    ((go test|make|bin/hdqs|curl) .*)$`).FindAllStringSubmatch(guide, -1) {
		commands = append(commands, m[1])
	}
	if len(commands) != 4 {
		t.Fatalf("commands %q, want one that tests, builds, serves and asks", commands)
	}
	shell := func(command string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", "exec "+command)
		// Without the names of folders in what is compiled, the build cache has most of it.
		cmd.Dir, cmd.Env = root, environment("GOFLAGS=-trimpath")
		return cmd
	}
	for _, command := range commands[:testkit.Trials(2, 1)] {
		if out, err := shell(command).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
	}
	if !testkit.Long() {
		return
	}
	out, err := goCommand(t, root, "test", "-trimpath", "-vet=off", "-run", "TestThemesAreGenerated",
		"./loader/sample").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "no rows for theme air-quality") {
		t.Errorf("TestThemesAreGenerated does not report the theme without rows: %v\n%s", err, out)
	}

	// The directory of the document: a file of the theme under any name, and the units.
	written, catalog := t.TempDir(), t.TempDir()
	writeSections(t, written, string(testkit.ReadFile(t, filepath.Join(root, "loader/testdata/catalogs/base.txt"))))
	writeSections(t, written, blocks[4])
	for from, to := range map[string]string{
		"air-quality/hdx_hapi_air_quality_global.csv": "air-quality/any.csv",
		"reference/pcodes.csv":                        "reference/pcodes.csv",
	} {
		testkit.Must(t, os.MkdirAll(filepath.Dir(filepath.Join(catalog, to)), 0o755))
		testkit.WriteFile(t, filepath.Join(catalog, to), testkit.ReadFile(t, filepath.Join(written, from)))
	}
	serving := shell(strings.Replace(commands[2], "DIR", catalog, 1))
	s := listening(t, startCommand(t, []string{"HDQS_LISTEN=127.0.0.1:0", "HDQS_DATA_DIR=" + t.TempDir()}, serving))
	get := func(path string) string {
		t.Helper()
		a := ask(t, "GET", s.base+path)
		if a.status != 200 {
			t.Fatalf("%s: %d %s", path, a.status, a.body)
		}
		return string(a.body)
	}

	const path = "/api/v2/climate/air-quality"
	address := strings.Trim(strings.TrimPrefix(commands[3], "curl "), "'")
	asked, ok := strings.CutPrefix(address, "http://127.0.0.1:8080"+path+"?")
	if !ok {
		t.Fatalf("the last command asks %s", address)
	}
	if body := get("/docs/air-quality"); !strings.Contains(body, "Concentration in micrograms") {
		t.Errorf("the page: %.500s", body)
	}
	var page struct {
		Data []struct {
			Location      string  `json:"location_code"`
			Admin2        *string `json:"admin2_name"`
			Pollutant     string
			Concentration float64
		}
	}
	body := get(path + "?" + asked)
	if err := json.Unmarshal([]byte(body), &page); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	if len(page.Data) != 2 || page.Data[0].Admin2 == nil || *page.Data[0].Admin2 != "Paghman" ||
		page.Data[0].Concentration != 41.5 || page.Data[1].Pollutant != "ozone" || page.Data[1].Location != "AFG" {
		t.Errorf("records: %s", body)
	}
	body = get(path + "?pollutant=oz%25&output_format=csv&app_identifier=" + identifier)
	if strings.Count(body, "\n") != 2 {
		t.Errorf("a filter of the new column: %s", body)
	}
	body = get("/api/v2/metadata/data-availability?subcategory=air-quality&app_identifier=" + identifier)
	if !strings.Contains(body, `"Paghman"`) {
		t.Errorf("list of available data: %s", body)
	}
	var description struct {
		Paths map[string]struct{ Get struct{ Summary string } }
	}
	testkit.Must(t, json.Unmarshal([]byte(get("/openapi.json")), &description))
	if got := description.Paths[path].Get.Summary; got != "Concentration of pollutants in the air" {
		t.Errorf("summary in the OpenAPI document: %q", got)
	}
}

// codeBlocks are the fenced blocks of a document.
func codeBlocks(t *testing.T, document string) []string {
	t.Helper()
	var blocks []string
	for _, m := range regexp.MustCompile("(?ms)^```\\w*\n(.*?)^```$").FindAllStringSubmatch(document, -1) {
		blocks = append(blocks, m[1])
	}
	return blocks
}

// copyTree copies what the program and its tests in loader and api/contract are built from.
func copyTree(t *testing.T) string {
	t.Helper()
	from, to := filepath.Join("..", ".."), t.TempDir()
	for _, name := range []string{"go.mod", "go.sum", "Makefile"} {
		testkit.WriteFile(t, filepath.Join(to, name), testkit.ReadFile(t, filepath.Join(from, name)))
	}
	dirs := []string{
		".ci", "aggregate", "api", "bulk", "cmd/hdqs", "columnar", "index", "internal", "loader", "rowdiff", "snapshot",
		"testdata",
	}
	for _, dir := range dirs {
		testkit.Must(t, os.CopyFS(filepath.Join(to, dir), os.DirFS(filepath.Join(from, dir))))
	}
	return to
}

// insertBefore inserts text into a file before the last line that begins with mark.
func insertBefore(t *testing.T, root, name, mark, text string) {
	t.Helper()
	file := filepath.Join(root, filepath.FromSlash(name))
	data := string(testkit.ReadFile(t, file))
	at := strings.LastIndex(data, "\n"+mark) + 1
	if at == 0 {
		t.Fatalf("%s: no line begins with %q", name, mark)
	}
	testkit.WriteFile(t, file, []byte(data[:at]+text+data[at:]))
}

func goCommand(t *testing.T, root string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = root
	return cmd
}

// writeSections writes the files of a case of loader/testdata/catalogs.
func writeSections(t *testing.T, dir, text string) {
	t.Helper()
	columns := strings.NewReplacer(
		"{ADM}", "location_code,has_hrp,in_gho,provider_admin1_name,provider_admin2_name,"+
			"admin1_code,admin1_name,admin2_code,admin2_name,admin_level",
		"{REF}", "reference_period_start,reference_period_end,dataset_hdx_id,resource_hdx_id,warning,error",
	)
	sections := regexp.MustCompile(`(?m)^-- (.*) --$`)
	at := sections.FindAllStringSubmatchIndex(text, -1)
	for i, m := range at {
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		name := text[m[2]:m[3]]
		if strings.HasPrefix(name, "want ") {
			continue
		}
		file := filepath.Join(dir, filepath.FromSlash(name))
		testkit.Must(t, os.MkdirAll(filepath.Dir(file), 0o755))
		testkit.WriteFile(t, file, []byte(columns.Replace(strings.TrimSpace(text[m[1]:end]))+"\n"))
	}
}
