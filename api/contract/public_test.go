package contract

import (
	"encoding/json"
	"testing"

	"hdqs/internal/testkit"
)

// publicContract is the part of testdata/contract.json that tests read.
type publicContract struct {
	Version string                `json:"interface_version"`
	Enums   map[string]publicEnum `json:"enums"`
	Common  []publicParam         `json:"common_params"`
	Paths   []struct {
		Path   string        `json:"path"`
		Params []publicParam `json:"params"`
		Fields []publicField `json:"fields"`
	} `json:"endpoints"`
}

// publicEnum is a list of allowed values and the texts of the error for any other value.
type publicEnum struct {
	Values   []string `json:"values_in_sort_order"`
	Message  string   `json:"error_msg"`
	Expected string   `json:"error_ctx_expected"`
}

type publicParam struct {
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

type publicField struct {
	Name      string   `json:"name"`
	JSON      string   `json:"json_type"`
	Number    string   `json:"number"`
	Nullable  bool     `json:"nullable"`
	Format    string   `json:"format"`
	MaxLength int      `json:"maxLength"`
	Enum      []string `json:"enum"`
}

func readContract(t *testing.T) *publicContract {
	t.Helper()
	c := new(publicContract)
	testkit.Must(t, json.Unmarshal(testkit.ReadFile(t, "../../testdata/contract.json"), c))
	return c
}
