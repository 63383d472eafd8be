// Package threshold compares what two snapshots say before a channel moves from one to the other:
// the rows and places of each table, in all and by country, and the headline figures of each
// country. It asks a server for them, as a client would, so that they are what replicas would
// answer.
//
// A change is measured in per cent of the smaller number, so that half and double are alike: both
// are a change of 100 per cent. Small numbers change much by chance: fewer than 10 rows or people
// and fewer than 3 places are no change, unless no row is left. What is new, such as a country that
// had no row, is compared with nothing. Nor are the many small steps of many days.
package threshold

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"

	"hdqs/api"
	"hdqs/api/contract"
	"hdqs/api/state"
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

// Compare returns the changes between two open snapshots that the rules do not accept, the largest
// first. It closes neither.
func Compare(ctx context.Context, before, after *store.Snapshot, r Rules, at time.Time) ([]Excess, error) {
	changed, _ := store.Compare(before.Manifest, after.Manifest)
	tables := map[string]bool{}
	for _, c := range changed {
		tables[c.Table] = true
	}
	var sides [2]map[key]number
	for i, snap := range []*store.Snapshot{before, after} {
		var err error
		if sides[i], err = measure(ctx, snap, tables); err != nil {
			return nil, fmt.Errorf("figures of snapshot %s: %w", snap.Manifest.ID, err)
		}
	}
	var all []Excess
	for k, was := range sides[0] {
		now, has := sides[1][k]
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
	return withoutParts(all), nil
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

// measure reads the numbers of a snapshot that depend on some tables.
func measure(ctx context.Context, snap *store.Snapshot, tables map[string]bool) (found map[key]number, err error) {
	server := api.New(state.Options{
		Identifier: state.IgnoreIdentifier, Logger: slog.New(slog.DiscardHandler), SkipWarmUp: true,
	})
	own := snap.Acquire()
	if err := server.State.Swap(state.Release{Snapshot: own}); err != nil {
		return nil, errors.Join(err, own.Close())
	}
	defer func() { err = errors.Join(err, server.Shutdown(context.WithoutCancel(ctx))) }()
	m := measurement{server: server, found: map[key]number{}}
	for i := range contract.Endpoints {
		e := &contract.Endpoints[i]
		if !tables[e.Table] {
			continue
		}
		if err := errors.Join(ctx.Err(), m.addTable(e)); err != nil {
			return nil, err
		}
	}
	for i := range contract.Headlines {
		h := &contract.Headlines[i]
		if !tables[h.List(contract.ContractNames).Table] {
			continue
		}
		if err := errors.Join(ctx.Err(), m.addFigure(h)); err != nil {
			return nil, err
		}
	}
	return m.found, nil
}

type measurement struct {
	server *api.Server
	found  map[key]number
}

type record map[string]json.RawMessage

// mostRecords is the longest answer, which is longer than there are countries.
const mostRecords = contract.MaxLimit

func (m *measurement) ask(path string, params url.Values) ([]record, error) {
	params.Set("limit", fmt.Sprint(mostRecords))
	target := path + "?" + params.Encode()
	a := m.server.Answer("GET", target, nil)
	var body struct{ Data []record }
	if err := json.Unmarshal(a.Body, &body); a.Status != 200 || err != nil {
		return nil, fmt.Errorf("%s: status %d: %.300s", target, a.Status, a.Body)
	}
	if len(body.Data) == mostRecords {
		return nil, fmt.Errorf("%s: %d records or more, fewer can be compared", target, mostRecords)
	}
	return body.Data, nil
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
		params := url.Values{"measures": {strings.Join(measures, ",")}}
		if by != "" {
			params.Set("group_by", by)
		}
		records, err := m.ask(e.Path+"/"+contract.Aggregate.String(), params)
		if err != nil {
			return err
		}
		for _, r := range records {
			for _, measure := range measures {
				field := strings.ReplaceAll(measure, ":", "_")
				what, least := whatRows, float64(leastRows)
				if measure != "count" {
					what, least = "different "+strings.TrimPrefix(measure, "distinct:"), leastPlaces
				}
				if len(countries) > 1 && by != "" {
					what += " by " + by
				}
				var place string
				if by != "" {
					_ = json.Unmarshal(r[by], &place) // null is no country
				}
				n := number{least: least, rows: measure == "count"}
				if err := m.add(key{e.Table, place, what}, r[field], n); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// addFigure adds a headline figure of all countries.
func (m *measurement) addFigure(h *contract.Headline) error {
	records, err := m.ask(contract.FiguresPath+"/"+h.Name, url.Values{})
	if err != nil {
		return err
	}
	n := number{points: h.Newest == contract.YearApart}
	if h.IsPlain() && (strings.HasPrefix(h.Measures[0], "sum:") || strings.HasPrefix(h.Measures[0], "distinct:")) {
		n.least = leastRows
	}
	for _, r := range records {
		var place string
		if err := json.Unmarshal(r[contract.CountryParam], &place); err != nil {
			return fmt.Errorf("figure %s: country %s: %w", h.Name, r[contract.CountryParam], err)
		}
		if err := m.add(key{name: h.Name, place: place}, r["value"], n); err != nil {
			return err
		}
	}
	return nil
}

// add adds a number as JSON has it. Null is none.
func (m *measurement) add(k key, text json.RawMessage, n number) error {
	var value *float64
	if err := json.Unmarshal(text, &value); err != nil {
		return fmt.Errorf("%s of %s: %s is no number: %w", k.name, k.place, text, err)
	}
	if value != nil {
		n.value, n.text = *value, string(text)
		m.found[k] = n
	}
	return nil
}
