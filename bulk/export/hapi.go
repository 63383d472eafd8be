package export

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hdqs/bulk"
	"hdqs/columnar"
	"hdqs/index"
	"hdqs/snapshot"
)

// levelField is the field by whose values the tables of HDX HAPI are partitioned.
const levelField = "admin_level"

// writeHAPI writes the files of a table that OCHA's Parquet tree has: one for each level, or one if
// the records have no level. Their columns are the fields of HDX HAPI.
func (t *table) writeHAPI(ctx context.Context, to *target) (files []bulk.File, err error) {
	var fields []columnar.Field
	for i := range t.hapi.Fields {
		f := t.fields[i]
		f.Name, f.Meaning = t.hapi.Fields[i].Name, t.hapi.Texts().Meaning(t.hapi.Fields[i].Name)
		f.TimeText = f.Type() == columnar.Timestamp
		fields = append(fields, f)
	}
	base := strings.TrimPrefix(t.hapi.Path, "/api/v2/")
	write := func(path string, rows columnar.Rows) error {
		f := bulk.File{Path: path, Format: bulk.HAPIParquet}
		f, err := t.writePart(ctx, f, fields, &part{rows: rows, all: rows}, nil, to)
		files = append(files, f)
		return err
	}
	level := t.field(levelField)
	if level == nil {
		return files, write(base+".parquet", columnar.All(t.seg))
	}
	levels, err := levelsOf(t.seg, level.Column)
	if err != nil {
		return nil, err
	}
	for n, ranges := range levels {
		if len(ranges) == 0 {
			continue
		}
		name := base + "/" + levelField + "=" + strconv.Itoa(n) + "/" + partName
		if err := write(name, slices.Values(ranges)); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// levelsOf are the rows of each level.
func levelsOf(seg *snapshot.Segment, c *snapshot.Column) (levels [3][]index.Range, err error) {
	for row := range uint32(seg.Rows()) {
		n := c.Int(c.Position(row))
		if n < 0 || n >= int64(len(levels)) { // null too
			return levels, fmt.Errorf("row %d has the %s %d, want 0 to %d", row, levelField, n, len(levels)-1)
		}
		levels[n] = appendRow(levels[n], row)
	}
	return levels, nil
}
