package contract

import (
	"cmp"
	"slices"
	"strings"

	"hdqs/index"
	"hdqs/schema"
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

// identifierHeaders are the header fields of the application identifier, by set.
var identifierHeaders = [...]string{"X-CATALOG-API-APP-IDENTIFIER", "X-HDX-HAPI-APP-IDENTIFIER"}

// IdentifierHeader is the set's header field of the application identifier.
func (s NameSet) IdentifierHeader() string { return identifierHeaders[s] }

// renamed has the set's name for each name of the other set that differs.
var renamed = func() (maps [2]map[string]string) {
	maps[ContractNames], maps[HAPINames] = map[string]string{}, map[string]string{}
	for _, n := range schema.HAPINames {
		maps[ContractNames][n[HAPINames]], maps[HAPINames][n[ContractNames]] = n[ContractNames], n[HAPINames]
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
	EncodePath  = v2Root + encodeName
	VersionPath = v2Root + versionName
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

// Paths of both versions begin with these. Those without a version are version 1: the public
// service answers them, and does not describe them.
const (
	v1Root          = "/api/v1/"
	v2Root          = "/api/v2/"
	unversionedRoot = "/api/"

	encodeName  = "encode_app_identifier"
	versionName = "util/version"
)

// publicPaths are the public service's paths of a list, the described one first.
func publicPaths(l *schema.List) []string {
	v2 := l.Public.V2
	if v2 == nil {
		v2 = []string{l.Path}
	}
	v1 := l.Public.V1
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

// inBothNames are endpoints whose parameters and fields have the same names in both sets.
func inBothNames(all []Endpoint) (both [2][]Endpoint) {
	both[ContractNames] = all
	for i, e := range all {
		e.names, e.contract = HAPINames, &all[i]
		both[HAPINames] = append(both[HAPINames], e)
	}
	return both
}

// wordBreaks are the characters of paths that are '_' in operationIds.
var wordBreaks = strings.NewReplacer("/", "_", "-", "_")

func inHAPINames(e *Endpoint) Endpoint {
	h := *e
	h.names, h.contract = HAPINames, e
	l := schema.Of(e.Table)
	paths := publicPaths(l)
	h.Path, h.also = paths[0], paths[1:]
	h.operation = "get_" + cmp.Or(l.Public.Noun, e.Table) + wordBreaks.Replace(h.Path) + "_get"
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
	for _, n := range schema.HAPINames {
		pairs = append(pairs, n[:]...)
	}
	for _, l := range schema.Lists {
		if l.Public.V2 != nil {
			pairs = append(pairs, l.Path, l.Public.V2[0])
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
			all = append(all, textFilter(index.Contains, p.Columns[1], p.Max))
		}
	}
	for i := range all {
		all[i].Earlier = true
	}
	return all
}
