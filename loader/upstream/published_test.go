package upstream

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"hdqs/internal/fetch"
	"hdqs/internal/testkit"
	"hdqs/loader"
	"hdqs/loader/catalogfile"
	"hdqs/schema"
)

// publishedNames are the datasets and resources of the portal as the programs that publish them
// name them, not as this loader does: for each dataset the names of its CSV resources, and how many
// of them a role has.
var publishedNames = []struct {
	role, dataset string
	resources     []string
	picked        int
}{
	{"conflict-events", "hdx-hapi-conflict-event", []string{
		"Global Coordination & Context: Conflict Events (2026)",
		"Global Coordination & Context: Conflict Events (1997)",
		"Global Coordination & Context: Conflict Events (2025-2029)",
	}, 3},
	{"operational-presence", "hdx-hapi-operational-presence", []string{
		"Global Coordination & Context: Operational Presence",
	}, 1},
	{"funding", "hdx-hapi-funding", []string{"Global Coordination & Context: Funding"}, 1},
	{"national-risk", "hdx-hapi-national-risk", []string{"Global Coordination & Context: National Risk"}, 1},
	{"humanitarian-needs", "hdx-hapi-humanitarian-needs", []string{
		"Global Affected People: Humanitarian Needs 2026", "Global Affected People: Humanitarian Needs 2024",
	}, 2},
	{"refugees-persons-of-concern", "hdx-hapi-refugees", []string{
		"Global Affected People: Refugees & Persons of Concern (2020-2024)",
		"Global Affected People: Refugees & Persons of Concern (2000-2004)",
	}, 2},
	{"returnees", "hdx-hapi-returnees", []string{"Global Affected People: Returnees"}, 1},
	{"idps", "hdx-hapi-idps", []string{"Global Affected People: Internally-Displaced Persons"}, 1},
	{"food-security", "hdx-hapi-food-security", []string{
		"Global Food Security, Nutrition & Poverty: Food Security",
	}, 1},
	{"food-prices-market-monitor", "hdx-hapi-food-price", foodPrices, 2},
	{"market", "hdx-hapi-food-price", foodPrices, 1},
	{"commodity", "hdx-hapi-food-price", foodPrices, 1},
	{"currency", "hdx-hapi-food-price", foodPrices, 1},
	{"poverty-rate", "hdx-hapi-poverty-rate", []string{"Global Food Security, Nutrition & Poverty: Poverty Rate"}, 1},
	{"rainfall", "hdx-hapi-rainfall", []string{
		"Global Climate: Rainfall (1 year ago)", "Global Climate: Rainfall (2 years ago)",
	}, 2},
	{"baseline-population", "hdx-hapi-population", []string{
		"Global Geography & Infrastructure: Baseline Population (HRP countries)",
		"Global Geography & Infrastructure: Baseline Population (Non-HRP countries)",
	}, 2},
	{"org", "hdx-hapi-organisations", []string{"Global Coordination & Context: Organisations"}, 1},
	{"pcodes", "global-pcodes", []string{"global_pcodes_adm_1_2.csv", "global_pcodes.csv"}, 1},
	{"org-type", "organization-types-beta", []string{
		"Organization Types (Beta) - CSV", "Organization Types (Beta) - CSV no HXL",
	}, 1},
	{"sector", "global-coordination-groups-beta", []string{
		"Global Coordination Groups (Beta) CSV", "Global Coordination Groups (Beta) CSV no HXL",
	}, 1},
}

var foodPrices = []string{
	"Global Food Security, Nutrition & Poverty: Markets", "Global Food Security, Nutrition & Poverty: Commodities",
	"Global Food Security, Nutrition & Poverty: Currencies",
	"Global Food Security, Nutrition & Poverty: Food Prices 2026",
	"Global Food Security, Nutrition & Poverty: Food Prices 2025",
}

func TestPublishedNames(t *testing.T) {
	t.Parallel()
	inputs := loader.Inputs()
	for _, c := range publishedNames {
		i := slices.IndexFunc(inputs, func(in schema.Source) bool { return in.Role == c.role })
		if i < 0 || inputs[i].Dataset != c.dataset {
			t.Errorf("%s: no input of the dataset %s", c.role, c.dataset)
			continue
		}
		p := &ckanPackage{
			ID: "x", Name: catalogfile.Text(c.dataset),
			Resources: ckanResources{{Name: catalogfile.Text(c.resources[0]), Format: "XLSX"}},
		}
		for _, name := range c.resources {
			p.Resources = append(p.Resources, ckanResource{Name: catalogfile.Text(name), Format: "csv"})
		}
		if got := pick(&inputs[i], p); len(got) != c.picked {
			t.Errorf("%s: %d resources of %q, want %d", c.role, len(got), c.resources, c.picked)
		}
	}
}

// TestRecordedPackages replays recorded packages of the portal, as one answer of a search and one
// by one, and picks the lists that are among them.
func TestRecordedPackages(t *testing.T) {
	t.Parallel()
	root := testkit.Fixtures(t)
	var paths []string
	for _, pattern := range []string{"ckan/package_search/*.json", "catalog/packages/*.json"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(found) < 20 {
			t.Fatalf("%s: %d files, %v", pattern, len(found), err)
		}
		paths = append(paths, found...)
	}
	byID, ids := map[string]json.RawMessage{}, []string{}
	for _, path := range paths {
		data := testkit.ReadFile(t, path)
		var head struct {
			ID     string
			Result json.RawMessage
		}
		if err := json.Unmarshal(data, &head); err == nil && head.Result != nil {
			data = head.Result
			err = json.Unmarshal(data, &head)
			testkit.Must(t, err)
		}
		if byID[head.ID] == nil {
			ids = append(ids, head.ID)
		}
		byID[head.ID] = data
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.URL.Query().Get("id")
		var answer any = map[string]any{"count": len(ids) / 2, "results": texts(byID, ids[:len(ids)/2])}
		if strings.HasSuffix(r.URL.Path, "package_show") { // the index of the search lags
			answer = byID[id]
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"success": true, "result": answer})
	}))
	defer server.Close()
	site := &ckanSite{base: server.URL, client: fetch.New(testFetch())}
	lists := map[string]string{}
	n := 0
	err := site.byID(t.Context(), ids, func(found []*ckanPackage) {
		for _, p := range found {
			n++
			if !packageID.MatchString(string(p.ID)) || len(p.Resources) == 0 || byID[string(p.ID)] == nil {
				t.Errorf("package %q with %d resources", p.Name, len(p.Resources))
			}
			for _, in := range loader.Inputs() {
				if in.Dataset == string(p.Name) {
					lists[in.Role] = fmt.Sprint(len(pick(&in, p)))
				}
			}
		}
	})
	if err != nil || n != len(ids) || fmt.Sprint(lists) != "map[org-type:1 sector:1]" {
		t.Errorf("%d of %d packages, lists %v, %v", n, len(ids), lists, err)
	}
}

func texts(byID map[string]json.RawMessage, ids []string) (all []json.RawMessage) {
	for _, id := range ids {
		all = append(all, byID[id])
	}
	return all
}

// TestNothingDownloaded: when every file fails, the error names files and reasons.
func TestNothingDownloaded(t *testing.T) {
	t.Parallel()
	server, o := site(t)
	o.Fetch.BackoffMax = time.Minute // the block lasts until the end of the sync
	server.Fault = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasPrefix(r.URL.Path, "/dataset/") {
			return false
		}
		http.Error(w, "Blocked due to bot activity", http.StatusForbidden)
		return true
	}
	_, err := Sync(t.Context(), o)
	if err == nil || !strings.Contains(err.Error(), "--user-agent") || !strings.Contains(err.Error(), "more") {
		t.Fatalf("got %v", err)
	}
	counts := regexp.MustCompile(`(\d+) of (\d+) files could not be downloaded:\n`).FindStringSubmatch(err.Error())
	if len(counts) != 3 || counts[1] != counts[2] {
		t.Errorf("counts %q in %v", counts, err)
	}
}
