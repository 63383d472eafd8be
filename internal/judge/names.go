package judge

import (
	"slices"
	"strings"
)

// hapiNames are the names that the public service has for the contract's.
var hapiNames = map[string]string{
	"resource_catalog_id":           "resource_hdx_id",
	"dataset_catalog_id":            "dataset_hdx_id",
	"dataset_catalog_stub":          "dataset_hdx_stub",
	"dataset_catalog_title":         "dataset_hdx_title",
	"catalog_provider_stub":         "hdx_provider_stub",
	"catalog_provider_name":         "hdx_provider_name",
	"catalog_link":                  "hdx_link",
	"catalog_api_link":              "hdx_api_link",
	"provider_catalog_link":         "provider_hdx_link",
	"provider_catalog_api_link":     "provider_hdx_api_link",
	"dataset_catalog_provider_stub": "dataset_hdx_provider_stub",
	"dataset_catalog_provider_name": "dataset_hdx_provider_name",
	"dataset_catalog_link":          "dataset_hdx_link",
	"dataset_catalog_api_link":      "dataset_hdx_api_link",
	"api_updated_date":              "hapi_updated_date",
	"classification_phase":          "ipc_phase",
	"classification_type":           "ipc_type",
}

// hapiPaths replaces ends of paths by those of HAPI names, contractPaths the other way round.
var (
	hapiPaths = strings.NewReplacer("/agency-commodity", "/wfp-commodity", "/agency-market", "/wfp-market",
		"/climate/rainfall", "/climate/hazards-rainfall")
	contractPaths = strings.NewReplacer("/wfp-commodity", "/agency-commodity", "/wfp-market", "/agency-market",
		"/climate/hazards-rainfall", "/climate/rainfall")
)

const hapiPrefix = "/hapi"

// nameEnds are what a parameter's name can have after that of a field.
var nameEnds = []string{"", listSuffix, "_min", "_max"}

// inNames renames the fields of a text from one set of names to the other.
func inNames(hapi bool, name string) string {
	for ours, theirs := range hapiNames {
		from, to := theirs, ours
		if hapi {
			from, to = ours, theirs
		}
		if end, found := strings.CutPrefix(name, from); found && slices.Contains(nameEnds, end) {
			return to + end
		}
	}
	return name
}

// nameLists are the parameters whose values are names of fields.
var nameLists = []string{"fields", "of", "group_by", "measures"}

// renamedQuery is the query in the other set of names.
func renamedQuery(hapi bool, q query) query {
	out := slices.Clone(q)
	for i, p := range out {
		out[i].name = inNames(hapi, p.name)
		if !slices.Contains(nameLists, p.name) {
			continue
		}
		names := strings.Split(p.value, ",")
		for k, name := range names {
			function, field, found := strings.Cut(name, ":")
			if names[k] = inNames(hapi, function); found {
				names[k] = function + ":" + inNames(hapi, field)
			}
		}
		out[i].value = strings.Join(names, ",")
	}
	return out
}

// answerHAPI answers a request for records in HAPI names: as in the contract's, with the names of
// the fields replaced. A quote within a value has a backslash before it, so no value looks like a
// key.
func (w *world) answerHAPI(r request, path string, q query, text string, hasQuery bool) answer {
	a := w.answerRoute(r, contractPaths.Replace(path), renamedQuery(false, q), text, hasQuery)
	var pairs []string
	for ours, theirs := range hapiNames {
		pairs = append(pairs, `"`+ours+`":`, `"`+theirs+`":`, `"field":"`+ours+`"`, `"field":"`+theirs+`"`)
		for _, function := range []string{"sum", "min", "max", "mean", "distinct", "latest"} {
			pairs = append(pairs, `"`+function+"_"+ours+`":`, `"`+function+"_"+theirs+`":`)
		}
	}
	if a.Body = strings.NewReplacer(pairs...).Replace(a.Body); a.Check == checkRefused {
		names := strings.Fields(a.Body)
		for i, name := range names {
			names[i] = inNames(true, name)
		}
		slices.Sort(names)
		a.Body = strings.Join(names, " ")
	}
	if name, count, found := strings.Cut(a.More, "="); found {
		a.More = inNames(true, name) + "=" + count
	}
	a.Hint = inNames(true, a.Hint)
	a.File = strings.TrimPrefix(hapiPaths.Replace("/"+a.File), "/")
	return a
}
