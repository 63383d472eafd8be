package cmd

import (
	"go/ast"
	"go/build/constraint"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

// testPart is a part of `make test`: which packages it tests, and which tests of them.
type testPart struct {
	race      bool
	run, skip *regexp.Regexp
	packages  []string // hdqs/index, or ./cmd/... for a folder with those below it
}

// testParts reads the commands of the parts from what make would run.
func testParts(t *testing.T) map[string]*testPart {
	t.Helper()
	parts := []string{"race", "unit", "whole", "bucket", "clients", "edge"}
	command := exec.Command("make", append([]string{"-C", "..", "--no-print-directory", "--dry-run"}, parts...)...)
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "MAKE") && !strings.HasPrefix(pair, "MFLAGS") { // of a make around this test
			command.Env = append(command.Env, pair)
		}
	}
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	found := map[string]*testPart{}
	for line := range strings.Lines(string(out)) {
		before, arguments, isTest := strings.Cut(line, " -- ")
		if !isTest || !strings.HasPrefix(before, ".ci/part ") {
			continue
		}
		p := &testPart{run: regexp.MustCompile(""), skip: regexp.MustCompile("^$")}
		words := strings.Fields(arguments)
		for i, word := range words {
			switch {
			case word == "-race":
				p.race = true
			case i > 0 && words[i-1] == "-run":
				p.run = regexp.MustCompile(strings.Trim(word, "'"))
			case i > 0 && words[i-1] == "-skip":
				p.skip = regexp.MustCompile(strings.Trim(word, "'"))
			case strings.HasPrefix(word, "hdqs/") || strings.HasPrefix(word, "./"):
				p.packages = append(p.packages, word)
			}
		}
		found[strings.Fields(before)[1]] = p
	}
	for _, name := range parts {
		if found[name] == nil || len(found[name].packages) == 0 {
			t.Fatalf("make would run no tests for %s:\n%s", name, out)
		}
	}
	return found
}

// tests reports whether a part tests a folder.
func (p *testPart) tests(dir string) bool {
	return slices.ContainsFunc(p.packages, func(pattern string) bool {
		pattern = strings.TrimPrefix(strings.TrimPrefix(pattern, "hdqs/"), "./")
		above, all := strings.CutSuffix(pattern, "/...")
		return dir == pattern || all && (dir == above || strings.HasPrefix(dir, above+"/"))
	})
}

// built reports whether a file is compiled with or without the race detector.
func (f *goFile) built(race bool) bool {
	for _, group := range f.ast.Comments {
		if group.Pos() > f.ast.Package {
			break
		}
		for _, c := range group.List {
			if expression, err := constraint.Parse(c.Text); err == nil {
				return expression.Eval(func(tag string) bool {
					return tag == "linux" || tag == "amd64" || tag == "unix" || tag == "race" && race
				})
			}
		}
	}
	return true
}

// elsewhere are tests that run by hand, since they need a store that HDQS_TEST_STORE names, or only
// nightly.
var elsewhere = regexp.MustCompile(`^Test(SelectOnStore|JudgeFixtures$|BrowserPictures$|AddingA(List|Field)$|(DiskFaults|KillPoints)Of)`)

var isTest = regexp.MustCompile(`^(Test|Fuzz|Example)`)

// TestEveryTestRuns checks that each test is in a part of `make test`.
func TestEveryTestRuns(t *testing.T) {
	parts := testParts(t)
	ran := 0
	for _, f := range goFiles(t) {
		if !f.test || !f.built(true) && !f.built(false) {
			continue
		}
		for _, decl := range f.ast.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Recv != nil || !isTest.MatchString(fn.Name.Name) || fn.Name.Name == "TestMain" ||
				elsewhere.MatchString(fn.Name.Name) {
				continue
			}
			in := slices.DeleteFunc(slices.Collect(maps.Values(parts)), func(p *testPart) bool {
				return !p.tests(f.dir) || !f.built(p.race) || !p.run.MatchString(fn.Name.Name) ||
					p.skip.MatchString(fn.Name.Name)
			})
			if ran++; len(in) == 0 {
				t.Errorf("%s: no part of `make test` runs %s", f.path, fn.Name.Name)
			}
		}
	}
	testkit.AtLeast(t, ran, 600, "tests were looked at")
}

// TestRaceSeesGoroutines checks that what race leaves out starts no goroutines: files that are not
// built with it, and packages. Drivers of benchmarks may, which soak runs under the detector.
func TestRaceSeesGoroutines(t *testing.T) {
	parts := testParts(t)
	race, units := parts["race"], parts["unit"]
	for _, f := range goFiles(t) {
		leftOut := !race.tests(f.dir) && units.tests(f.dir) && !strings.HasPrefix(f.dir, "bench")
		tagged := f.test && f.built(false) && !f.built(true) && race.tests(f.dir)
		for _, decl := range f.ast.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if ok && (tagged && isTest.MatchString(fn.Name.Name) || leftOut) && startsGoroutines(fn) {
				t.Errorf("%s: %s starts goroutines, so the race detector must see it", f.path, fn.Name.Name)
			}
		}
	}
}

// startsGoroutines reports whether a function has a go statement or calls a method named Go.
func startsGoroutines(fn *ast.FuncDecl) (found bool) {
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = true
		case *ast.SelectorExpr:
			found = found || n.Sel.Name == "Go"
		}
		return !found
	})
	return found
}
