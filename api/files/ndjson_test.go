//go:build !race

package files_test

import (
	"math/rand/v2"
	"testing"

	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

// TestExportsEqualPages compares exports in all formats with the pages of the list, under both sets
// of names.
func TestExportsEqualPages(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 400)
	random := rand.New(rand.NewPCG(5, testkit.Seed()))
	for _, m := range s.Lists.Routes.Mounts {
		endpoints := contract.EndpointsIn(m.Names)
		for i := range endpoints {
			if testing.Short() && random.IntN(4) > 0 {
				continue
			}
			checkExport(t, s, m.Prefix+endpoints[i].Path, &endpoints[i], randomExport(&endpoints[i], random), random)
		}
	}
}

// TestExportsOverChunks does the same for tables of several chunks of the index.
func TestExportsOverChunks(t *testing.T) {
	t.Parallel()
	const path = "/api/v2/coordination-context/conflict-events"
	s := apitest.SampleOf(t, state.Options{}, path, 70_000)
	random := rand.New(rand.NewPCG(6, testkit.Seed()))
	e := apitest.Plan(path).Endpoint
	for range testkit.Trials(8, 1) {
		checkExport(t, s, path, e, randomExport(e, random), random)
	}
}
