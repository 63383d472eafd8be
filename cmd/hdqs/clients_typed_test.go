package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"hdqs/internal/testkit"
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
			value, err := number.Int64()
			testkit.Must(t, err)
			sum += value
		}
	}
	return sum
}
