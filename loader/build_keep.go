package loader

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

// A data table of the current snapshot can stand in for the one that this load would make: because nothing that it is made of has changed,
// or because the new one lost more than half of its rows, which is more likely a fault upstream than the world.

// currentTable is a table of the current snapshot.
func (l *load) currentTable(table string) (ref store.SegmentRef, ok bool) {
	if l.current == nil {
		return ref, false
	}
	for _, t := range l.current.Tables {
		if t.Table == table {
			return t, true
		}
	}
	return ref, false
}

// reuse keeps the table of a role whose files, and all that they are joined with, are those that it was made of.
func (l *load) reuse(ctx context.Context, src *source) (kept bool, err error) {
	was := l.before.Roles[src.role]
	old, ok := l.currentTable(src.table)
	if !ok || l.state.Joins == "" || l.state.Joins != l.before.Joins || len(was.Files) == 0 || len(was.Files) != len(l.catalog.files[src.role]) {
		return false, nil
	}
	for i, f := range l.catalog.files[src.role] {
		same, err := l.sameFile(ctx, f, was.Files[i])
		if !same || err != nil {
			return false, err
		}
	}
	entries, err := l.availableInSegment(old)
	if err != nil {
		// A damaged store must not stop the load that can mend it.
		return false, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range was.Files {
		report := *f.Report
		report.Reused = true
		l.report.Resources = append(l.report.Resources, &report)
	}
	l.keep(src, old, entries, was)
	return true, nil
}

// sameFile tells whether a file has the bytes that it had. One that cannot be read has not: reading it again will tell why.
func (l *load) sameFile(ctx context.Context, f resourceFile, was fileState) (bool, error) {
	info, err := fs.Stat(l.catalog.holder(f), f.path)
	if err == nil && l.opts.Verified && f.sha256 != "" && !f.embedded {
		return f.path == was.Path && f.id == was.ID && info.Size() == was.Size && f.sha256 == was.SHA256, ctx.Err()
	}
	if err != nil || f.path != was.Path || f.id != was.ID || info.Size() != was.Size {
		return false, ctx.Err()
	}
	s, err := l.catalog.openFile(f)
	if err != nil {
		return false, ctx.Err()
	}
	defer s.close()
	buf := make([]byte, csvBuffer)
	for {
		_, err := packedBytes{s}.Read(buf)
		if err == io.EOF {
			break
		}
		if err != nil || ctx.Err() != nil {
			return false, ctx.Err()
		}
	}
	l.progress.move(s)
	sum, err := s.finish()
	return err == nil && sum == was.SHA256, nil
}

// keep takes a table over from the current snapshot. The caller holds mu.
func (l *load) keep(src *source, old store.SegmentRef, entries []available, was roleState) {
	l.available[src.table] = entries
	l.segments[src.table] = old
	l.countUses(was.Uses)
	l.state.Roles[src.role] = was
	l.report.Tables = append(l.report.Tables, TableReport{
		Table: src.table, Rows: old.Rows, Bytes: old.Bytes, SHA256: old.SHA256, Duplicates: was.Duplicates, Reused: true,
	})
}

// shrunk tells whether a table has less than half of the rows that the current snapshot has.
func (l *load) shrunk(table string, rows int) (old store.SegmentRef, shrunk bool) {
	old, ok := l.currentTable(table)
	return old, ok && !l.opts.AllowShrink && 2*rows < old.Rows
}

// keepShrunk keeps the old table in place of one that lost too many rows.
func (l *load) keepShrunk(src *source, out *roleRows, old store.SegmentRef, rows int) error {
	why := shrunkError(old, rows)
	out.refused = append(out.refused, Refusal{Role: src.role, Path: src.table, Why: why.Error()})
	return l.keepTable(src, out, why)
}

func shrunkError(old store.SegmentRef, rows int) error {
	return fmt.Errorf("table %s fell from %d to %d rows; a table that loses more than half is published only when allowed", old.Table, old.Rows, rows)
}

// checkShrunk stops a load whose data tables cannot be kept one by one, as those of view dumps.
func (l *load) checkShrunk() error {
	for _, src := range themes {
		if old, shrunk := l.shrunk(src.table, l.segments[src.table].Rows); shrunk {
			return fmt.Errorf("%w; nothing is published", shrunkError(old, l.segments[src.table].Rows))
		}
	}
	return nil
}

// availableInSegment lists what a table of the store holds.
func (l *load) availableInSegment(ref store.SegmentRef) ([]available, error) {
	seg, err := l.openCurrent(ref.Table)
	if err != nil {
		return nil, err
	}
	defer seg.Close()
	entries := availableIn(placesOf(seg))
	for i := range entries {
		entries[i] = entries[i].owned()
	}
	return entries, nil
}

// placesOf reads back what availableIn looks at: texts and numbers of groups, and the resources of rows.
func placesOf(seg *snapshot.Segment) *snapshot.TableData {
	data := &snapshot.TableData{Name: seg.Name(), Rows: seg.Rows()}
	for _, g := range seg.Groups() {
		d := snapshot.GroupData{Name: g.Name, Tuples: g.Tuples, Codes: make([]uint32, seg.Rows())}
		g.Codes.Unpack(d.Codes, 0)
		for _, c := range seg.Columns() {
			if c.Group == g && (c.Kind == snapshot.Text || c.Kind == snapshot.Int) {
				d.Columns = append(d.Columns, columnBack(c))
			}
		}
		data.Groups = append(data.Groups, d)
	}
	for _, c := range seg.Columns() {
		if c.Name == "resource_catalog_id" {
			data.Columns = append(data.Columns, columnBack(c))
		}
	}
	return data
}

func columnBack(c *snapshot.Column) snapshot.ColumnData {
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

// owned is the entry with texts of its own, for when the segment it was read from is closed.
func (a available) owned() available {
	for _, s := range []*string{&a.locationCode, &a.locationName, &a.code1, &a.name1, &a.code2, &a.name2, &a.resource} {
		*s = strings.Clone(*s)
	}
	return a
}
