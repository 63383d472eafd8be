package iceberg

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"hdqs/internal/atomicfile"
)

// hintName is the file that has the number of the current metadata file.
const hintName = "version-hint.text"

// Write adds metadata to the folder metadata/ of a table in a local directory. If the folder has
// the same metadata already, nothing is written. version is the number of the metadata file. There
// must be one writer at a time.
//
// The time of each file becomes that of the latest version that uses it. Files that neither this
// version nor the one before uses are removed; readers of the one before may still be reading.
func Write(dir string, m *Metadata) (version int, err error) {
	version, current, since, err := currentVersion(dir)
	if err != nil {
		return 0, err
	}
	if version > 0 && bytes.Equal(current, m.JSON) {
		return version, nil
	}
	version++
	for name, data := range m.Files {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Size() == int64(len(data)) {
			continue // names depend on the content
		}
		if err := atomicfile.Write(path, data); err != nil {
			return 0, err
		}
	}
	if err := atomicfile.Write(filepath.Join(dir, metadataName(version)), m.JSON); err != nil {
		return 0, err
	}
	if err := atomicfile.Write(filepath.Join(dir, hintName), []byte(strconv.Itoa(version))); err != nil {
		return 0, err
	}
	now := time.Now()
	for name := range m.Files {
		if err := os.Chtimes(filepath.Join(dir, name), now, now); err != nil {
			return 0, err
		}
	}
	if err := os.Chtimes(filepath.Join(dir, metadataName(version)), now, now); err != nil {
		return 0, err
	}
	return version, removeBefore(dir, since)
}

func metadataName(version int) string { return "v" + strconv.Itoa(version) + ".metadata.json" }

// currentVersion returns the current metadata file of a table and its time; 0 if there is none.
func currentVersion(dir string) (version int, content []byte, since time.Time, err error) {
	hint, err := os.ReadFile(filepath.Join(dir, hintName))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil, since, nil
	}
	if err != nil {
		return 0, nil, since, err
	}
	version, err = strconv.Atoi(strings.TrimSpace(string(hint)))
	if err != nil || version < 1 {
		return 0, nil, since, fmt.Errorf("%s has %.20q, want the number of a metadata file; "+
			"remove the folder of the table to have it written anew", filepath.Join(dir, hintName), hint)
	}
	path := filepath.Join(dir, metadataName(version))
	if content, err = os.ReadFile(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, nil, since, err
	}
	if info, err := os.Stat(path); err == nil {
		since = info.ModTime()
	}
	return version, content, since, nil
}

// removeBefore removes the files that were last used before a time.
func removeBefore(dir string, since time.Time) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		ours := strings.HasSuffix(f.Name(), ".avro") || strings.HasSuffix(f.Name(), ".metadata.json")
		info, err := f.Info()
		if err != nil || !ours || !info.ModTime().Before(since) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, f.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
