// Package threshold compares what two snapshots say before a channel moves from one to the other:
// the rows and places of each table, in all and by country, and the headline figures of each
// country. It asks for them as pages do, so that they are what replicas would answer.
//
// A change is measured in per cent of the smaller number, so that half and double are alike: both
// are a change of 100 per cent. Small numbers change much by chance: fewer than 10 rows or people
// and fewer than 3 places are no change, unless no row is left. What is new, such as a country that
// had no row, is compared with nothing. Nor are the many small steps of many days.
package threshold

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"hdqs/api/contract"
	"hdqs/api/figures"
	"hdqs/api/list"
	"hdqs/api/textual"
	"hdqs/snapshot/store"
)

// Excess is a change that is larger than accepted.
type Excess struct {
	Name, Place   string // of a table or headline figure; no place: all countries
	What          string // rows, or what else is counted; empty for a figure
	Before, After string // "none" without a value
	Most          float64

	factor float64
}

// String names what has changed, with its bound.
func (e *Excess) String() string {
	place, what := "all countries", e.What
	if e.Place != "" {
		place = e.Place
	}
	if what != "" {
		what = " " + what + ":"
	}
	return fmt.Sprintf("%s, %s:%s %s before, %s after, more than %g %% apart", e.Name, place, what, e.Before, e.After,
		e.Most)
}

// Line is the line of a file of exceptions that accepts the change.
func (e *Excess) Line() string { return e.Name + " " + cmp.Or(e.Place, "*") + " any" }

// key is what a number is of.
type key struct{ name, place, what string }

// number is a number and below which difference it has not changed.
type number struct {
	value  float64
	text   string
	least  float64
	rows   bool // counts rows
	points bool // is itself a change in per cent: differences count, not their ratio
}

const (
	leastRows   = 10
	leastPlaces = 3
	whatRows    = "rows"
)

// Side is a snapshot with its headline figures. Figures that are nil are computed. Without a
// snapshot, figures alone are compared.
type Side struct {
	*store.Snapshot
	Figures *figures.Kept
}

// Compare returns the changes between two sides that the rules do not accept, the largest first. It
// closes no snapshot.
func Compare(ctx context.Context, before, after Side, r Rules, at time.Time) ([]Excess, error) {
	tables := map[string]bool{}
	if before.Snapshot != nil && after.Snapshot != nil {
		changed, _ := store.Compare(before.Manifest, after.Manifest)
		for _, c := range changed {
			tables[c.Table] = true
		}
	}
	var sides [2]map[key]number
	for i, side := range []*Side{&before, &after} {
		var err error
		if sides[i], err = side.measure(ctx, tables, r.Noise); err != nil {
			return nil, err
		}
	}
	for _, h := range contract.Headlines {
		if !before.Figures.SameRule(h, after.Figures) { // these cannot be compared
			maps.DeleteFunc(sides[0], func(k key, _ number) bool { return k.what == "" && k.name == h.Name })
		}
	}
	return excesses(sides[0], sides[1], r, at), nil
}

func excesses(before, after map[key]number, r Rules, at time.Time) (all []Excess) {
	for k, was := range before {
		now, has := after[k]
		switch {
		case !has && k.what == "":
			now.text = "none"
		case !has:
			now.text = "0"
		}
		e := Excess{
			Name: k.name, Place: k.place, What: k.what, Before: was.text, After: now.text,
			Most: r.most(k.name, k.place, at), factor: was.change(now),
		}
		if !has && k.what == "" {
			e.factor = gone
		}
		if e.factor > e.Most {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b Excess) int {
		return cmp.Or(cmp.Compare(b.factor, a.factor), strings.Compare(a.Name, b.Name),
			strings.Compare(a.Place, b.Place), strings.Compare(a.What, b.What))
	})
	return withoutParts(all)
}

// withoutParts leaves out what follows from another excess: a table without a row has none of any
// country, and a country without a row has no place.
func withoutParts(all []Excess) []Excess {
	empty := map[key]bool{}
	for _, e := range all {
		if e.What == whatRows && e.After == "0" {
			empty[key{name: e.Name, place: e.Place}] = true
		}
	}
	return slices.DeleteFunc(all, func(e Excess) bool {
		own := e.What == whatRows || !empty[key{name: e.Name, place: e.Place}]
		return e.What != "" && (!own || e.Place != "" && empty[key{name: e.Name}])
	})
}

// gone is the change of a country or figure that is missing. Only the bound "any" accepts it.
const gone = math.MaxFloat64

// change is by how many per cent two numbers differ.
func (n number) change(now number) float64 {
	least, most := math.Abs(n.value), math.Abs(now.value)
	if least > most {
		least, most = most, least
	}
	switch difference := math.Abs(now.value - n.value); {
	case n.rows && now.value == 0 && difference > 0:
		return gone
	case difference == 0 || difference < n.least:
		return 0
	case n.points:
		return difference
	case least == 0 || n.value*now.value < 0:
		return gone
	}
	return 100 * (most/least - 1)
}

// measure reads the headline figures, and the numbers of some tables.
func (s *Side) measure(
	ctx context.Context, tables map[string]bool, noise float64,
) (found map[key]number, err error) {
	m := measurement{found: map[key]number{}}
	if s.Snapshot != nil {
		if m.of, err = figures.NewOffline(s.Acquire()); err == nil {
			defer m.of.Close()
			err = m.addTables(ctx, tables)
		}
		if err != nil {
			return nil, fmt.Errorf("figures of snapshot %s: %w", s.Manifest.ID, err)
		}
	}
	if s.Figures == nil {
		making := figures.Making{Of: s.Manifest, Open: func() (*figures.Offline, error) { return m.of, nil }}
		file, err := making.Make()
		if err == nil {
			s.Figures, err = figures.OpenKept(file)
		}
		if err != nil {
			return nil, fmt.Errorf("figures of snapshot %s: %w", s.Manifest.ID, err)
		}
	}
	for _, h := range contract.Headlines {
		if err := m.addFigure(s.Figures, h, noise); err != nil {
			return nil, err
		}
	}
	return m.found, nil
}

type measurement struct {
	of    *figures.Offline
	found map[key]number
}

// ask asks for the records of an answer, which are more than there are countries.
func (m *measurement) ask(q *contract.Question) (records []textual.Record, err error) {
	err = m.of.Lists.Query(m.of.Served, m.of.Mount, q, func(_ *list.Reply, found list.Records) error {
		if found.Total() > found.Len() {
			return fmt.Errorf("%d records, at most %d can be compared", found.Total(), found.Len())
		}
		records = list.TextsOf(found)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s?%s: %w", q.Plan().Paths()[0], q.Text(), err)
	}
	return records, nil
}

// addTables adds the numbers of tables of a snapshot.
func (m *measurement) addTables(ctx context.Context, tables map[string]bool) (err error) {
	for i := range contract.Endpoints {
		if e := &contract.Endpoints[i]; err == nil && tables[e.Table] {
			err = errors.Join(ctx.Err(), m.addTable(e))
		}
	}
	return err
}

// addTable counts the rows and places of a table, in all and by each of its fields with a country.
func (m *measurement) addTable(e *contract.Endpoint) error {
	measures := []string{"count"}
	var countries []string
	for i := range e.Fields {
		switch name := e.Fields[i].Name; {
		case strings.HasSuffix(name, contract.CountryParam):
			countries = append(countries, name)
			measures = append(measures, "distinct:"+name)
		case name == "admin1_code", name == "admin2_code":
			measures = append(measures, "distinct:"+name)
		}
	}
	for _, by := range append([]string{""}, countries...) {
		q := contract.Ask(e, contract.Aggregate).Measure(measures...)
		if by != "" {
			q.GroupBy(by)
		}
		records, err := m.ask(q)
		if err != nil {
			return err
		}
		for _, r := range records {
			for _, measure := range measures {
				what, least := whatRows, float64(leastRows)
				if measure != "count" {
					what, least = "different "+strings.TrimPrefix(measure, "distinct:"), leastPlaces
				}
				if len(countries) > 1 && by != "" {
					what += " by " + by
				}
				k := key{e.Table, r.Value(by), what} // null is no country
				n := number{least: least, rows: measure == "count"}
				if err := m.add(k, r.Value(strings.ReplaceAll(measure, ":", "_")), n); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// addFigure adds a headline figure of all countries.
func (m *measurement) addFigure(kept *figures.Kept, h *contract.Headline, noise float64) error {
	n := number{points: h.Newest == contract.YearApart}
	if h.IsPlain() && (strings.HasPrefix(h.Measures[0], "sum:") || strings.HasPrefix(h.Measures[0], "distinct:")) {
		n.least = max(leastRows, noise)
	}
	values, err := kept.Values(h)
	for place, text := range values {
		if err := m.add(key{name: h.Name, place: place}, text, n); err != nil {
			return err
		}
	}
	return err
}

// add adds a number with a text.
func (m *measurement) add(k key, text string, n number) (err error) {
	if n.text = text; text == "" { // null is none
		return nil
	}
	if n.value, err = strconv.ParseFloat(text, 64); err != nil {
		return fmt.Errorf("%s of %s: %w", k.name, k.place, err)
	}
	m.found[k] = n
	return nil
}
