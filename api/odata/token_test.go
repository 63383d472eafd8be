//go:build !race

package odata_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hdqs/api/apitest"
	"hdqs/api/odata"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

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
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", token, got, want)
		}
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
