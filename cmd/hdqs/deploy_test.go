package main_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

// variable matches a line of an environment file or of a crontab.
var variable = regexp.MustCompile(`(?m)^([A-Z_]+)=(.*)$`)

// TestDeployedCommands runs the command lines that operators copy, those of the systemd unit and of
// the crontab, with paths of the test and with a mirror in place of the catalog.
func TestDeployedCommands(t *testing.T) {
	parallel(t)
	mirror := httptest.NewServer(http.FileServer(http.Dir(newCatalog(t, 1))))
	defer mirror.Close()
	deploy := filepath.Join("..", "..", "deploy")
	unit := testkit.ReadFile(t, filepath.Join(deploy, "systemd", "hdqs-build.service"))
	env := testkit.ReadFile(t, filepath.Join(deploy, "systemd", "build.env"))
	table := testkit.ReadFile(t, filepath.Join(deploy, "cron", "hdqs-build"))
	start := regexp.MustCompile(`(?m)^ExecStart=(.*)$`).FindSubmatch(unit)
	line := regexp.MustCompile(`(?m)^[\d*]\S* \S+ \S+ \S+ \S+ hdqs (.*)$`).FindSubmatch(table)
	if start == nil || line == nil {
		t.Fatalf("no command: unit %q, crontab %q", start, line)
	}
	for _, c := range []struct {
		name, command string
		variables     []byte
		report        string // file that stdout goes to
	}{
		{"systemd", string(start[1]), env, ""},
		{"cron", string(line[1]), table, "last-load.txt"},
	} {
		dir := t.TempDir()
		here := strings.NewReplacer(
			"/var/lib/hdqs", dir, "/usr/local/bin/hdqs", binary, "https://data.humdata.org", mirror.URL)
		run := func(more ...string) (string, error) {
			cmd := exec.Command("/bin/sh", "-c", here.Replace(c.command))
			cmd.Env = environment(append(more, "HDQS_ALLOW_HTTP=true", "HDQS_ALLOW_PRIVATE_HOSTS=true")...)
			for _, v := range variable.FindAllStringSubmatch(string(c.variables), -1) {
				cmd.Env = append(cmd.Env, v[1]+"="+here.Replace(v[2]))
			}
			out, err := cmd.Output()
			if c.report != "" {
				if len(out) > 0 && err == nil && more == nil {
					t.Errorf("%s: cron would mail about a complete load: %s", c.name, out)
				}
				if more == nil {
					out = testkit.ReadFile(t, filepath.Join(dir, c.report))
				}
			}
			return string(out), err
		}
		for _, want := range []string{": published", ": unchanged"} {
			if out, err := run(); err != nil || !strings.Contains(out, want) {
				t.Errorf("%s: %v, want %q in the report:\n%.1500s", c.name, err, want, out)
			}
		}
		mustExit(t, 0, "verify", "--store", filepath.Join(dir, "store"))
		out, err := run("HDQS_MAX_DOWNLOAD=0")
		if failed := err != nil; failed != (c.report == "") || c.report != "" && !strings.Contains(out, "exit code 2") {
			t.Errorf("%s: a failed load: %v, %s", c.name, err, out)
		}
	}
	if _, err := os.Stat(filepath.Join(deploy, "systemd", "hdqs-build.timer")); err != nil {
		t.Error(err)
	}
}
