package export

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"hdqs/api/contract"
	"hdqs/internal/testkit"
	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

// tested are the tables of random snapshots: one with points and all kinds of fields, one that can
// be partitioned, a list of codes, and one without a location.
var tested = []string{"market", "conflict_event", "org", "refugees", "food_price"}

// randomStore has a snapshot of garbled tables.
func randomStore(t testing.TB, dir string, seed uint64, rows int, id string) (*store.Store, *store.Snapshot) {
	t.Helper()
	st := testkit.Value(store.Open(dir))(t)
	r := rand.New(rand.NewPCG(seed, 9))
	m := &store.Manifest{
		Format: store.ManifestFormat, ID: id, SnapshotTime: time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC),
		CatalogURL: "https://catalog.example",
		Datasets: []store.Dataset{{
			ID: "d1", Title: "Events, \"all\"", Publisher: "P", License: "CC BY", LicenseURL: "https://l.example",
		}},
	}
	for _, name := range tested {
		ref := testkit.Value(st.Segments.PutSegment(randomTable(r, endpoint(name), rows)))(t)
		m.Tables = append(m.Tables, ref)
		m.Sources = append(m.Sources, store.TableSource{Table: name, Datasets: []string{"d1"}})
	}
	testkit.Must(t, st.Snapshots.PutManifest(m))
	snap := testkit.Value(st.Snapshots.Open(m.ID))(t)
	t.Cleanup(func() { snap.Close() })
	return st, snap
}

func endpoint(table string) *contract.Endpoint {
	i := slices.IndexFunc(contract.Endpoints, func(e contract.Endpoint) bool { return e.Table == table })
	return &contract.Endpoints[i]
}

// randomTable has the columns of an endpoint's records, some of them in a group. Any value can be
// null, even where the contract has none.
func randomTable(r *rand.Rand, e *contract.Endpoint, rows int) *snapshot.TableData {
	data := &snapshot.TableData{Name: e.Table, Rows: rows}
	group := snapshot.GroupData{Name: "place", Tuples: max(1, rows/7), Codes: make([]uint32, rows)}
	for i := range group.Codes {
		group.Codes[i] = uint32(r.IntN(group.Tuples))
	}
	slices.Sort(group.Codes)
	for i := range e.Fields {
		f := &e.Fields[i]
		if f.Name == levelField { // never null: files are divided by it
			levels := snapshot.ColumnData{Name: f.Name, Kind: snapshot.Int}
			for range rows {
				levels.Ints = append(levels.Ints, r.Int64N(3))
			}
			data.Columns = append(data.Columns, levels)
			continue
		}
		if rows > 0 && (strings.HasPrefix(f.Name, "location_") || strings.HasPrefix(f.Name, "admin1_")) {
			group.Columns = append(group.Columns, randomValues(r, f, group.Tuples))
		} else {
			data.Columns = append(data.Columns, randomValues(r, f, rows))
		}
	}
	if len(group.Columns) > 0 {
		data.Groups = append(data.Groups, group)
	}
	return data
}

func randomValues(r *rand.Rand, f *contract.Field, n int) snapshot.ColumnData {
	c := snapshot.ColumnData{Name: f.Column()}
	null := func() bool { return r.IntN(12) == 0 }
	texts := func(values []string, kind snapshot.Kind) {
		c.Kind, c.Values = kind, values
		for range n {
			code := uint32(r.IntN(len(values)))
			if null() {
				code = snapshot.NullCode
			}
			c.Codes = append(c.Codes, code)
		}
	}
	ints := func(kind snapshot.Kind, value func() int64) {
		c.Kind = kind
		for range n {
			v := value()
			if null() {
				v = snapshot.NullInt
			}
			c.Ints = append(c.Ints, v)
		}
	}
	switch f.Type {
	case contract.Choice:
		texts(f.Enum.Values, snapshot.Enum)
	case contract.Integer:
		ints(snapshot.Int, func() int64 { return r.Int64() >> r.IntN(63) })
	case contract.Boolean:
		ints(snapshot.Bool, func() int64 { return int64(r.IntN(2)) })
	case contract.DateTime:
		micros := int64(r.IntN(2) * r.IntN(1e6))
		ints(snapshot.Time, func() int64 { return r.Int64N(2e9)*1e6 + micros })
	case contract.Number:
		c.Kind = snapshot.Decimal
		for range n {
			d, ok := snapshot.ParseDec(fmt.Sprint((r.Float64() - 0.5) * 180))
			if !ok || null() {
				d = snapshot.Dec{Scale: snapshot.DecNull}
			}
			c.Decimals = append(c.Decimals, d)
		}
	default:
		odd := []string{"", ",", "\"", "\r\n", "é日本", "'=1", "a/b c%", " ", ".."}
		values := []string{"", "AFG", "TCD"}
		for i := range 1 + r.IntN(9) {
			values = append(values, fmt.Sprintf("%s%d", odd[r.IntN(len(odd))], i))
		}
		texts(values, snapshot.Text)
	}
	return c
}
