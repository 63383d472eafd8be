package load

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Trend is a line of trend.csv: what one answer cost at one version on one processor.
type Trend struct {
	Version, Commit, Date, Processor string

	Query, Coding string
	Micros        float64 // CPU of the work, or time where the query says so
	Control       string  // what Ratio divides by; empty without one
	Ratio         Ratio
}

var trendHead = []string{
	"version", "commit", "date", "processor", "query", "coding", "µs", "control", "ratio", "lowest", "highest",
}

// ReadTrend reads trend.csv.
func ReadTrend(r io.Reader) ([]Trend, error) {
	lines, err := csv.NewReader(r).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("trend: %w", err)
	}
	if len(lines) == 0 || !slices.Equal(lines[0], trendHead) {
		return nil, fmt.Errorf("trend: the first line is not %s", strings.Join(trendHead, ","))
	}
	all := make([]Trend, len(lines)-1)
	for i, line := range lines[1:] {
		t := &all[i]
		t.Version, t.Commit, t.Date, t.Processor = line[0], line[1], line[2], line[3]
		t.Query, t.Coding, t.Control = line[4], line[5], line[7]
		for field, into := range map[int]*float64{
			6: &t.Micros, 8: &t.Ratio.Median, 9: &t.Ratio.Low, 10: &t.Ratio.High,
		} {
			if line[field] == "" {
				continue
			}
			if *into, err = strconv.ParseFloat(line[field], 64); err != nil {
				return nil, fmt.Errorf("trend line %d: %s %q is not a number", i+2, trendHead[field], line[field])
			}
		}
	}
	return all, nil
}

// WriteTrend writes trend.csv, in the order of queries and then of dates.
func WriteTrend(w io.Writer, all []Trend) error {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b Trend) int {
		return cmp.Or(cmp.Compare(a.Query, b.Query), cmp.Compare(a.Coding, b.Coding), cmp.Compare(a.Control, b.Control),
			cmp.Compare(a.Date, b.Date), cmp.Compare(a.Version, b.Version))
	})
	out := csv.NewWriter(w)
	_ = out.Write(trendHead) // Flush keeps the first error
	for _, t := range all {
		_ = out.Write([]string{
			t.Version, t.Commit, t.Date, t.Processor, t.Query, t.Coding, digits(t.Micros), t.Control,
			digits(t.Ratio.Median), digits(t.Ratio.Low), digits(t.Ratio.High),
		})
	}
	out.Flush()
	return out.Error()
}

// digits formats a number with four digits; zero is unknown.
func digits(f float64) string {
	if f == 0 {
		return ""
	}
	return strconv.FormatFloat(f, 'g', 4, 64)
}

// Supersede adds the lines of a run, and removes earlier ones of the same version and processor, so
// that each version has the lines of one run.
func Supersede(all, run []Trend) []Trend {
	if len(run) == 0 {
		return all
	}
	all = slices.DeleteFunc(slices.Clone(all), func(t Trend) bool {
		return t.Version == run[0].Version && t.Processor == run[0].Processor
	})
	return append(all, run...)
}

// Trend returns the lines of a report: each target, and each of our answers without one, divided by
// nginx where that has the answer.
func (r *Report) Trend(version string) []Trend {
	base := Trend{Version: version, Commit: r.Commit, Date: r.Date, Processor: r.Machine.CPU}
	var all []Trend
	judged := map[[2]string]bool{}
	for _, v := range r.Targets {
		t := base
		t.Query, t.Coding, t.Micros, t.Control, t.Ratio = v.Query, v.Encoding, v.Micros, v.Control, v.Got
		all, judged[[2]string{v.Query, v.Encoding}] = append(all, t), true
	}
	for _, c := range r.Cells {
		t := base
		t.Query, t.Coding, t.Micros = c.Query, c.Encoding, c.CPUMicros
		if judged[[2]string{c.Query, c.Encoding}] || c.Server != r.Cells[0].Server {
			continue
		}
		at := slices.IndexFunc(r.Cells, func(o Cell) bool {
			return o.Query == c.Query && o.Encoding == c.Encoding && o.Server == "nginx"
		})
		if at >= 0 {
			t.Control, t.Ratio = controls["nginx"], r.Cells[at].CPURatio
		}
		all = append(all, t)
	}
	return all
}
