package load

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// Suite measures one server query by query, beside its controls. All that answer a query, in all
// codings, take turns within a round, so that each can be divided by any other. The order is
// reversed each round.
type Suite struct {
	Ours     *Server
	Controls []*Server // asked for every answer that they have
	Named    []*Server // asked only for what a bound of the query names them for

	// Configured is the same program with its default flags, nil if there is none. It is asked for
	// pages that it does not have in its cache, and only where the query has bounds.
	Configured *Server

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

// arm is one server and coding of a query.
type arm struct {
	server   *Server
	encoding string
	outcomes []*Outcome
}

// mostFresh limits the requests of a burst for pages that were not requested before, so that they
// suffice.
const mostFresh = 1000

// Run measures all queries. What was measured before an error stays in Cells and Verdicts.
func (s *Suite) Run() error {
	queries := slices.Clone(s.Queries)
	slices.SortStableFunc(queries, func(a, b Query) int { return min(len(b.Bounds), 1) - min(len(a.Bounds), 1) })
	known := map[string]string{} // by what is requested; those with bounds come first
	for _, q := range queries {
		key := fmt.Sprint(q.Target, q.Status, q.Anonymous)
		if name := known[key]; name != "" && len(q.Bounds) == 0 {
			s.Progress("%s is measured as %s", q.Name, name)
			continue
		}
		known[key] = q.Name
		if err := s.query(q); err != nil {
			return fmt.Errorf("%s: %w", q.Name, err)
		}
	}
	return nil
}

// arms returns what answers a query. Only bodies have codings.
func (s *Suite) arms(q Query) []*arm {
	encodings := s.Encodings
	if q.Conditional || q.Status != http.StatusOK {
		encodings = []string{Identity}
	}
	var all []*arm
	for _, encoding := range encodings {
		all = append(all, &arm{server: s.Ours, encoding: encoding})
		for _, control := range s.Controls {
			if control.ask(q, encoding).target != "" {
				all = append(all, &arm{server: control, encoding: encoding})
			}
		}
		for _, named := range s.Named {
			if slices.ContainsFunc(q.Bounds, func(b Bound) bool {
				return b.Encoding == encoding && b.other() == named.Name
			}) {
				all = append(all, &arm{server: named, encoding: encoding})
			}
		}
		if s.Configured != nil && len(q.Bounds) > 0 && q.Status == http.StatusOK {
			all = append(all, &arm{server: s.Configured, encoding: encoding})
		}
	}
	return all
}

// query measures a query.
func (s *Suite) query(q Query) error {
	q.Weight = 1
	if s.Prepare != nil {
		if err := s.Prepare(q); err != nil {
			return err
		}
	}
	arms := s.arms(q)
	plain, rows, err := s.same(q, arms)
	if err != nil {
		return err
	}
	for round := -1; round < s.Rounds; round++ {
		for k := range arms {
			i := k
			if round%2 != 0 {
				i = len(arms) - 1 - k
			}
			if err := s.burst(q, arms[i], round < 0); err != nil {
				return err
			}
		}
	}
	cells := make([]Cell, len(arms))
	for i, a := range arms {
		c := &cells[i]
		*c = Cell{Query: q.Name, Encoding: a.encoding, Server: a.server.Name, Rows: rows, BodyBytes: len(plain)}
		c.fill(a.outcomes)
		if c.Answers == 0 {
			return fmt.Errorf("load: %s gave no good answer (%s): %s", c.Server, c.Encoding, a.outcomes[0].FirstWrong)
		}
		if ours := s.own(arms, cells, a); ours != c {
			c.CPURatio, c.RateRatio = ratio(ours.Costs, c.Costs), ratio(ours.Rates, c.Rates)
		}
		s.Progress("%-28s %-8s %-9s %9.1f µs CPU  %6.1f faults  %s", c.Query, c.Encoding, c.Server, c.CPUMicros,
			c.Faults, c.CPURatio)
	}
	s.Cells = append(s.Cells, cells...)
	verdicts, err := s.judge(q, cells, plain)
	s.Verdicts = append(s.Verdicts, verdicts...)
	return err
}

// own is the cell of our answer in the coding of an arm. It is before the arm's own.
func (s *Suite) own(arms []*arm, cells []Cell, of *arm) *Cell {
	return &cells[slices.IndexFunc(arms, func(a *arm) bool { return a.server == s.Ours && a.encoding == of.encoding })]
}

func (s *Suite) burst(q Query, a *arm, warmUp bool) error {
	d := Drive{Queries: []Query{q}, Encoding: a.encoding, Connections: s.Connections, Duration: s.Burst}
	if a.server.Fresh != nil {
		d.Most = mostFresh
	}
	if warmUp {
		d.Duration /= 3
	}
	o, err := a.server.Run(d)
	if err == nil && !warmUp {
		a.outcomes = append(a.outcomes, o)
	}
	return err
}

// same fails unless all arms answer with the same bytes, once decoded, and the controls also with
// the same as they are sent. It returns the plain body and the number of its rows.
func (s *Suite) same(q Query, arms []*arm) (plain []byte, rows int, err error) {
	want := q.Status
	if q.Conditional {
		want = http.StatusOK
	}
	ours := map[string]*answer{}
	for _, a := range arms {
		got, err := a.server.fetch(q, a.encoding)
		if err != nil {
			return nil, 0, err
		}
		if got.status != want {
			return nil, 0, fmt.Errorf("%s (%s): status %d, want %d: %.200s", a.server.Name, a.encoding, got.status,
				want, got.body)
		}
		if a.server == s.Ours {
			ours[a.encoding] = got
		}
		if len(ours) == 1 && a.server == s.Ours {
			plain = got.body
			if total, err := strconv.Atoi(got.total); err == nil {
				rows = rowsOf(q, total)
			}
		}
		if !bytes.Equal(got.body, plain) {
			return nil, 0, fmt.Errorf("not measured: %s (%s) answers with other bytes than %s (%s): %d and %d",
				a.server.Name, a.encoding, s.Ours.Name, arms[0].encoding, len(got.body), len(plain))
		}
		if slices.Contains(s.Controls, a.server) && !bytes.Equal(got.sent, ours[a.encoding].sent) {
			return nil, 0, fmt.Errorf("not measured: %s (%s) sends other bytes than %s: %d and %d", a.server.Name,
				a.encoding, s.Ours.Name, len(got.sent), len(ours[a.encoding].sent))
		}
	}
	return plain, rows, nil
}
