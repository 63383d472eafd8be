//go:build !race

package export

import (
	"fmt"
	"math/rand/v2"
	"path"
	"strings"
	"testing"

	"hdqs/api/contract"
	"hdqs/bulk"
	"hdqs/internal/tables"
	"hdqs/internal/testkit"
	"hdqs/snapshot"
)

// TestHAPIFiles compares every value of the files in the layout of HDX HAPI with the interface's
// JSON: the rows of a level are in its file, in the order of the list.
func TestHAPIFiles(t *testing.T) {
	t.Parallel()
	levels := 0
	for seed := range uint64(4) {
		st, snap := randomStore(t, t.TempDir(), seed, []int{0, 1, 40, 900}[seed], "s1")
		m := toStore(t, st, snap, Options{PartitionRows: 100, Formats: []bulk.Format{bulk.HAPIParquet}})
		b := bulk.Open(st)
		for i := range m.Tables {
			info := &m.Tables[i]
			records, _ := rendered(t, snap.Segments[info.Table], info)
			names := *info // of the columns in the files
			names.Schema, names.PartitionedBy = nil, ""
			for _, c := range info.Schema {
				if c.Type == "timestamp" {
					c.Type = "string"
				}
				if c.Name = c.HAPIName; c.Type != "geometry" {
					names.Schema = append(names.Schema, c)
				}
			}
			hapi := contract.EndpointsIn(contract.HAPINames)[endpointAt(info.Table)]
			base, rows := strings.TrimPrefix(hapi.Path, "/api/v2/"), 0
			for _, f := range info.Files {
				got := parquetRecords(t, testkit.ReadFile(t, b.Path(&f)), &names)
				checkPart(t, &names, &f, got)
				want := records
				if hapi.HasField(levelField) {
					levels++
					want = nil
					level := strings.TrimPrefix(path.Base(path.Dir(f.Path)), "admin_level=")
					for _, r := range records {
						if fmt.Sprint(r[levelField]) == level {
							want = append(want, r)
						}
					}
					testkit.Equal(t, f.Path, base+"/admin_level="+level+"/part-0.parquet", "%s is at", info.Table)
				} else if f.Path != base+".parquet" {
					t.Errorf("%s is at %s", info.Table, f.Path)
				}
				if rows += len(got); len(got) != len(want) || f.Rows != len(want) {
					t.Fatalf("seed %d: %s has %d rows, %d in the manifest, want %d", seed, f.Path, len(got), f.Rows,
						len(want))
				}
				for k := range want {
					for _, c := range info.Schema {
						a, b := got[k][c.HAPIName], want[k][c.Name]
						if c.Type != "geometry" && fmt.Sprint(a) != fmt.Sprint(b) {
							t.Fatalf("seed %d: %s, row %d, %s: %v, want %v", seed, f.Path, k, c.HAPIName, a, b)
						}
					}
				}
			}
			testkit.Equal(t, rows, len(records), "seed %d: rows in the files of %s", seed, info.Table)
		}
		again := toStore(t, st, snap, Options{}) // of the formats that there are
		for f := range again.All {
			if f.Format != bulk.HAPIParquet && f.Format != bulk.CSV {
				t.Errorf("%s was written later", f.Path)
			}
		}
	}
	testkit.AtLeast(t, levels, 10, "files of levels: this tests too little")
}

func endpointAt(table string) int {
	for i := range contract.Endpoints {
		if contract.Endpoints[i].Table == table {
			return i
		}
	}
	return -1
}

// TestLevelsMustBeKnown: a level for which there is no file is an error, not a row less.
func TestLevelsMustBeKnown(t *testing.T) {
	t.Parallel()
	for _, level := range []int64{-1, 3, snapshot.NullInt} {
		data := randomTable(rand.New(rand.NewPCG(1, 1)), endpoint("conflict_event"), 5)
		for i := range data.Columns {
			if c := &data.Columns[i]; c.Name == levelField {
				c.Ints[3] = level
			}
		}
		seg := tables.Segment(t, data)
		column := testkit.Value(seg.Column(levelField))(t)
		if _, err := levelsOf(seg, column); err == nil || !strings.Contains(err.Error(), "row 3 has the admin_level") {
			t.Errorf("level %d: %v", level, err)
		}
	}
}
