package cmd

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

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
