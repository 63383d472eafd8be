// Package cmd holds the tests of the whole tree: which folders there are and what each may import,
// the sizes of files, functions and lines, and the words that domain-free packages may not use.
package cmd

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"hdqs/internal/testkit"
)

// imports lists every folder with Go code and which packages of this module it may import.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	allowed := map[string][]string{}
	for _, c := range testkit.Cases(t, "testdata/imports.txt", ":", 2) {
		allowed[c[0]] = append(allowed[c[0]], strings.Fields(c[1])...)
	}
	return allowed
}

// testOnly lists the packages that every test may import.
var testOnly = []string{
	"internal/generator", "internal/ckantest", "internal/testkit", "internal/browser", "internal/objects/objectstest",
	"loader/sample", "internal/tables", "snapshot/store", "schema", "api/lang", "api/web",
}

const (
	maxFileLines     = 500
	maxFunctionLines = 80
)

// isData matches files of declarative tables, which may be longer than code.
var isData = regexp.MustCompile(`(^|/)(endpoints_|themes_|words_|countries|enums|blocks)[a-z_]*\.go$`)

// domainWords may not occur in the packages that deal only with bytes, columns and row ids.
var domainWords = regexp.MustCompile(`(?i)humanitarian|\bcountr(y|ies)\b|\blocations?\b|admin[12]?\b|` +
	`conflict_event|refugee|rainfall|food[ _]price|provider|\bckan\b|\bcatalogue?\b|p-?code`)

type goFile struct {
	path, dir string
	test      bool
	lines     int
	ast       *ast.File
	fset      *token.FileSet
}

func goFiles(t *testing.T) []goFile {
	t.Helper()
	files := testkit.Value(parsedTree())(t)
	if len(files) < 10 {
		t.Fatalf("found only %d Go files: the walk has missed most of the tree", len(files))
	}
	return files
}

// parsedTree reads all Go files once.
var parsedTree = sync.OnceValues(func() (files []goFile, err error) {
	err = filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel := filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator)))
		if d.IsDir() {
			name := d.Name()
			if path != ".." && (strings.HasPrefix(name, ".") || name == "testdata" || name == "node_modules") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(rel, ".go") {
			return nil
		}
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		files = append(files, goFile{
			path: rel, dir: filepath.ToSlash(filepath.Dir(rel)), test: strings.HasSuffix(rel, "_test.go"),
			lines: fset.File(parsed.Pos()).LineCount(), ast: parsed, fset: fset,
		})
		return nil
	})
	return files, err
})

func TestImportsGoOneWay(t *testing.T) {
	imports := imports(t)
	for _, f := range goFiles(t) {
		allowed, known := imports[f.dir]
		if !known {
			t.Errorf("%s: folder %q is not in the list of imports", f.path, f.dir)
			continue
		}
		if f.test && f.dir == "cmd/hdqs" {
			continue // whole-program tests may import the generator and the judge
		}
		external := isOfAPI(f.dir) && strings.HasSuffix(f.ast.Name.Name, "_test")
		for _, spec := range f.ast.Imports {
			path, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), "hdqs/")
			if ours && f.test && (slices.Contains(testOnly, path) || external && isOfAPI(path)) {
				continue
			}
			if ours && !slices.Contains(allowed, path) && path != f.dir {
				t.Errorf("%s imports hdqs/%s; %s may import only %v", f.path, path, f.dir, allowed)
			}
		}
	}
}

// isOfAPI reports whether a folder is api or below it. External tests of these packages ask a whole
// server, which package api/apitest starts, and so may import each of them. Nothing else imports
// that package.
func isOfAPI(dir string) bool { return dir == "api" || strings.HasPrefix(dir, "api/") }

func TestKnownFoldersExist(t *testing.T) {
	found := map[string]bool{}
	for _, f := range goFiles(t) {
		found[f.dir] = true
	}
	for dir := range imports(t) {
		if !found[dir] {
			t.Errorf("folder %q is in the list of imports but holds no Go file", dir)
		}
	}
}

func TestSizes(t *testing.T) {
	for _, f := range goFiles(t) {
		if isData.MatchString(f.path) {
			continue
		}
		if f.lines > maxFileLines && !f.test {
			t.Errorf("%s has %d lines, more than %d", f.path, f.lines, maxFileLines)
		}
		for _, decl := range f.ast.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Body == nil || f.test {
				continue
			}
			if n := f.fset.Position(fn.End()).Line - f.fset.Position(fn.Pos()).Line + 1; n > maxFunctionLines {
				t.Errorf("%s: func %s has %d lines, more than %d", f.path, fn.Name.Name, n, maxFunctionLines)
			}
		}
	}
}

func TestDomainFreePackages(t *testing.T) {
	for _, f := range goFiles(t) {
		if f.dir != "snapshot" && f.dir != "snapshot/store" && f.dir != "index" && f.dir != "aggregate" &&
			f.dir != "rowdiff" && f.dir != "columnar" &&
			f.dir != "internal/atomicfile" {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			var text string
			switch n := n.(type) {
			case *ast.Ident:
				text = n.Name
			case *ast.BasicLit:
				text = n.Value
			case *ast.Comment:
				text = n.Text
			}
			if word := domainWords.FindString(text); word != "" {
				t.Errorf("%s: %q is a domain word, and %s is domain-free", f.fset.Position(n.Pos()), word, f.dir)
			}
			return true
		})
	}
}

func TestExportedNamesAreDocumented(t *testing.T) {
	for _, f := range goFiles(t) {
		if f.test {
			continue
		}
		for _, decl := range f.ast.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				// Error methods need no comment: the error interface documents them.
				if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) && d.Name.Name != "Error" {
					t.Errorf("%s: func %s has no comment", f.path, d.Name.Name)
				}
			case *ast.GenDecl:
				checkSpecs(t, f.path, d)
			}
		}
	}
}

func exportedReceiver(d *ast.FuncDecl) bool {
	return d.Recv == nil || ast.IsExported(receiverName(d))
}

func checkSpecs(t *testing.T, path string, d *ast.GenDecl) {
	t.Helper()
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			if s.Name.IsExported() && d.Doc == nil && s.Doc == nil {
				t.Errorf("%s: type %s has no comment", path, s.Name.Name)
			}
		case *ast.ValueSpec:
			for _, name := range s.Names {
				if name.IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
					t.Errorf("%s: %s has no comment", path, name.Name)
				}
			}
		}
	}
}
