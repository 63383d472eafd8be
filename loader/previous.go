package loader

import (
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
	"time"

	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

// previous is the snapshot that the channel points to when a load begins. Tables that nothing has
// changed for are reused from it, and tables that cannot be made from the catalog are kept.
type previous struct {
	store    *store.Store
	manifest *store.Manifest // nil when the channel is new or its snapshot cannot be read
	state    loadState       // what the load that made it left for the next one
}

// openPrevious reads the manifest that a channel points to. On an error the result is that of a new
// channel: the load then replaces a snapshot that cannot be read.
func openPrevious(st *store.Store, channel string) (*previous, error) {
	p := &previous{store: st}
	pointer, err := st.Channel(channel)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return p, err
	}
	m, err := st.Manifest(pointer.ID)
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

// table finds a table of the snapshot.
func (p *previous) table(name string) (ref store.SegmentRef, ok bool) {
	if p.manifest == nil {
		return ref, false
	}
	for _, t := range p.manifest.Tables {
		if t.Table == name {
			return t, true
		}
	}
	return ref, false
}

// hasRows reports whether the snapshot has rows of a table.
func (p *previous) hasRows(table string) bool {
	old, ok := p.table(table)
	return ok && old.Rows > 0
}

// open opens a table of the snapshot.
func (p *previous) open(table string) (*snapshot.Segment, error) {
	ref, _ := p.table(table)
	path, err := p.store.SegmentPath(ref.SHA256)
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
	seg, err := p.open(table)
	if err != nil {
		return nil, err
	}
	defer seg.Close()
	entries := availableIn(placesOf(seg))
	for i := range entries {
		entries[i] = entries[i].clone()
	}
	return entries, nil
}

// placesOf reads from a segment what availableIn looks at: texts and numbers of groups, and the
// resources of rows.
func placesOf(seg *snapshot.Segment) *snapshot.TableData {
	data := &snapshot.TableData{Name: seg.Name(), Rows: seg.Rows()}
	for _, g := range seg.Groups() {
		d := snapshot.GroupData{Name: g.Name, Tuples: g.Tuples, Codes: make([]uint32, seg.Rows())}
		g.Codes.Unpack(d.Codes, 0)
		for _, c := range seg.Columns() {
			if c.Group == g && (c.Kind == snapshot.Text || c.Kind == snapshot.Int) {
				d.Columns = append(d.Columns, columnDataOf(c))
			}
		}
		data.Groups = append(data.Groups, d)
	}
	for _, c := range seg.Columns() {
		if c.Name == "resource_catalog_id" {
			data.Columns = append(data.Columns, columnDataOf(c))
		}
	}
	return data
}

func columnDataOf(c *snapshot.Column) snapshot.ColumnData {
	d := snapshot.ColumnData{Name: c.Name, Kind: c.Kind}
	if c.Kind == snapshot.Int {
		d.Ints = make([]int64, c.Len())
		for i := range d.Ints {
			d.Ints[i] = c.Int(uint32(i))
		}
		return d
	}
	d.Codes = make([]uint32, c.Len())
	c.Codes().Unpack(d.Codes, 0)
	for code := range uint32(c.Cardinality()) {
		d.Values = append(d.Values, c.TextOf(code))
	}
	for i, code := range d.Codes {
		if int(code) == c.Cardinality() {
			d.Codes[i] = snapshot.NullCode
		}
	}
	return d
}

// clone copies the entry's texts out of the segment that they were read from.
func (a available) clone() available {
	texts := []*string{&a.locationCode, &a.locationName, &a.code1, &a.name1, &a.code2, &a.name2, &a.resource}
	for _, s := range texts {
		*s = strings.Clone(*s)
	}
	return a
}

// segmentReader finds columns of a segment and reads values of rows. The first column that is
// missing is its error.
type segmentReader struct {
	segment *snapshot.Segment
	err     error
}

func (r *segmentReader) column(name string) *snapshot.Column {
	c, err := r.segment.Column(name)
	if err != nil && r.err == nil {
		r.err = err
	}
	return c
}

// rowText is the text of a row, copied so that it outlives the segment.
func rowText(c *snapshot.Column, row uint32) string {
	return strings.Clone(c.Text(rowPosition(c, row)))
}

func rowInt(c *snapshot.Column, row uint32) int64 { return c.Int(rowPosition(c, row)) }

// rowPosition is where a column has the value of a row.
func rowPosition(c *snapshot.Column, row uint32) uint32 {
	if c.Group == nil {
		return row
	}
	return uint32(c.Group.Codes.At(row))
}
