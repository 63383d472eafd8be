// Package nearest finds the name that someone most likely meant.
package nearest

import (
	"cmp"
	"slices"
	"strings"
)

// maxGuessed is the longest text for which a name is sought, in bytes.
const maxGuessed = 128

// Of returns the name with the smallest edit distance from a text, empty when all differ in half of
// the text or more. Of names at one distance it is the first.
func Of(text string, names []string) string {
	for _, name := range All(text, names, len(text)/2) {
		return name
	}
	return ""
}

// All returns the names at the smallest edit distance from a text, in their order, unless that is
// greater than most.
func All(text string, names []string, most int) (best []string) {
	if len(text) > maxGuessed {
		return nil
	}
	for _, name := range names {
		if len(name)-len(text) > most || len(text)-len(name) > most {
			continue // their distance is no less
		}
		d := distance(text, name)
		if d < most {
			best, most = best[:0], d
		}
		if d <= most {
			best = append(best, name)
		}
	}
	return best
}

// Several returns the names that are near a text as in Of, or have it as a part, the nearest first:
// at most so many.
func Several(text string, names []string, most int) []string {
	if text == "" || len(text) > maxGuessed {
		return nil
	}
	type candidate struct {
		name     string
		distance int
	}
	var near []candidate
	for _, name := range names {
		if d := distance(text, name); d <= len(text)/2 || len(text) >= minPart && strings.Contains(name, text) {
			near = append(near, candidate{name, d})
		}
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	var best []string
	for _, c := range near[:min(most, len(near))] {
		best = append(best, c.name)
	}
	return best
}

// minPart is the length from which a text may be meant as a part of a name.
const minPart = 3

// distance returns the edit distance of two texts, in bytes. Two neighbours that are swapped count
// as one edit, since hands swap letters as often as they miss one.
func distance(a, b string) int {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	// Rows of the table of distances between beginnings of the texts: this one, and the two before.
	row, above, before := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, above, row = above, row, before
		row[0] = i + 1
		for j := range len(b) {
			row[j+1] = min(row[j], above[j+1]) + 1
			if a[i] == b[j] {
				row[j+1] = min(row[j+1], above[j])
			} else {
				row[j+1] = min(row[j+1], above[j]+1)
			}
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
