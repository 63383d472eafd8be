package main_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"hdqs/api/contract"
)

// listDigests returns a line for each list: its path, rows, and a digest of its first 10,000 rows.
func listDigests(t *testing.T, store string) string {
	t.Helper()
	var requests, digests strings.Builder
	for _, list := range contract.Endpoints {
		fmt.Fprintln(&requests, list.Path+"?output_format=csv&limit=10000&app_identifier="+identifier)
	}
	o := runWith(t, nil, requests.String(), "query", "--store", store, "--batch", "-")
	answers := json.NewDecoder(strings.NewReader(o.stdout))
	for _, list := range contract.Endpoints {
		var answer struct {
			Status  int
			Headers map[string]string
			Body    *string
		}
		if err := answers.Decode(&answer); err != nil || answer.Status != 200 || answer.Body == nil {
			t.Fatalf("%s: status %d, %v\n%s", list.Path, answer.Status, err, o.stderr)
		}
		fmt.Fprintf(&digests, "%-70s %5s rows %x\n",
			list.Path, answer.Headers["X-Total-Count"], sha256.Sum256([]byte(*answer.Body)))
	}
	return digests.String()
}
