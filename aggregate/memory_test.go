//go:build !race

package aggregate

import (
	"math/rand/v2"
	"testing"

	"hdqs/internal/testkit"
	"hdqs/snapshot"
)

// TestFullBytes asks for everything that a table can keep, and compares what it keeps with what it
// counts and with the estimate.
func TestFullBytes(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 3))
	seg := generate(t, r, 50_000)
	table := opened(t, seg, Options{})
	for _, c := range seg.Columns() {
		q := &Question{Groups: []Group{{c.Name, Whole, nil}}, Measures: []Measure{{Min, c.Name}}}
		if c.Kind == snapshot.Int || c.Kind == snapshot.Decimal {
			q.Measures = append(q.Measures, Measure{Sum, c.Name})
		}
		_, err := table.Answer(q)
		testkit.Must(t, err)
	}
	kept := table.inputs.Bytes()
	for _, c := range table.columns {
		kept += 4 * int64(len(c.coding.codes)+len(c.coding.at))
		if n := c.numeric; n != nil {
			for _, table := range n.tables {
				kept += 8 * int64(len(table))
			}
			kept += 8*int64(len(n.counted)+len(n.prefix)) + 4*int64(len(n.some)+len(n.prefixSome))
			kept += oddBytes * int64(len(n.odd))
		}
	}
	if n := table.Bytes(); n < kept || n > kept+kept/10+int64(2000*len(table.columns)) {
		t.Errorf("a table keeps %d bytes, but counts %d", kept, n)
	}
	if most := FullBytes(seg); kept > most || kept < most/20 {
		t.Errorf("a table keeps %d bytes, %d are estimated", kept, most)
	}
}
