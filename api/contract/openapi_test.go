package contract

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
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
	body := testkit.Value(Description(s, "", s.prefix(), kinds...))(t)
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
	testkit.Equal(t, len(paths), len(Endpoints)+2, "paths")
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
		testkit.Equal(t, paths[v2Root+path].Get.OperationID, want, "%s: operationId", path)
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
	testkit.Equal(t, exports, len(Endpoints), "exports")
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
	body := testkit.Value(Description(ContractNames, "", "", Export, Changes, Facets))(t)
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

// allKinds are the kinds that a server has.
var allKinds = []Kind{Aggregate, Facets, Changes, Export}

// described is a description as any JSON, for checks of all its parts.
func described(t *testing.T, s NameSet, base string, kinds ...Kind) (d map[string]any, text string) {
	t.Helper()
	body := testkit.Value(Description(s, base, s.prefix(), kinds...))(t)
	testkit.Must(t, json.Unmarshal(body, &d))
	return d, string(body)
}

// each calls do for all objects in a part of a description, with their paths.
func each(path string, part any, do func(path string, o map[string]any)) {
	switch part := part.(type) {
	case map[string]any:
		do(path, part)
		for name, member := range part {
			each(path+"/"+name, member, do)
		}
	case []any:
		for i, member := range part {
			each(fmt.Sprint(path, "/", i), member, do)
		}
	}
}

// TestDescriptionForGenerators checks what generators of clients stop at: a choice between texts,
// of which Java does not compile, and a time with a zone as the form of one that has none.
func TestDescriptionForGenerators(t *testing.T) {
	for _, s := range []NameSet{ContractNames, HAPINames} {
		for _, kinds := range [][]Kind{nil, allKinds} {
			d, _ := described(t, s, "", kinds...)
			each("", d, func(path string, o map[string]any) {
				if format := o["format"]; format == "date-time" || format == "date" {
					t.Errorf("%s has the format %s", path, format)
				}
				choice, _ := o["anyOf"].([]any)
				texts := 0
				for _, schema := range choice {
					if schema.(map[string]any)["type"] == "string" {
						texts++
					}
				}
				if texts > 1 {
					t.Errorf("%s is a choice of %d forms of texts", path, texts)
				}
			})
		}
	}
}

// TestDescriptionForLinters checks the rules of Redocly and Spectral that have found faults: all
// components are used, all tags are described and used, and each operation says whether it needs an
// identifier.
func TestDescriptionForLinters(t *testing.T) {
	for _, s := range []NameSet{ContractNames, HAPINames} {
		for _, kinds := range [][]Kind{nil, allKinds} {
			d, text := described(t, s, "", kinds...)
			for kind, named := range d["components"].(map[string]any) {
				for name := range named.(map[string]any) {
					if kind != "securitySchemes" && !strings.Contains(text, `"#/components/`+kind+"/"+name+`"`) {
						t.Errorf("nothing refers to %s/%s of the description with %v", kind, name, kinds)
					}
				}
			}
			used := map[string]bool{}
			for path, methods := range d["paths"].(map[string]any) {
				get := methods.(map[string]any)["get"].(map[string]any)
				if _, said := get["security"]; !said {
					t.Errorf("%s does not say whether it needs an identifier", path)
				}
				used[get["tags"].([]any)[0].(string)] = true
			}
			var tags []string
			for _, tag := range d["tags"].([]any) {
				tag := tag.(map[string]any)
				tags = append(tags, tag["name"].(string))
				if about, _ := tag["description"].(string); len(about) < 10 {
					t.Errorf("the description of tag %s is %q", tag["name"], about)
				}
			}
			slices.Sort(tags)
			testkit.EqualLists(t, tags, slices.Sorted(maps.Keys(used)), "tags")
		}
	}
}
