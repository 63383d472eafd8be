package odata_test

import (
	"os"
	"testing"

	"hdqs/api/apitest"
)

// TestMain is also the process of clients of a benchmark.
func TestMain(m *testing.M) {
	if target := os.Getenv(clientsTarget); target != "" {
		os.Exit(runClients(target))
	}
	apitest.Main(m)
}
