package load

import (
	"fmt"
	"strings"
)

// summary are the targets of one kind: the same coding, control and bound.
type summary struct {
	encoding, control string
	most              float64
	queries           []string
	got, configured   Ratio // lowest, highest and middle of the medians
	met               int
}

// summaries groups targets by kind, in the order in which the kinds occur.
func summaries(all []Verdict) []summary {
	type kind struct {
		encoding, control string
		most              float64
	}
	var kinds []kind
	of := map[kind][]Verdict{}
	for _, v := range all {
		k := kind{v.Encoding, v.Control, v.Most}
		if of[k] == nil {
			kinds = append(kinds, k)
		}
		of[k] = append(of[k], v)
	}
	var rows []summary
	for _, k := range kinds {
		s := summary{encoding: k.encoding, control: k.control, most: k.most}
		var got, configured []float64
		for _, v := range of[k] {
			s.queries = append(s.queries, v.Query)
			if got = append(got, v.Got.Median); v.Configured != (Ratio{}) {
				configured = append(configured, v.Configured.Median)
			}
			if v.Met() {
				s.met++
			}
		}
		s.got, s.configured = Spread(got), Spread(configured)
		rows = append(rows, s)
	}
	return rows
}

// bounds formats the lowest and the highest median.
func (r Ratio) bounds() string {
	switch {
	case r == Ratio{}:
		return ""
	case r.Low == r.High:
		return fmt.Sprintf("%.3g", r.Low)
	}
	return fmt.Sprintf("%.3g to %.3g", r.Low, r.High)
}

func writeSummary(b *strings.Builder, all []Verdict) {
	if len(all) == 0 {
		return
	}
	b.WriteString("\n## Targets in short\n\nLowest to highest median of the answers of one kind.\n\n" +
		"| work | control | target | measured | as configured | met |\n|---|---|--:|--:|--:|--:|\n")
	for _, s := range summaries(all) {
		fmt.Fprintf(b, "| %s: %s | %s | %g | %s | %s | %d of %d |\n", s.encoding, strings.Join(s.queries, ", "),
			s.control, s.most, s.got.bounds(), s.configured.bounds(), s.met, len(s.queries))
	}
}
