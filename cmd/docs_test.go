package cmd

import (
	"bytes"
	"go/ast"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

// Bounds of what a newcomer has to read.
const (
	maxReadmeWords = 900
	maxPageLines   = 300
	maxPages       = 18
)

// changelog also names files and targets that earlier versions had.
const changelog = "CHANGELOG.md"

// document is a Markdown file of the repository.
type document struct {
	path, dir string // relative to the root, with slashes
	text      string
	prose     string // text without indented and fenced code blocks
}

// skippedDocs are made by programs and quote what was true when they were made.
var skippedDocs = regexp.MustCompile(`^(bench/results|tmp|bin)/|(^|/)(testdata|catalog)/`)

func documents(t *testing.T) []document {
	t.Helper()
	var docs []document
	err := filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		rel := relative(file)
		switch {
		case err != nil:
			return err
		case d.IsDir() && file != ".." && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(rel, ".md") || skippedDocs.MatchString(rel):
			return nil
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		doc := document{path: rel, dir: path.Dir(rel), text: string(data)}
		doc.prose = withoutCode(doc.text)
		docs = append(docs, doc)
		return nil
	})
	testkit.Must(t, err)
	if len(docs) < 5 {
		t.Fatalf("found only %d documents", len(docs))
	}
	return docs
}

func relative(file string) string {
	return filepath.ToSlash(strings.TrimPrefix(file, ".."+string(filepath.Separator)))
}

func withoutCode(text string) string {
	var prose []string
	fenced := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
			continue
		}
		if !fenced && !strings.HasPrefix(line, "    ") && !strings.HasPrefix(line, "\t") {
			prose = append(prose, line)
		}
	}
	return strings.Join(prose, "")
}

// exists reports whether a path below the root, which may hold wildcards, names a file or folder.
func exists(name string) bool {
	found, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(name)))
	return err == nil && len(found) > 0
}

var (
	link     = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading  = regexp.MustCompile(`(?m)^#+ +(.+?) *$`)
	codeSpan = regexp.MustCompile("`([^`\n]+)`")
)

func TestDocumentLinks(t *testing.T) {
	for _, doc := range documents(t) {
		for _, match := range link.FindAllStringSubmatch(doc.prose, -1) {
			target, anchor, _ := strings.Cut(match[1], "#")
			if strings.Contains(match[1], "://") {
				continue
			}
			file := doc.path
			if target != "" {
				file = path.Join(doc.dir, target)
			}
			if !exists(file) {
				t.Errorf("%s: link to %s, which does not exist", doc.path, match[1])
				continue
			}
			if anchor != "" && !slices.Contains(anchors(t, file), anchor) {
				t.Errorf("%s: link to %s, which has no such heading", doc.path, match[1])
			}
		}
	}
}

// anchors returns the fragments by which the headings of a document are linked to.
func anchors(t *testing.T, file string) []string {
	t.Helper()
	data := testkit.ReadFile(t, filepath.Join("..", file))
	var all []string
	for _, match := range heading.FindAllStringSubmatch(string(data), -1) {
		words := regexp.MustCompile(`[^\p{L}\p{N}_ -]`).ReplaceAllString(strings.ToLower(match[1]), "")
		all = append(all, strings.ReplaceAll(words, " ", "-"))
	}
	return all
}

// TestDocumentPaths checks code spans that begin with a top folder of the repository, or name a
// file by its extension.
func TestDocumentPaths(t *testing.T) {
	topLevel := map[string]bool{}
	entries := testkit.Value(os.ReadDir(".."))(t)
	for _, e := range entries {
		topLevel[e.Name()] = e.IsDir()
	}
	sourceFile := regexp.MustCompile(`^[\w*./-]+\.(go|md|txt|conf|service|timer|sh|py|svg|seg)$`)
	pathLike := regexp.MustCompile(`^[\w*.{},/-]+$`)
	for _, doc := range documents(t) {
		if doc.path == changelog {
			continue
		}
		for _, match := range codeSpan.FindAllStringSubmatch(doc.prose, -1) {
			name := strings.TrimSuffix(match[1], "/")
			first, _, nested := strings.Cut(name, "/")
			isFolder, known := topLevel[first]
			checked := known && (nested || !isFolder) || nested && sourceFile.MatchString(name)
			// One with a slash before it is part of an address.
			if !checked || !pathLike.MatchString(name) || first == "" || first == "bin" || first == "tmp" {
				continue
			}
			for _, one := range alternatives(name) {
				if !exists(one) && !exists(path.Join(doc.dir, one)) {
					t.Errorf("%s: `%s` does not exist", doc.path, match[1])
				}
			}
		}
	}
}

// alternatives expands one pair of braces, as in hdqs-build.{service,timer}.
func alternatives(name string) []string {
	before, rest, found := strings.Cut(name, "{")
	inside, after, closed := strings.Cut(rest, "}")
	if !found || !closed {
		return []string{name}
	}
	var all []string
	for one := range strings.SplitSeq(inside, ",") {
		all = append(all, before+one+after)
	}
	return all
}

func TestReadmeIsShort(t *testing.T) {
	data := testkit.ReadFile(t, "../README.md")
	if n := len(bytes.Fields(data)); n > maxReadmeWords {
		t.Errorf("README.md has %d words, more than %d: move details to docs", n, maxReadmeWords)
	}
}

// TestPagesAreListed checks that docs/index.md names each page of docs once, that there are few of
// them, and that none is too long.
func TestPagesAreListed(t *testing.T) {
	index := string(testkit.ReadFile(t, "../docs/index.md"))
	pages := 0
	for _, doc := range documents(t) {
		if doc.dir != "docs" || doc.path == "docs/index.md" {
			continue
		}
		pages++
		if n := strings.Count(index, "]("+path.Base(doc.path)+")"); n != 1 {
			t.Errorf("docs/index.md names %s %d times", doc.path, n)
		}
		if n := strings.Count(doc.text, "\n"); n > maxPageLines {
			t.Errorf("%s has %d lines, more than %d", doc.path, n, maxPageLines)
		}
	}
	if pages > maxPages {
		t.Errorf("docs has %d pages, more than %d: merge some", pages, maxPages)
	}
}

// TestPackagesAreListed compares the folders with Go code to the table below "Packages".
func TestPackagesAreListed(t *testing.T) {
	data := testkit.ReadFile(t, "../docs/architecture.md")
	_, section, found := strings.Cut(string(data), "\n## Packages\n")
	section, _, _ = strings.Cut(section, "\n## ")
	if !found {
		t.Fatal("docs/architecture.md has no section Packages")
	}
	listed := map[string]bool{}
	for line := range strings.Lines(section) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			for _, match := range codeSpan.FindAllStringSubmatch(cells[1], -1) {
				listed[match[1]] = true
			}
		}
	}
	folders := map[string]bool{}
	for _, f := range goFiles(t) {
		folders[f.dir] = true
	}
	delete(folders, "cmd") // tests of the tree only
	for _, dir := range slices.Sorted(maps.Keys(folders)) {
		if !listed[dir] {
			t.Errorf("docs/architecture.md: package %s is not in the table of packages", dir)
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(listed)) {
		if !folders[dir] {
			t.Errorf("docs/architecture.md: the table of packages has %s, which is not a package", dir)
		}
	}
}

// TestLayers checks that the packages below "Layers" import only packages of lines below their own,
// but for tests.
func TestLayers(t *testing.T) {
	data := testkit.ReadFile(t, "../docs/architecture.md")
	_, section, _ := strings.Cut(string(data), "\n## Layers\n")
	section, _, _ = strings.Cut(section, "\n## ")
	layers := map[string]int{} // from the top, from 1 on
	layer := 0
	for line := range strings.Lines(section) {
		if !strings.HasPrefix(line, "    ") {
			continue
		}
		if !strings.HasPrefix(line, "      ") { // else the last layer goes on
			layer++
		}
		for _, dir := range strings.Fields(line) {
			layers[dir] = layer
		}
	}
	if layer < 5 {
		t.Fatalf("docs/architecture.md has only %d layers", layer)
	}
	for _, f := range goFiles(t) {
		for _, spec := range f.ast.Imports {
			to, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), "hdqs/")
			if f.test || !ours || layers[f.dir] == 0 {
				continue
			}
			if layers[to] <= layers[f.dir] {
				t.Errorf("docs/architecture.md: %s imports %s, which is not in a layer below", f.path, to)
			}
		}
	}
	for dir := range imports(t) {
		tool := strings.HasPrefix(dir, "cmd") || strings.HasPrefix(dir, "bench") || slices.Contains(testPackages, dir)
		if !tool && layers[dir] == 0 {
			t.Errorf("docs/architecture.md: package %s is in no layer", dir)
		}
	}
}

// testPackages are those of tests and test programs.
var testPackages = []string{
	"internal/generator", "internal/judge", "internal/ckantest", "internal/testkit", "internal/tables",
	"internal/browser", "internal/objects/objectstest", "api/apitest", "api/edge",
}

func TestDocumentMakeTargets(t *testing.T) {
	makefile := testkit.ReadFile(t, "../Makefile")
	named := regexp.MustCompile("(?m)(?:`|^ +|^\t)make ([a-z][a-z-]*)")
	for _, doc := range documents(t) {
		if doc.path == changelog {
			continue
		}
		for _, match := range named.FindAllStringSubmatch(doc.text, -1) {
			if !regexp.MustCompile(`(?m)^` + match[1] + `:`).Match(makefile) {
				t.Errorf("%s: make %s is not a target of the Makefile", doc.path, match[1])
			}
		}
	}
}

// TestDocumentNames checks that code spans like `loader.Build` and `index.Index.Select` name what
// the package declares.
func TestDocumentNames(t *testing.T) {
	declared, packages := declarations(t)
	qualified := regexp.MustCompile(`^([a-z]+)\.([A-Z]\w*(?:\.[A-Z]\w*)?)$`)
	for _, doc := range documents(t) {
		for _, match := range codeSpan.FindAllStringSubmatch(doc.prose, -1) {
			parts := qualified.FindStringSubmatch(match[1])
			if parts != nil && packages[parts[1]] && !declared[match[1]] {
				t.Errorf("%s: `%s` is not declared", doc.path, match[1])
			}
		}
	}
}

// declarations returns the exported names of all packages, as package.Name and package.Type.Method,
// and the names of the packages.
func declarations(t *testing.T) (declared, packages map[string]bool) {
	declared, packages = map[string]bool{}, map[string]bool{}
	for _, f := range goFiles(t) {
		name := f.ast.Name.Name
		packages[name] = true
		for _, decl := range f.ast.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					declared[name+"."+d.Name.Name] = true
				} else if receiver := receiverName(d); receiver != "" {
					declared[name+"."+receiver+"."+d.Name.Name] = true
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch s := spec.(type) {
					case *ast.TypeSpec:
						declared[name+"."+s.Name.Name] = true
					case *ast.ValueSpec:
						for _, n := range s.Names {
							declared[name+"."+n.Name] = true
						}
					}
				}
			}
		}
	}
	return declared, packages
}

// receiverName returns the type of a method, without pointer and type parameters.
func receiverName(d *ast.FuncDecl) string {
	typ := d.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if generic, ok := typ.(*ast.IndexExpr); ok {
		typ = generic.X
	}
	name, _ := typ.(*ast.Ident)
	if name == nil {
		return ""
	}
	return name.Name
}

// removedFlags are those that the changelog and the notes on upgrades still name.
var removedFlags = []string{"--scrub", "--keep-buffers"}

// TestDocumentFlags checks that the program has each flag that a document names, and that commands
// in documents have theirs. TestReference of cmd/hdqs keeps docs/flags.md.
func TestDocumentFlags(t *testing.T) {
	text := testkit.ReadFile(t, "../docs/flags.md")
	known := map[string]bool{"--help": true, "--version": true} // flags, and flags after their command
	row := regexp.MustCompile("(?m)^\\| `(?:-\\w, )?(--[a-z][a-z-]*)")
	for section := range strings.SplitSeq(string(text), "\n## ") {
		title, about, _ := strings.Cut(section, "\n")
		commands := []string{title}
		if rest, isShared := strings.CutPrefix(about, "Flags of "); isShared {
			names, _, _ := strings.Cut(rest, ".\n")
			commands = strings.Split(names, ", ")
		}
		for _, command := range commands {
			known[command+" --help"] = true
			for _, match := range row.FindAllStringSubmatch(section, -1) {
				known[match[1]], known[command+" "+match[1]] = true, true
			}
		}
	}
	if len(known) < 100 {
		t.Fatalf("docs/flags.md has only %d flags", len(known))
	}
	span := regexp.MustCompile("`(--[a-z][a-z-]*)[^`]*`")
	command := regexp.MustCompile("(?m)(?:^ +|`|^\t)(?:bin/)?hdqs ([a-z]+)( [^`\n|#]*)")
	flag := regexp.MustCompile(` (--[a-z][a-z-]*)`)
	for _, doc := range documents(t) {
		if strings.HasPrefix(doc.path, "bench/") {
			continue // the flags of other programs
		}
		for _, match := range span.FindAllStringSubmatch(doc.prose, -1) {
			isNote := doc.path == "CHANGELOG.md" || doc.path == "UPGRADING.md"
			if !known[match[1]] && !(isNote && slices.Contains(removedFlags, match[1])) {
				t.Errorf("%s: no command of hdqs has the flag %s", doc.path, match[1])
			}
		}
		for _, line := range command.FindAllStringSubmatch(doc.text, -1) {
			for _, match := range flag.FindAllStringSubmatch(line[2], -1) {
				if !known[line[1]+" "+match[1]] {
					t.Errorf("%s: hdqs %s has no flag %s", doc.path, line[1], match[1])
				}
			}
		}
	}
}

// TestReleasedDocuments checks that documents which a release has refer to nothing that it lacks.
func TestReleasedDocuments(t *testing.T) {
	t.Parallel()
	script := string(testkit.ReadFile(t, "../.ci/release"))
	files := regexp.MustCompile(`(?m)^documents=\$\(\{ ls (.*)$`).FindStringSubmatch(script)
	folders := regexp.MustCompile(`(?m)^\tfind (.*) -type f ! -path 'deploy/package/\*'; \} \| sort\)$`).
		FindStringSubmatch(script)
	if files == nil || folders == nil {
		t.Fatal(".ci/release names no documents")
	}
	isReleased := func(name string) bool {
		inside := func(folder string) bool { return name == folder || strings.HasPrefix(name, folder+"/") }
		return slices.Contains(strings.Fields(files[1]), name) ||
			slices.ContainsFunc(strings.Fields(folders[1]), inside)
	}
	checked := 0
	for _, doc := range documents(t) {
		if !isReleased(doc.path) {
			continue
		}
		checked++
		for _, match := range link.FindAllStringSubmatch(doc.prose, -1) {
			target, _, _ := strings.Cut(match[1], "#")
			if target == "" || strings.Contains(target, "://") {
				continue
			}
			to := path.Join(doc.dir, target)
			if !isReleased(to) || strings.HasPrefix(to, "deploy/package") {
				t.Errorf("%s: a release has no %s", doc.path, to)
			}
		}
	}
	testkit.AtLeast(t, checked, 20, "a release documents")
}
