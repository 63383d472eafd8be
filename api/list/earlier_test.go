//go:build !race

package list_test

import (
	"math/rand/v2"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/state"
	"hdqs/index"
)

// TestEarlierFilters compares the filters of version 1 below /hapi with the whole list: a start is
// inclusive, an end exclusive, and the provider's names match a part in any case, without the names
// of the lists of units.
func TestEarlierFilters(t *testing.T) {
	t.Parallel()
	s := apitest.Server(t, state.Options{}, apitest.SampleTables(t, 200))
	random := rand.New(rand.NewPCG(20, 7))
	found, excluded := map[string]int{}, map[string]int{}
	for i := range contract.Endpoints {
		h := apitest.HAPIEndpoint(i)
		path := contract.HAPIPrefix + h.Path
		ask := func(path, query string) api.Answer {
			return s.Answer("GET", path+"?"+query+"&app_identifier="+apitest.Identifier, nil)
		}
		list := ask(path, "output_format=csv")
		whole := apitest.Cells(t, list.Body)
		for _, p := range h.Params {
			if !p.Earlier {
				continue
			}
			field := strings.TrimSuffix(strings.TrimSuffix(p.Name, "_min"), "_max")
			column := slices.Index(whole[0], field)
			for range apitest.Trials(12, 4) {
				value := whole[1+random.IntN(len(whole)-1)][column]
				if value == "" ||
					strings.ContainsFunc(value,
						func(c rune) bool { return c > 'z' || strings.ContainsRune(`%_\`, c) }) {
					continue
				}
				sent := value
				if p.Op == index.Contains {
					sent = strings.ToUpper(value[:1+random.IntN(len(value))])
				} else if strings.HasSuffix(value, "00:00:00") && random.IntN(2) == 0 {
					sent = value[:len("2024-01-01")]
				}
				var want [][]string
				for _, line := range whole[1:] {
					if keepsEarlier(p.Op, line[column], value, sent) {
						want = append(want, line)
					}
				}
				rows := len(want)
				if rows > 0 {
					want = append(whole[:1:1], want...)
				}
				found[p.Name] += rows
				excluded[p.Name] += len(whole) - 1 - rows
				filter := p.Name + "=" + url.QueryEscape(sent)
				last := contract.HAPIPrefix + h.Paths()[len(h.Paths())-1]
				for _, path := range []string{path, path + "/export", last} {
					got := ask(path, filter+"&output_format=csv")
					if got.Status != 200 || !reflect.DeepEqual(apitest.Cells(t, got.Body), want) {
						t.Errorf("%s?%s: %d\n%.300s\nwant %d rows", path, filter, got.Status, got.Body, rows)
					}
				}
			}
		}
	}
	if len(found) != 6 {
		t.Errorf("%d filters were tried, want 6", len(found))
	}
	for name := range found {
		if found[name] == 0 || excluded[name] == 0 {
			t.Errorf("%s found %d rows and excluded %d", name, found[name], excluded[name])
		}
	}
}

// keepsEarlier reports whether a cell passes. Times of one form sort as texts do.
func keepsEarlier(op index.Op, cell, value, sent string) bool {
	switch op {
	case index.AtLeast:
		return cell != "" && cell >= value
	case index.Below:
		return cell != "" && cell < value
	}
	return strings.Contains(strings.ToLower(cell), strings.ToLower(sent))
}
