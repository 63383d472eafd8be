package loader

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

// previous is the snapshot that the channel points to when a load begins. Tables that cannot be
// made from the catalog are kept from it.
type previous struct {
	store    *store.Store
	manifest *store.Manifest // empty when the channel is new or its snapshot cannot be read
	state    loadState       // what the load that made it left for the next one
}

// openPrevious reads the manifest that a channel points to. On an error the result is that of a new
// channel: the load then replaces a snapshot that cannot be read.
func openPrevious(st *store.Store, channel string) (*previous, error) {
	p := &previous{store: st, manifest: new(store.Manifest)}
	pointer, err := st.Channels.Channel(channel)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return p, err
	}
	m, err := st.Snapshots.Manifest(pointer.ID)
	if err != nil {
		return p, err
	}
	var state loadState
	if len(m.State) > 0 {
		if err := json.Unmarshal(m.State, &state); err != nil {
			return p, err
		}
	}
	p.manifest, p.state = m, state
	return p, nil
}

func (p *previous) table(name string) (ref store.SegmentRef, ok bool) {
	for _, t := range p.manifest.Tables {
		if t.Table == name {
			return t, true
		}
	}
	return ref, false
}

func (p *previous) hasRows(table string) bool {
	old, ok := p.table(table)
	return ok && old.Rows > 0
}

func (p *previous) open(table string) (*snapshot.Segment, error) {
	ref, _ := p.table(table)
	return p.segment(ref)
}

// segment opens a segment of the store.
func (p *previous) segment(ref store.SegmentRef) (*snapshot.Segment, error) {
	path, err := p.store.Segments.SegmentPath(ref.SHA256)
	if err != nil {
		return nil, err
	}
	return snapshot.OpenSegment(path)
}

// staleSince is when a source could not be used for the first time without a break; now when that
// is this load.
func (p *previous) staleSince(role, path string, now time.Time) time.Time {
	for _, old := range p.state.Stale {
		if old.Role == role && old.Path == path {
			return old.Since
		}
	}
	return now
}

// available lists the places of a table of the snapshot.
func (p *previous) available(table string) ([]available, error) {
	data, err := p.data(table, "resource_catalog_id")
	if err != nil {
		return nil, err
	}
	return availableIn(data), nil
}

// data reads texts and numbers of a table of the snapshot: those of its groups, and the columns of
// rows that are named. Each of these columns has to be there.
func (p *previous) data(table string, columns ...string) (*snapshot.TableData, error) {
	ref, _ := p.table(table)
	return p.dataOf(ref, columns...)
}

// dataOf is data of a segment of the store.
func (p *previous) dataOf(ref store.SegmentRef, columns ...string) (*snapshot.TableData, error) {
	seg, err := p.segment(ref)
	if err != nil {
		return nil, err
	}
	defer seg.Close()
	data := &snapshot.TableData{Name: seg.Name(), Rows: seg.Rows()}
	for _, g := range seg.Groups() {
		d := snapshot.GroupData{Name: g.Name, Tuples: g.Tuples, Codes: make([]uint32, seg.Rows())}
		g.Codes.Unpack(d.Codes, 0)
		for _, c := range seg.Columns() {
			if c.Group == g && c.Kind != snapshot.Decimal {
				d.Columns = append(d.Columns, columnDataOf(c))
			}
		}
		data.Groups = append(data.Groups, d)
	}
	for _, name := range columns {
		c, err := seg.Column(name)
		if err != nil {
			return nil, err
		}
		if c.Group == nil {
			data.Columns = append(data.Columns, columnDataOf(c))
		}
	}
	return data, nil
}

func columnDataOf(c *snapshot.Column) snapshot.ColumnData {
	d := snapshot.ColumnData{Name: c.Name, Kind: c.Kind}
	if c.Kind != snapshot.Text && c.Kind != snapshot.Enum {
		d.Ints = make([]int64, c.Len())
		c.Ints(d.Ints, 0)
		return d
	}
	d.Codes = make([]uint32, c.Len())
	c.Codes().Unpack(d.Codes, 0)
	for code := range uint32(c.Cardinality()) {
		d.Values = append(d.Values, strings.Clone(c.TextOf(code)))
	}
	for i, code := range d.Codes {
		if int(code) == c.Cardinality() {
			d.Codes[i] = snapshot.NullCode
		}
	}
	return d
}

// loadState is what a load leaves for the next one. It is kept in the manifest.
type loadState struct {
	Roles     map[string]roleState     `json:"roles,omitempty"`
	Resources map[string]resourceState `json:"resources"`
	Stale     []Stale                  `json:"stale,omitempty"`
}

// resourceState is the form in which a resource was read, and when it was first read in that form.
type resourceState struct {
	LastModified string    `json:"last_modified,omitempty"`
	Size         string    `json:"size,omitempty"`
	Rows         int       `json:"rows"`
	Sum          string    `json:"sum"`
	Since        time.Time `json:"since"`
}

// roleState is what a data table was made from. Without files it only lists the resources that its
// rows name.
type roleState struct {
	Files []fileState `json:"files,omitempty"`
	Uses  []useState  `json:"uses"`
	tableCounts
}

// fileState is one file as it was read, and what came of it.
type fileState struct {
	Path   string     `json:"path"`
	ID     string     `json:"id,omitempty"`
	Own    bool       `json:"own,omitempty"` // the catalog's, not an embedded list
	SHA256 string     `json:"sha256"`
	Report fileCounts `json:"report"`
}

// useState is a sourceUse.
type useState struct {
	Dataset  string `json:"dataset,omitempty"`
	Resource string `json:"resource"`
	Rows     int    `json:"rows"`
	Sum      string `json:"sum"`
}

func sumText(sum uint64) string { return fmt.Sprintf("%016x", sum) }

func (u useState) sum() uint64 {
	sum, _ := strconv.ParseUint(u.Sum, 16, 64)
	return sum
}

// StaleIn lists the sources of which a snapshot has an older form.
func StaleIn(m *store.Manifest) ([]Stale, error) {
	var state loadState
	if len(m.State) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(m.State, &state); err != nil {
		return nil, fmt.Errorf("state in the manifest of snapshot %s: %w", m.ID, err)
	}
	return state.Stale, nil
}

// kept are the uses by rows that are in the finished table: a resource whose rows all gave way to
// others is left out.
func (uses sourceUses) kept(data *snapshot.TableData) []useState {
	inTable := map[string]bool{}
	for _, id := range columnData(data.Columns, "resource_catalog_id").Values {
		inTable[id] = true
	}
	var out []useState
	for _, u := range uses {
		if inTable[u.resource] {
			out = append(out, useState{Dataset: u.dataset, Resource: u.resource, Rows: u.rows, Sum: sumText(u.sum)})
		}
	}
	slices.SortFunc(out, func(a, b useState) int {
		return cmp.Or(cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Dataset, b.Dataset))
	})
	return out
}

func filesOf(reports []*ResourceReport) (files []fileState) {
	for _, r := range reports {
		files = append(files, fileState{r.Path, r.id, r.own, r.SHA256, r.fileCounts})
	}
	return files
}

// remember keeps what a table was made from.
func (p *pass) remember(th *theme, out *roleRows, uses []useState) {
	s := roleState{Uses: uses, Files: filesOf(out.resources)}
	p.result.mu.Lock()
	defer p.result.mu.Unlock()
	for _, t := range p.result.report.Tables {
		if t.Table == th.table.name {
			s.tableCounts = t.tableCounts
		}
	}
	p.result.state.Roles[th.role] = s
}
