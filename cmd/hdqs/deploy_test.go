package main_test

import (
	"fmt"
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

// execStart returns the command line of a systemd unit.
func execStart(t *testing.T, unit string) string {
	t.Helper()
	return setting(t, string(testkit.ReadFile(t, filepath.Join(deployedUnits, unit))), "ExecStart")
}

var deployedUnits = filepath.Join("..", "..", "deploy", "systemd")

// TestDeployedCron runs the command line of the crontab, with paths of the test and with a mirror
// in place of the catalog. TestDeployedLimits runs those of the units.
func TestDeployedCron(t *testing.T) {
	parallel(t)
	mirror := httptest.NewServer(http.FileServer(http.Dir(newCatalog(t, 1))))
	defer mirror.Close()
	dir := t.TempDir()
	key, public := newKey(t, t.TempDir(), "sign")
	table := testkit.ReadFile(t, filepath.Join("..", "..", "deploy", "cron", "hdqs-build"))
	line := regexp.MustCompile(`(?m)^[\d*]\S* \S+ \S+ \S+ \S+ hdqs (.*)$`).FindSubmatch(table)
	if line == nil {
		t.Fatalf("no command in the crontab %q", table)
	}
	here := strings.NewReplacer(
		"/var/lib/hdqs", dir, "/usr/local/bin/hdqs", binary, "https://data.humdata.org", mirror.URL,
		"/etc/hdqs/sign.pem", key, "/etc/hdqs/exceptions.txt", filepath.Join(deployedUnits, "exceptions.txt"))
	run := func(more ...string) (string, error) {
		cmd := exec.Command("/bin/sh", "-c", here.Replace(string(line[1])))
		cmd.Env = environment(append(more, "HDQS_ALLOW_HTTP=true", "HDQS_ALLOW_PRIVATE_HOSTS=true")...)
		cmd.Env = append(cmd.Env, variablesOf(table, here)...)
		out, err := cmd.Output()
		return string(out), err
	}
	for _, want := range []string{": published", ": unchanged"} {
		mail, err := run()
		report := string(testkit.ReadFile(t, filepath.Join(dir, "last-load.txt")))
		if err != nil || mail != "" || !strings.Contains(report, want) {
			t.Errorf("%v, want %q in the report:\n%.1500s\nand nothing in a mail: %s", err, want, report, mail)
		}
	}
	mustExit(t, 0, "verify", "--store", filepath.Join(dir, "store"), "--require-signature", "--public-key", public)
	if mail, err := run("HDQS_MAX_DOWNLOAD=0"); err != nil || !strings.Contains(mail, "exit code 2") {
		t.Errorf("a failed load: %v, %s", err, mail)
	}
}

// TestDeployedLimits: with the shipped settings a tenfold figure does not move the channel until
// the file of exceptions accepts it, and each load writes its end to files for node exporter.
func TestDeployedLimits(t *testing.T) {
	parallel(t)
	dir, key := t.TempDir(), filepath.Join(t.TempDir(), "sign.pem")
	mustExit(t, 0, "keygen", "--private", key, "--public", key+".pub")
	exceptions, metrics := filepath.Join(dir, "exceptions.txt"), filepath.Join(dir, "node-exporter")
	shipped := testkit.ReadFile(t, filepath.Join(deployedUnits, "exceptions.txt"))
	testkit.WriteFile(t, exceptions, shipped)
	unit := string(testkit.ReadFile(t, filepath.Join(deployedUnits, "hdqs-build.service")))
	stop := strings.ReplaceAll(setting(t, strings.ReplaceAll(unit, "\\\n", ""), "ExecStopPost"), "%%", "%")
	env := testkit.ReadFile(t, filepath.Join(deployedUnits, "build.env"))
	run := func(line, catalog string, more ...string) (string, int) {
		here := strings.NewReplacer("/var/lib/hdqs", dir, "/var/lib/prometheus/node-exporter", metrics,
			"/usr/local/bin/hdqs", binary, "https://data.humdata.org", catalog, "/etc/hdqs/exceptions.txt", exceptions,
			"${CREDENTIALS_DIRECTORY}/sign.pem", key)
		cmd := exec.Command("/bin/sh", "-c", here.Replace(line))
		cmd.Env = append(append(environment(), variablesOf(env, here)...), more...)
		out, _ := cmd.CombinedOutput()
		return string(out), cmd.ProcessState.ExitCode()
	}
	load := func(catalog string, code int) string {
		t.Helper()
		out, got := run(execStart(t, "hdqs-build.service"), catalog)
		if got != code {
			t.Fatalf("exit code %d, want %d:\n%s", got, code, out)
		}
		status := fmt.Sprint("EXIT_STATUS=", code)
		if after, failed := run(strings.TrimPrefix(stop, "-+"), catalog, "EXIT_CODE=exited", status); failed != 0 {
			t.Fatalf("ExecStopPost: %d\n%s", failed, after)
		}
		return out
	}
	text := func(name string) string { return string(testkit.ReadFile(t, filepath.Join(metrics, name))) }

	good, bad := embeddedCatalog(t), embeddedCatalog(t)
	testkit.ChangeCSV(t, filepath.Join(bad, "idps", "hdx_hapi_idps_global.csv"), func(cell func(string) *string) bool {
		if *cell("location_code") == "ABW" {
			*cell("population") += "0"
		}
		return true
	})
	load(good, 0) // where node exporter has no folder nothing is written
	testkit.Must(t, os.Mkdir(metrics, 0o755))
	load(good, 0)
	success := text("hdqs_success.prom")
	if !regexp.MustCompile(`^hdqs_load_last_success_timestamp_seconds \d{10}\n$`).MatchString(success) ||
		text("hdqs_load.prom") != "hdqs_load_exit_code 0\n" {
		t.Errorf("node exporter is left %q, %q", success, text("hdqs_load.prom"))
	}
	found := text("hdqs_findings.prom")
	if !strings.Contains(found, "hdqs_load_findings{reason=\"changed_figure\"} 0\n") {
		t.Errorf("node exporter is left %q", found)
	}
	shown, _ := inspect(t, filepath.Join(dir, "store"))
	out := load(bad, 1)
	if !strings.Contains(out, "internally_displaced, ABW: 2070 before, 20700 after, more than 200 % apart") {
		t.Errorf("the message is\n%s", out)
	}
	if now, _ := inspect(t, filepath.Join(dir, "store")); now.ID != shown.ID {
		t.Error("a tenfold figure was published")
	}
	if text("hdqs_success.prom") != success || text("hdqs_load.prom") != "hdqs_load_exit_code 1\n" {
		t.Errorf("node exporter is left %q, %q", text("hdqs_success.prom"), text("hdqs_load.prom"))
	}
	testkit.WriteFile(t, exceptions, append(shipped, "internally_displaced ABW any until 2100-01-01\n"...))
	load(bad, 0)
	if now, _ := inspect(t, filepath.Join(dir, "store")); now.ID == shown.ID {
		t.Error("an accepted figure was not published")
	}
	out, code := run(execStart(t, "hdqs-gc.service"), bad)
	if code != 0 || !strings.Contains(out, "removed 0 snapshots") {
		t.Errorf("gc: %d, %s", code, out)
	}
	mustExit(t, 0, "verify", "--store", filepath.Join(dir, "store"), "--require-signature", "--public-key", key+".pub")
}

// variablesOf returns the variables of an environment file or of a crontab.
func variablesOf(text []byte, here *strings.Replacer) (env []string) {
	for _, v := range variable.FindAllStringSubmatch(string(text), -1) {
		env = append(env, v[1]+"="+here.Replace(v[2]))
	}
	return env
}

// newKeys matches what systemd before 254 says of settings that it ignores.
var newKeys = regexp.MustCompile(`(?m)^.*: Unknown key (name )?'(RestartSteps|RestartMaxDelaySec)' in section .*, ignoring\.\n`)

// TestEdgeUnits: systemd accepts every unit without a warning, rates each service as hardened, and
// all services have the same restrictions.
func TestEdgeUnits(t *testing.T) {
	edge(t)
	t.Parallel()
	analyze := testkit.Program(t, "systemd-analyze", "systemd")
	names, err := filepath.Glob(filepath.Join(deployedUnits, "*.*"))
	testkit.Must(t, err)
	dir := t.TempDir()
	units, restrictions := []string{"verify", "--man=no"}, map[string][]string{}
	for _, path := range names {
		name := filepath.Base(path)
		if strings.HasSuffix(name, ".env") || strings.HasSuffix(name, ".txt") {
			continue
		}
		text := string(testkit.ReadFile(t, path))
		// A template is checked as an instance: its name is a port.
		unit := filepath.Join(dir, strings.Replace(name, "@.", "@8080.", 1))
		testkit.WriteFile(t, unit, []byte(strings.ReplaceAll(text, "/usr/local/bin/hdqs", binary)))
		units = append(units, unit)
		if !strings.HasSuffix(name, ".service") {
			continue
		}
		_, block, _ := strings.Cut(text, "\n# What the process may do: ")
		block, _, _ = strings.Cut(block, "\n[")
		restrictions[strings.TrimSpace(block)] = append(restrictions[strings.TrimSpace(block)], name)
		const threshold = "--threshold=20" // 2.0 of 10; more is worse
		rate := exec.Command(analyze, "security", "--offline=true", "--no-pager", threshold, unit)
		if out, err := rate.CombinedOutput(); err != nil {
			t.Errorf("systemd-analyze security %s: %v\n%s", name, err, out)
		}
	}
	out, err := exec.Command(analyze, units...).CombinedOutput()
	if out = newKeys.ReplaceAll(out, nil); err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
	if len(units) < 2+6 || len(restrictions) != 1 {
		t.Errorf("%d units; services by their restrictions: %q", len(units)-2, restrictions)
	}
}
