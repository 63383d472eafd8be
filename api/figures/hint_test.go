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
	"hdqs/internal/testkit"
)

const eventsPath = "/api/v2/coordination-context/conflict-events"

// TestUnitsOfOneName checks that groups by names that units of several countries share get a hint,
// only where a group has several countries.
func TestUnitsOfOneName(t *testing.T) {
	t.Parallel()
	table := apitest.SampleTable(apitest.Plan(eventsPath).Endpoint, 60, rand.New(rand.NewPCG(1, 2)))
	for i, row := range table.Rows {
		row["location_code"] = []string{"CMR", "HTI", "TCD"}[i%3]
		row["admin1_name"] = []string{"Centre", "Nord", "Lac"}[i%3]
		if i%2 == 0 {
			row["admin1_name"] = "Centre"
		}
		row["admin2_name"] = row["location_code"].(string) + " 1"
	}
	s := apitest.Server(t, state.Options{Identifier: state.IgnoreIdentifier}, []*apitest.Table{table})
	for query, want := range map[string]bool{
		"group_by=admin1_name":                               true,
		"group_by=admin_level,admin1_name&limit=1":           true,
		"group_by=admin1_name&output_format=csv":             true,
		"group_by=admin1_name,location_code":                 false,
		"group_by=location_name,admin1_name":                 false,
		"group_by=admin1_name&location_code=HTI":             false,
		"group_by=admin2_name":                               false, // no name is shared
		"group_by=event_type":                                false,
		"group_by=admin1_name&location_code=none":            false,
		"group_by=admin1_name&measures=distinct:admin2_code": true,
	} {
		got := s.Answer("GET", eventsPath+"/aggregate?"+query, nil)
		hint := apitest.Header(got, "X-Hint")
		has := strings.Contains(hint, "admin1_name have records of several countries")
		if got.Status != 200 || has != want {
			t.Errorf("%s: %d %.200s with the hint %q", query, got.Status, got.Body, hint)
		}
		if strings.Contains(string(got.Body), "distinct_location_code") {
			t.Errorf("%s: the answer has a field that was not asked for: %.200s", query, got.Body)
		}
	}
}

// TestHints: an answer says what a name took in, which countries a level leaves out, and that
// places of one group contain those of another.
func TestHints(t *testing.T) {
	t.Parallel()
	tables := apitest.TrapTables(t)
	apitest.AddRows(t, tables, `
only conflict_event
NER 2024-01; location_name=Niger; admin1_name=North; stored_admin1_name=North; event_type=political_violence; events=1; fatalities=1
NGA/NG01 2024-01; location_name=Nigeria; admin1_name=North; stored_admin1_name=North; event_type=political_violence; events=1; fatalities=1
NGA/NG01/NG0101 2024-01; location_name=Nigeria; admin1_name=North; stored_admin1_name=North; event_type=political_violence; events=1; fatalities=1
SDN/SD02/SD0201 2024-01; location_name=Sudan; admin1_name=North; stored_admin1_name=North; event_type=political_violence; events=1; fatalities=1
AFG/AF01 2024-01; event_type=political_violence; events=1; fatalities=1
BDI/BD01 2024-01; event_type=political_violence; events=1; fatalities=1
SDN/SD01 2024-01; event_type=political_violence; events=1; fatalities=1`)
	s := apitest.Server(t, state.Options{Identifier: state.IgnoreIdentifier}, tables)
	const (
		has   = "; admin_level=coarsest has all"
		niger = "location_name=Niger: 2 countries: NER, NGA; location_code=NER is one"
		all   = "admin_level=0 leaves out AFG, BDI and 2 more, which have other levels"
		nests = "Places of some groups contain those of others, so the groups are not to be added up."
	)
	for query, want := range map[string]string{
		"location_name=Niger&admin_level__in=0,1&measures=sum:events":                   niger,
		"location_name=Niger&admin_level__in=0,1&measures=count&group_by=location_code": "",
		"location_code=NER&measures=sum:events":                                         "",
		"location_name=nigeria&admin_level=1":                                           "",
		"admin_level=0&measures=sum:events":                                             all + has,
		"admin_level=0&group_by=admin1_code":                                            all,
		"admin_level=0&location_code__in=NER,SDN&measures=sum:events": "admin_level=0 leaves out SDN, which have " +
			"other levels" + has,
		"location_name=Niger&admin_level=0": "admin_level=0 leaves out NGA, which have other levels; " +
			"admin_level=coarsest has all",
		"admin1_name=North&admin_level=2&measures=sum:events": "admin1_name=North: 2 places: NG01, SD02; " +
			"admin1_code=NG01 is one | admin_level=2 leaves out NER, which have other levels" + has,
		"location_code=NGA&group_by=admin2_code&measures=sum:events": nests,
		"location_code=NGA&group_by=admin_level&measures=sum:events": "",
	} {
		got := s.Answer("GET", eventsPath+"/aggregate?"+query, nil)
		if hint := apitest.Header(got, "X-Hint"); got.Status != 200 || hint != want {
			t.Errorf("%s: %d %.300s with the hint %q, want %q", query, got.Status, got.Body, hint, want)
		}
	}
	got := s.Answer("GET", eventsPath+"?location_name=Niger&admin_level=0", nil)
	testkit.Equal(t, apitest.Header(got, "X-Hint"), "", "a list has the hint")
}

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
