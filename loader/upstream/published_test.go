package upstream

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hdqs/internal/fetch"
	"hdqs/internal/testkit"
	"hdqs/loader"
	"hdqs/loader/catalogfile"
	"hdqs/schema"
)

// TestPublishedNames: the names under which the portal publishes its tables are those of a role.
func TestPublishedNames(t *testing.T) {
	t.Parallel()
	inputs := loader.Inputs()
	for _, c := range testkit.Cases(t, "testdata/names.txt", " | ", 4) {
		role, dataset, resources := c[0], c[1], strings.Split(c[3], "; ")
		i := slices.IndexFunc(inputs, func(in schema.Source) bool { return in.Role == role })
		if i < 0 || inputs[i].Dataset != dataset {
			t.Errorf("%s: no input of the dataset %s", role, dataset)
			continue
		}
		p := &ckanPackage{
			ID: "x", Name: catalogfile.Text(dataset),
			Resources: ckanResources{{Name: catalogfile.Text(resources[0]), Format: "XLSX"}},
		}
		for _, name := range resources {
			p.Resources = append(p.Resources, ckanResource{Name: catalogfile.Text(name), Format: "csv"})
		}
		if got := pick(&inputs[i], p); strconv.Itoa(len(got)) != c[2] {
			t.Errorf("%s: %d resources of %q, want %s", role, len(got), resources, c[2])
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
