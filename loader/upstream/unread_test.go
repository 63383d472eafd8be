package upstream

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"hdqs/internal/testkit"
	"hdqs/loader"
	"hdqs/loader/catalogfile"
)

// TestUnreadResources adds a resource to a dataset that a role reads: a table that no role takes is
// named, with exit code 5; what can be no table, or is accepted, is not.
func TestUnreadResources(t *testing.T) {
	t.Parallel()
	_, o := site(t)
	mustSync(t, o)
	for _, c := range testkit.Cases(t, "testdata/unread.txt", " | ", 5) {
		want, dataset, name, format, file := c[0] == "named", c[1], c[2], c[3], c[4]
		server, own := site(t)
		own.Cache = o.Cache
		server.Edit = func(pkg map[string]any) {
			if pkg["name"] == dataset {
				resources, _ := pkg["resources"].([]any)
				pkg["resources"] = append(resources[:len(resources):len(resources)], map[string]any{
					"id": "added-one", "name": name, "format": format, "url": own.Source + "/d/" + file,
				})
			}
		}
		own.DryRun = true
		s := mustSync(t, own)
		said := ""
		for _, f := range s.Files {
			if f.State == loader.SourceRefused {
				said += f.Path + ": " + f.Why
			}
		}
		named := strings.Contains(said, dataset+"/added-one") && strings.Contains(said, name)
		if named != want || !named && said != "" {
			t.Errorf("%s, %q as %q, %s: named %t, %q", dataset, name, format, file, named, said)
		}
	}
}

// TestPartOfDataset: the tables of a dataset whose name is that of one that a role reads, and more,
// are named.
func TestPartOfDataset(t *testing.T) {
	t.Parallel()
	for name, named := range map[string]bool{
		"hdx-hapi-idps-2": true, "hdx-hapi-food-price-2016": true, "hdx-hapi-idpsx": false, "hdx-hapi-tcd": false,
	} {
		server, o := site(t)
		server.Edit = func(pkg map[string]any) {
			if pkg["name"] == "hdx-hapi-returnees" {
				pkg["name"] = name
			}
		}
		o.DryRun = true
		got := slices.ContainsFunc(mustSync(t, o).Files,
			func(f FileState) bool { return strings.HasPrefix(f.Path, name+"/") })
		if got != named {
			t.Errorf("%s: named %t, want %t", name, got, named)
		}
	}
}

// TestNamesInOtherCase: names of resources are compared without regard to case.
func TestNamesInOtherCase(t *testing.T) {
	t.Parallel()
	server, o := site(t)
	server.Edit = func(pkg map[string]any) {
		for _, r := range resourcesOf(pkg) {
			r["name"], r["format"] = strings.ToUpper(fmt.Sprint(r["name"])), "text/csv"
		}
	}
	s := mustSync(t, o)
	sameTree(t, s.Dir, "reference/org-type.csv", "reference/sector.csv")
	stateOf(t, s, conflict)
}

// TestOddPackages: a field of an unexpected type costs the package at most, not those beside it,
// and not without a word.
func TestOddPackages(t *testing.T) {
	t.Parallel()
	_, o := site(t)
	whole := mustSync(t, o)
	first := slices.IndexFunc(whole.Files, func(f FileState) bool { return f.Role == catalogfile.PackageRole })
	source, own := whole.Files[first].ID, eventsDataset
	for _, c := range []struct {
		what   string
		change func(pkg map[string]any)
		bad    bool
	}{
		{"unexpected types", func(pkg map[string]any) {
			r := resourcesOf(pkg)[0]
			r["size"], r["format"], r["hash"], r["last_modified"] = "12 kB", []any{r["format"]}, 5, 1700000000
			r["state"], pkg["title"] = false, []any{"A title"}
		}, false},
		{"others", func(pkg map[string]any) {
			r := resourcesOf(pkg)[0]
			r["size"], r["hash"], r["last_modified"], r["state"] = "", nil, nil, []any{}
			r["description"], pkg["title"], pkg["private"] = []any{[]any{}}, 5, "no"
		}, false},
		{"resources as a text", func(pkg map[string]any) { pkg["resources"] = "none" }, true},
		{"a resource as a text", func(pkg map[string]any) { pkg["resources"] = []any{"none"} }, true},
		{"too many resources", func(pkg map[string]any) {
			pkg["resources"] = make([]any, maxPackageEntries+1)
		}, true},
	} {
		for _, name := range []string{source, own} {
			server, o := site(t)
			changed := false
			server.Edit = func(pkg map[string]any) {
				if pkg["name"] == name || pkg["id"] == name {
					c.change(pkg)
					changed = true
				}
			}
			s := mustSync(t, o)
			if !changed {
				t.Fatalf("no package %s", name)
			}
			lost := whole.Packages - s.Packages
			if name == source && lost > 1 || name == own && lost > 0 && !c.bad {
				t.Errorf("%s of %s: %d packages of %d", c.what, name, s.Packages, whole.Packages)
			}
			if c.bad && s.Count(loader.SourceRefused)+s.Count(loader.SourceStale) == 0 {
				t.Errorf("%s of %s: lost without a word: %d packages, %q", c.what, name, s.Packages, s.Notes)
			}
		}
	}
}
