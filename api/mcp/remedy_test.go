package mcp

import (
	"fmt"
	"testing"

	"hdqs/api/contract"
)

// TestCallFor: a call has all filters of the question that it asks, also a value and a list of one
// parameter.
func TestCallFor(t *testing.T) {
	t.Parallel()
	q := contract.Ask(contract.EndpointOf("food_security", contract.ContractNames), contract.Aggregate)
	q.Keep("admin_level__in", "1", "2").Keep("location_code__in", "ETH", "SDN").GroupBy("admin1_name")
	if got, want := fmt.Sprint(callFor(q).Arguments["filters"]),
		"map[admin_level:[1 2] location_code:[ETH SDN]]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	q.Keep("admin_level", contract.Coarsest)
	if got, want := fmt.Sprint(callFor(q).Arguments["filters"]),
		"map[admin_level:coarsest admin_level__in:1,2 location_code:[ETH SDN]]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
