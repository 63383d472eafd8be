//go:build !race

package api

import (
	"bytes"
	"math/rand/v2"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"hdqs/api/contract"
	"hdqs/api/state"
)

// TestPermutedQueries checks that the order and spelling of parameters, empty pairs, and repeated
// parameters do not change the tag, the links or the body.
func TestPermutedQueries(t *testing.T) {
	t.Parallel()
	s := sampleServer(t, state.Options{}, 60)
	random := rand.New(rand.NewPCG(8, 1))
	for i := range contract.Endpoints {
		p := contract.NewPlan(&contract.Endpoints[i], contract.Rows)
		for range 12 {
			var pairs []string
			for _, param := range p.Params {
				if random.IntN(3) == 0 && param.Name != contract.IdentifierParam && param.Name != "limit" {
					pairs = append(pairs, param.Name+"="+url.QueryEscape(param.Example()))
				}
			}
			pairs = append(pairs, "limit=7", "app_identifier="+goodIdentifier)
			want := s.Answer("GET", contract.Endpoints[i].Path+"?"+strings.Join(pairs, "&"), nil)
			for range 4 {
				mixed := slices.Clone(pairs)
				mixed[len(mixed)-2] = []string{
					"limit=007", "limit=%37", "l%69mit=7.0",
					"limit=x&limit=7",
				}[random.IntN(4)]
				if !strings.HasPrefix(mixed[len(mixed)-2], "limit=x") {
					random.Shuffle(len(mixed), reflect.Swapper(mixed))
				}
				for j, pair := range mixed {
					if random.IntN(3) == 0 {
						mixed[j] = strings.ReplaceAll(strings.ReplaceAll(pair, "+", "%20"), "_", "%5f")
					}
				}
				target := contract.Endpoints[i].Path + "?&" + strings.Join(mixed, "&&")
				got := s.Answer("GET", target, nil)
				for _, name := range []string{"ETag", "Link", "X-Total-Count"} {
					a, _ := want.field(name)
					if b, _ := got.field(name); a != b {
						t.Errorf("%s: %s %q, want %q", target, name, b, a)
					}
				}
				if got.Status != want.Status || !bytes.Equal(got.Body, want.Body) {
					t.Errorf("%s: %d %.200s, want %d %.200s", target, got.Status, got.Body, want.Status, want.Body)
				}
			}
		}
	}
}
