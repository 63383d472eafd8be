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

// edits are the edits of docs/adding-a-list.md for a list or a field.
type edits struct {
	t    *testing.T
	all  []edit
	root string // of the copy of the repository, once they are made
}

// edit adds text to a file before the last line that begins with mark, or makes a file.
type edit struct{ name, mark, text string }

// guide returns the document and its edits for a list and for a field.
func guide(t *testing.T) (text string, list, field *edits) {
	t.Helper()
	text = string(testkit.ReadFile(t, filepath.Join("..", "..", "docs", "adding-a-list.md")))
	blocks := codeBlocks(t, text)
	if len(blocks) != 5 {
		t.Fatalf("%d code blocks, want list, meanings, case, field and meaning", len(blocks))
	}
	const meanings = "api/contract/meanings.txt"
	fields, sums, _ := strings.Cut(blocks[1], "\n[adding up]\n")
	list = &edits{t: t, all: []edit{
		{"schema/climate.go", "}\n", blocks[0]},
		{meanings, "# Places.", fields},
		{meanings, "refugees: ", sums},
		{"loader/testdata/catalogs/air_quality.txt", "", blocks[2]},
	}}
	field = &edits{t: t, all: []edit{
		{"schema/coordination.go", "\t\t\tperiod, resource),", blocks[3]}, {meanings, "# Food.", blocks[4]},
	}}
	return text, list, field
}

// apply makes the edits in a copy of the repository.
func (e *edits) apply() {
	e.t.Helper()
	e.root = copyTree(e.t)
	for _, one := range e.all {
		if one.mark == "" {
			testkit.WriteFile(e.t, filepath.Join(e.root, one.name), []byte(one.text))
		} else {
			insertBefore(e.t, e.root, one.name, one.mark, one.text)
		}
	}
}

// TestGuideIsShort counts the edits: a list and a field take few files and lines by hand.
func TestGuideIsShort(t *testing.T) {
	t.Parallel()
	_, list, field := guide(t)
	list.atMost(3, 60)
	field.atMost(2, 5)
}

// atMost wants no more files and lines by hand.
func (e *edits) atMost(files, lines int) {
	e.t.Helper()
	sum, names := 0, map[string]bool{}
	for _, one := range e.all {
		sum += strings.Count(strings.TrimSpace(one.text), "\n") + 1
		names[one.name] = true
	}
	if e.t.Logf("by hand: %d files, %d lines", len(names), sum); len(names) > files || sum > lines {
		e.t.Errorf("%d files and %d lines by hand, want at most %d and %d", len(names), sum, files, lines)
	}
}

// run runs a command in the copy.
func (e *edits) run(command string) {
	e.t.Helper()
	if out, err := e.shell(command).CombinedOutput(); err != nil {
		e.t.Fatalf("%s: %v\n%s", command, err, out)
	}
}

func (e *edits) shell(command string) *exec.Cmd {
	cmd := exec.CommandContext(e.t.Context(), "/bin/sh", "-c", "exec "+command)
	// Without the names of folders in what is compiled, the build cache has most of it.
	cmd.Dir, cmd.Env = e.root, environment("GOFLAGS=-trimpath")
	return cmd
}

// TestAddingAField follows the document for a field: two files. The new program then serves and
// verifies a store of this one, and loads files without the field: it is null.
func TestAddingAField(t *testing.T) {
	parallel(t)
	_, _, e := guide(t)
	e.apply()
	e.run("go test -short -vet=off ./schema ./loader ./api/contract ./api/state")
	if !testkit.Long() {
		return
	}
	e.run("go build -o hdqs ./cmd/hdqs")
	catalog, store := filepath.Join(e.root, "loader/sample/catalog"), t.TempDir()
	mustExit(t, 0, "build", "--catalog", catalog, "--store", store)
	for _, command := range []string{
		"serve --check", "export " + t.TempDir(), "build --bulk --catalog " + catalog, "verify", "serve --check",
	} {
		e.run("./hdqs " + command + " --store " + store)
	}
	serving := e.shell("./hdqs serve --store " + store)
	s := listening(t, startCommand(t, []string{"HDQS_LISTEN=127.0.0.1:0", "HDQS_DATA_DIR=" + t.TempDir()}, serving))
	a := ask(t, "GET", s.base+"/api/v2/coordination-context/national-risk?limit=1&app_identifier="+identifier)
	if a.status != 200 || !strings.Contains(string(a.body), `"conflict_risk":null`) {
		t.Errorf("a field that neither files nor rows have: %d %s", a.status, a.body)
	}
}

// casesBase has the units of the cases of loader.
const casesBase = "loader/testdata/catalogs/base.txt"

// TestAddingAList follows docs/adding-a-list.md in a copy of the repository: it makes the three
// edits of the document and runs its commands, the tests that compare the edits among them. The
// short form ends after the document's tests.
func TestAddingAList(t *testing.T) {
	parallel(t)
	guide, e, _ := guide(t)
	e.apply()

	var commands []string
	command := regexp.MustCompile(`(?m)^    ((go test|make|bin/hdqs|curl) .*)$`)
	for _, m := range command.FindAllStringSubmatch(guide, -1) {
		commands = append(commands, m[1])
	}
	if len(commands) != 4 {
		t.Fatalf("commands %q, want one that tests, builds, serves and asks", commands)
	}
	for _, command := range commands[:testkit.Trials(2, 1)] {
		e.run(command)
	}
	if !testkit.Long() {
		return
	}

	// The directory of the document: a file of the theme under any name, and the units.
	catalog := t.TempDir()
	columns := strings.NewReplacer(
		"{ADM}", "location_code,has_hrp,in_gho,provider_admin1_name,provider_admin2_name,"+
			"admin1_code,admin1_name,admin2_code,admin2_name,admin_level",
		"{REF}", "reference_period_start,reference_period_end,dataset_hdx_id,resource_hdx_id,warning,error",
	)
	for to, section := range map[string][2]string{
		"air-quality/any.csv":  {e.all[3].text, "air-quality/hdx_hapi_air_quality_global.csv"},
		"reference/pcodes.csv": {string(testkit.ReadFile(t, filepath.Join(e.root, casesBase))), "reference/pcodes.csv"},
	} {
		_, rows, _ := strings.Cut(section[0], "-- "+section[1]+" --\n")
		rows, _, _ = strings.Cut(rows, "\n\n")
		testkit.WriteFile(t, filepath.Join(catalog, to), []byte(columns.Replace(rows)+"\n"))
	}
	serving := e.shell(strings.Replace(commands[2], "DIR", catalog, 1))
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
	body = get("/api/v2/metadata/data-availability?subcategory=air-quality&app_identifier=" + identifier)
	if !strings.Contains(body, `"Paghman"`) {
		t.Errorf("list of available data: %s", body)
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
		".ci", "aggregate", "api", "bulk", "cmd/hdqs", "columnar", "index", "internal", "loader", "rowdiff", "schema",
		"snapshot", "testdata",
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
