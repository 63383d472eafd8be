package iceberg

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"hdqs/internal/atomicfile"
)

// hintName is the file that has the number of the current metadata file.
const hintName = "version-hint.text"

// Write adds metadata to the folder metadata/ of a table in a local directory. If the folder has
// the same metadata already, only files that are missing or damaged are written. version is the
// number of the metadata file. There must be one writer at a time.
//
// Files that neither this version nor the one before names are removed; readers of the one before
// may still be reading.
func Write(dir string, m *Metadata) (version int, err error) {
	version, current, err := currentVersion(dir)
	if err != nil {
		return 0, err
	}
	for name, data := range m.Files {
		path := filepath.Join(dir, name)
		if there, err := os.ReadFile(path); err == nil && bytes.Equal(there, data) {
			continue
		}
		if err := atomicfile.Write(path, data); err != nil {
			return 0, err
		}
	}
	if version > 0 && bytes.Equal(current, m.JSON) {
		return version, nil
	}
	before := version
	for version++; takenByOther(filepath.Join(dir, metadataName(version)), m.JSON); version++ {
	}
	if err := atomicfile.Write(filepath.Join(dir, metadataName(version)), m.JSON); err != nil {
		return 0, err
	}
	if err := atomicfile.Write(filepath.Join(dir, hintName), []byte(strconv.Itoa(version))); err != nil {
		return 0, err
	}
	used := map[string]bool{metadataName(version): true, metadataName(before): true}
	return version, removeUnused(dir, used, m.JSON, current)
}

// takenByOther reports whether a path is that of a file with other content: of a version that was
// not published, because its writer was killed.
func takenByOther(path string, content []byte) bool {
	there, err := os.ReadFile(path)
	return err == nil && !bytes.Equal(there, content)
}

func metadataName(version int) string { return "v" + strconv.Itoa(version) + ".metadata.json" }

// currentVersion returns the current metadata file of a table; 0 if there is none.
func currentVersion(dir string) (version int, content []byte, err error) {
	hint, err := os.ReadFile(filepath.Join(dir, hintName))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil, nil
	}
	if err != nil {
		return 0, nil, err
	}
	version, err = strconv.Atoi(strings.TrimSpace(string(hint)))
	if err != nil || version < 1 {
		return 0, nil, fmt.Errorf("%s has %.20q, want the number of a metadata file; "+
			"remove the folder of the table to have it written anew", filepath.Join(dir, hintName), hint)
	}
	content, err = os.ReadFile(filepath.Join(dir, metadataName(version)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, nil, err
	}
	return version, content, nil
}

// removeUnused removes the files of a table but those in used and those that two metadata files
// name. The time of a file says nothing: copies of a store may not keep it.
func removeUnused(dir string, used map[string]bool, metadata ...[]byte) error {
	for _, text := range metadata {
		names, ok := filesOf(text)
		if !ok {
			return nil // the next version removes what is not used then
		}
		maps.Copy(used, names)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		ours := strings.HasSuffix(f.Name(), ".avro") || strings.HasSuffix(f.Name(), ".metadata.json")
		if !ours || used[f.Name()] {
			continue
		}
		if err := os.Remove(filepath.Join(dir, f.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// filesOf returns the names of the manifest lists and manifests that a metadata file refers to. It
// reports false for one that does not name its manifests: a damaged one, or of an earlier release.
func filesOf(content []byte) (names map[string]bool, ok bool) {
	names = map[string]bool{}
	if content == nil {
		return names, true
	}
	var m metadataJSON
	if json.Unmarshal(content, &m) != nil {
		return nil, false
	}
	for _, s := range m.Snapshots {
		manifests, ok := s.Summary[manifestsKey]
		if !ok {
			return nil, false
		}
		names[path.Base(s.List)] = true
		for _, name := range strings.Fields(manifests) {
			names[name] = true
		}
	}
	return names, true
}
