// Package testdata embeds the condensed contract for what checks the service: the judge, the
// generator and tests.
package testdata

import _ "embed" // for the file below

// Contract is the public contract: the facts that tests compare the loader and the API with.
//
//go:embed contract.json
var Contract []byte
