package schema

// HAPINames are the names of columns that differ from those of the public service (HDX HAPI): ours,
// then that of the service. Every other name is the same in both.
var HAPINames = [...][2]string{
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

// HAPIName is the name of a column in HDX HAPI.
func HAPIName(column string) string {
	for _, n := range &HAPINames {
		if n[0] == column {
			return n[1]
		}
	}
	return column
}
