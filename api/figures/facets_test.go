//go:build !race

package figures_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/reply"
	"hdqs/api/state"
)

// TestFacetsLeftOut checks that a field with many values has the most frequent ones, and that the
// answer says how many it leaves out.
func TestFacetsLeftOut(t *testing.T) {
	t.Parallel()
	const path = "/api/v2/metadata/location"
	table := apitest.SampleTable(apitest.Plan(path).Endpoint, 0, rand.New(rand.NewPCG(1, 2)))
	for i := range 250 {
		for range 1 + i%7 {
			table.Rows = append(table.Rows, map[string]any{
				"id": int64(len(table.Rows) * 1_000_003), "code": fmt.Sprintf("C%03d", i), "name": "one",
				"has_hrp": true, "in_gho": i%2 == 0, "from_cods": true,
				"reference_period_start": apitest.PublishedTime, "reference_period_end": nil,
			})
		}
	}
	s := apitest.Server(t, state.Options{SkipWarmUp: true}, []*apitest.Table{table})
	for _, format := range []string{"", "&output_format=csv", "&limit=3"} {
		target := path + "/facets?app_identifier=" + apitest.Identifier + "&of=code,name,id" + format
		for range 3 { // also from the cache
			got := s.Answer("GET", target, nil)
			more, _ := apitest.Field(got, contract.HeaderMore)
			exposed, _ := apitest.Field(got, "Access-Control-Expose-Headers")
			want := fmt.Sprintf("code=50, id=%d", len(table.Rows)-contract.MaxFacet)
			if got.Status != 200 || more != want || exposed != reply.ExposedHeaders+", "+contract.HeaderMore {
				t.Fatalf("%s: %d, %q, want %q, %q", target, got.Status, more, want, exposed)
			}
			if total, _ := apitest.Field(got, "X-Total-Count"); total != strconv.Itoa(2*contract.MaxFacet+1) {
				t.Errorf("%s: %s records", target, total)
			}
		}
	}
	var want []string
	for count := 7; count > 0; count-- {
		for i := count - 1; i < 250; i += 7 {
			want = append(want, fmt.Sprintf(`{"field":"code","value":"C%03d","count":%d}`, i, count))
		}
	}
	got := s.Answer("GET", path+"/facets?of=code&app_identifier="+apitest.Identifier, nil)
	if string(got.Body) != `{"data":[`+strings.Join(want[:contract.MaxFacet], ",")+"]}" {
		t.Errorf("%s\nwant\n%s", got.Body, want)
	}
	list := s.Answer("GET", path+"?app_identifier="+apitest.Identifier, nil)
	if got, has := apitest.Field(list, "Access-Control-Expose-Headers"); !has ||
		strings.Contains(got, contract.HeaderMore) {
		t.Errorf("a list exposes %s", got)
	}
}

// TestFacetsOfManyNumbers checks that a number with too many values is refused with the reason.
func TestFacetsOfManyNumbers(t *testing.T) {
	t.Parallel()
	const path = "/api/v2/metadata/location"
	table := apitest.SampleTable(apitest.Plan(path).Endpoint, 10_001, rand.New(rand.NewPCG(1, 2)))
	for i, row := range table.Rows {
		row["id"] = int64(i)
	}
	s := apitest.Server(t, state.Options{SkipWarmUp: true}, []*apitest.Table{table})
	target := path + "/facets?app_identifier=" + apitest.Identifier + "&of=code,id"
	got := s.Answer("GET", target, nil)
	const reason = `"loc":["query","of"],"msg":"Value error, id has more than 10000`
	if got.Status != 422 || !strings.Contains(string(got.Body), reason) {
		t.Errorf("%d %.300s", got.Status, got.Body)
	}
	if got := s.Answer("GET", target+"&id=7", nil); got.Status != 422 { // the filter of id itself is set aside
		t.Errorf("%d %.300s", got.Status, got.Body)
	}
	got = s.Answer("GET", target+"&has_hrp=true", nil)
	if more, _ := apitest.Field(got, contract.HeaderMore); got.Status != 200 || !strings.HasPrefix(more, "id=") {
		t.Errorf("%d, more %s, %.300s", got.Status, more, got.Body)
	}
}

// TestFacetsWithoutTable checks that an endpoint without a table has no values.
func TestFacetsWithoutTable(t *testing.T) {
	t.Parallel()
	s := apitest.SampleOf(t, state.Options{SkipWarmUp: true}, "/api/v2/metadata/location", 5)
	for format, want := range map[string]string{"json": state.EmptyJSON, "csv": "field,value,count\r\n"} {
		target := "/api/v2/climate/rainfall/facets?app_identifier=" + apitest.Identifier + "&of=version&output_format=" + format
		if got := s.Answer("GET", target, nil); got.Status != 200 || string(got.Body) != want {
			t.Errorf("%s: %d %q", target, got.Status, got.Body)
		}
	}
}
