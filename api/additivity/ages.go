package additivity

import (
	"math"
	"strconv"
	"strings"
)

// overlappingAges finds two age ranges that have an age in common, the longer one first. A text
// that is no range may have any age, so it overlaps all. all is not looked at.
func overlappingAges(values []string) (a, b string) {
	for i := range values {
		for k := i + 1; k < len(values); k++ {
			if values[i] == "all" || values[k] == "all" {
				continue
			}
			from, to := agesOf(values[i])
			otherFrom, otherTo := agesOf(values[k])
			if from > otherTo || otherFrom > to {
				continue
			}
			if to-from < otherTo-otherFrom {
				return values[k], values[i]
			}
			return values[i], values[k]
		}
	}
	return "", ""
}

// agesOf returns the first and last age of a range: 5-9, 80+, or 5.
func agesOf(text string) (from, to int) {
	first, last, isRange := strings.Cut(text, "-")
	if young, open := strings.CutSuffix(text, "+"); open {
		first, last, isRange = young, strconv.Itoa(math.MaxInt32), true
	}
	if !isRange {
		last = first
	}
	from, err := strconv.Atoi(first)
	if err == nil {
		to, err = strconv.Atoi(last)
	}
	if err != nil || from > to {
		return 0, math.MaxInt32
	}
	return from, to
}
