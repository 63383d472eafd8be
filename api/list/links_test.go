//go:build !race

package list_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/reply"
	"hdqs/api/state"
)

// TestLinks follows the links of random pages in both directions and compares the targets with
// computed offsets.
func TestLinks(t *testing.T) {
	t.Parallel()
	const rows = 47
	s := apitest.Server(t, state.Options{}, []*apitest.Table{apitest.Locations(rows, nil)})
	random := rand.New(rand.NewPCG(2, 9))
	ask := func(query string) (api.Answer, []int) {
		got := s.Answer("GET", "/api/v2/metadata/location"+query,
			apitest.Fields(contract.ContractNames.IdentifierHeader(), apitest.Identifier))
		var answer struct{ Data []struct{ ID int } }
		if err := json.Unmarshal(got.Body, &answer); got.Status != 200 || err != nil {
			t.Fatalf("%s: %d %v", query, got.Status, err)
		}
		var ids []int
		for _, row := range answer.Data {
			ids = append(ids, row.ID)
		}
		if n, _ := apitest.Field(got, contract.HeaderResult); n != strconv.Itoa(len(ids)) {
			t.Errorf("%s: %s %s, %d rows", query, contract.HeaderResult, n, len(ids))
		}
		return got, ids
	}
	for range 300 {
		limit, offset := 1+random.IntN(20), random.IntN(60)
		got, ids := ask(fmt.Sprintf("?limit=%d&offset=%d", limit, offset))
		links := linksOf(got)
		for rel, want := range map[string]bool{
			"first": offset > 0, "prev": offset > 0, "next": offset+limit < rows, "last": offset+limit < rows ||
				offset >= rows,
		} {
			if _, ok := links[rel]; ok != want {
				t.Errorf("limit %d, offset %d: link %q is %q", limit, offset, rel, links[rel])
			}
		}
		if next, ok := links["next"]; ok {
			if _, after := ask(next); len(after) == 0 || after[0] != ids[len(ids)-1]+1 {
				t.Errorf("limit %d, offset %d: next begins with %v", limit, offset, after)
			}
		}
		if last, ok := links["last"]; ok {
			if end, after := ask(last); len(after) == 0 || after[len(after)-1] != rows-1 || linksOf(end)["next"] != "" {
				t.Errorf("limit %d, offset %d: last ends with %v", limit, offset, after)
			}
		}
		if prev, ok := links["prev"]; ok {
			want := max(0, offset-limit)
			if offset-limit >= rows {
				want = (rows - 1) / limit * limit
			}
			if _, before := ask(prev); len(before) == 0 || before[0] != want {
				t.Errorf("limit %d, offset %d: prev begins with %v, want %d", limit, offset, before, want)
			}
		}
		if first, ok := links["first"]; ok {
			if _, begin := ask(first); begin[0] != 0 {
				t.Errorf("first begins with %v", begin)
			}
		}
	}
	// Filter texts of the maximum length do not make headers that are too long for proxies.
	long := s.Answer("GET", "/api/v2/metadata/location?limit=1&name=%25"+strings.Repeat("%F0%9F%8C%8D", 511),
		apitest.Fields(contract.ContractNames.IdentifierHeader(), apitest.Identifier))
	if link, _ := apitest.Field(long, "Link"); long.Status != 200 || len(link) > reply.MaxLinks {
		t.Errorf("%d, links of %d bytes", long.Status, len(link))
	}
}

// TestLinksOfLongQueries checks that, for a query of any length, either every page but the last has
// a next link, or no page has one, and that the header states the number of rows.
func TestLinksOfLongQueries(t *testing.T) {
	t.Parallel()
	const path = "/api/v2/metadata/dataset"
	datasets := apitest.SampleTable(apitest.Plan(path).Endpoint, 120, rand.New(rand.NewPCG(5, 6)))
	s := apitest.Server(t, state.Options{Identifier: state.IgnoreIdentifier}, []*apitest.Table{datasets})
	field := func(a api.Answer, name string) int {
		n, err := strconv.Atoi(apitest.Header(a, name))
		if a.Status != 200 || err != nil {
			t.Fatalf("%d, %s: %v", a.Status, name, err)
		}
		return n
	}
	linked, bare := 0, 0
	for n := 1; n <= 1024; n++ {
		if n > 200 && n < 600 && n%10 > 0 {
			continue // only one link is left from about 210 on, and none from about 650 on
		}
		target, rows, pages := "?limit=9&dataset_catalog_title="+strings.Repeat("%25", n), 0, 0
		var total int
		for target != "" {
			page := s.Answer("GET", path+target, nil)
			rows, pages, total = rows+field(page, contract.HeaderResult), pages+1, field(page, contract.HeaderTotal)
			target = linksOf(page)["next"]
		}
		switch {
		case total < 100:
			t.Fatalf("%d rows, want more, so that offsets get longer", total)
		case pages == 1:
			bare++
		case rows == total:
			linked++
		default:
			t.Errorf("%d percent signs: %d of %d rows in %d pages", n, rows, total, pages)
		}
	}
	if linked < 200 || bare < 200 {
		t.Errorf("%d queries with links, %d without", linked, bare)
	}
}
