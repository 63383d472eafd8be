package cmd

import (
	"path"
	"regexp"
	"slices"
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
