package api_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/reply"
	"hdqs/api/state"
)

// identifierHelp is part of the answers to requests without a good identifier.
var identifierHelp = contract.IdentifierHelp(contract.ContractNames, "")

// TestLongestRequest checks that a request with every parameter at its maximum, percent-encoded, is
// accepted, and that a URI over our limit and a header over the buffer size get JSON answers.
func TestLongestRequest(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 3)
	address := apitest.Listen(t, s)
	for i := range contract.Endpoints {
		target := contract.Endpoints[i].Path + "?app_identifier=" + strings.Repeat("%20",
			512-len(apitest.Identifier)) + apitest.Identifier
		for _, p := range contract.NewPlan(&contract.Endpoints[i], contract.Rows).Params {
			switch {
			case p.Name == "app_identifier" || p.List: // 200 long values would not fit
			case contract.IsGroupParam(p.Name): // another value than a group's is refused
			case p.Type == contract.String:
				target += "&" + p.Name + "=" + strings.Repeat("%F0%9F%8C%8D", p.Max)
			default:
				target += "&" + p.Name + "=" + strings.NewReplacer(" ", "+", ",", "%2C").Replace(p.Example())
			}
		}
		if len(target) > api.MaxURI {
			t.Errorf("%s: a legal request of %d bytes is longer than the limits", contract.Endpoints[i].Path,
				len(target))
		}
		if got := apitest.Ask(t, address, "GET", target, nil); got.Status != 200 {
			t.Errorf("%s: %d %.300s", contract.Endpoints[i].Path, got.Status, got.Body)
		}
	}
	for _, length := range []int{api.MaxURI, api.ReadBuffer - 20, api.ReadBuffer, 200 << 10} {
		long := apitest.Target + "&x=" + strings.Repeat("y", length)
		want := apitest.ErrorBody(reply.ErrURITooLong)
		if got := apitest.Ask(t, address, "GET", long, nil); got.Status != 414 || string(got.Body) != want {
			t.Errorf("URI of %d bytes: %d %.100s", len(long), got.Status, got.Body)
		}
	}
	if got := apitest.Ask(t, address, "GET", apitest.Target,
		apitest.Fields("X", strings.Repeat("y", 70<<10))); got.Status != 431 ||
		string(got.Body) != apitest.ErrorBody(reply.ErrHeadersTooLarge) {
		t.Errorf("long header: %d %.100s", got.Status, got.Body)
	}
}

// TestIdentifierChangesNothing checks that successful answers are the same for all callers.
func TestIdentifierChangesNothing(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 30)
	other, _ := contract.EncodeIdentifier("another application", "you@example.com")
	for i := range contract.Endpoints {
		a := s.Answer("GET", contract.Endpoints[i].Path+"?limit=5&output_format=csv&app_identifier="+apitest.Identifier,
			nil)
		b := s.Answer("GET", contract.Endpoints[i].Path+"?app_identifier="+other+"&limit=5&output_format=csv", nil)
		c := s.Answer("GET", contract.Endpoints[i].Path+"?limit=5&output_format=csv",
			apitest.Fields(contract.ContractNames.IdentifierHeader(), other))
		for _, x := range []api.Answer{b, c} {
			if x.Status != 200 || !bytes.Equal(a.Body, x.Body) ||
				!slices.Equal(apitest.SortedHeader(a.Header), apitest.SortedHeader(x.Header)) {
				t.Errorf("%s: the answers to two callers differ", contract.Endpoints[i].Path)
			}
		}
	}
}
