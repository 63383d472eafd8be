package say

// Notes is what an answer says besides its records.
type Notes struct {
	Hints       []Text   // caveats
	Provisional []string // months whose figures their source can still change
	Coverage    Coverage // of a sum of units: where the fewest have rows
	Left        []Left   // values that facets leave out
	Changes     *Changes // totals by kind
}

// Coverage is how many units have rows, of how many there are. It is zero if that is not known.
type Coverage struct{ Have, All int }

// IsPart reports whether units are known to be without rows.
func (c Coverage) IsPart() bool { return c.Have < c.All }

// Left is how many values of a field were left out.
type Left struct {
	Field  string
	Values int
}

// Changes is how many rows were added, removed and changed.
type Changes struct{ Added, Removed, Changed int }
