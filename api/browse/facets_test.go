package browse

import (
	"slices"
	"testing"
)

// TestLists: a list has the values that were joined, also those with commas and backslashes.
func TestLists(t *testing.T) {
	t.Parallel()
	for list, want := range map[string][]string{
		"AFG,SDN": {"AFG", "SDN"}, `A\,B,C`: {"A,B", "C"}, `A\\,B`: {`A\\`, "B"}, `A\\\,B`: {`A\\,B`},
		`A\_,B\%`: {`A\_`, `B\%`}, "": {""},
	} {
		got := splitLists([]string{list})
		if back := joinList(got, ","); !slices.Equal(got, want) || back != list {
			t.Errorf("%q is %q, and %q again; want %q", list, got, back, want)
		}
	}
}
