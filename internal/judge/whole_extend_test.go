package judge

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"hdqs/internal/testkit"
)

// judgeExtensions replays requests that go beyond the contract.
func judgeExtensions(t *testing.T, base, views, seed string) {
	t.Helper()
	n := os.Getenv("HDQS_TEST_QUERIES") // of each kind
	if n == "" {
		n = "60"
	}
	flags := []string{
		"check", "-contract", contractFile, "-base", base, "-views", views, "-snapshot-time", wholeTime,
		"-parallel", "4", "-extensions", "in,geojson", "-n", n, "-seed", seed,
	}
	var out bytes.Buffer
	if err := run(flags, &out); err != nil {
		t.Errorf("extensions: %v\n%s", err, out.String())
	}
	if count, err := strconv.Atoi(n); err != nil || count < 1 {
		t.Errorf("HDQS_TEST_QUERIES is %q, want a number of requests", n)
	}
}

// TestJudgeFixtures judges the extensions on the real input, whose rows are read from the server.
func TestJudgeFixtures(t *testing.T) {
	fixtures := testkit.Fixtures(t)
	if testing.Short() {
		t.Skip("builds and runs the whole program")
	}
	binary := hdqsBinary(t)
	store := filepath.Join(t.TempDir(), "store")
	command(t, binary, "build", "--catalog", filepath.Join(fixtures, "catalog"), "--store", store,
		"--snapshot-time", wholeTime)
	judgeExtensions(t, serveStore(t, binary, store), "", "27")
}
