//go:build !race

package browse_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/state"
)

var rowNumber = regexp.MustCompile(`[?;]row=(\d+)[^"]*#record"`)

// TestBrowseSorted: pages of records that a column sorts have the positions that a plain sort of
// the whole list gives, without a value last, and what each leads to is that record.
func TestBrowseSorted(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 120)
	random := rand.New(rand.NewPCG(17, 18))
	tried := 0
	for i := range contract.Endpoints {
		e := &contract.Endpoints[i]
		records := answeredBy(t, s, e.Path+"?"+filtersOf(nil))
		for range 4 {
			f := &e.Fields[random.IntN(len(e.Fields))]
			down, offset, limit := random.IntN(2) == 0, random.IntN(len(records)), 1+random.IntN(60)
			want := make([]int, len(records))
			for n := range want {
				want[n] = n
			}
			sort.SliceStable(want, func(a, b int) bool {
				x, y := records[want[a]][f.Name], records[want[b]][f.Name]
				if x == nil || y == nil {
					return x != nil
				}
				if down {
					x, y = y, x
				}
				if f.Type == contract.Integer || f.Type == contract.Number || f.Type == contract.Exact {
					m, _ := strconv.ParseFloat(fmt.Sprint(x), 64)
					n, _ := strconv.ParseFloat(fmt.Sprint(y), 64)
					return m < n
				}
				return fmt.Sprint(x) < fmt.Sprint(y)
			})
			want = want[offset:min(offset+limit, len(want))]
			name := map[bool]string{true: "-", false: ""}[down] + f.Name
			path := fmt.Sprintf("%s%s?sort=%s&offset=%d&limit=%d", "/browse/", e.Name(), name, offset, limit)
			page := string(apitest.Browse(s, path).Body)
			var got []int
			for _, m := range rowNumber.FindAllStringSubmatch(page, -1) {
				n, _ := strconv.Atoi(m[1])
				got = append(got, n)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: rows %v, want %v", path, got, want)
			}
			order := map[bool]string{true: "descending", false: "ascending"}[down]
			if strings.Count(page, `aria-sort="`) > 1 ||
				strings.Contains(page, `aria-sort="`) && !strings.Contains(page, order) {
				t.Errorf("%s: the header says another order", path)
			}
			tried++
		}
	}
	t.Logf("%d pages", tried)
}
