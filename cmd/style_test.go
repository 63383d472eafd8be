package cmd

import (
	"go/ast"
	"go/token"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"hdqs/internal/testkit"
)

// Bounds on the methods that can be called on a value of a type, with those of the types that it
// embeds. A type that embeds a service can do all that the service can, which nobody sees.
const (
	maxMethods = 40
	maxOfEach  = 25 // of the packages in fewMethods
)

var fewMethods = []string{
	"api", "api/site", "api/files", "api/list", "api/odata", "api/ogc", "api/admin", "api/mcp",
}

// typeMethods is a type with its own methods, and the types of ours that it embeds.
type typeMethods struct {
	own    []string
	embeds []string // as folder.Type
}

// reachable are the methods of a type and of those that it embeds, each name once.
func reachable(all map[string]*typeMethods, name string, seen map[string]bool) map[string]bool {
	found := map[string]bool{}
	t := all[name]
	if t == nil || seen[name] {
		return found
	}
	seen[name] = true
	for _, m := range t.own {
		found[m] = true
	}
	for _, e := range t.embeds {
		for m := range reachable(all, e, seen) {
			found[m] = true
		}
	}
	return found
}

// TestMethods: no type of ours has too many methods, those of embedded types included.
func TestMethods(t *testing.T) {
	t.Parallel()
	all := map[string]*typeMethods{}
	of := func(name string) *typeMethods {
		if all[name] == nil {
			all[name] = new(typeMethods)
		}
		return all[name]
	}
	for _, f := range goFiles(t) {
		if !f.test {
			addMethods(of, f.dir, f.ast)
		}
	}
	if len(all) < 500 {
		t.Fatalf("%d types are read", len(all))
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		most := maxMethods
		if folder, _, _ := strings.Cut(name, "."); slices.Contains(fewMethods, folder) {
			most = maxOfEach
		}
		if n := len(reachable(all, name, map[string]bool{})); n > most {
			t.Errorf("%s has %d methods, want at most %d", name, n, most)
		}
	}
}

// addMethods adds the methods and embedded types of a file.
func addMethods(of func(string) *typeMethods, folder string, file *ast.File) {
	folders := map[string]string{} // by the name of the package in the file
	for _, i := range file.Imports {
		at, _ := strconv.Unquote(i.Path.Value)
		if ours, ok := strings.CutPrefix(at, "hdqs/"); ok {
			folders[path.Base(ours)] = ours
		}
	}
	nameOf := func(e ast.Expr) string {
		for {
			switch x := e.(type) {
			case *ast.StarExpr:
				e = x.X
			case *ast.IndexExpr:
				e = x.X
			case *ast.Ident:
				return folder + "." + x.Name
			case *ast.SelectorExpr:
				if at, ok := x.X.(*ast.Ident); ok && folders[at.Name] != "" {
					return folders[at.Name] + "." + x.Sel.Name
				}
				return ""
			default:
				return ""
			}
		}
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv != nil {
				t := of(nameOf(d.Recv.List[0].Type))
				t.own = append(t.own, d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				s, ok := spec.(*ast.TypeSpec)
				if !ok {
					continue
				}
				t := of(folder + "." + s.Name.Name)
				switch body := s.Type.(type) {
				case *ast.StructType:
					for _, f := range body.Fields.List {
						if len(f.Names) == 0 {
							t.embeds = append(t.embeds, nameOf(f.Type))
						}
					}
				case *ast.InterfaceType:
					for _, m := range body.Methods.List {
						if len(m.Names) == 0 {
							t.embeds = append(t.embeds, nameOf(m.Type))
						}
						for _, name := range m.Names {
							t.own = append(t.own, name.Name)
						}
					}
				}
			}
		}
	}
}

// otherFiles are names in comments that mean no file of the repository.
var otherFiles = []string{"doc.go", "robots.txt"}

// namedFile matches names in comments of files that people edit.
var namedFile = regexp.MustCompile(`(?:^|[\s("'])([\w*./-]*\w\.(?:go|md|py|sh|html|txt|conf|lock))\b`)

// TestFilesInComments checks that the files that comments name exist: from the root, from the
// folder of the file or its testdata, or, like state/options.go, from a top folder.
func TestFilesInComments(t *testing.T) {
	for _, f := range goFiles(t) {
		for _, group := range f.ast.Comments {
			for _, match := range namedFile.FindAllStringSubmatch(group.Text(), -1) {
				name := match[1]
				places := []string{
					name, path.Join(f.dir, name), path.Join(f.dir, "testdata", name),
					path.Join(f.dir, "testdata", "*", name),
				}
				if path.Dir(name) != "." {
					places = append(places, path.Join("*", name))
				}
				if !slices.Contains(otherFiles, name) && !slices.ContainsFunc(places, exists) {
					t.Errorf("%s: a comment names %s, which does not exist", f.fset.Position(group.Pos()), name)
				}
			}
		}
	}
}

// inCamelCase matches words in comments that look like names of the program that are not exported.
// Names after a dot or a slash are parts of others.
var inCamelCase = regexp.MustCompile(`(?:^|[\s(])([a-z]+[A-Z]\w*)`)

// testName matches names of tests in comments, also those of other packages.
var testName = regexp.MustCompile(`(?:^|[\s("'])((?:Test|Fuzz|Benchmark)[A-Z]\w*)`)

// otherNames are such words that name nothing here.
var otherNames = []string{"oEmbed", "operationId", "operationIds", "selectAll"}

// TestNamesInComments checks that the names in comments are of the package, or of a package that
// uses it, and that the tests that they name exist.
func TestNamesInComments(t *testing.T) {
	names := map[string]map[string]bool{} // by folder; of all in ""
	note := func(folder, name string) {
		if names[folder] == nil {
			names[folder] = map[string]bool{}
		}
		names[folder][name] = true
	}
	files := goFiles(t)
	for _, f := range files {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if id, is := n.(*ast.Ident); is {
				note(f.dir, id.Name)
				note("", id.Name)
			}
			return true
		})
	}
	for _, f := range files {
		for _, group := range f.ast.Comments {
			for _, match := range inCamelCase.FindAllStringSubmatch(group.Text(), -1) {
				name := match[1]
				exported := strings.ToUpper(name[:1]) + name[1:]
				known := names[f.dir][name] || names[""][name] && !names[f.dir][exported]
				if !known && !slices.Contains(otherNames, name) {
					t.Errorf("%s: a comment names %s, which does not exist", f.fset.Position(group.Pos()), name)
				}
			}
			for _, match := range testName.FindAllStringSubmatch(group.Text(), -1) {
				if !names[""][match[1]] {
					t.Errorf("%s: a comment names %s, which does not exist", f.fset.Position(group.Pos()), match[1])
				}
			}
		}
	}
}

const (
	maxCommentWidth = 100
	maxCodeWidth    = 120
	tabWidth        = 4
)

// hasAddress matches lines of tests that may be longer: addresses are not cut.
var hasAddress = regexp.MustCompile(`https?://|/api/v2/`)

// TestWidth checks that comments end by column 100 and code by column 120. A raw string in a test
// keeps its lines, and a table of data its rows.
func TestWidth(t *testing.T) {
	long := map[string][]string{} // by folder
	for _, f := range goFiles(t) {
		text := testkit.ReadFile(t, filepath.Join("..", f.path))
		comments, raw := commentLines(&f), rawStringLines(&f)
		for i, line := range strings.Split(string(text), "\n") {
			n, limit := i+1, maxCodeWidth
			switch {
			case comments[n]:
				limit = maxCommentWidth
			case isData.MatchString(f.path), f.test && (raw[n] || hasAddress.MatchString(line)):
				continue
			}
			if width(line) > limit && !strings.HasPrefix(line, "//go:") {
				place := f.fset.Position(f.fset.File(f.ast.Pos()).LineStart(n))
				long[f.dir] = append(long[f.dir], place.String())
			}
		}
	}
	for dir, places := range long {
		t.Errorf("%s: %d lines are wider than %d columns (comments) or %d (code):\n%s",
			dir, len(places), maxCommentWidth, maxCodeWidth, strings.Join(places, "\n"))
	}
}

func width(line string) int {
	tabs := strings.Count(line, "\t")
	return utf8.RuneCountInString(line) + tabs*(tabWidth-1)
}

// commentLines returns the lines that hold nothing but a comment.
func commentLines(f *goFile) map[int]bool {
	lines := map[int]bool{}
	code := map[int]bool{}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n.(type) {
		case nil, *ast.Comment, *ast.CommentGroup:
		default:
			code[f.fset.Position(n.Pos()).Line] = true
			code[f.fset.Position(n.End()).Line] = true
		}
		return true
	})
	for _, group := range f.ast.Comments {
		first := f.fset.Position(group.Pos()).Line
		for n := first; n <= f.fset.Position(group.End()).Line; n++ {
			lines[n] = n > first || !code[n]
		}
	}
	return lines
}

// rawStringLines returns the lines that raw strings take part in.
func rawStringLines(f *goFile) map[int]bool {
	lines := map[int]bool{}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		text, ok := n.(*ast.BasicLit)
		if ok && text.Kind == token.STRING && strings.HasPrefix(text.Value, "`") {
			for n := f.fset.Position(text.Pos()).Line; n <= f.fset.Position(text.End()).Line; n++ {
				lines[n] = true
			}
		}
		return true
	})
	return lines
}

// TestForeignText: nothing in api takes apart what the program itself has written. Values stay
// values until the last printer, so code that takes text apart reads text of others, and
// testdata/foreign_text.txt lists it. Names and declarations are a few words of the source, which a
// compiler or a start has checked.
func TestForeignText(t *testing.T) {
	t.Parallel()
	readers, seen := map[string]bool{}, map[string]bool{}
	for _, c := range testkit.Cases(t, "testdata/foreign_text.txt", ": ", 2) {
		room, _, _ := strings.Cut(c[0], " reads ")
		for name := range strings.FieldsSeq(c[1]) {
			readers[room+" "+name] = true
		}
	}
	for _, f := range goFiles(t) {
		below, isAPI := strings.CutPrefix(f.path, "api/")
		if !isAPI || f.test || f.dir == "api/apitest" {
			continue
		}
		room, _, _ := strings.Cut(below, "/")
		for name, calls := range readings(f.ast) {
			seen[room+" "+name] = true
			if !readers[room+" "+name] {
				t.Errorf("%s: %s reads text by %s. Is it text of others? Then say what it is, in "+
					"cmd/testdata/foreign_text.txt. What the program has written is not read: use the values that "+
					"it was written from", f.path, name, strings.Join(calls, ", "))
			}
		}
	}
	for reader := range readers {
		if !seen[reader] {
			t.Errorf("%s reads no text: take it out of cmd/testdata/foreign_text.txt", reader)
		}
	}
}

// readings are the calls in a file that take text apart, by the name of what they are in.
func readings(file *ast.File) map[string][]string {
	all := map[string][]string{}
	for _, d := range file.Decls {
		name := ""
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				name = n.Name.Name
			case *ast.ValueSpec:
				if _, inFunction := d.(*ast.FuncDecl); !inFunction {
					name = n.Names[0].Name
				}
			case *ast.CallExpr:
				s, isSelector := n.Fun.(*ast.SelectorExpr)
				if !isSelector {
					return true
				}
				if of, isName := s.X.(*ast.Ident); isName && takesApart(of.Name, s.Sel.Name) {
					all[name] = append(all[name], of.Name+"."+s.Sel.Name)
				}
			}
			return true
		})
	}
	return all
}

// takesApart reports whether a function of a package takes text apart.
func takesApart(of, function string) bool {
	switch of {
	case "regexp":
		return true
	case "xml":
		return function == "Unmarshal" || function == "NewDecoder"
	case "strings", "bytes":
		return strings.HasPrefix(function, "Cut")
	case "json":
		return function == "Unmarshal" || function == "NewDecoder"
	case "url":
		return strings.HasPrefix(function, "Parse")
	}
	return false
}
