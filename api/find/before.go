package find

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"hdqs/api/figures"
)

// Before is the earlier value of a figure that a question over time compares with: that of a time,
// or the one that an earlier publication had.
type Before struct {
	Value   json.Number `json:"value"`
	Start   string      `json:"period_start,omitempty"`
	End     string      `json:"period_end,omitempty"`
	Changed string      `json:"changed,omitempty"` // the day of the publication that replaced it; empty for a time
}

// addBefore adds to answers what a question over time compares the present figure with, and puts
// those that have it first.
func addBefore(s *search, all []answer) (with []answer, err error) {
	for i, a := range all {
		isWhole := len(a.left) == 0 && !a.isNear && a.compared == nil && a.at.country != none && a.last == ""
		isFlow := a.endpoint().AddsOverTime() || a.endpoint().Name() == "returnees" // of a year, by country
		isSum := a.isSince && a.until != "" && isFlow
		if a.by != "time" || isSum || !isWhole || a.figure == nil || a.narrowing() {
			continue
		}
		if all[i], err = comparedBy(s, a); err != nil {
			return nil, err
		}
	}
	isOne := func(a answer) bool { return a.before != nil }
	rest := slices.DeleteFunc(slices.Clone(all), isOne)
	return append(slices.DeleteFunc(all, func(a answer) bool { return !isOne(a) }), rest...), nil
}

// comparedBy adds to an answer what the present figure is compared with. Nothing is added where
// that is not known, or is of other places than the present one.
func comparedBy(s *search, a answer) (answer, error) {
	now := a.but(func(q *question) { q.until, q.since = "", false })
	f, err := s.readFigure(&now)
	if err != nil || f.Value == nil {
		return a, err
	}
	if a.until != "" {
		earlier, err := s.readFigure(&a)
		if err != nil {
			return a, err
		}
		earlier = inTime(s.language, &a, earlier)
		isSame := earlier.Start == f.Start && earlier.End == f.End
		if earlier.Value != nil && !isSame && earlier.extent == f.extent && earlier.Complete == f.Complete {
			now.before = &Before{Value: *earlier.Value, Start: earlier.Start, End: earlier.End}
			return now, nil
		}
	}
	past, err := figures.PastOf(s.lists, s.served, a.figure, s.entries[a.at.country].code)
	for i, p := range past {
		n := len(a.until)
		start, end := string(p.Start), string(p.End)
		isThen := n == 0 || start[:min(n, len(start))] <= a.until && cmp.Or(end, a.until)[:n] >= a.until
		if i > 0 && p.Value != "" && p.Level == past[0].Level && isThen {
			now.before = &Before{
				Value: json.Number(p.Value), Start: start, End: end,
				Changed: past[i-1].Published.UTC().Format(time.DateOnly),
			}
			return now, nil
		}
	}
	return a, err
}
