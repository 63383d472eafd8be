package say

import (
	"fmt"
	"strings"
)

// Notes is what an answer says besides its records.
type Notes struct {
	Hints       []Text   // caveats
	Provisional []string // months whose figures their source can still change
	Coverage    Coverage // of a sum of units: where the fewest have rows
	Countries   Coverage // of groups of countries: where the fewest have rows
	Left        []Left   // values that facets leave out
	Changes     *Changes // totals by kind
}

// Coverage is how many units have rows, of how many there are. It is zero if that is not known.
type Coverage struct{ Have, All int }

// CoverageText is both kinds of coverage in a line, empty without any.
func (n *Notes) CoverageText() string {
	var parts []string
	if n.Coverage.All > 0 {
		parts = append(parts, fmt.Sprintf("units=%d/%d", n.Coverage.Have, n.Coverage.All))
	}
	if n.Countries.All > 0 {
		parts = append(parts, fmt.Sprintf("countries=%d/%d", n.Countries.Have, n.Countries.All))
	}
	return strings.Join(parts, ", ")
}

// IsPart reports whether units are known to be without rows.
func (c Coverage) IsPart() bool { return c.Have < c.All }

// Left is how many values of a field were left out.
type Left struct {
	Field  string
	Values int
}

// Changes is how many rows were added, removed and changed.
type Changes struct{ Added, Removed, Changed int }
