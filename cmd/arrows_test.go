package cmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

// The comment of a package with many files lists them from top to bottom: a file uses those below
// it. An arrow goes from a file to another one of which it uses names: functions, types, methods,
// variables, constants. Few may run up, or a reader has to know the whole package to read one file.
const (
	maxUnordered = 8  // files of a package without such a list
	maxUp        = 20 // percent of the arrows, and of the uses
)

// arrow is what one file uses of another.
type arrow struct {
	from, to string
	uses     int
	names    map[string]bool
}

// listedPackage is a package as `go list -json` describes it.
type listedPackage struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
}

// TestArrows: few arrows inside a package run up.
func TestArrows(t *testing.T) {
	t.Parallel()
	exports := map[string]string{}
	var large []listedPackage
	for _, p := range listedPackages(t) {
		exports[p.ImportPath] = p.Export
		if strings.HasPrefix(p.ImportPath, "hdqs/") && len(sourceFiles(t, p.Dir)) > maxUnordered {
			large = append(large, p)
		}
	}
	if len(large) < 10 {
		t.Fatalf("only %d packages with more than %d files are found", len(large), maxUnordered)
	}
	for _, p := range large {
		folder := strings.TrimPrefix(p.ImportPath, "hdqs/")
		order, err := fileOrder(p.Dir, sourceFiles(t, p.Dir))
		if err != nil {
			t.Errorf("%s/doc.go: %v", folder, err)
			continue
		}
		checkArrows(t, folder, order, arrowsOf(t, p, exports))
	}
}

// checkArrows reports a package of which too many arrows run up, and the names that cause most of
// them.
func checkArrows(t *testing.T, folder string, order map[string]int, all []arrow) {
	t.Helper()
	var up []arrow
	uses, usesUp := 0, 0
	for _, a := range all {
		uses += a.uses
		if order[a.to] < order[a.from] {
			up = append(up, a)
			usesUp += a.uses
		}
	}
	if 100*len(up) <= maxUp*len(all) && 100*usesUp <= maxUp*uses {
		return
	}
	var lines strings.Builder
	for _, a := range up {
		fmt.Fprintf(&lines, "\n\t%s uses %s: %s", a.from, a.to, strings.Join(slices.Sorted(maps.Keys(a.names)), " "))
	}
	t.Errorf("%s: %d of %d arrows between files run up, and %d of %d uses; at most %d %% may. Move these names to "+
		"files further down, or change the order in doc.go:%s", folder, len(up), len(all), usesUp, uses, maxUp, &lines)
}

// listedPackages are the packages of this module and all that they import, with their export data.
func listedPackages(t *testing.T) (all []listedPackage) {
	t.Helper()
	command := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles", "./...")
	command.Dir, command.Stderr = "..", os.Stderr
	out := testkit.Value(command.Output())(t)
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listedPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// sourceFiles are the files of a folder but for tests and doc.go, those of other systems included.
func sourceFiles(t *testing.T, dir string) (names []string) {
	t.Helper()
	files := testkit.Value(filepath.Glob(filepath.Join(dir, "*.go")))(t)
	for _, f := range files {
		if name := filepath.Base(f); name != "doc.go" && !strings.HasSuffix(name, "_test.go") {
			names = append(names, name)
		}
	}
	return names
}

// fileOrder reads the list in doc.go: indented lines that begin with names of files or patterns. It
// gives each file its place.
func fileOrder(dir string, files []string) (order map[string]int, err error) {
	doc, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, "doc.go"), nil, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	order = map[string]int{}
	for line := range strings.Lines(doc.Doc.Text()) {
		if !strings.HasPrefix(line, "\t") {
			continue
		}
		for _, pattern := range strings.Fields(line) {
			if path.Ext(pattern) != ".go" {
				break
			}
			before := len(order)
			for _, name := range files {
				if ok, _ := path.Match(pattern, name); ok && order[name] == 0 {
					order[name] = len(order) + 1
				}
			}
			if len(order) == before {
				return order, fmt.Errorf("%s is listed and not there, or listed twice", pattern)
			}
		}
	}
	for _, name := range files {
		if order[name] == 0 {
			return order, fmt.Errorf("%s is not in the comment's list of files, from top to bottom", name)
		}
	}
	return order, nil
}

// arrowsOf are the arrows of a package.
func arrowsOf(t *testing.T, p listedPackage, exports map[string]string) (all []arrow) {
	t.Helper()
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.GoFiles {
		file := testkit.Value(parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution))(t)
		files = append(files, file)
	}
	open := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: importer.ForCompiler(fset, "gc", open)}
	checked := testkit.Value(config.Check(p.ImportPath, fset, files, info))(t)
	at := map[[2]string]int{}
	for use, object := range info.Uses {
		if f, ok := object.(*types.Func); ok {
			object = f.Origin() // of a generic type
		}
		method, _ := object.(*types.Func)
		isMethod := method != nil && method.Signature().Recv() != nil
		if object.Pkg() != checked || object.Parent() != checked.Scope() && !isMethod {
			continue
		}
		from := filepath.Base(fset.Position(use.Pos()).Filename)
		to := filepath.Base(fset.Position(object.Pos()).Filename)
		if from == to {
			continue
		}
		i, ok := at[[2]string{from, to}]
		if !ok {
			i = len(all)
			at[[2]string{from, to}] = i
			all = append(all, arrow{from: from, to: to, names: map[string]bool{}})
		}
		all[i].uses++
		all[i].names[object.Name()] = true
	}
	slices.SortFunc(all, func(a, b arrow) int { return strings.Compare(a.from+" "+a.to, b.from+" "+b.to) })
	return all
}
