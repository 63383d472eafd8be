// Package contract defines the interface of the service: the list endpoints with their records and
// parameters, what can be asked of them, the parsing of query strings and its errors, the canonical
// form of a query, the application identifier, and the OpenAPI description. It needs no network and
// no data.
//
// An endpoint is a list of package schema, in the contract's names. EndpointsIn derives the
// endpoints in HAPI names from them. NewPlan prepares an endpoint for
// reading. A Question is what is asked of it, as values: the program makes its own with Ask, and a
// Request reads one. A Request is scanned once (Scan) and then parsed (Parse), which also makes its
// canonical query.
//
// The files, each of which uses those below it:
//
//	openapi.go openapi_kinds.go        the description
//	unknown.go headline.go meanings.go
//	kind_params.go resolve.go fields.go aggregate.go
//	canonical.go question.go export.go value_lists.go
//	identifier.go selection.go request.go scan.go
//	issues.go nameset.go endpoints.go figures.go
//	dates.go numbers.go own_groups.go country_groups.go plan.go blocks.go endpoint.go
package contract
