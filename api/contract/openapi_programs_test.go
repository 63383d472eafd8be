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

// allKinds are the kinds that a server has.
var allKinds = []Kind{Aggregate, Facets, Changes, Export}

// described is a description as any JSON, for checks of all its parts.
func described(t *testing.T, s NameSet, base string, kinds ...Kind) (d map[string]any, text string) {
	t.Helper()
	body, err := Description(s, base, s.prefix(), kinds...)
	testkit.Must(t, err)
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
			if want := slices.Sorted(maps.Keys(used)); !slices.Equal(tags, want) {
				t.Errorf("tags %q, of operations %q", tags, want)
			}
		}
	}
}

// TestDescribedAddresses checks that a description has whole addresses where the service knows its
// own, and otherwise none where only a whole one may be.
func TestDescribedAddresses(t *testing.T) {
	const base = "https://data.example/of"
	for _, c := range []struct {
		s                 NameSet
		base, server, all string
	}{
		{ContractNames, "", "/", ""},
		{ContractNames, base, base, base + "/openapi-all.json"},
		{HAPINames, "", "/hapi", ""},
		{HAPINames, base, base + "/hapi", base + "/hapi/openapi-all.json"},
	} {
		for _, kinds := range [][]Kind{nil, allKinds} {
			d, _ := described(t, c.s, c.base, kinds...)
			server := d["servers"].([]any)[0].(map[string]any)["url"]
			if server != c.server {
				t.Errorf("with base %q the server is %q, want %q", c.base, server, c.server)
			}
			more, _ := d["externalDocs"].(map[string]any)
			if all, _ := more["url"].(string); kinds == nil && all != c.all || kinds != nil && more != nil {
				t.Errorf("with base %q and kinds %v, all paths are at %q, want %q", c.base, kinds, all, c.all)
			}
		}
	}
}
