package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// module is a module of which a command links at least one package.
type module struct {
	path, version string
	dir           string
	files         []string // paths of its licences and notices, sorted
}

// goLibrary is the module that packages without one belong to: the runtime and the standard
// library.
const goLibrary = "Go runtime and standard library"

// packageLine has, of a package of a module that is not ours, the module and the directory.
const packageLine = "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}\t{{$.Dir}}{{end}}{{end}}"

// linked returns the modules of a command, sorted by path. The first one is the Go library. A
// licence counts if it is in the directory of a linked package or above it within the module: parts
// of a module may have licences of their own.
func linked(command string) ([]module, error) {
	var out []byte
	for _, system := range []string{"linux", "darwin", "windows"} { // those of `make release`
		list := exec.Command("go", "list", "-deps", "-f", packageLine, command)
		list.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0")
		var errs bytes.Buffer
		list.Stderr = &errs
		lines, err := list.Output()
		if err != nil {
			return nil, fmt.Errorf("go list -deps %s: %w: %s", command, err, bytes.TrimSpace(errs.Bytes()))
		}
		out = append(out, lines...)
	}
	library, err := goModule()
	if err != nil {
		return nil, err
	}
	byPath := map[string]*module{}
	for line := range strings.FieldsFuncSeq(string(out), func(r rune) bool { return r == '\n' }) {
		f := strings.Split(line, "\t")
		if byPath[f[0]] == nil {
			byPath[f[0]] = &module{path: f[0], version: f[1], dir: f[2]}
		}
		if err := byPath[f[0]].addFiles(f[3]); err != nil {
			return nil, err
		}
	}
	modules := []module{library}
	for _, path := range sortedKeys(byPath) {
		modules = append(modules, *byPath[path])
	}
	return modules, nil
}

// goModule is the Go distribution, whose licence is at its root.
func goModule() (module, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return module{}, fmt.Errorf("go env GOROOT: %w", err)
	}
	m := module{path: goLibrary, dir: strings.TrimSpace(string(root))}
	return m, m.addFiles(m.dir)
}

// addFiles adds the licences and notices of a directory and of those above it, up to the root of
// the module.
func (m *module) addFiles(dir string) error {
	for {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			if isNotice(e.Name()) && !e.IsDir() && !slices.Contains(m.files, path) {
				m.files = append(m.files, path)
			}
		}
		if dir == m.dir {
			slices.Sort(m.files)
			return nil
		}
		dir = filepath.Dir(dir)
	}
}

func isNotice(name string) bool {
	base := strings.ToUpper(strings.TrimSuffix(strings.TrimSuffix(name, ".md"), ".txt"))
	for _, prefix := range []string{"LICENSE", "LICENCE", "COPYING", "NOTICE", "PATENTS"} {
		if base == prefix || strings.HasPrefix(base, prefix+"-") || strings.HasPrefix(base, prefix+".") {
			return true
		}
	}
	return false
}
