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
var imports = map[string][]string{
	"schema":         {},
	"snapshot":       {},
	"snapshot/store": {"snapshot", "internal/atomicfile", "internal/objects"},
	"index":          {"snapshot", "internal/cache"},
	"aggregate":      {"index", "snapshot", "internal/cache"},
	"rowdiff":        {"snapshot", "index"},
	"columnar":       {"snapshot", "index"},
	"bulk":           {"columnar", "snapshot", "snapshot/store", "internal/atomicfile", "internal/objects"},
	"bulk/export": {
		"bulk", "bulk/iceberg", "columnar", "snapshot", "snapshot/store", "index", "api/contract", "api/encode",
		"api/render", "internal/atomicfile",
	},
	"bulk/iceberg": {"bulk", "snapshot/store", "internal/atomicfile"},
	"loader": {
		"schema", "snapshot", "snapshot/store", "internal/atomicfile", "internal/nearest", "loader/sample",
		"loader/catalogfile",
	},
	"loader/catalogfile": {"internal/nearest"},
	"loader/upstream": {
		"schema", "internal/atomicfile", "internal/objects", "internal/fetch", "internal/bucket", "loader",
		"loader/catalogfile",
	},
	"loader/sample": {"loader", "loader/catalogfile"}, // its tests; loader itself imports it
	"api/reply": {
		"api/contract", "api/encode", "api/render", "api/say", "api/wire", "internal/nearest",
	},
	"api/state": {
		"aggregate", "api/accesslog", "api/boundary", "api/contract", "api/encode", "api/metrics",
		"api/render", "api/reply", "api/wire", "index", "snapshot", "snapshot/store",
	},
	"api/list": {
		"internal/cache",
		"aggregate", "api/accesslog", "api/contract", "api/encode", "api/lang", "api/metrics", "api/render",
		"api/reply", "api/say", "api/state", "api/textual", "api/wire", "index",
		"internal/background", "internal/nearest",
	},
	"api/figures": {
		"aggregate", "api/additivity", "api/contract", "api/lang", "api/list", "api/render", "api/reply", "api/say",
		"api/state", "api/textual", "index", "rowdiff", "snapshot", "snapshot/store",
	},
	"api/find": {
		"api/contract", "api/figures", "api/lang", "api/list", "api/say", "api/state", "api/textual",
		"internal/background", "internal/nearest",
	},
	"api/files": {
		"api/contract", "api/encode", "api/list", "api/metrics", "api/render", "api/reply", "api/state",
		"api/wire", "bulk", "columnar", "index", "internal/background", "snapshot",
	},
	"api/site": {
		"internal/cache",
		"api/browse", "api/chart", "api/contract", "api/country", "api/figures", "api/find", "api/lang", "api/list",
		"api/picture", "api/render", "api/reply", "api/say", "api/state", "api/textual", "api/web", "api/wire",
		"internal/nearest",
		"snapshot/store",
	},
	"api/mcp": {
		"aggregate", "api/contract", "api/find", "api/list", "api/render", "api/reply", "api/say", "api/state",
		"api/textual", "api/wire", "internal/nearest",
	},
	"api/odata": {
		"aggregate", "api/contract", "api/list", "api/render", "api/reply", "api/state", "index", "internal/nearest",
	},
	"api/ogc": {
		"aggregate", "api/boundary", "api/contract", "api/list", "api/render", "api/reply", "api/state", "index",
	},
	"api/admin": {"api/contract", "api/reply", "api/state"},
	"api": {
		"api/accesslog", "api/admin", "api/boundary", "api/contract", "api/encode", "api/figures", "api/find",
		"api/files", "api/list", "api/mcp", "api/metrics", "api/odata", "api/ogc", "api/render", "api/reply",
		"api/site",
		"api/state", "api/wire", "bulk", "index", "internal/background", "internal/nearest", "snapshot",
		"snapshot/store",
	},
	"api/edge": {}, // caches before a server: tests only
	"api/apitest": { // the fixture of tests
		"api", "api/accesslog", "api/contract", "api/reply", "api/state", "bulk", "internal/testkit", "snapshot",
		"snapshot/store",
	},
	"api/browse": {
		"api/additivity", "api/boundary", "api/chart", "api/contract", "api/lang", "api/reply", "api/say",
		"api/textual", "index",
	},
	"api/picture": {"api/chart", "api/lang", "api/web"},
	"api/country": {
		"api/browse", "api/chart", "api/contract", "api/lang", "api/render", "api/say", "api/textual",
	},
	"api/boundary":                 {"api/chart"},
	"api/chart":                    {"api/lang"},
	"api/lang":                     {"api/say"},
	"api/say":                      {},
	"api/textual":                  {"api/contract", "api/say"},
	"api/web":                      {},
	"api/additivity":               {"api/contract"},
	"api/contract":                 {"aggregate", "api/say", "index", "internal/nearest", "schema"},
	"api/wire":                     {},
	"api/metrics":                  {},
	"api/accesslog":                {},
	"api/render":                   {"snapshot", "index", "api/encode", "internal/cache"},
	"api/encode":                   {"internal/cache"},
	"internal/atomicfile":          {},
	"internal/objects":             {"internal/atomicfile"},
	"internal/objects/objectstest": {"internal/objects", "internal/testkit"},

	"internal/fetch":      {"internal/objects"},
	"internal/bucket":     {"internal/fetch", "internal/objects"},
	"internal/cache":      {},
	"internal/memory":     {},
	"internal/background": {},
	"internal/replica": {
		"bulk", "snapshot", "snapshot/store", "internal/atomicfile", "internal/objects", "internal/fetch",
		"internal/bucket",
	},
	"internal/follow": {
		"api", "api/state", "bulk", "snapshot", "snapshot/store", "internal/atomicfile", "internal/background",
		"internal/memory", "internal/objects", "internal/replica", "internal/fleet", "internal/history",
		"internal/fetch", "loader", // the last two: its tests
	},
	"internal/fleet": {"internal/objects", "snapshot/store"},
	"internal/history": {
		"api/contract", "api/figures", "api/state", "internal/objects", "snapshot", "snapshot/store",
		"loader", // its tests
	},
	"internal/threshold": {
		"api/contract", "api/figures", "api/list", "api/state", "api/textual", "internal/nearest", "snapshot",
		"snapshot/store",
		"loader", // its tests
	},
	"internal/generator": {"schema"},
	"internal/judge":     {"testdata"},
	"internal/ckantest":  {},
	"internal/testkit":   {},
	"internal/tables":    {"snapshot"},
	"internal/browser":   {"internal/testkit"},
	"internal/nearest":   {},
	"bench":              {},
	"cmd":                {},
	"cmd/generate":       {"internal/generator"},
	"cmd/judge":          {"internal/judge"},
	"cmd/notices":        {"internal/atomicfile"},
	"cmd/release":        {"internal/atomicfile"},
	"cmd/worldmap":       {"api/chart", "internal/atomicfile"},
	"cmd/hdqs": {
		"snapshot", "snapshot/store", "internal/objects", "internal/replica", "internal/fetch", "index", "loader",
		"loader/sample",
		"bulk", "bulk/export", "bulk/iceberg", "loader/catalogfile", "loader/upstream", "api", "api/files", "api/reply",
		"api/state", "api/figures", "api/mcp", "api/boundary", "api/contract", "api/encode", "api/accesslog",
		"internal/atomicfile", "internal/nearest", "internal/memory", "internal/background", "internal/follow",
		"internal/fleet", "internal/history", "internal/threshold", "rowdiff",
	},
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
	files, err := parsedTree()
	testkit.Must(t, err)
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
	for dir := range imports {
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
