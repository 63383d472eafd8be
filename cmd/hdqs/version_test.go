package main_test

import (
	"regexp"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

var versionLine = regexp.MustCompile(`^hdqs (\d+\.\d+\.\d+) \(commit (\S+)\), contract (\S+)\n$`)

// TestVersion compares the output of --version with the changelog and the contract.
func TestVersion(t *testing.T) {
	t.Parallel()
	o := mustExit(t, 0, "--version")
	parts := versionLine.FindStringSubmatch(o.stdout)
	if parts == nil {
		t.Fatalf("hdqs --version prints %q", o.stdout)
	}
	changelog := string(testkit.ReadFile(t, "../../CHANGELOG.md"))
	if text := "Version " + parts[1] + ","; !strings.Contains(changelog, text) {
		t.Errorf("CHANGELOG.md lacks %q", text)
	}
	contract := decode[struct {
		Version string `json:"interface_version"`
	}](t, testkit.ReadFile(t, "../../testdata/contract.json"))
	if parts[3] != contract.Version {
		t.Errorf("contract %s, want %s", parts[3], contract.Version)
	}
}

// TestLicenses compares the output of `hdqs licenses` with the embedded file.
func TestLicenses(t *testing.T) {
	t.Parallel()
	want := string(testkit.ReadFile(t, "third_party.txt"))
	if o := mustExit(t, 0, "licenses"); o.stdout != want || o.stderr != "" {
		t.Errorf("hdqs licenses prints %d bytes, want the %d of third_party.txt; stderr: %q",
			len(o.stdout), len(want), o.stderr)
	}
}
