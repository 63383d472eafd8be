package cmd

import (
	"go/ast"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

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
