package contract

import (
	"slices"
	"strings"
)

// publicEndpoint is what the public service calls an endpoint.
type publicEndpoint struct {
	path      string   // of the contract, below /api/v2/
	v2        []string // the public service's paths below /api/v2/; nil for the contract's
	v1        []string // its paths below /api/v1/; nil for those of version 2
	operation string   // its operationId
}

// publicEndpoints has every endpoint of the public service. The first path of version 2 is the one
// that is described. An endpoint that the public service does not have needs no entry.
var publicEndpoints = [...]publicEndpoint{
	{"metadata/dataset", nil, nil, "get_dataset_api_v2_metadata_dataset_get"},
	{"metadata/resource", nil, nil, "get_resources_api_v2_metadata_resource_get"},
	{"metadata/location", nil, nil, "get_location_api_v2_metadata_location_get"},
	{"metadata/admin1", nil, nil, "get_admin1_api_v2_metadata_admin1_get"},
	{"metadata/admin2", nil, nil, "get_admin2_api_v2_metadata_admin2_get"},
	{"metadata/currency", nil, nil, "get_currency_api_v2_metadata_currency_get"},
	{"metadata/org", nil, nil, "get_org_api_v2_metadata_org_get"},
	{"metadata/org-type", nil, nil, "get_org_type_api_v2_metadata_org_type_get"},
	{"metadata/sector", nil, nil, "get_sector_api_v2_metadata_sector_get"},
	{
		"metadata/agency-commodity",
		[]string{"metadata/wfp-commodity"},
		nil,
		"get_wfp_commodities_api_v2_metadata_wfp_commodity_get",
	},
	{
		"metadata/agency-market",
		[]string{"metadata/wfp-market"},
		nil,
		"get_wfp_market_api_v2_metadata_wfp_market_get",
	},
	{"metadata/data-availability", nil, nil, "get_data_availability_api_v2_metadata_data_availability_get"},
	{
		"coordination-context/operational-presence", nil,
		[]string{"coordination-context/operational-presence", "themes/3w"},
		"get_operational_presence_api_v2_coordination_context_operational_presence_get",
	},
	{"coordination-context/funding", nil, nil, "get_funding_api_v2_coordination_context_funding_get"},
	{
		"coordination-context/conflict-events", nil,
		[]string{"coordination-context/conflict-event"},
		"get_conflict_event_api_v2_coordination_context_conflict_events_get",
	},
	{
		"coordination-context/national-risk", nil, nil,
		"get_national_risk_api_v2_coordination_context_national_risk_get",
	},
	{
		"affected-people/refugees-persons-of-concern", nil,
		[]string{"affected-people/refugees"},
		"get_refugees_api_v2_affected_people_refugees_persons_of_concern_get",
	},
	{
		"affected-people/humanitarian-needs", nil, nil,
		"get_humanitarian_needs_api_v2_affected_people_humanitarian_needs_get",
	},
	{"affected-people/idps", nil, nil, "get_idps_api_v2_affected_people_idps_get"},
	{"affected-people/returnees", nil, nil, "get_returnees_api_v2_affected_people_returnees_get"},
	{
		"food-security-nutrition-poverty/food-security", nil,
		[]string{"food/food-security"},
		"get_food_security_api_v2_food_security_nutrition_poverty_food_security_get",
	},
	{
		"food-security-nutrition-poverty/food-prices-market-monitor", nil,
		[]string{"food/food-price"},
		"get_food_price_api_v2_food_security_nutrition_poverty_food_prices_market_monitor_get",
	},
	{
		"food-security-nutrition-poverty/poverty-rate", nil,
		[]string{"population-social/poverty-rate"},
		"get_poverty_rate_api_v2_food_security_nutrition_poverty_poverty_rate_get",
	},
	{
		// Clients use both paths.
		"climate/rainfall",
		[]string{"climate/rainfall", "climate/hazards-rainfall"},
		nil,
		"get_rainfall_api_v2_climate_rainfall_get",
	},
	{
		"geography-infrastructure/baseline-population", nil,
		[]string{"population-social/population", "themes/population"},
		"get_population_api_v2_geography_infrastructure_baseline_population_get",
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
	h.Path, h.also, h.operation = paths[0], paths[1:], public.operation
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
