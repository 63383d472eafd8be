package testkit

import (
	"encoding/json"
	"testing"
)

// Contract is the part of testdata/contract.json that tests read.
type Contract struct {
	Version string                  `json:"interface_version"`
	Enums   map[string]ContractEnum `json:"enums"`
	Common  []ContractParam         `json:"common_params"`
	Paths   []ContractEndpoint      `json:"endpoints"`
}

// ContractEnum is a list of allowed values and the texts of the error for any other value.
type ContractEnum struct {
	Values   []string `json:"values_in_sort_order"`
	Message  string   `json:"error_msg"`
	Expected string   `json:"error_ctx_expected"`
}

// ContractEndpoint is a list endpoint.
type ContractEndpoint struct {
	Path   string          `json:"path"`
	Params []ContractParam `json:"params"`
	Fields []ContractField `json:"fields"`
}

// ContractParam is a query parameter.
type ContractParam struct {
	Name      string   `json:"name"`
	Type      string   `json:"type"`
	Enum      string   `json:"enum_name"`
	MaxLength int      `json:"maxLength"`
	Min       *int     `json:"min"`
	Max       *int     `json:"max"`
	Default   any      `json:"default"`
	Match     string   `json:"match"`
	Columns   []string `json:"columns"`
	Parse     string   `json:"parse"`
}

// ContractField is a field of a record.
type ContractField struct {
	Name      string   `json:"name"`
	JSON      string   `json:"json_type"`
	Number    string   `json:"number"`
	Nullable  bool     `json:"nullable"`
	Format    string   `json:"format"`
	MaxLength int      `json:"maxLength"`
	Enum      []string `json:"enum"`
}

// ReadContract reads testdata/contract.json, whose path depends on the package under test.
func ReadContract(tb testing.TB, path string) *Contract {
	tb.Helper()
	c := new(Contract)
	if err := json.Unmarshal(ReadFile(tb, path), c); err != nil {
		tb.Fatal(err)
	}
	if len(c.Paths) < 25 {
		tb.Fatalf("%s lists %d endpoints, want at least 25", path, len(c.Paths))
	}
	return c
}
