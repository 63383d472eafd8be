// Package edge_test proves what lies between clients and the service: bytes that no client library
// sends, the caches whose configurations are in deploy, and that no answer which they keep repeats
// an identifier.
package edge_test

import (
	"testing"

	"hdqs/api/apitest"
)

func TestMain(m *testing.M) { apitest.Main(m) }
