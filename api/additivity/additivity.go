// Package additivity judges which rows may be added up. A sum over rows that contain one another,
// or that count the same people twice, looks like any other number. It judges by what an endpoint
// declares of its fields, and by the values that occur. The refusals of sums and the warnings of
// pages share it.
package additivity

import (
	"slices"

	"hdqs/api/contract"
)

// Violation is why rows with some values of a dimension must not be added up. Without a total or
// ranges, all of the values are the reason.
type Violation struct {
	Total  string // a value that contains the parts
	Parts  []string
	Ranges [2]string // ranges of ages that overlap, the longer one first
}

// Check returns why rows with some values of a dimension must not be added up, nil if they may.
func Check(d *contract.Dimension, values []string) *Violation {
	if len(values) < 2 || d.Kind == contract.Parts || d.Kind == contract.Flow {
		return nil
	}
	if d.Kind != contract.Totals {
		return new(Violation)
	}
	for i := range d.Totals {
		total := &d.Totals[i]
		if parts := total.Of(values); len(parts) > 0 && slices.Contains(values, total.Value) {
			return &Violation{Total: total.Value, Parts: parts}
		}
	}
	if a, b := overlappingAges(values); d.Ranges && a != "" {
		return &Violation{Ranges: [2]string{a, b}}
	}
	return nil
}
