package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// vendored returns the packages for browsers that the program has in it, from the list that "make
// vendor" reads. Files of a package that browsers do not load are its licences and notices.
func vendored(web string) ([]module, error) {
	list, err := os.ReadFile(filepath.Join(web, "vendor.lock"))
	if err != nil {
		return nil, err
	}
	var all []module
	for lines := bufio.NewScanner(bytes.NewReader(list)); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 || fields[0] == "#" {
			continue
		}
		if len(fields) < 5 {
			return nil, fmt.Errorf("vendor.lock: %q needs a name, version, licence, digest and files", lines.Text())
		}
		name, version, files := fields[0], fields[1], fields[4:]
		m := module{path: "npm: " + name, version: version, dir: filepath.Join(web, "npm", name)}
		for _, file := range files {
			if !slices.Contains([]string{".js", ".css", ".json", ".woff"}, filepath.Ext(file)) {
				m.files = append(m.files, filepath.Join(m.dir, file))
			}
		}
		if m.files == nil { // the package has none
			m.files = []string{filepath.Join(web, "licences", name)}
		}
		all = append(all, m)
	}
	return all, nil
}
