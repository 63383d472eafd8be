package load

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// Comparison measures servers query by query. All that answer a query, in all codings, take turns
// within a round, so that each can be divided by any other. The order is reversed each round.
type Comparison struct {
	Servers []*Server // the first is compared with the others, its controls

	// Prepare is called before a query is measured, nil: nothing. What a server sends may have
	// changed since its controls got it, because parts of its tables were compressed meanwhile.
	Prepare func(q Query) error

	Queries     []Query
	Encodings   []string
	Rounds      int
	Burst       time.Duration
	Connections int
	Progress    func(format string, args ...any)

	Cells    []Cell    // after Run
	Verdicts []Verdict // on the queries' bounds, after Run
}

// Cell is the result of one server, query and coding.
type Cell struct {
	Query, Encoding, Server string
	Rows, BodyBytes         int
	SentBytes               int64   // of an answer, mean
	PerSecond               float64 // median of the rounds
	CPUMicros               float64 // per request, median of the rounds
	P50, P99                time.Duration

	// The first server's figure divided by this one's, round by round; 0 for the first server.
	CPURatio, RateRatio Ratio
	Answers             int // good ones; only these count in rates
	Wrong, Failed       int

	Rates, Costs []float64 // requests per second and CPU µs per request, by round
}

// arm is one server and coding of a query.
type arm struct {
	server   *Server
	encoding string
	outcomes []*Outcome
}

// Run measures all queries. What was measured before an error stays in Cells and Verdicts.
func (c *Comparison) Run() error {
	queries := slices.Clone(c.Queries)
	slices.SortStableFunc(queries, func(a, b Query) int { return min(len(b.Bounds), 1) - min(len(a.Bounds), 1) })
	known := map[string]string{} // by what is requested; those with bounds come first
	for _, q := range queries {
		key := fmt.Sprint(q.Target, q.Status, q.Anonymous)
		if name := known[key]; name != "" && len(q.Bounds) == 0 {
			c.Progress("%s is measured as %s", q.Name, name)
			continue
		}
		known[key] = q.Name
		if err := c.query(q); err != nil {
			return fmt.Errorf("%s: %w", q.Name, err)
		}
	}
	return nil
}

// arms returns what answers a query. Only bodies have codings.
func (c *Comparison) arms(q Query) []*arm {
	encodings := c.Encodings
	if q.Conditional || q.Status != http.StatusOK {
		encodings = []string{Identity}
	}
	var all []*arm
	for _, encoding := range encodings {
		for _, s := range c.Servers {
			bounded := slices.ContainsFunc(q.Bounds, func(b Bound) bool {
				return b.Encoding == encoding && b.Other == s.Name
			})
			if s.target(q, encoding) != "" && (!s.Bounded || bounded) {
				all = append(all, &arm{server: s, encoding: encoding})
			}
		}
	}
	return all
}

func (c *Comparison) query(q Query) error {
	q.Weight = 1
	if c.Prepare != nil {
		if err := c.Prepare(q); err != nil {
			return err
		}
	}
	arms := c.arms(q)
	plain, rows, err := c.same(q, arms)
	if err != nil {
		return err
	}
	for round := -1; round < c.Rounds; round++ {
		for k := range arms {
			i := k
			if round%2 != 0 {
				i = len(arms) - 1 - k
			}
			if err := c.burst(q, arms[i], round < 0); err != nil {
				return err
			}
		}
	}
	cells := make([]Cell, len(arms))
	for i, a := range arms {
		cell := &cells[i]
		*cell = Cell{Query: q.Name, Encoding: a.encoding, Server: a.server.Name, Rows: rows, BodyBytes: len(plain)}
		cell.fill(a.outcomes)
		if cell.Answers == 0 {
			return fmt.Errorf("load: %s gave no good answer (%s): %s", cell.Server, cell.Encoding,
				a.outcomes[0].FirstWrong)
		}
		// The first server's cell in the same coding is before the others'.
		ours := &cells[slices.IndexFunc(cells, func(c Cell) bool { return c.Encoding == a.encoding })]
		if ours != cell {
			cell.CPURatio, cell.RateRatio = ratio(ours.Costs, cell.Costs), ratio(ours.Rates, cell.Rates)
		}
		c.Progress("%-28s %-8s %-9s %9.0f/s %9.1f µs CPU  %s", cell.Query, cell.Encoding, cell.Server,
			cell.PerSecond, cell.CPUMicros, cell.CPURatio)
	}
	c.Cells = append(c.Cells, cells...)
	verdicts, err := judge(q, cells, plain)
	c.Verdicts = append(c.Verdicts, verdicts...)
	return err
}

func (c *Comparison) burst(q Query, a *arm, warmUp bool) error {
	d := Drive{Queries: []Query{q}, Encoding: a.encoding, Connections: c.Connections, Duration: c.Burst}
	if warmUp {
		d.Duration = min(d.Duration/3, 300*time.Millisecond)
	}
	o, err := a.server.Run(d)
	if err == nil && !warmUp {
		a.outcomes = append(a.outcomes, o)
	}
	return err
}

// same fails unless all arms answer with the same bytes, once decoded, and servers of files also
// with the same as they are sent. It returns the plain body and the number of its rows.
func (c *Comparison) same(q Query, arms []*arm) (plain []byte, rows int, err error) {
	ours := map[string]*answer{}
	for i, a := range arms {
		got, err := a.server.must(q, a.encoding)
		if err != nil {
			return nil, 0, err
		}
		if a.server == c.Servers[0] {
			ours[a.encoding] = got
		}
		if i == 0 {
			plain, rows = got.body, rowsOf(q, got.total)
		}
		sent := a.server.Path == nil || bytes.Equal(got.sent, ours[a.encoding].sent)
		if !sent || !bytes.Equal(got.body, plain) {
			return nil, 0, fmt.Errorf("not measured: %s (%s) answers with other bytes than %s: %d and %d",
				a.server.Name, a.encoding, c.Servers[0].Name, len(got.body), len(plain))
		}
	}
	return plain, rows, nil
}

func (c *Cell) fill(rounds []*Outcome) {
	all := newOutcome()
	for _, o := range rounds {
		all.add(o)
		c.Rates, c.Costs = append(c.Rates, o.PerSecond()), append(c.Costs, o.CPUPerRequest())
	}
	c.Answers, c.Wrong, c.Failed = all.Requests, all.Wrong, all.Failed
	c.SentBytes = all.Bytes / max(int64(all.Requests), 1)
	c.PerSecond, c.CPUMicros = median(c.Rates), median(c.Costs)
	c.P50, c.P99 = all.Quantile(0.5), all.Quantile(0.99)
}

// Ratio is the median, minimum and maximum of the rounds' ratios.
type Ratio struct{ Median, Low, High float64 }

func median(all []float64) float64 {
	if len(all) == 0 {
		return 0
	}
	all = slices.Sorted(slices.Values(all))
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}

// ratio divides the figures of neighbouring bursts. Rounds without both figures are left out.
func ratio(a, b []float64) Ratio {
	var all []float64
	for i := range min(len(a), len(b)) {
		if a[i] > 0 && b[i] > 0 {
			all = append(all, a[i]/b[i])
		}
	}
	return Spread(all)
}

// Spread returns median, minimum and maximum.
func Spread(all []float64) Ratio {
	if len(all) == 0 {
		return Ratio{}
	}
	return Ratio{median(all), slices.Min(all), slices.Max(all)}
}

// String formats the median and the range.
func (r Ratio) String() string {
	if r.Median == 0 {
		return ""
	}
	return fmt.Sprintf("%.3g (%.3g-%.3g)", r.Median, r.Low, r.High)
}
