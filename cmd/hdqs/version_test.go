package main_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

var versionLine = regexp.MustCompile(`^hdqs (\d+\.\d+\.\d+) \(commit (\S+)\), contract (\S+)\n$`)

// TestVersion compares what the program says of itself with the changelog and the contract.
func TestVersion(t *testing.T) {
	t.Parallel()
	o := wants(t, 0, "--version")
	parts := versionLine.FindStringSubmatch(o.out)
	if parts == nil {
		t.Fatalf("hdqs --version prints %q", o.out)
	}
	if text := "Version " + parts[1] + ","; !strings.Contains(string(readFile(t, "../../CHANGELOG.md")), text) {
		t.Errorf("CHANGELOG.md lacks %q", text)
	}
	var contract struct {
		Version string `json:"interface_version"`
	}
	if err := json.Unmarshal(readFile(t, "../../testdata/contract.json"), &contract); err != nil {
		t.Fatal(err)
	}
	if parts[3] != contract.Version {
		t.Errorf("contract %s, want %s", parts[3], contract.Version)
	}
}

func TestLicenses(t *testing.T) {
	t.Parallel()
	want := string(readFile(t, "third_party.txt"))
	if o := wants(t, 0, "licenses"); o.out != want || o.errors != "" {
		t.Errorf("hdqs licenses prints %d bytes, not the %d of third_party.txt; stderr: %q", len(o.out), len(want), o.errors)
	}
	if linked := string(readFile(t, "../../THIRD_PARTY")); linked != want {
		t.Error("THIRD_PARTY is not a link to cmd/hdqs/third_party.txt")
	}
}
