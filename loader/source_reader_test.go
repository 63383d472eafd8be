package loader

import (
	"strings"
	"testing"
	"testing/fstest"
)

// TestUnlistedCodeOfDroppedRow checks that a code that no list has is reported for the row that has
// it only. A row that is dropped after its place was looked up must not leave its code to the next
// row.
func TestUnlistedCodeOfDroppedRow(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 513)
	files := smallCatalog(t)
	files["idps/a.csv"] = &fstest.MapFile{Data: []byte(shorthand.Replace(
		"{ADM},operation,assessment_type,population,reporting_round,{REF}\n" +
			"AFG,Y,Y,,,,,,,0,Op,BA,1,1,2025-01-01,2025-01-01,set,res-1,,\n" +
			"AFG,Y,Y," + long + ",,AF99,,,,0,Op,BA,1,2,2025-01-01,2025-01-01,set,res-1,,\n" +
			"AFG,Y,Y,,,,,,,0,Op,BA,1,3,2025-01-01,2025-01-01,set,res-1,,\n"))}
	report := build(t, openStore(t), files, someDay)
	for _, r := range report.Resources {
		if r.Role != "idps" {
			continue
		}
		if r.Rows.Kept != 2 || r.Rows.Dropped != 1 || r.UnknownCodes != nil {
			t.Errorf("rows %+v, unknown codes %+v; want 2 kept, 1 dropped and no code", r.Rows, r.UnknownCodes)
		}
	}
}
