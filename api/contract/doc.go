// Package contract is the interface of the service, whatever serves it: the list endpoints with
// their records and parameters, how a query string is read, what is wrong with it, its canonical
// form, the application identifier, and the OpenAPI description. It needs no network and no data,
// and imports no other package of this module.
//
// An endpoint is one literal (endpoints_*.go). NewPlan prepares it for reading. A Request is
// scanned once (Scan) and then parsed (Parse), which also makes its canonical query.
package contract
