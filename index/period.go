package index

import (
	"cmp"
	"math"
	"slices"
	"time"

	"hdqs/snapshot"
)

// period is the columns of the periods of rows. What is found out about periods is listed by tuple
// of their group, as tables have one. Without a group a row counts as a tuple.
type period struct {
	start, end *snapshot.Column
	group      *snapshot.Group
}

// periodOf returns the period of Options.
func (x *Index) periodOf(o *Options) (*period, error) {
	start, end := x.columns[o.PeriodStart], x.columns[o.PeriodEnd]
	if start == nil || end == nil || start.col.Kind != snapshot.Time || end.col.Kind != snapshot.Time ||
		start.col.Group != end.col.Group {
		return nil, filterf("the period is %q to %q: the table has no times of these names, of one group or none",
			o.PeriodStart, o.PeriodEnd)
	}
	return &period{start.col, end.col, start.col.Group}, nil
}

// tuple is the tuple of a row.
func (p *period) tuple(row uint32) uint32 { return p.start.Position(row) }

// moment orders the periods of rows: by end, where null is the last, then by start, where null is
// the first. The end is in its upper half, the start in the lower.
type moment uint64

// moments returns the moment of each tuple. Codes order like times, and null has the last.
func (p *period) moments() []moment {
	ends, starts, null := p.end.Codes(), p.start.Codes(), uint64(p.start.Cardinality())
	of := make([]moment, p.start.Len())
	for tuple := range of {
		of[tuple] = moment(ends.At(uint32(tuple))<<32 | (starts.At(uint32(tuple))+1)%(null+1))
	}
	return of
}

// years returns the year in which the period of each tuple starts, as a moment.
func (p *period) years() []moment {
	of := make([]moment, p.start.Len())
	for tuple := range of {
		if start := p.start.Int(uint32(tuple)); start != snapshot.NullInt {
			of[tuple] = moment(1<<32 + time.UnixMicro(start).UTC().Year())
		}
	}
	return of
}

// Period is a time span in microseconds since 1970, both ends included. An open end is the most
// there is, an open start the least.
type Period struct{ From, To int64 }

// String is the days of the period: 2024-01-01 to 2024-12-31.
func (p Period) String() string {
	from, to := "the beginning", "now"
	if p.From != math.MinInt64 {
		from = time.UnixMicro(p.From).UTC().Format(time.DateOnly)
	}
	if p.To != math.MaxInt64 {
		to = time.UnixMicro(p.To).UTC().Format(time.DateOnly)
	}
	return from + " to " + to
}

// meets reports whether two periods have a moment in common.
func (p Period) meets(other Period) bool { return p.From <= other.To && other.From <= p.To }

// of is the period of a tuple. A null start is the least there is.
func (p *period) of(tuple uint32) Period {
	span := Period{p.start.Int(tuple), p.end.Int(tuple)}
	if span.To == snapshot.NullInt {
		span.To = math.MaxInt64
	}
	return span
}

// crossing returns, for each tuple, whether its period has a moment in common with another one; nil
// if none has. Sorted by start, a period overlaps an earlier one exactly if it overlaps the earlier
// one that ends last.
func (p *period) crossing() []bool {
	all := make([]Period, p.start.Len())
	for tuple := range all {
		all[tuple] = p.of(uint32(tuple))
	}
	sorted := slices.Clone(all)
	slices.SortFunc(sorted, func(a, b Period) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	sorted = slices.Compact(sorted)
	crosses := map[Period]bool{}
	for i, longest := 1, 0; i < len(sorted); i++ {
		if sorted[i].meets(sorted[longest]) {
			crosses[sorted[i]], crosses[sorted[longest]] = true, true
		}
		if sorted[i].To > sorted[longest].To {
			longest = i
		}
	}
	if len(crosses) == 0 {
		return nil
	}
	of := make([]bool, len(all))
	for tuple, one := range all {
		of[tuple] = crosses[one]
	}
	return of
}
