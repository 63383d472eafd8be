//go:build !race

package odata_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"hdqs/api/contract"
)

// odataTest is a random condition on a field: as text, and as what it means.
type odataTest struct {
	text string
	// holds is 1 for true, 0 for false and -1 for neither.
	holds func(v any) int
}

// odataTests makes conditions on a field of the values that a list has.
type odataTests struct {
	*rand.Rand
	field  contract.Field
	values []any // that occur
}

func (r *odataTests) value() any {
	if r.IntN(12) == 0 {
		return nil
	}
	return r.values[r.IntN(len(r.values))]
}

func odataTruth(b bool) int {
	if b {
		return 1
	}
	return 0
}

// literal is a value as a $filter has it.
func (r *odataTests) literal(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		if r.field.Type == contract.DateTime {
			if !contract.IsDay(r.field.Column()) {
				return v + "Z"
			}
			return v[:10]
		}
		return "'" + strings.ReplaceAll(v, "'", "''") + "'"
	}
	return fmt.Sprint(v)
}

// order compares two values of one field; times as texts, days by their day.
func (r *odataTests) order(a, b any) int {
	if x, isNumber := a.(json.Number); isNumber {
		p, _ := x.Float64()
		q, _ := b.(json.Number).Float64()
		switch {
		case p < q:
			return -1
		case p > q:
			return 1
		}
		return 0
	}
	p, q := fmt.Sprint(a), fmt.Sprint(b)
	if contract.IsDay(r.field.Column()) {
		p, q = p[:10], q[:10]
	}
	if r.field.Type == contract.DateTime && !contract.IsDay(r.field.Column()) { // .5 after no fraction
		at := func(s string) string {
			x, _ := time.Parse("2006-01-02T15:04:05", s)
			return x.Format("2006-01-02T15:04:05.000000")
		}
		p, q = at(p), at(q)
	}
	return strings.Compare(p, q)
}

// test makes a condition.
func (r *odataTests) test() odataTest {
	name, typ := r.field.Name, r.field.Type
	isText := typ == contract.String || typ == contract.Choice || typ == contract.URI
	switch k := r.IntN(8); {
	case k == 0:
		return r.list()
	case k == 1 && typ == contract.DateTime:
		at, isDate := r.value().(string)
		if !isDate {
			break
		}
		want, _ := strconv.Atoi(at[5:7])
		return odataTest{fmt.Sprintf("month(%s) eq %d", name, want), func(v any) int {
			s, has := v.(string)
			return odataTruth(has && s[5:7] == at[5:7])
		}}
	case k < 4 && isText:
		return r.within()
	}
	op, v := []string{"eq", "ne", "gt", "ge", "lt", "le"}[r.IntN(6)], r.value()
	if typ == contract.Boolean {
		op = []string{"eq", "ne"}[r.IntN(2)]
	}
	text := fmt.Sprintf("%s %s %s", name, op, r.literal(v))
	if r.IntN(5) == 0 {
		mirrored, isOrder := map[string]string{"gt": "lt", "ge": "le", "lt": "gt", "le": "ge"}[op]
		if !isOrder {
			mirrored = op
		}
		text = fmt.Sprintf("%s %s %s", r.literal(v), strings.ToUpper(mirrored), name)
	}
	return odataTest{text, func(x any) int {
		same := x == nil && v == nil || x != nil && v != nil && r.order(x, v) == 0
		switch {
		case op == "eq" || op == "ne":
			return odataTruth(same == (op == "eq"))
		case x == nil || v == nil:
			return 0
		}
		sign := r.order(x, v)
		return odataTruth(op[0] == 'g' && sign > 0 || op[0] == 'l' && sign < 0 || op[1] == 'e' && sign == 0)
	}}
}

func (r *odataTests) list() odataTest {
	var all []any
	var texts []string
	for range 1 + r.IntN(4) {
		v := r.value()
		all, texts = append(all, v), append(texts, r.literal(v))
	}
	return odataTest{r.field.Name + " in (" + strings.Join(texts, ",") + ")", func(x any) int {
		return odataTruth(slices.ContainsFunc(all, func(v any) bool {
			return x == nil && v == nil || x != nil && v != nil && r.order(x, v) == 0
		}))
	}}
}

// within is a function of texts.
func (r *odataTests) within() odataTest {
	part, isText := r.value().(string)
	if !isText {
		part = "a"
	}
	if letters := []rune(part); len(letters) > 2 {
		from := r.IntN(len(letters) - 1)
		part = string(letters[from : from+1+r.IntN(len(letters)-from)])
	}
	lower := r.IntN(3) == 0
	of := r.field.Name
	if lower {
		of, part = "tolower("+of+")", strings.ToLower(part)
	}
	at := r.IntN(3)
	quoted := "'" + strings.ReplaceAll(part, "'", "''") + "'"
	text := []string{"contains", "startswith", "endswith"}[at] + "(" + of + "," + quoted + ")"
	return odataTest{text, func(v any) int {
		s, has := v.(string)
		if !has {
			return -1
		}
		if lower {
			s = strings.ToLower(s)
		}
		tests := []func(string, string) bool{strings.Contains, strings.HasPrefix, strings.HasSuffix}
		return odataTruth(tests[at](s, part))
	}}
}
