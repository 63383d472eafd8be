//go:build !race

package loader

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"hdqs/internal/testkit"
	"hdqs/loader/catalogfile"
	"hdqs/schema"
	"hdqs/snapshot"
)

// contractEndpoint is the part of an endpoint in the contract that concerns tables.
type contractEndpoint struct {
	Path    string
	Params  []contractParam
	Fields  []contractField
	OrderBy []contractOrder `json:"order_by"`
	Ties    []contractOrder `json:"tie_break"`
}

type contractField struct{ Name string }

type contractParam struct{ Columns []string }

type contractOrder struct {
	Column string
	SortAs string `json:"sort_as"`
}

func readContract(t *testing.T) map[string]contractEndpoint {
	t.Helper()
	data := testkit.ReadFile(t, "../testdata/contract.json")
	var contract struct{ Endpoints []contractEndpoint }
	testkit.Must(t, json.Unmarshal(data, &contract))
	byTable := map[string]contractEndpoint{}
	for _, e := range contract.Endpoints {
		for _, l := range schema.Lists {
			if "/api/v2/"+l.Path == e.Path {
				byTable[l.Table] = e
			}
		}
	}
	return byTable
}

// columnOf finds a column by name.
func columnOf(t *table, name string) (c column, ok bool) {
	i := slices.IndexFunc(t.columns, func(c column) bool { return c.name == name })
	if i < 0 {
		return column{}, false
	}
	return t.columns[i], true
}

// storedColumn is our name for a column of the contract's sort order.
func storedColumn(name string) string {
	if unit, ok := strings.CutSuffix(name, "_stored"); ok {
		return "stored_" + unit
	}
	return name
}

// TestTablesAreThoseOfTheContract compares orders and indexes of the tables of public lists with
// the contract. TestContractEndpoints of api/contract compares their fields. Lists of our own are
// in no contract.
func TestTablesAreThoseOfTheContract(t *testing.T) {
	t.Parallel()
	endpoints := readContract(t)
	if len(endpoints) < 25 {
		t.Fatalf("%d tables of endpoints, want at least 25", len(endpoints))
	}
	for name, e := range endpoints {
		table := tableNamed(name)
		checkOrder(t, table, e)
		checkIndexes(t, table, e)
	}
}

func checkOrder(t *testing.T, table *table, e contractEndpoint) {
	t.Helper()
	var want []string
	kinds := map[string]snapshot.Kind{
		"text": snapshot.Text, "int": snapshot.Int, "enum": snapshot.Enum,
		"timestamp": snapshot.Time,
	}
	for _, o := range append(e.OrderBy, e.Ties...) {
		name := storedColumn(o.Column)
		want = append(want, name)
		if c, ok := columnOf(table, name); !ok || c.kind != kinds[o.SortAs] {
			t.Errorf("%s: column %q is to sort as %s", table.name, name, o.SortAs)
		}
	}
	if !slices.Equal(table.order, want) {
		t.Errorf("%s: sorted by %q, the contract says %q", table.name, table.order, want)
	}
}

// checkIndexes wants postings for every column of rows that a filter looks up by value. Groups
// always have postings, and numbers are scanned.
func checkIndexes(t *testing.T, table *table, e contractEndpoint) {
	t.Helper()
	filtered := map[string]bool{}
	for _, p := range e.Params {
		for _, name := range p.Columns {
			filtered[strings.TrimPrefix(name, "location.")] = true
		}
	}
	for _, c := range table.columns {
		byValue := c.kind == snapshot.Text || c.kind == snapshot.Enum || c.kind == snapshot.Bool
		if c.group == "" && byValue && filtered[c.name] && !c.index {
			t.Errorf("%s.%s: a filter looks here and no index is declared", table.name, c.name)
		}
	}
}

// TestInputs checks that every role that a directory may have is published somewhere, but for the
// list of locations.
func TestInputs(t *testing.T) {
	t.Parallel()
	published := map[string]bool{}
	for _, in := range Inputs() {
		if published[in.Role] {
			t.Errorf("role %s is published twice", in.Role)
		}
		published[in.Role] = true
		if !IsDataRole(in.Role) && !catalogfile.IsReference(in.Role) {
			t.Errorf("role %s is neither a data theme nor a reference list", in.Role)
		}
		if (in.Dataset == "hdx-hapi-food-price") != (in.Named != nil) && strings.HasPrefix(in.Role, "food-prices") {
			t.Errorf("role %s: its dataset has files of other roles too, which a name must tell apart", in.Role)
		}
	}
	for _, th := range themes {
		if th.role != "" && th.role != catalogfile.LocationRole && !published[th.role] {
			t.Errorf("role %s is published nowhere", th.role)
		}
	}
}
