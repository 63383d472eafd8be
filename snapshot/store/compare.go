package store

import (
	"cmp"
	"slices"
)

// TableChange is a table whose content differs between two snapshots. The reference is zero in a
// snapshot that lacks the table.
type TableChange struct {
	Table         string
	Before, After SegmentRef
}

// Compare returns the tables that differ between two snapshots, by name, and those that are the
// same, in the order of the later manifest.
func Compare(from, to *Manifest) (changed []TableChange, same []string) {
	before := make(map[string]SegmentRef, len(from.Tables))
	for _, ref := range from.Tables {
		before[ref.Table] = ref
	}
	for _, ref := range to.Tables {
		old := before[ref.Table]
		delete(before, ref.Table)
		if old.SHA256 == ref.SHA256 {
			same = append(same, ref.Table)
		} else {
			changed = append(changed, TableChange{ref.Table, old, ref})
		}
	}
	for _, old := range before {
		changed = append(changed, TableChange{Table: old.Table, Before: old})
	}
	slices.SortFunc(changed, func(a, b TableChange) int { return cmp.Compare(a.Table, b.Table) })
	return changed, same
}
