// Package contract defines the interface of the service: the list endpoints with their records and
// parameters, the parsing of query strings and its errors, the canonical form of a query, the
// application identifier, and the OpenAPI description. It needs no network and no data, and imports
// no other package of this module.
//
// An endpoint is one literal (endpoints_*.go), in the contract's names. EndpointsIn derives the
// endpoints in HAPI names from them, by the tables in nameset.go. NewPlan
// prepares an endpoint for reading. A Request is scanned once (Scan) and then parsed (Parse), which
// also makes its canonical query.
package contract
