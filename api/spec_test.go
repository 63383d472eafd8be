package api

import (
	"encoding/json"
	"os"
	"testing"
)

// spec is what these tests read of testdata/contract.json.
type spec struct {
	Version string                  `json:"interface_version"`
	Enums   map[string]contractEnum `json:"enums"`
	Common  []contractParam         `json:"common_params"`
	Paths   []contractEndpoint      `json:"endpoints"`
	Other   []struct{ Path string } `json:"other_routes"`
}

type contractEnum struct {
	Values   []string `json:"values_in_sort_order"`
	Message  string   `json:"error_msg"`
	Expected string   `json:"error_ctx_expected"`
}

type contractEndpoint struct {
	Path   string          `json:"path"`
	Params []contractParam `json:"params"`
	Fields []contractField `json:"fields"`
}

type contractParam struct {
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
	Ignored   string   `json:"ignored_when"`
}

type contractField struct {
	Name      string   `json:"name"`
	JSON      string   `json:"json_type"`
	Number    string   `json:"number"`
	Nullable  bool     `json:"nullable"`
	Format    string   `json:"format"`
	MaxLength int      `json:"maxLength"`
	Enum      []string `json:"enum"`
}

func readContract(tb testing.TB) *spec {
	tb.Helper()
	text, err := os.ReadFile("../testdata/contract.json")
	if err != nil {
		tb.Fatal(err)
	}
	c := new(spec)
	if err := json.Unmarshal(text, c); err != nil {
		tb.Fatal(err)
	}
	if len(c.Paths) != 25 {
		tb.Fatalf("the contract has %d endpoints", len(c.Paths))
	}
	return c
}
