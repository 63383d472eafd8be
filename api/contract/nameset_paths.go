package contract

import (
	"cmp"
	"slices"
	"strings"
)

// publicEndpoint is what the public service calls an endpoint. Paths are without their root.
type publicEndpoint struct {
	path string   // of the contract, in version 2
	v2   []string // the public service's paths of version 2, the described one first; nil for the contract's
	v1   []string // its paths of version 1; nil for those of version 2
	noun string   // in its operationId; empty for the name of the table
}

// publicEndpoints has the endpoints that the public service does not call by the contract's path in
// both versions and by the table.
var publicEndpoints = [...]publicEndpoint{
	{"metadata/resource", nil, nil, "resources"},
	{"metadata/agency-commodity", []string{"metadata/wfp-commodity"}, nil, "wfp_commodities"},
	{"metadata/agency-market", []string{"metadata/wfp-market"}, nil, "wfp_market"},
	{
		"coordination-context/operational-presence", nil,
		[]string{"coordination-context/operational-presence", "themes/3w"},
		"",
	},
	{"coordination-context/conflict-events", nil, []string{"coordination-context/conflict-event"}, ""},
	{"affected-people/refugees-persons-of-concern", nil, []string{"affected-people/refugees"}, ""},
	{"food-security-nutrition-poverty/food-security", nil, []string{"food/food-security"}, ""},
	{"food-security-nutrition-poverty/food-prices-market-monitor", nil, []string{"food/food-price"}, ""},
	{"food-security-nutrition-poverty/poverty-rate", nil, []string{"population-social/poverty-rate"}, ""},
	{"climate/rainfall", []string{"climate/rainfall", "climate/hazards-rainfall"}, nil, ""}, // clients use both
	{
		"geography-infrastructure/baseline-population", nil,
		[]string{"population-social/population", "themes/population"},
		"",
	},
}

// Paths of both versions begin with these. Those without a version are version 1: the public
// service answers them, and does not describe them.
const (
	v1Root          = "/api/v1/"
	v2Root          = "/api/v2/"
	unversionedRoot = "/api/"
)

// paths are the public service's paths of the endpoint, the described one first.
func (p *publicEndpoint) paths() []string {
	v2 := p.v2
	if v2 == nil {
		v2 = []string{p.path}
	}
	v1 := p.v1
	if v1 == nil {
		v1 = v2
	}
	var all []string
	for _, path := range v2 {
		all = append(all, v2Root+path)
	}
	for _, root := range []string{v1Root, unversionedRoot} {
		for _, path := range v1 {
			all = append(all, root+path)
		}
	}
	return all
}

// EndpointsIn are all endpoints in the names of a set, in the order of Endpoints.
func EndpointsIn(s NameSet) []Endpoint {
	if s == ContractNames {
		return Endpoints
	}
	return hapiEndpoints
}

var hapiEndpoints = func() []Endpoint {
	all := make([]Endpoint, len(Endpoints))
	for i := range Endpoints {
		all[i] = inHAPINames(&Endpoints[i])
	}
	return all
}()

// wordBreaks are the characters of paths that are '_' in operationIds.
var wordBreaks = strings.NewReplacer("/", "_", "-", "_")

func inHAPINames(e *Endpoint) Endpoint {
	h := *e
	h.names, h.contract = HAPINames, e
	public := publicEndpoint{path: strings.TrimPrefix(e.Path, v2Root)}
	for _, p := range publicEndpoints {
		if p.path == public.path {
			public = p
		}
	}
	paths := public.paths()
	h.Path, h.also = paths[0], paths[1:]
	h.operation = "get_" + cmp.Or(public.noun, e.Table) + wordBreaks.Replace(h.Path) + "_get"
	h.Note = HAPINames.text(e.Note)
	h.Fields, h.Place, h.Params = slices.Clone(e.Fields), slices.Clone(e.Place), slices.Clone(e.Params)
	for i := range h.Fields {
		h.Fields[i].Name = HAPINames.Name(e.Fields[i].Name)
	}
	for _, params := range [][]Param{h.Place, h.Params} {
		for i := range params {
			params[i].Name = HAPINames.Name(params[i].Name)
		}
	}
	h.Params = append(h.Params, earlierFilters(&h)...)
	h.csv = withProviderNames(&h)
	return h
}

// withProviderNames are the columns of the public service's CSV: where the provider's names of
// units are matched, it has them too, before the level.
func withProviderNames(e *Endpoint) []Field {
	var extra []Field
	for _, p := range e.Place {
		if len(p.Columns) > 1 {
			extra = append(extra, text(p.Columns[1], p.Max)...)
		}
	}
	level := slices.IndexFunc(e.Fields, func(f Field) bool { return f.Name == "admin_level" })
	if len(extra) == 0 || level < 0 {
		return nil
	}
	return slices.Concat(e.Fields[:level], extra, e.Fields[level:])
}

// hapiText replaces the contract's names in a text.
var hapiText = func() *strings.Replacer {
	var pairs []string
	for _, pair := range namePairs {
		pairs = append(pairs, pair[ContractNames], pair[HAPINames])
	}
	for _, p := range publicEndpoints {
		if p.v2 != nil {
			pairs = append(pairs, p.path, p.v2[0])
		}
	}
	return strings.NewReplacer(append(pairs, identifierHeaders[:]...)...)
}()

// text is a text that has the contract's names in the names of the set.
func (s NameSet) text(text string) string {
	if s == ContractNames {
		return text
	}
	return hapiText.Replace(text)
}
