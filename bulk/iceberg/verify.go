package iceberg

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"hdqs/bulk"
)

// Verify checks the Iceberg tables in the directory dir of a store: every file has the digest in
// its name or, if it is a metadata file, in itself; every file that the current metadata refers to
// is there; the manifests of a snapshot name all Parquet files that its manifest of bulk files has.
// If that is the latest one, each table must have it. The error has all faults.
func Verify(dir string, of *bulk.Manifest, latest bool) error {
	folder := filepath.Join(dir, filepath.FromSlash(Folder))
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		return nil // the files were written by a release without tables
	}
	var errs []error
	for i := range of.Tables {
		t := &of.Tables[i]
		if err := verifyTable(filepath.Join(folder, t.Table, "metadata"), of.Snapshot, t, latest); err != nil {
			errs = append(errs, fmt.Errorf("table %s of Iceberg: %w; 'hdqs build --bulk' writes it again", t.Table,
				err))
		}
	}
	return errors.Join(errs...)
}

func verifyTable(dir, snapshotID string, t *bulk.Table, latest bool) error {
	files, err := os.ReadDir(dir)
	if err != nil && latest {
		return err
	}
	contents := map[string][]byte{}
	for _, f := range files {
		name := f.Name()
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil && !isWhole(name, data) {
			err = fmt.Errorf("%s is damaged", filepath.Join(dir, name))
		}
		if err != nil {
			return err
		}
		contents[name] = data
	}
	version, text, err := currentVersion(dir)
	if err == nil && contents[metadataName(version+1)] != nil {
		err = fmt.Errorf("%s has %d, and there is a later version", filepath.Join(dir, hintName), version)
	}
	if err != nil {
		return err
	}
	names, _ := filesOf(text)
	for name := range names {
		if contents[name] == nil {
			return fmt.Errorf("%s is missing", filepath.Join(dir, name))
		}
	}
	var m metadataJSON
	if err := json.Unmarshal(text, &m); err != nil && len(files) > 0 {
		return fmt.Errorf("%s names no metadata file that is there", filepath.Join(dir, hintName))
	}
	at := slices.IndexFunc(m.Snapshots, func(s snapshotJSON) bool { return s.Summary[stateKey] == snapshotID })
	if at < 0 && latest {
		return fmt.Errorf("it has no snapshot %s", snapshotID)
	}
	if at < 0 {
		return nil
	}
	var manifests []byte
	for name := range strings.FieldsSeq(m.Snapshots[at].Summary[manifestsKey]) {
		manifests = append(manifests, contents[name]...)
	}
	for _, f := range t.Files {
		if f.Format == bulk.Parquet && !bytes.Contains(manifests, []byte(f.Name())) {
			return fmt.Errorf("its snapshot %s lacks the file %s", snapshotID, f.Name())
		}
	}
	return nil
}

// isWhole reports whether a file has the digest in its name, or is a metadata file as encode writes
// it. Those of earlier releases have no digest, but are of the same form.
func isWhole(name string, data []byte) bool {
	if stem, ok := strings.CutSuffix(name, ".avro"); ok {
		sum := sha256.Sum256(data)
		return strings.HasSuffix(stem, "-"+hex.EncodeToString(sum[:16]))
	}
	if path.Ext(name) != ".json" {
		return true
	}
	var m metadataJSON
	if json.Unmarshal(data, &m) != nil {
		return false
	}
	plain, _ := json.Marshal(&m)
	if len(m.Properties) == 0 && bytes.Equal(append(plain, '\n'), data) {
		return true
	}
	whole, err := m.encode()
	return err == nil && bytes.Equal(whole, data)
}
