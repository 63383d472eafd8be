// Package contract defines the interface of the service: the list endpoints with their records and
// parameters, the parsing of query strings and its errors, the canonical form of a query, the
// application identifier, and the OpenAPI description. It needs no network and no data, and imports
// no other package of this module.
//
// An endpoint is one literal (endpoints_*.go). NewPlan prepares it for reading. A Request is
// scanned once (Scan) and then parsed (Parse), which also makes its canonical query.
package contract
