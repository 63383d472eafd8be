//go:build !race

package odata_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hdqs/api/apitest"
	"hdqs/api/contract"
)

// odataTree is a random condition on a record.
type odataTree struct {
	text  string
	holds func(record map[string]any) int // as of odataTest
}

// odataTrees makes conditions of the records of a list.
type odataTrees struct {
	*rand.Rand
	fields  []contract.Field
	records []map[string]any
}

// of is a maker of conditions on a random field that has values.
func (r *odataTrees) of() *odataTests {
	for {
		of := &odataTests{Rand: r.Rand, field: r.fields[r.IntN(len(r.fields))]}
		for _, record := range r.records {
			if v := record[of.field.Name]; v != nil {
				of.values = append(of.values, v)
			}
		}
		if of.values != nil {
			return of
		}
	}
}

// tree makes a condition on a field, or on several if of is nil.
func (r *odataTrees) tree(depth int, of *odataTests) odataTree {
	if of == nil && (depth == 0 || r.IntN(3) == 0) {
		of = r.of()
	}
	if depth == 0 {
		leaf := of.test()
		return odataTree{"(" + leaf.text + ")", func(x map[string]any) int { return leaf.holds(x[of.field.Name]) }}
	}
	a := r.tree(depth-1, of)
	if r.IntN(5) == 0 {
		if r.IntN(2) == 0 {
			isFalse := func(x map[string]any) int { return odataTruth(a.holds(x) == 0) }
			return odataTree{"(" + a.text + " eq false)", isFalse}
		}
		return odataTree{"(not " + a.text + ")", func(x map[string]any) int {
			if v := a.holds(x); v >= 0 {
				return 1 - v
			}
			return -1
		}}
	}
	b, stop, word := r.tree(r.IntN(depth), of), 1, " or "
	if r.IntN(2) == 0 {
		stop, word = 0, " and "
	}
	return odataTree{"(" + a.text + word + b.text + ")", func(x map[string]any) int {
		switch v, w := a.holds(x), b.holds(x); {
		case v == stop || w == stop:
			return stop
		case v < 0 || w < 0:
			return -1
		}
		return 1 - stop
	}}
}

// order sorts the numbers of records by random fields, and returns what asks for that.
func (r *odataTrees) order(first string, rows []int) (asked string) {
	var parts []string
	var fields []*odataTests
	var down []bool
	for range r.IntN(4) {
		of := r.of()
		at := r.IntN(3)
		fields, down = append(fields, of), append(down, at == 0)
		parts = append(parts, of.field.Name+[]string{" desc", " asc", ""}[at])
	}
	// The rows of the test are not sorted. An order that begins as theirs must go on otherwise.
	byKey := len(fields) > 0 && (fields[0].field.Column() == first || r.IntN(2) == 0)
	if byKey {
		parts = append(parts, "row_key desc")
		slices.Reverse(rows)
	}
	slices.SortStableFunc(rows, func(a, b int) int {
		for k, of := range fields {
			sign := 0
			switch x, y := r.records[a][of.field.Name], r.records[b][of.field.Name]; {
			case x == nil || y == nil:
				sign = odataTruth(x != nil) - odataTruth(y != nil)
			default:
				sign = of.order(x, y)
			}
			if down[k] {
				sign = -sign
			}
			if sign != 0 {
				return sign
			}
		}
		return 0
	})
	return strings.Join(parts, ",")
}

// odataFilters is how many filters are compared.
const odataFilters = 6000

// TestODataJoined compares filters and orders with what they mean, record by record of the plain
// list: conditions on one property, on several by and, which the index answers, and joined by or,
// which it does not.
func TestODataJoined(t *testing.T) {
	t.Parallel()
	s := odataServer(t, 150)
	endpoints := contract.EndpointsIn(contract.HAPINames)
	makers, found := make([]*odataTrees, len(endpoints)), 0
	random := rand.New(rand.NewPCG(46, 5))
	for n := range odataFilters {
		at := n % len(endpoints)
		if makers[at] == nil {
			target := contract.HAPIPrefix + endpoints[at].Path + "?app_identifier=" + apitest.Identifier
			body := bytes.Replace(s.Answer("GET", target, nil).Body, []byte(`"data"`), []byte(`"value"`), 1)
			makers[at] = &odataTrees{random, endpoints[at].Fields, readOData(t, body).Value}
		}
		r := makers[at]
		tree := r.tree(random.IntN(6), nil)
		var want []int
		for i, record := range r.records {
			if tree.holds(record) == 1 {
				want = append(want, i)
			}
		}
		pairs := []string{"$filter", tree.text, "$count", "true", "$select", "row_key"}
		if order := r.order(endpoints[at].Order[0], want); order != "" {
			pairs = append(pairs, "$orderby", order)
		}
		skip := random.IntN(3) * random.IntN(20)
		pairs = append(pairs, "$skip", fmt.Sprint(skip))
		a, page := askOData(t, s, endpoints[at].SetName(), pairs...)
		if a.Status != 200 {
			t.Fatalf("%s, %q: %d %s", endpoints[at].SetName(), pairs, a.Status, a.Body)
		}
		got := []int{}
		for _, record := range page.Value {
			key, row := record["row_key"].(string), 0
			fmt.Sscanf(strings.TrimLeft(key[strings.LastIndexByte(key, '-')+1:], "0"), "%d", &row)
			got = append(got, row)
		}
		if *page.Count != len(want) || !slices.Equal(got, want[min(skip, len(want)):]) {
			t.Fatalf("%s, %q: rows %v, count %d, want %v", endpoints[at].SetName(), pairs, got, *page.Count, want)
		}
		found += min(1, len(want)) * min(1, len(r.records)-len(want))
	}
	if found < odataFilters/2 {
		t.Errorf("only %d filters kept some rows and not all", found)
	}
}
