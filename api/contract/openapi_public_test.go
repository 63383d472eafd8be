package contract

import (
	"encoding/json"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

// describedPath is what the tests read of a path of a description.
type describedPath struct {
	Get struct {
		OperationID string `json:"operationId"`
		Responses   map[string]struct {
			Content map[string]struct {
				Schema struct {
					Type, Format string
				}
			}
		}
	}
}

func pathsOf(t *testing.T, s NameSet, kinds ...Kind) map[string]describedPath {
	t.Helper()
	body, err := Description(s, "", s.prefix(), kinds...)
	testkit.Must(t, err)
	var d struct{ Paths map[string]describedPath }
	testkit.Must(t, json.Unmarshal(body, &d))
	return d.Paths
}

func (s NameSet) prefix() string {
	if s == HAPINames {
		return HAPIPrefix
	}
	return ""
}

// TestPublicDescription checks that the usual description in HAPI names has the paths of the public
// service, each with its operationId, and no other.
func TestPublicDescription(t *testing.T) {
	paths := pathsOf(t, HAPINames)
	if len(paths) != len(Endpoints)+2 {
		t.Errorf("%d paths, want %d", len(paths), len(Endpoints)+2)
	}
	for path, want := range map[string]string{
		"encode_app_identifier":  "get_encoded_identifier_api_v2_encode_app_identifier_get",
		"util/version":           "get_version_api_v2_util_version_get",
		"metadata/dataset":       "get_dataset_api_v2_metadata_dataset_get",
		"metadata/resource":      "get_resources_api_v2_metadata_resource_get",
		"metadata/wfp-commodity": "get_wfp_commodities_api_v2_metadata_wfp_commodity_get",
		"food-security-nutrition-poverty/food-prices-market-monitor": "get_food_price_api_v2_" +
			"food_security_nutrition_poverty_food_prices_market_monitor_get",
		"coordination-context/conflict-events": "get_conflict_event_api_v2_coordination_context_conflict_events_get",
	} {
		if got := paths[v2Root+path].Get.OperationID; got != want {
			t.Errorf("%s: operationId %q, want %q", path, got, want)
		}
	}
}

// TestExportTypes checks that every format of an export is described, and only those that are no
// text as binary: generated Python cannot read a text that is.
func TestExportTypes(t *testing.T) {
	exports := 0
	for path, described := range pathsOf(t, ContractNames, Export) {
		if !strings.HasSuffix(path, "/export") {
			continue
		}
		exports++
		content := described.Get.Responses["200"].Content
		for kind, c := range content {
			binary, want := !strings.HasPrefix(kind, "text/"), "string"
			switch {
			case kind == "application/x-ndjson":
				binary = false
			case strings.HasSuffix(kind, "json"):
				binary, want = false, "object"
			}
			if c.Schema.Type != want || (c.Schema.Format == "binary") != binary {
				t.Errorf("%s: %s is described as %+v", path, kind, c.Schema)
			}
		}
		e := planOf(strings.TrimSuffix(path, "/export")).Endpoint
		for _, f := range e.ExportFormats() {
			if kind, _, _ := strings.Cut(f.Type, ";"); content[kind].Schema.Type == "" {
				t.Errorf("%s: %s is not described", path, kind)
			}
		}
	}
	if exports != len(Endpoints) {
		t.Errorf("%d exports, want %d", exports, len(Endpoints))
	}
}

// TestDescribedFields checks that the fields of some answers only are described with these.
func TestDescribedFields(t *testing.T) {
	var described struct {
		Components struct {
			Responses map[string]struct{ Headers map[string]any }
		}
		Paths map[string]struct {
			Get struct {
				Responses map[string]struct{ Headers map[string]any }
			}
		}
	}
	body, err := Description(ContractNames, "", "", Export, Changes, Facets)
	testkit.Must(t, err)
	testkit.Must(t, json.Unmarshal(body, &described))
	for _, name := range []string{"BadDate", "Gone", "Invalid"} {
		if described.Components.Responses[name].Headers[HeaderSnapshot] == nil {
			t.Errorf("%s has no %s", name, HeaderSnapshot)
		}
	}
	for path, p := range described.Paths {
		fields := p.Get.Responses["200"].Headers
		for end, field := range map[string]string{"/changes": HeaderChanges, "/facets": HeaderMore} {
			if (fields[field] != nil) != strings.HasSuffix(path, end) {
				t.Errorf("%s: is %s described? %v", path, field, fields[field] != nil)
			}
		}
	}
}
