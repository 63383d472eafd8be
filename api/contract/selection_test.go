package contract

import (
	"slices"
	"testing"
)

// TestNested lists whose rows can contain one another: also those of poverty, whose rows have
// nothing but a place and a period.
func TestNested(t *testing.T) {
	var nests []string
	for i := range Endpoints {
		if Endpoints[i].Nested() != nil {
			nests = append(nests, Endpoints[i].Table)
		}
	}
	want := []string{
		"operational_presence", "conflict_event", "humanitarian_needs", "idps", "food_security", "poverty_rate",
		"rainfall", "population",
	}
	if !slices.Equal(nests, want) {
		t.Errorf("rows contain others in %q, want %q", nests, want)
	}
}
