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

// TestAddingAnEndpoint follows docs/adding-an-endpoint.md: it builds the program with the
// document's theme and endpoint, loads the catalog of its case, and asks the endpoint.
func TestAddingAnEndpoint(t *testing.T) {
	parallel(t)
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	guide := string(testkit.ReadFile(t, filepath.Join(root, "docs", "adding-an-endpoint.md")))
	blocks := codeBlocks(t, guide)
	if len(blocks) != 3 {
		t.Fatalf("%d code blocks, want a theme, an endpoint and a case", len(blocks))
	}
	edits := overlay(t, root, map[string]string{
		"loader/themes_climate.go":          blocks[0],
		"api/contract/endpoints_climate.go": blocks[1],
	})
	program := filepath.Join(t.TempDir(), "hdqs")
	goTool(t, root, "build", "-overlay", edits, "-o", program, "./cmd/hdqs")
	const checks = "TestThemes|TestInputs|TestTablesAgreeWithThemselves"
	goTool(t, root, "test", "-overlay", edits, "-run", checks, "./loader")

	catalog, store := t.TempDir(), filepath.Join(t.TempDir(), "store")
	writeSections(t, catalog, string(testkit.ReadFile(t, filepath.Join(root, "loader/testdata/catalogs/base.txt"))))
	writeSections(t, catalog, blocks[2])
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Env = environment()
		out, err := cmd.Output()
		if code := cmd.ProcessState.ExitCode(); code != 0 && (args[0] != "build" || code != 5) {
			t.Fatalf("hdqs %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	run("build", "--catalog", catalog, "--store", store) // exits with 5: a row is out of bounds
	ask := func(path string) string { return run("query", "--store", store, path) }

	const path = "/api/v2/climate/air-quality"
	var page struct {
		Data []struct {
			Location      string  `json:"location_code"`
			Admin2        *string `json:"admin2_name"`
			Pollutant     string
			Concentration float64
		}
	}
	body := ask(path + "?app_identifier=" + identifier)
	if err := json.Unmarshal([]byte(body), &page); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	if len(page.Data) != 2 || page.Data[0].Admin2 == nil || *page.Data[0].Admin2 != "Paghman" ||
		page.Data[0].Concentration != 41.5 || page.Data[1].Pollutant != "ozone" || page.Data[1].Location != "AFG" {
		t.Errorf("records: %s", body)
	}
	body = ask(path + "?pollutant=oz%25&output_format=csv&app_identifier=" + identifier)
	if strings.Count(body, "\n") != 2 {
		t.Errorf("a filter of the new column: %s", body)
	}
	body = ask("/api/v2/metadata/data-availability?subcategory=air-quality&app_identifier=" + identifier)
	if !strings.Contains(body, `"Paghman"`) {
		t.Errorf("list of available data: %s", body)
	}
	var description struct {
		Paths map[string]struct{ Get struct{ Summary string } }
	}
	if err := json.Unmarshal([]byte(ask("/openapi.json")), &description); err != nil {
		t.Fatal(err)
	}
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

// overlay adds a literal to the list in each file, and returns the file for the go command's
// -overlay.
func overlay(t *testing.T, root string, literals map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	replace := map[string]string{}
	for name, literal := range literals {
		file := filepath.Join(root, filepath.FromSlash(name))
		before, after, ok := strings.Cut(string(testkit.ReadFile(t, file)), "\n}\n")
		if !ok {
			t.Fatalf("%s: no end of a list", name)
		}
		edited := filepath.Join(dir, filepath.Base(name))
		testkit.WriteFile(t, edited, []byte(before+"\n"+literal+"}\n"+after))
		replace[file] = edited
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "overlay.json")
	testkit.WriteFile(t, file, data)
	return file
}

func goTool(t *testing.T, root string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
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
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		testkit.WriteFile(t, file, []byte(columns.Replace(strings.TrimSpace(text[m[1]:end]))+"\n"))
	}
}
