package contract

import "strings"

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
func (s NameSet) String() string {
	if s == HAPINames {
		return "hapi"
	}
	return "contract"
}

// other is the other set.
func (s NameSet) other() NameSet { return 1 - s }

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
			maps[s][pair[s.other()]] = pair[s]
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
