package cmd

import (
	"go/ast"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
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
