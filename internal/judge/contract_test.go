package judge

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hdqs/internal/testkit"
	"hdqs/testdata"
)

var update = flag.Bool("update", false, "condense the contract again")

// TestCondensedContract compares testdata/contract.json with the full contract it was made from, if
// that is in the directory beside the project. With -update it makes the file. What it says about
// sums, which are an extension, stays.
func TestCondensedContract(t *testing.T) {
	full := filepath.Join("..", "..", "..", "shared", "contract", "contract.json")
	if _, err := os.Stat(full); os.IsNotExist(err) {
		return
	}
	c, err := parseContract(testkit.ReadFile(t, full))
	testkit.Must(t, err)
	withoutSource(c.Errors)
	now, err := parseContract(testdata.Contract)
	testkit.Must(t, err)
	c.Sums = now.Sums
	got := condense(c)
	if *update {
		testkit.WriteFile(t, filepath.Join("..", "..", "testdata", "contract.json"), got)
	} else if !bytes.Equal(got, testdata.Contract) {
		t.Errorf("testdata/contract.json is not condensed from %s: run the test with -update", full)
	}
}

// condense writes c with one parameter, field or sort key on each line, so that a change of the
// contract is a diff of the lines it concerns.
func condense(c *contract) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "{\n\"contract\": %s,\n\"interface_version\": %s,\n\"enums\": %s,\n", plainJSON(c.Name),
		plainJSON(c.Version), plainJSON(c.Enums))
	b.WriteString("\"common_params\": " + linesOf(c.Common) + "],\n\"endpoints\": [\n")
	for i, e := range c.Paths {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, `{"path": %s, "group": %s, "method": %s,`, plainJSON(e.Path), plainJSON(e.Group),
			plainJSON(e.Method))
		b.WriteString("\n \"params\": " + linesOf(e.Params) + " ],\n \"fields\": " + linesOf(e.Fields) +
			" ],\n \"order_by\": " + linesOf(e.Order) + " ],\n \"tie_break\": " + linesOf(e.Tie) + " ]}")
	}
	fmt.Fprintf(&b, "\n],\n\"other_routes\": %s],\n\"errors\": %s,\n\"sums\": %s\n}\n", linesOf(c.Other),
		plainJSON(c.Errors), plainJSON(c.Sums))
	return []byte(b.String())
}

// linesOf opens a list and writes each item on its own line.
func linesOf[T any](items []T) string {
	var b strings.Builder
	b.WriteString("[\n")
	for i, item := range items {
		b.WriteString("  " + plainJSON(item))
		if i < len(items)-1 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// plainJSON encodes what was decoded from JSON, without HTML escapes.
func plainJSON(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// withoutSource deletes the keys that name the source of a rule, at any depth.
func withoutSource(v any) {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "src")
		for _, part := range v {
			withoutSource(part)
		}
	case []any:
		for _, part := range v {
			withoutSource(part)
		}
	}
}
