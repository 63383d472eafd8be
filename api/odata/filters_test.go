//go:build !race

package odata_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/odata"
	"hdqs/api/state"
	"hdqs/internal/testkit"
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

// FuzzODataSkipToken asks for pages with any $skiptoken. It is refused, or leads to the rows from
// its number on of the state that it names, and through the links to all of them up to the last.
func FuzzODataSkipToken(f *testing.F) {
	first, second := apitest.TwoSnapshots(f, 30)
	s := apitest.Serve(f, state.Options{BaseURL: apitest.ODataBase, KeepPrevious: testkit.Patience}, first)
	whole := map[string][]string{} // keys and names of rows by state
	read := func(t testing.TB, target string) (rows []string) {
		for target != "" {
			a := s.Answer("GET", strings.TrimPrefix(target, apitest.ODataBase),
				apitest.Fields("Prefer", "odata.maxpagesize=7"))
			if a.Status != 200 && len(rows) == 0 {
				return []string{strconv.Itoa(a.Status)}
			}
			page := readOData(t, a.Body)
			if a.Status != 200 || len(page.Value) > 7 {
				t.Fatalf("%s: %d, %d rows, %.300s", target, a.Status, len(page.Value), a.Body)
			}
			for _, row := range page.Value {
				rows = append(rows, fmt.Sprint(row["row_key"], row["name"]))
			}
			target = page.Next
		}
		return rows
	}
	for range 2 {
		rows := read(f, odata.Root+"sector")
		of, _, _ := strings.Cut(rows[0], "-")
		whole[of] = rows
		if len(whole) == 1 {
			apitest.Swap(f, s, state.Release{Snapshot: second, PublishedAt: apitest.PublishedTime})
		}
	}
	if len(whole) != 2 {
		f.Fatalf("%d states, want 2", len(whole))
	}
	for of := range whole {
		for _, token := range []string{
			"~0", "~7", "~30", "~31", "~007", "~-1", "~+7", "~4611686018427387904", "~7~7", "", "~",
		} {
			f.Add(of + token)
			f.Add(of[1:] + token)
		}
	}
	f.Add("\xff~1")
	f.Add("a b~1&$filter=false")
	f.Fuzz(func(t *testing.T, token string) {
		if len(token) > 1000 { // longer addresses are refused for their length
			return
		}
		got := read(t, odata.Root+"sector?$skiptoken="+escapedToken(token))
		of, at, _ := strings.Cut(token, "~")
		n, err := strconv.ParseUint(at, 10, 62)
		want := []string(nil)
		switch rows := whole[of]; {
		case err != nil || of == "" || strings.ContainsFunc(of, isNoTokenSign):
			want = []string{"400"}
		case rows == nil:
			want = []string{"410"}
		case n < uint64(len(rows)):
			want = rows[n:]
		}
		testkit.EqualLists(t, got, want, "%q", token)
	})
}

// escapedToken writes every byte of a token as a query has any byte.
func escapedToken(token string) string {
	var b strings.Builder
	for i := range len(token) {
		fmt.Fprintf(&b, "%%%02x", token[i])
	}
	return b.String()
}

func isNoTokenSign(r rune) bool {
	isLetter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	return !isLetter && r != '.' && r != '_' && r != '-'
}
