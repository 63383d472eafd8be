package contract

// Endpoints are all list endpoints, in the order of the specification. endpoints_*.go hold one path
// group each.
var Endpoints = joinEndpoints(metadata, coordination, affected, food, climate, geography)

func joinEndpoints(groups ...[]Endpoint) []Endpoint {
	var all []Endpoint
	for _, g := range groups {
		all = append(all, g...)
	}
	return all
}
