package odata_test

import (
	"testing"

	"hdqs/api/apitest"
)

func TestMain(m *testing.M) { apitest.Main(m) }
