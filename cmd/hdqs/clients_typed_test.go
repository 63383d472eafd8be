package main_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hdqs/api/contract"
	"hdqs/bulk"
	"hdqs/bulk/export"
	"hdqs/bulk/iceberg"
	"hdqs/internal/testkit"
	"hdqs/snapshot/store"
)

// clientsDir is the folder in which `make clients` installs clients.
func clientsDir(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("HDQS_CLIENTS")
	if dir == "" {
		t.Skip("HDQS_CLIENTS names no folder with clients; `make clients` installs them and runs this")
	}
	return dir
}

// TestClientsTyped compiles a program with the types that openapi-typescript makes of both
// interface descriptions, under tsc --strict, and runs it.
func TestClientsTyped(t *testing.T) {
	parallel(t)
	packages := filepath.Join(clientsDir(t), "typed", "node_modules")
	s := serve(t, "--store", sampleStore(t))
	dir := t.TempDir()
	testkit.Must(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "clients", "typed"))))
	testkit.Must(t, os.Symlink(packages, filepath.Join(dir, "node_modules")))
	for name, prefix := range nameSets {
		file := s.description(t, dir, name, prefix)
		tool(t, dir, "node", "node_modules/openapi-typescript/bin/cli.js", file, "-o", name+".ts")
	}
	tool(t, dir, "node", "node_modules/typescript/bin/tsc", "-p", ".")
	got := tool(t, dir, "node", "out/program.js", s.base, identifier)

	events := s.list(t, conflictPath+"?location_code=AFG&event_type=demonstration")
	phases := s.list(t, "/api/v2/food-security-nutrition-poverty/food-security"+
		"?classification_phase=3%2B&classification_type=current")
	want := fmt.Sprintf("contract\t%d\t%d\t%d\tAfghanistan\nhapi\t%d\t%d\t%d\t3+\n",
		len(events), len(events), sumOf(t, events, "fatalities"),
		len(phases), len(phases), sumOf(t, phases, "population_in_phase"))
	if got != want {
		t.Errorf("the program printed\n%swant\n%s", got, want)
	}
}

// TestClientsOData compiles a program with the types that odata2ts makes of the schema of OData,
// under tsc --strict, and runs it.
func TestClientsOData(t *testing.T) {
	parallel(t)
	packages := filepath.Join(clientsDir(t), "typed", "node_modules")
	s := serve(t, "--store", sampleStore(t))
	dir := t.TempDir()
	testkit.Must(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "clients", "odata"))))
	testkit.Must(t, os.Symlink(packages, filepath.Join(dir, "node_modules")))
	testkit.WriteFile(t, filepath.Join(dir, "metadata.xml"), ask(t, "GET", s.base+"/odata/v4/$metadata").body)
	tool(t, dir, "node", "node_modules/@odata2ts/odata2ts/lib/run-cli.js", "-s", "metadata.xml", "-o", "model",
		"--mode", "models")
	tool(t, dir, "node", "node_modules/typescript/bin/tsc", "-p", ".")
	got := tool(t, dir, "node", "out/program.js", s.base+"/odata/v4/")
	events := s.list(t, conflictPath+"?location_code=AFG")
	if want := fmt.Sprintf("%d\t%d\ttrue\n", len(events), sumOf(t, events, "fatalities")); got != want {
		t.Errorf("the program printed %q, want %q", got, want)
	}
}

// TestClientsGenerated makes clients of both interface descriptions with three widely used
// generators. None may report an error. The clients in Go must compile, of which one asks for a
// list, and those in Java too, of which one makes each request.
func TestClientsGenerated(t *testing.T) {
	parallel(t)
	clients := clientsDir(t)
	s := serve(t, "--store", sampleStore(t))
	events := s.list(t, conflictPath+"?location_code=AFG")
	want := fmt.Sprintf("%d\t%d\t%d\n", len(events), len(events), sumOf(t, events, "fatalities"))
	for set, prefix := range nameSets {
		t.Run("oapi-codegen "+set, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			testkit.Must(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "clients", "oapi"))))
			testkit.Must(t, os.Mkdir(filepath.Join(dir, "api"), 0o755))
			generate(t, dir, filepath.Join(clients, "oapi-codegen", "oapi-codegen"), "-generate", "types,client",
				"-package", "api", "-o", "api/client.go", s.description(t, dir, set, prefix))
			if set == "hapi" {
				tool(t, dir, "go", "build", "./api")
			} else if got := tool(t, dir, "go", "run", ".", s.base, identifier); got != want {
				t.Errorf("the client printed %q, want %q", got, want)
			}
		})
		t.Run("openapi-generator "+set, func(t *testing.T) {
			t.Parallel()
			s.java(t, filepath.Join(clients, "clients", "bin", "openapi-generator-cli"), set)
		})
	}
	t.Run("ogen", func(t *testing.T) {
		t.Parallel()
		s.ogen(t, filepath.Join(clients, "ogen", "ogen"), want)
	})
}

// ogen makes clients with ogen of both descriptions. The usual one in HAPI names asks for a list;
// to compile the other takes minutes.
func (s *server) ogen(t *testing.T, ogen, want string) {
	dir := t.TempDir()
	testkit.Must(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "clients", "ogen"))))
	for set, prefix := range nameSets {
		folder := map[string]string{"contract": "other", "hapi": "api"}[set]
		file := s.description(t, dir, set, prefix)
		tool(t, dir, ogen, "--target", folder, "--package", folder, "--loglevel", "error", file)
	}
	got := tool(t, dir, "go", "test", "-v", "-vet=off", ".", "-args", s.base+"/hapi", identifier)
	if !strings.Contains(got, ": "+want) {
		t.Errorf("the client printed %q, want %q", got, want)
	}
}

// java makes a client with openapi-generator and compiles it. The one in HAPI names calls all
// operations.
func (s *server) java(t *testing.T, generator, set string) {
	dir := t.TempDir()
	generate(t, dir, generator, "generate", "-g", "java", "-i", s.description(t, dir, set, nameSets[set]), "-o", dir)
	if set != "hapi" {
		tool(t, dir, "mvn", "--quiet", "--batch-mode", "compile")
		return
	}
	testkit.Must(t, os.CopyFS(filepath.Join(dir, "src", "main", "java"),
		os.DirFS(filepath.Join("testdata", "clients", "java"))))
	// With the names of parameters, by which the program chooses values.
	tool(t, dir, "mvn", "--quiet", "--batch-mode", "-Djava.version=17", "-Dmaven.compiler.parameters=true", "compile",
		"dependency:build-classpath", "-Dmdep.outputFile=classpath.txt")
	classes := "target/classes" + string(os.PathListSeparator) +
		string(testkit.ReadFile(t, filepath.Join(dir, "classpath.txt")))
	got := tool(t, dir, "java", "-cp", classes, "Calls", s.base+nameSets[set], identifier)
	var description struct {
		Paths map[string]struct{ Get struct{ OperationID string } }
	}
	testkit.Must(t, json.Unmarshal(testkit.ReadFile(t, filepath.Join(dir, set+".json")), &description))
	for path, p := range description.Paths {
		total := ask(t, "GET", s.base+nameSets[set]+with(path)).header.Get("X-Total-Count")
		all, _ := strconv.Atoi(total) // 0 where the answer is no list
		line := fmt.Sprintf("%s\t%d\t%d\n", strings.ReplaceAll(p.Get.OperationID, "_", ""), min(all, 7), all)
		if !strings.Contains(strings.ToLower(got), line) {
			t.Errorf("the client printed no %q but\n%s", line, got)
		}
	}
}

// nameSets are the prefixes of the name sets.
var nameSets = map[string]string{"contract": "", "hapi": "/hapi"}

// description writes the interface description of a name set into a folder.
func (s *server) description(t *testing.T, dir, set, prefix string) string {
	t.Helper()
	file := filepath.Join(dir, set+".json")
	testkit.WriteFile(t, file, ask(t, "GET", s.base+prefix+"/openapi.json").body)
	return file
}

// reported matches lines with which generators report errors.
var reported = regexp.MustCompile(`(?m)^.*(\bERROR\b|\bError\b|Exception(:|\s|$)|\bUnable\b).*$`)

// generate runs a generator, which may report no error.
func generate(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	if said := reported.FindString(tool(t, dir, name, args...)); said != "" {
		t.Errorf("%s: %s", filepath.Base(name), said)
	}
}

// tool runs a program in a folder, with the programs of its own folder in PATH. It returns what the
// program printed, and fails the test if the program fails.
func tool(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	// With -trimpath Go's build cache knows code that was generated in another folder.
	cmd.Env = environment("NO_PROXY=*", "no_proxy=*", "GOFLAGS=-trimpath", "GOWORK=off", testkit.ShortJava,
		"PATH="+filepath.Dir(name)+string(os.PathListSeparator)+os.Getenv("PATH"))
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%.4000s", name, strings.Join(args, " "), err, said.String())
	}
	return said.String()
}

// list returns the rows of a list.
func (s *server) list(t *testing.T, path string) []map[string]any {
	t.Helper()
	rows := jsonRows(t, ask(t, "GET", s.base+with(path)).body)
	if len(rows) == 0 {
		t.Fatalf("%s: no rows", path)
	}
	return rows
}

// sumOf adds a field of whole numbers. Nulls count as nothing.
func sumOf(t *testing.T, rows []map[string]any, field string) int64 {
	t.Helper()
	var sum int64
	for _, row := range rows {
		if number, is := row[field].(json.Number); is {
			value := testkit.Value(number.Int64())(t)
			sum += value
		}
	}
	return sum
}

// usualEngines are those that are tested each time. HDQS_ENGINES names others, with the folder of
// their Python environment in front: see `make engines`.
const usualEngines = "engines duckdb duckdb_iceberg duckdb_join polars pandas pyarrow pyiceberg"

// TestClientsEngines has engines read every table of bulk files by URL, by path or as an Iceberg
// table. Rows, sums and hashes of each column must be those of the interface. The store is that of
// the sample, in which tables of more than 500 rows have a file for each country, or the one with
// bulk files that HDQS_ENGINES_STORE names.
func TestClientsEngines(t *testing.T) {
	parallel(t)
	folder := os.Getenv("HDQS_ENGINES_STORE")
	if folder == "" {
		folder = filepath.Join(t.TempDir(), "store")
		mustExit(t, 0, "build", "--catalog", "../../loader/sample/catalog", "--store", folder)
		addBulk(t, folder, 500, bulk.Parquet)
	}
	testEngines(t, folder, usualEngines)
}

// TestClientsEnginesFixtures is the same with the real input. pandas, which reads with pyarrow, is
// left to `make soak`.
func TestClientsEnginesFixtures(t *testing.T) {
	parallel(t)
	clientsDir(t)
	folder := filepath.Join(t.TempDir(), "store")
	mustExit(t, 0, "build", "--catalog", filepath.Join(testkit.Fixtures(t), "catalog"), "--store", folder,
		"--snapshot-time", buildTime)
	addBulk(t, folder, testkit.Trials(2000, 15000), bulk.Parquet) // the sample has partitioned tables too
	engines := strings.Fields(usualEngines)
	if !testkit.Long() {
		engines = slices.DeleteFunc(engines, func(name string) bool { return name == "pandas" })
	}
	testEngines(t, folder, strings.Join(engines, " "))
}

// addBulk writes the bulk files and Iceberg tables of a store. Tables of more than some rows have a
// file for each country.
func addBulk(t *testing.T, folder string, rows int, formats ...bulk.Format) {
	t.Helper()
	st, snap := openShown(t, folder)
	defer snap.Close()
	b := bulk.Open(st)
	o := export.Options{Formats: formats, PartitionRows: rows}
	testkit.Value(export.ToStore(t.Context(), b, snap, o))(t)
	testkit.Must(t, iceberg.Update(b, folder, "", nil))
}

// openShown opens the snapshot that a store shows.
func openShown(t *testing.T, folder string) (*store.Store, *store.Snapshot) {
	t.Helper()
	st := testkit.Value(store.Open(folder))(t)
	p := testkit.Value(st.Channels.Channel("stable"))(t)
	snap := testkit.Value(st.Snapshots.Open(p.ID))(t)
	return st, snap
}

func testEngines(t *testing.T, folder, usual string) {
	t.Helper()
	dir := clientsDir(t)
	engines := strings.Fields(cmp.Or(os.Getenv("HDQS_ENGINES"), usual))
	s := serve(t, "--store", folder, "--bulk")
	python := filepath.Join(dir, engines[0], "bin", "python")
	args := append([]string{filepath.Join("testdata", "clients", "engines.py"), s.base, folder}, engines[1:]...)
	out, err := exec.CommandContext(t.Context(), python, args...).CombinedOutput()
	t.Logf("%s", out)
	testkit.Must(t, err)
}

// snippetPattern finds the programs on a page of records, in English and in French.
var snippetPattern = regexp.MustCompile(`(?s)<textarea [^>]*aria-label="(?:Program in|Programme en) ([^"]+)">(.*?)</textarea>`)

// TestClientsSnippets runs the programs that pages of records show, as a reader would copy them.
// Each must read as many records as X-Total-Count says. Power Query and Google Sheets do not run
// here: Node runs the Apps Script with stand-ins for Google's objects, and the addresses that the
// query's text names are fetched by a program that reads no more of it.
func TestClientsSnippets(t *testing.T) {
	parallel(t)
	dir := clientsDir(t)
	s := serve(t, "--store", storeOfScale(t, 0.01))
	id, issues := contract.EncodeIdentifier("snippets", "me@example.org")
	if issues != nil {
		t.Fatal(issues)
	}
	pages := []string{
		"conflict-events?admin2_name=%27&event_type__in=demonstration,political_violence&fields=location_name,events",
		"food-prices-market-monitor?price_min=0.5&price_flag__in=actual%5C%2Caggregate&admin_level=2",
		"food-security?classification_phase=3%2B", "org?acronym__in=%22Q%22,%22%24%7B%60%27%5C%5C", "location?code=ZZZ",
	}
	for i := range contract.Endpoints {
		pages = append(pages, contract.Endpoints[i].Name())
	}
	folder := t.TempDir()
	plans := map[string]*strings.Builder{}
	wants, empty := map[string]string{}, 0
	for i, page := range pages {
		name, query, _ := strings.Cut(page, "?")
		list := listPathOf(t, name) + "?" + query + "&limit=0"
		wants[fmt.Sprint(i)] = ask(t, "GET", s.base+with(list)).header.Get("X-Total-Count")
		body := ask(t, "GET", s.base+"/browse/"+page).body
		programs := snippetPattern.FindAllStringSubmatch(string(body), -1)
		want := 7
		switch {
		case wants[fmt.Sprint(i)] == "0":
			want = 0
			empty++
		case query == "":
			want++ // the feed of OData, which needs no identifier
		}
		if len(programs) != want {
			t.Fatalf("%s has %d programs, want %d", page, len(programs), want)
		}
		for _, program := range programs {
			if program[1] == "OData" {
				set := odataSet.FindStringSubmatch(html.UnescapeString(program[2]))
				if set == nil {
					t.Fatalf("%s: the program in OData names no set: %s", page, program[2])
				}
				n := string(ask(t, "GET", s.base+"/odata/v4/"+set[1]+"/$count").body)
				if n != wants[fmt.Sprint(i)] {
					t.Errorf("%s: the set %s has %s records, want %s", page, set[1], n, wants[fmt.Sprint(i)])
				}
				continue
			}
			language, code := program[1], html.UnescapeString(program[2])
			if strings.Count(code, "YOUR_APP_IDENTIFIER") == 0 {
				t.Fatalf("%s: the program in %s has no place for an identifier", page, language)
			}
			code = strings.ReplaceAll(code, "YOUR_APP_IDENTIFIER", id)
			file := filepath.Join(folder, fmt.Sprintf("%d.%s", i, strings.ReplaceAll(language, " ", "")))
			testkit.Must(t, os.WriteFile(file, []byte(code), 0o600))
			if plans[language] == nil {
				plans[language] = new(strings.Builder)
			}
			fmt.Fprintf(plans[language], "%d\t%s\n", i, file)
		}
	}
	python := filepath.Join(dir, "clients", "bin", "python")
	pandas := filepath.Join(dir, "engines", "bin", "python") // has pyarrow too
	script := func(name string) string { return filepath.Join("testdata", "clients", name) }
	programs := map[string][]string{
		"curl":          {python, script("snippets.py"), "curl"},
		"Python":        {pandas, script("snippets.py"), "python"},
		"DuckDB":        {python, script("snippets.py"), "duckdb"},
		"Power Query":   {python, script("snippets.py"), "m"},
		"R":             {"Rscript", script("snippets.R")},
		"JavaScript":    {"node", script("snippets.mjs"), "javascript"},
		"Google Sheets": {"node", script("snippets.mjs"), "sheets"},
	}
	for _, language := range slices.Sorted(maps.Keys(programs)) {
		program := programs[language]
		t.Run(language, func(t *testing.T) {
			out := fetchProgram(program[0], program[1:]...)(t, plans[language].String())
			lines := strings.Split(strings.TrimSpace(out), "\n")
			if len(lines) != len(pages)-empty || empty != 1 { // a page without records has no programs
				t.Fatalf("%d programs ran of %d pages, %d of them empty:\n%s", len(lines), len(pages), empty, out)
			}
			for _, line := range lines {
				number, rows, _ := strings.Cut(line, "\t")
				if rows != wants[number] {
					t.Errorf("page %s: %s records, want %s", number, rows, wants[number])
				}
			}
		})
	}
}

// odataSet matches the set that a program reads.
var odataSet = regexp.MustCompile(`OData\.Feed\("[^"]+/odata/v4/", null, .*\n.*\[Name = "([a-z_0-9]+)"`)

// listPathOf is the path of the list of that name.
func listPathOf(t *testing.T, name string) string {
	t.Helper()
	for i := range contract.Endpoints {
		if contract.Endpoints[i].Name() == name {
			return contract.Endpoints[i].Path
		}
	}
	t.Fatalf("there is no endpoint %s", name)
	return ""
}
