//go:build !race

package odata_test

import (
	"fmt"
	"strings"
	"testing"

	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/state"
)

// TestODataGroups asks each set for groups of countries, and for the codes of their members.
func TestODataGroups(t *testing.T) {
	t.Parallel()
	own := []contract.CountryGroup{
		{Kind: contract.OwnGroup, Slug: "one", Name: "One", Members: []string{"AFG", "MLI"}},
		{Kind: contract.OwnGroup, Slug: "two", Name: "Two", Members: []string{"SOM"}},
	}
	s := apitest.Sample(t, state.Options{BaseURL: apitest.ODataBase, Groups: own}, 60)
	page := func(set, filter string) string {
		a, _ := askOData(t, s, set, "$filter", filter, "$count", "true")
		_, records, _ := strings.Cut(string(a.Body), `"@odata.count"`)
		if records, _, _ = strings.Cut(records, `"@odata.nextLink"`); a.Status != 200 {
			t.Errorf("%s: %s: %d %s", set, filter, a.Status, a.Body)
		}
		return records
	}
	compared := 0
	compare := func(set, group, codes string) {
		for filter, want := range map[string]string{
			group + " eq 'one'": codes + " in ('AFG','MLI')",
			group + " in ('two','one') and " + codes + " ne 'x'": codes + " in ('AFG','MLI','SOM')",
		} {
			if got, want := page(set, filter), page(set, want); got != want {
				t.Errorf("%s: %s: %s\nwant %s", set, filter, got, want)
			}
			compared++
		}
	}
	endpoints := contract.EndpointsIn(contract.HAPINames)
	for i := range endpoints {
		for _, p := range endpoints[i].Filters() {
			if p.Grouped {
				compare(endpoints[i].SetName(), p.Name, p.Columns[0])
			}
		}
	}
	compare("figures", "group", "location_code")
	compare("refugees_by_asylum_country", "asylum_group", "asylum_location_code")
	if compared < 40 {
		t.Errorf("only %d compared", compared)
	}
	a, _ := askOData(t, s, "groups", "$filter", "group eq 'one' or group eq 'two'", "$select", "group")
	if n := strings.Count(string(a.Body), `"row_key":"one|`); a.Status != 200 || n != 2 ||
		!strings.Contains(string(a.Body), `"row_key":"two|SOM"`) {
		t.Errorf("groups: %d %s", a.Status, a.Body)
	}
	for filter, want := range map[string]string{
		"group eq 'three'":                    "400 is no group of countries",
		"group eq 'one' or admin_level eq 0":  "501 by and only",
		"not (group eq 'one')":                "501 by and only",
		"group ne 'one'":                      "501 eq and in only",
		"group eq null":                       "400 such as",
		"group eq 'one' and group in ('two')": "501 asked for once",
		"startswith(group,'one')":             "400 no property",
	} {
		a, _ := askOData(t, s, "idps", "$filter", filter)
		status, words, _ := strings.Cut(want, " ")
		if fmt.Sprint(a.Status) != status || !strings.Contains(string(a.Body), words) {
			t.Errorf("%s: %d %s, want %s", filter, a.Status, a.Body, want)
		}
	}
}
