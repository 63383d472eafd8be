package contract

import (
	"slices"
	"testing"
)

// TestNested lists whose rows can contain one another: also those of poverty, whose rows have
// nothing but a place and a period.
func TestNested(t *testing.T) {
	for table, want := range map[string]bool{
		"poverty_rate": true, "conflict_event": true, "rainfall": true, "food_price": false, "funding": false,
		"admin2": false, "market": false,
	} {
		at := slices.IndexFunc(Endpoints, func(e Endpoint) bool { return e.Table == table })
		if got := Endpoints[at].Nests(); got != want {
			t.Errorf("%s: rows can contain others %t, want %t", table, got, want)
		}
	}
}
