package api

import "hdqs/api/contract"

// planOf returns the plan of the endpoint with a path.
func planOf(path string) *contract.Plan {
	for i := range contract.Endpoints {
		if contract.Endpoints[i].Path == path {
			return contract.NewPlan(&contract.Endpoints[i], contract.Rows)
		}
	}
	panic("no endpoint " + path)
}
