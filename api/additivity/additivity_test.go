package additivity

import (
	"fmt"
	"testing"

	"hdqs/api/contract"
	"hdqs/internal/testkit"
)

// TestCheck lists values of a dimension with what is wrong about adding up their rows.
func TestCheck(t *testing.T) {
	ages := &contract.Dimension{Kind: contract.Totals, Totals: []contract.Total{{Value: "all"}}, Ranges: true}
	phases := &contract.Dimension{
		Kind: contract.Totals, Totals: []contract.Total{{Value: "3+", Parts: []string{"3", "4", "5"}}},
	}
	for _, c := range []struct {
		dimension *contract.Dimension
		values    []string
		want      string
	}{
		{&contract.Dimension{Kind: contract.Parts}, []string{"a", "b"}, "<nil>"},
		{&contract.Dimension{Kind: contract.Flow}, []string{"a", "b"}, "<nil>"},
		{&contract.Dimension{Kind: contract.Levels}, []string{"0"}, "<nil>"},
		{&contract.Dimension{Kind: contract.Levels}, []string{"0", "1"}, "&{ [] [ ]}"},
		{&contract.Dimension{Kind: contract.Overlapping}, []string{"a", "b"}, "&{ [] [ ]}"},
		{phases, []string{"1", "2", "3+"}, "<nil>"},
		{phases, []string{"1", "3", "3+", "5"}, "&{3+ [3 5] [ ]}"},
		{ages, []string{"0-4", "5-9", "80+"}, "<nil>"},
		{ages, []string{"0-4", "all"}, "&{all [0-4] [ ]}"},
		{ages, []string{"0-4", "0-17", "18-59"}, "&{ [] [0-17 0-4]}"},
		{ages, []string{"5-9", "0-5"}, "&{ [] [0-5 5-9]}"},
		{ages, []string{"70-84", "80+"}, "&{ [] [80+ 70-84]}"},
		{ages, []string{"adults", "3"}, "&{ [] [adults 3]}"},
	} {
		testkit.Equal(t, fmt.Sprint(Check(c.dimension, c.values)), c.want, "%v", c.values)
	}
}
