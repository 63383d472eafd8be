package loader

import (
	"fmt"
	"sync"

	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

// result gathers the tables of the snapshot to be, and what is reported and remembered of them.
// Tables are loaded concurrently; the mutex guards everything but the store.
type result struct {
	store *store.Store

	mu         sync.Mutex
	report     *Report
	segments   map[string]store.SegmentRef
	available  map[string][]available // by table
	uses       map[string]*sourceUse  // by resource id
	datasets   map[string]bool        // ids that rows name
	state      loadState
	sources    sources
	keptPlaced string // a table that is kept and refers to places; "" when there is none
}

// newResult is an empty result whose report begins as a copy of the given one.
func newResult(st *store.Store, base *Report) *result {
	return &result{
		store: st, report: base.clone(), segments: map[string]store.SegmentRef{}, available: map[string][]available{},
		uses: map[string]*sourceUse{}, datasets: map[string]bool{},
		sources: sources{resources: map[string]sourceResource{}, datasets: map[string]store.Dataset{}},
		state:   loadState{Resources: map[string]resourceState{}, Roles: map[string]roleState{}},
	}
}

// putRows writes a table that was built row by row.
func (r *result) putRows(b *tableBuilder) error {
	data, found := b.finish(false)
	return r.put(data, found)
}

// put writes a table as a segment.
func (r *result) put(data *snapshot.TableData, found duplicateRows) error {
	formulas := countFormulas(data)
	segment, err := r.store.PutSegment(data)
	if err != nil {
		return fmt.Errorf("table %s: %w", data.Name, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.segments[data.Name] = segment
	r.report.Tables = append(r.report.Tables, TableReport{
		Table: data.Name, Rows: segment.Rows, Bytes: segment.Bytes, SHA256: segment.SHA256, Duplicates: found,
		FormulaTexts: formulas,
	})
	return nil
}

// keep takes a table over from the previous snapshot. The caller holds mu.
func (r *result) keep(old store.SegmentRef, was roleState) {
	r.segments[old.Table] = old
	r.report.Tables = append(r.report.Tables, TableReport{
		Table: old.Table, Rows: old.Rows, Bytes: old.Bytes, SHA256: old.SHA256, Reused: true,
		Duplicates: was.Duplicates, FormulaTexts: was.FormulaTexts,
	})
}

// keepTheme is keep for the table of a data theme. The caller holds mu.
func (r *result) keepTheme(th *theme, old store.SegmentRef, entries []available, was roleState) {
	r.available[old.Table] = entries
	r.countUses(was.Uses)
	r.state.Roles[th.role] = was
	r.keep(old, was)
}

// addRole reports what came of reading a role. The caller holds mu.
func (r *result) addRole(th *theme, rows *roleRows, hasFiles bool) {
	r.report.Resources = append(r.report.Resources, rows.resources...)
	r.report.Refused = append(r.report.Refused, rows.refused...)
	if !hasFiles {
		r.report.MissingRoles = append(r.report.MissingRoles, th.role)
	}
}

// countUses adds the uses of a table to those of all tables. The caller holds mu.
func (r *result) countUses(uses []useState) {
	for _, u := range uses {
		r.datasets[u.Dataset] = true
		all := r.uses[u.Resource]
		if all == nil {
			all = &sourceUse{dataset: u.Dataset, resource: u.Resource}
			r.uses[u.Resource] = all
		}
		all.rows += u.Rows
		all.sum += u.sum()
	}
}

// note adds a note to the report.
func (r *result) note(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Notes = append(r.report.Notes, text)
}
