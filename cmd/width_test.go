package cmd

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"hdqs/internal/testkit"
)

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
