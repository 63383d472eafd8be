package bulk

import (
	"errors"
	"fmt"
	"io/fs"

	"hdqs/snapshot/store"
)

// Verify reads every bulk file of a snapshot again, and checks that its manifest fits that of the
// snapshot. The error has all faults; it is fs.ErrNotExist if the snapshot has no bulk files.
func (b *Bulk) Verify(of *store.Manifest) error {
	m, err := b.Manifest(of.ID)
	if err != nil {
		return err
	}
	segments := map[string]store.SegmentRef{}
	for _, ref := range of.Tables {
		segments[ref.Table] = ref
	}
	var errs []error
	for _, t := range m.Tables {
		ref, ok := segments[t.Table]
		if !ok || ref.SHA256 != t.Segment || ref.Rows != t.Rows {
			errs = append(errs, corruptf("files of table %q are of another segment than that of snapshot %s", t.Table,
				of.ID))
		}
	}
	for f := range m.All {
		got, err := store.HashFile(b.Path(f))
		switch {
		case errors.Is(err, fs.ErrNotExist): // manifests are written after files
			err = corruptf("file %s is missing", b.Path(f))
		case err == nil && got != f.SHA256:
			err = corruptf("file %s has the SHA-256 %s", b.Path(f), got)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", f.Path, err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("bulk files of snapshot %s: %w", of.ID, err)
	}
	return nil
}
