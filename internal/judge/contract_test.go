package judge

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

const contractFile = "../../testdata/contract.json"

// TestCondensedContract compares testdata/contract.json with the full contract it was made from, if
// that is in the directory beside the project.
func TestCondensedContract(t *testing.T) {
	full := filepath.Join("..", "..", "..", "shared", "contract", "contract.json")
	if _, err := os.Stat(full); os.IsNotExist(err) {
		return
	}
	c, err := readContract(full)
	if err != nil {
		t.Fatal(err)
	}
	want, err := condense(c)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(contractFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not the condensation of %s: run `go run ./cmd/judge condense FULL > testdata/contract.json`",
			contractFile, full)
	}
}
