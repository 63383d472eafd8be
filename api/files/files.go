// Package files sends exports, which are made while they are sent, and bulk files from the disk.
package files

import (
	"cmp"
	"runtime"
	"sync/atomic"

	"hdqs/api/list"
	"hdqs/api/state"
)

// Files answers requests for exports and bulk files.
type Files struct {
	State   *state.State
	Lists   *list.Lists
	Exports *exportGate
	Bulk    atomic.Pointer[bulkInventory]
}

// New returns the files of lists.
func New(l *list.Lists) *Files {
	o := &l.State.Options
	o.Exports, o.ExportRows = cmp.Or(o.Exports, DefaultExports), cmp.Or(o.ExportRows, DefaultExportRows)
	o.ExportTimeout = cmp.Or(o.ExportTimeout, DefaultExportTimeout)
	return &Files{State: l.State, Lists: l, Exports: newExportGate(o.Exports, runtime.GOMAXPROCS(0))}
}
