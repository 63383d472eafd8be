package load

import (
	"fmt"
	"slices"
	"time"
)

// Comparison describes a comparison: servers, queries, rounds.
type Comparison struct {
	Servers     []*Server // the others are compared with the first
	Queries     []Query
	Encodings   []string
	Rounds      int
	Burst       time.Duration
	Connections int
	Progress    func(format string, args ...any) // nil: silent
}

// Cell is the result of one server, query and coding.
type Cell struct {
	Query, Encoding, Server string
	Rows, BodyBytes         int
	SentBytes               int64   // of an answer, mean
	PerSecond               float64 // median of the rounds
	CPUMicros               float64 // per request, median of the rounds
	Faults                  float64 // minor page faults per request
	P50, P99                time.Duration

	// The first server's figure divided by this one's, round by round; 0 for the first server.
	CPURatio, RateRatio Ratio
	Answers             int // good ones; only these count in rates
	Wrong, Failed       int

	Rates, Costs []float64 // requests per second and CPU µs per request, by round
}

// Ratio is the median, minimum and maximum of the rounds' ratios.
type Ratio struct{ Median, Low, High float64 }

// Run compares servers query by query. In each round every server gets a burst, and the order is
// reversed each round.
func (c *Comparison) Run() ([]Cell, error) {
	var cells []Cell
	for _, q := range c.Queries {
		for _, encoding := range c.Encodings {
			agreed, err := SameRows(c.Servers, q, encoding)
			if err != nil {
				return cells, err
			}
			some, err := c.query(q, encoding, agreed)
			if err != nil {
				return cells, err
			}
			cells = append(cells, some...)
		}
	}
	return cells, nil
}

func (c *Comparison) query(q Query, encoding string, agreed Agreed) ([]Cell, error) {
	q.Weight = 1
	var servers []*Server
	for i, s := range c.Servers {
		switch _, _, err := s.prepare([]Query{q}, encoding); {
		case err == nil:
			servers = append(servers, s)
		case i == 0:
			if c.Progress != nil {
				c.Progress("%s (%s) left out: %v", q.Name, encoding, err)
			}
			return nil, nil
		}
	}
	outcomes := make([][]*Outcome, len(servers))
	d := Drive{Queries: []Query{q}, Encoding: encoding, Connections: c.Connections, Duration: c.Burst}
	warm := d
	warm.Duration = min(c.Burst/3, 300*time.Millisecond)
	for round := -1; round < c.Rounds; round++ {
		for k := range servers {
			i := k
			if round%2 != 0 {
				i = len(servers) - 1 - k
			}
			if round < 0 { // warm-up
				if _, err := servers[i].Run(warm); err != nil {
					return nil, err
				}
				continue
			}
			o, err := servers[i].Run(d)
			if err != nil {
				return nil, err
			}
			outcomes[i] = append(outcomes[i], o)
		}
	}
	var cells []Cell
	for i, s := range servers {
		cell := Cell{Query: q.Name, Encoding: encoding, Server: s.Name, Rows: agreed.Rows, BodyBytes: agreed.Bytes}
		cell.fill(outcomes[i])
		if i > 0 {
			cell.CPURatio, cell.RateRatio = ratio(cells[0].Costs, cell.Costs), ratio(cells[0].Rates, cell.Rates)
		}
		if c.Progress != nil {
			c.Progress("%-28s %-8s %-12s %9.0f/s %9.1f µs CPU  p99 %v  %s", cell.Query, encoding, s.Name,
				cell.PerSecond, cell.CPUMicros, cell.P99, cell.CPURatio)
		}
		if cell.Answers == 0 {
			return nil, fmt.Errorf("load: %s gave no good answer to %s (%s): %s", s.Name, q.Name, encoding,
				outcomes[i][0].FirstWrong)
		}
		cells = append(cells, cell)
	}
	return cells, nil
}

func (c *Cell) fill(rounds []*Outcome) {
	all := Outcome{Latency: newLatencies()}
	for _, o := range rounds {
		all.add(o)
		all.Faults += o.Faults
	}
	c.Answers, c.Wrong, c.Failed = all.Requests, all.Wrong, all.Failed
	c.SentBytes = all.Bytes / max(int64(all.Requests), 1)
	c.Rates, c.Costs = values(rounds, (*Outcome).PerSecond), values(rounds, (*Outcome).CPUPerRequest)
	c.PerSecond, c.CPUMicros = median(c.Rates), median(c.Costs)
	c.Faults = all.FaultsPerRequest()
	c.P50, c.P99 = all.Quantile(0.5), all.Quantile(0.99)
}

func values(rounds []*Outcome, of func(*Outcome) float64) []float64 {
	all := make([]float64, len(rounds))
	for i, o := range rounds {
		all[i] = of(o)
	}
	return all
}

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
