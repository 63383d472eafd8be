package contract

// earlierFilters are the filters of version 1 that version 2 of the public service does not have,
// but whose columns exist. Clients still send them, so endpoints in HAPI names have them, as in
// version 1: the end of a range is exclusive, and the provider's names match a part in any case.
func earlierFilters(e *Endpoint) []Param {
	var all []Param
	for _, field := range []string{PeriodStart, PeriodEnd} {
		if e.hasField(field) {
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

// removedParams are filters that earlier versions of the public service had and that no column here
// can answer as they did. A client that still sends one expects fewer rows than it would get, so
// endpoints in HAPI names refuse them. They refuse a name only where it would have restricted the
// rows: where the record, or the parameters, have of.
var removedParams = []removedParam{
	{
		"resource_hdx_id", "find the resources with update_date_min and update_date_max of metadata/resource, then " +
			"select records by resource_hdx_id",
		[]string{"update_date_min", "update_date_max", "resource_update_date_min", "resource_update_date_max"},
	},
	{
		"resource_hdx_id", "metadata/data-availability has the dates of updates, and filters by " +
			"hapi_updated_date_min and hapi_updated_date_max",
		[]string{
			"hapi_updated_date_min", "hapi_updated_date_max", "hapi_replaced_date_min", "hapi_replaced_date_max",
		},
	},
	{
		"resource_hdx_id", "find the resources in metadata/resource, then select records by resource_hdx_id",
		[]string{
			"resource_hdx_id", "resource_name", "dataset_hdx_id", "dataset_hdx_stub", "dataset_hdx_title",
			"dataset_hdx_provider_stub", "dataset_hdx_provider_name",
		},
	},
	{"dataset_hdx_title", "use dataset_hdx_title", []string{"dataset_title", "title"}},
	{"dataset_hdx_stub", "use dataset_hdx_stub", []string{"hdx_stub"}},
	{"dataset_hdx_id", "use dataset_hdx_id, or resource_hdx_id for a resource", []string{"hdx_id"}},
	{"location_code", "use location_code", []string{"location_ref"}},
	{"admin1_code", "use admin1_code", []string{"admin1_ref"}},
	{"admin2_code", "use admin2_code", []string{"admin2_ref"}},
	{
		"admin_level", "use admin_level", []string{"admin1_is_unspecified", "admin2_is_unspecified"},
	},
	{
		"population_status", "use category, which names the group of people",
		[]string{"gender", "age_range", "disabled_marker", "population_group"},
	},
	{"min_age", "use age_range; min_age and max_age are in the records", []string{"min_age", "max_age"}},
	{"gender", "use gender", []string{"gender_code"}},
	{"age_range", "use age_range", []string{"age_range_code"}},
	{"population_group", "use population_group", []string{"population_group_code"}},
	{"population_status", "use population_status", []string{"population_status_code"}},
	{"ipc_phase", "use ipc_phase", []string{"ipc_phase_code"}},
	{"ipc_type", "use ipc_type", []string{"ipc_type_code"}},
	{
		"org_type_code", "find the organizations in metadata/org, or select records by their org_type_code",
		[]string{"org_type_code", "org_type_description"},
	},
	{"population_min", "use population_min and population_max", []string{"population"}},
	{"global_rank_min", "use global_rank_min and global_rank_max", []string{"global_rank"}},
	{"overall_risk_min", "use overall_risk_min and overall_risk_max", []string{"overall_risk"}},
	{
		"hazard_exposure_risk_min", "use hazard_exposure_risk_min and hazard_exposure_risk_max",
		[]string{"hazard_exposure_risk"},
	},
	{
		"vulnerability_risk_min", "use vulnerability_risk_min and vulnerability_risk_max",
		[]string{"vulnerability_risk"},
	},
	{
		"coping_capacity_risk_min", "use coping_capacity_risk_min and coping_capacity_risk_max",
		[]string{"coping_capacity_risk"},
	},
}

// removedParam is some removed filters with one remedy.
type removedParam struct {
	of    string   // a field or parameter, in HAPI names
	use   string   // what to do instead
	names []string // of the removed filters
}

// removedOf returns the remedies of the removed filters of a plan, by their names.
func removedOf(p *Plan) map[string]string {
	if p.Endpoint.names != HAPINames {
		return nil
	}
	remedies := map[string]string{}
	for _, removed := range removedParams {
		if p.find(removed.of) == nil && !p.Endpoint.hasField(removed.of) {
			continue
		}
		for _, name := range removed.names {
			if !p.Knows(name) {
				remedies[name] = removed.use
			}
		}
	}
	return remedies
}

// refuseRemoved refuses a removed filter. Without a value it would not have restricted the rows.
func (s *Scanned) refuseRemoved(name, encoded []byte) {
	if len(s.plan.removed) == 0 || len(encoded) == 0 {
		return
	}
	hapi := HAPINames.Name(string(name))
	if remedy, removed := s.plan.removed[hapi]; removed {
		s.refuse(hapi, "version 2 has no filter "+hapi+"; "+remedy)
	}
}
