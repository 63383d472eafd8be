package judge

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"hdqs/testdata"
)

// TestCondensedContract compares testdata/contract.json with the full contract it was made from, if
// that is in the directory beside the project.
func TestCondensedContract(t *testing.T) {
	full := filepath.Join("..", "..", "..", "shared", "contract", "contract.json")
	if _, err := os.Stat(full); os.IsNotExist(err) {
		return
	}
	var got bytes.Buffer
	if err := run([]string{"condense", full}, &got); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), testdata.Contract) {
		t.Errorf("testdata/contract.json is not what `go run ./cmd/judge condense %s` prints", full)
	}
}
