package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

// TestClientsAgents asks with the clients of Python and TypeScript, of three revisions, and has the
// definitions of the tools checked.
func TestClientsAgents(t *testing.T) {
	parallel(t)
	packages := filepath.Join(clientsDir(t), "agents")
	program := t.TempDir()
	testkit.Must(t, os.CopyFS(program, os.DirFS(filepath.Join("testdata", "clients", "agents"))))
	testkit.Must(t, os.Symlink(filepath.Join(packages, "node_modules"), filepath.Join(program, "node_modules")))
	address := serve(t, "--store", sampleStore(t), "--mcp").base + "/mcp"
	for _, c := range []struct{ program, argument, want string }{
		{filepath.Join(packages, "bin", "python"), filepath.Join(program, "agents.py"), "2025-11-25\n2026-07-28\n"},
		{"node", filepath.Join(program, "agents.mjs"), "2025-06-18\n2025-11-25\n2026-07-28\n"},
	} {
		output, err := exec.Command(c.program, c.argument, address).CombinedOutput()
		if err != nil || string(output) != c.want {
			t.Errorf("%s: %v\n%s", c.argument, err, output)
		}
	}
	lint := exec.Command(filepath.Join(packages, "bin", "tdqs"), "lint", "--url", address, "--fail-on", "warning")
	if output, err := lint.CombinedOutput(); err != nil || !strings.Contains(string(output), "0 errors, 0 warnings") {
		t.Errorf("tdqs lint: %v\n%s", err, output)
	}
}

// TestClientsStrict has OpenAI's strict form of the tools made, with which a model must be able to
// ask for one country and to leave the rest open, and has Gemini's SDK read them.
func TestClientsStrict(t *testing.T) {
	parallel(t)
	address := serve(t, "--store", fixtureStore(t), "--mcp").base + "/mcp"
	output, err := exec.Command(filepath.Join(clientsDir(t), "strict", "bin", "python"),
		filepath.Join("testdata", "clients", "strict.py"), address, "TCD").CombinedOutput()
	const want = "6 strict tools, 145 rows of TCD\n6 declarations of functions for Gemini\n"
	if err != nil || string(output) != want {
		t.Errorf("%v\n%s", err, output)
	}
}

// TestClientsMCPPage: a page on another port of this machine can be a client.
func TestClientsMCPPage(t *testing.T) {
	parallel(t)
	clientsDir(t)
	got := openChromium(t, "mcp.html", serve(t, "--store", sampleStore(t), "--mcp").base+"/mcp")
	if want := "2025-11-25\n202\n6 tools\n3 rows\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
