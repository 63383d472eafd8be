package contract

import (
	"cmp"
	"slices"
	"strings"
)

// NameSet is a set of names for parameters, fields, paths and the identifier's header. Under both
// sets the values are the same. Requests may use the names of either set, whatever the answer uses.
type NameSet uint8

// ContractNames are the neutral names of the contract. HAPINames are those of the public service
// (HDX HAPI), which its clients use.
const (
	ContractNames NameSet = iota
	HAPINames
)

// String is the set's name, contract or hapi.
func (s NameSet) String() string { return [...]string{"contract", "hapi"}[s] }

// namePairs are the names of parameters and fields that differ, by set. Everything that reads or
// writes a name derives it from this table.
var namePairs = [...][2]string{
	{"resource_catalog_id", "resource_hdx_id"},
	{"dataset_catalog_id", "dataset_hdx_id"},
	{"dataset_catalog_stub", "dataset_hdx_stub"},
	{"dataset_catalog_title", "dataset_hdx_title"},
	{"catalog_provider_stub", "hdx_provider_stub"},
	{"catalog_provider_name", "hdx_provider_name"},
	{"catalog_link", "hdx_link"},
	{"catalog_api_link", "hdx_api_link"},
	{"provider_catalog_link", "provider_hdx_link"},
	{"provider_catalog_api_link", "provider_hdx_api_link"},
	{"dataset_catalog_provider_stub", "dataset_hdx_provider_stub"},
	{"dataset_catalog_provider_name", "dataset_hdx_provider_name"},
	{"dataset_catalog_link", "dataset_hdx_link"},
	{"dataset_catalog_api_link", "dataset_hdx_api_link"},
	{"api_updated_date", "hapi_updated_date"},
	{"classification_phase", "ipc_phase"},
	{"classification_type", "ipc_type"},
}

// identifierHeaders are the header fields of the application identifier, by set.
var identifierHeaders = [...]string{"X-CATALOG-API-APP-IDENTIFIER", "X-HDX-HAPI-APP-IDENTIFIER"}

// IdentifierHeader is the set's header field of the application identifier.
func (s NameSet) IdentifierHeader() string { return identifierHeaders[s] }

// renamed has the set's name for each name of the other set that differs.
var renamed = func() (maps [2]map[string]string) {
	maps[ContractNames], maps[HAPINames] = map[string]string{}, map[string]string{}
	for _, pair := range namePairs {
		for s := range NameSet(len(pair)) {
			maps[s][pair[1-s]] = pair[s]
		}
	}
	return maps
}()

// suffixes are what parameters add to the name of the field that they restrict.
var suffixes = [...]string{"", "_min", "_max", SeveralSuffix}

// Name is the set's name of a parameter or field that is given by its name in either set.
func (s NameSet) Name(of string) string {
	for _, suffix := range suffixes {
		if stem, has := strings.CutSuffix(of, suffix); has {
			if name, differs := renamed[s][stem]; differs {
				return name + suffix
			}
		}
	}
	return of
}

// Prefixes of the paths below which the interface is served once more, with HAPI names or, where
// those are at the root, with the contract's.
const (
	HAPIPrefix     = "/hapi"
	ContractPrefix = "/contract"
)

// ODataRoot is the path of the OData service, at the root only.
const ODataRoot = "/odata/v4/"

// Paths beside the list endpoints.
const (
	EncodePath  = "/api/v2/encode_app_identifier"
	VersionPath = "/api/v2/util/version"
)

// Versions that /api/v2/util/version reports. SchemaVersion is the version of the incumbent's
// tables that the records follow.
const (
	InterfaceVersion = "0.9.13"
	SchemaVersion    = "0.9.17"
)

// Header fields, content types and methods that the interface description names.
const (
	HeaderTotal       = "X-Total-Count"
	HeaderResult      = "X-Result-Count"
	HeaderSnapshot    = "X-Snapshot-Id"
	HeaderUnknown     = "X-Unknown-Params"
	HeaderHint        = "X-Hint"
	HeaderMore        = "X-Facet-More"
	HeaderCoverage    = "X-Coverage"
	HeaderChanges     = "X-Changes" // of each kind: added=1, removed=2, changed=3
	HeaderUpdated     = "X-Data-Updated"
	HeaderStale       = "X-Data-Stale"
	HeaderProvisional = "X-Data-Provisional"

	JSONType       = "application/json"
	AllowedMethods = "GET, HEAD, OPTIONS"
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

// EndpointOf is the endpoint of a table in the names of a set, nil without one.
func EndpointOf(table string, s NameSet) *Endpoint {
	at := slices.IndexFunc(Endpoints, func(e Endpoint) bool { return e.Table == table })
	if at < 0 {
		return nil
	}
	return &EndpointsIn(s)[at]
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

// earlierFilters are the filters of version 1 that version 2 of the public service does not have,
// but whose columns exist. Clients still send them, so endpoints in HAPI names have them, as in
// version 1: the end of a range is exclusive, and the provider's names match a part in any case.
func earlierFilters(e *Endpoint) []Param {
	var all []Param
	for _, field := range []string{PeriodStart, PeriodEnd} {
		if e.HasField(field) {
			all = append(all, between(field, DateTime)...)
		}
	}
	for _, p := range e.Place {
		if len(p.Columns) > 1 { // the second one is what the provider calls the unit
			all = append(all, contains(p.Columns[1], p.Max)...)
		}
	}
	for i := range all {
		all[i].Earlier = true
	}
	return all
}

// Endpoints are all list endpoints, in the order of the specification. endpoints_*.go hold one path
// group each.
var Endpoints = slices.Concat(metadata, coordination, affected, food, climate, geography)
