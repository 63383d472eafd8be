//go:build !race

package api_test

import (
	"testing"

	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/state"
)

// TestKindExamples checks that the example of each kind of request has an answer, for every
// endpoint and both sets of names.
func TestKindExamples(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 200)
	kinds := s.Lists.Routes.RecordSources
	if len(kinds) != 4 {
		t.Fatalf("%d kinds", len(kinds))
	}
	for _, m := range s.Lists.Routes.Mounts {
		endpoints := contract.EndpointsIn(m.Names)
		for i := range endpoints {
			for _, source := range kinds {
				kind := source.Kind
				p := contract.NewPlan(&endpoints[i], kind)
				target := m.Prefix + p.Paths()[0] + "?" + p.ExampleQuery(
					apitest.SampleID) + "&app_identifier=" + apitest.Identifier
				if kind == contract.Export {
					target += "&output_format=json"
				}
				records, got := apitest.Records(t, s, target)
				if unknown, is := apitest.Field(got, "X-Unknown-Params"); is {
					t.Errorf("%s: unknown parameters %s", target, unknown)
				}
				if len(records) == 0 && kind != contract.Changes {
					t.Errorf("%s: no records", target)
				}
				if p.About() == "" {
					t.Errorf("%s is not described", target)
				}
			}
		}
	}
}
