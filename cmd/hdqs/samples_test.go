package main_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"hdqs/internal/testkit"
)

// samples are the files of deploy as `make install` puts them below a folder.
type samples struct{ root string }

// installSamples runs `make install` with the binary of the tests.
func installSamples(t *testing.T) *samples {
	t.Helper()
	s := &samples{t.TempDir()}
	cmd := exec.Command(testkit.Program(t, "make", "make"), "--old-file=build", "install", "DESTDIR="+s.root,
		"BIN="+binary)
	cmd.Dir = filepath.Join("..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("make install: %v\n%s", err, out)
	}
	return s
}

func (s *samples) path(name string) string { return filepath.Join(s.root, filepath.FromSlash(name)) }

// unit returns a unit of an instance, of which %i is the instance.
func (s *samples) unit(t *testing.T, name, instance string) string {
	t.Helper()
	return strings.ReplaceAll(string(testkit.ReadFile(t, s.path("etc/systemd/system/"+name))), "%i", instance)
}

// setting returns the value of a unit's only line of a name.
func setting(t *testing.T, unit, name string) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^`+name+`=(.*)$`).FindAllStringSubmatch(unit, -1)
	if len(found) != 1 {
		t.Fatalf("%d lines of %s in\n%s", len(found), name, unit)
	}
	return found[0][1]
}

// run runs the command of a unit as systemd does: with the variables of its EnvironmentFile and
// with copies of its credentials. Only the paths and addresses that here replaces are changed.
func (s *samples) run(t *testing.T, unit string, here *strings.Replacer, env ...string) ([]byte, error) {
	t.Helper()
	credentials := t.TempDir()
	name, from, _ := strings.Cut(setting(t, unit, "LoadCredential"), ":")
	testkit.WriteFile(t, filepath.Join(credentials, name), testkit.ReadFile(t, s.path(from)))
	cmd := exec.Command("/bin/sh", "-c", here.Replace(setting(t, unit, "ExecStart")))
	cmd.Env = append(environment(env...), "CREDENTIALS_DIRECTORY="+credentials)
	cmd.Env = append(cmd.Env, variablesOf(testkit.ReadFile(t, s.path(setting(t, unit, "EnvironmentFile"))), here)...)
	return cmd.CombinedOutput()
}

// TestEdgeSamples installs the samples of deploy and runs them together: a signed load by its unit,
// two replicas by theirs, nginx with TLS in front of the ports that it names, and Prometheus's
// rules and targets. Changed are only the folder below which all lies, 127.0.0.1 (another loopback
// address), the address of the catalog, and the ports 443 and 80.
func TestEdgeSamples(t *testing.T) {
	edge(t)
	t.Parallel()
	s := installSamples(t)
	conf := string(testkit.ReadFile(t, s.path("etc/nginx/conf.d/hdqs.conf")))
	var ports []string
	for _, m := range regexp.MustCompile(`(?m)^\tserver 127\.0\.0\.1:(\d+) `).FindAllStringSubmatch(conf, -1) {
		ports = append(ports, m[1])
	}
	if len(ports) != 2 || ports[0] == ports[1] {
		t.Fatalf("nginx names the ports %q, want two", ports)
	}

	mirror := httptest.NewServer(http.FileServer(http.Dir(newCatalog(t, 1))))
	defer mirror.Close()
	here := strings.NewReplacer(
		"/var/lib/hdqs", s.path("var/lib/hdqs"), "/etc/hdqs", s.path("etc/hdqs"), "127.0.0.1", testkit.OwnHost(),
		"/usr/local/bin/hdqs", s.path("usr/local/bin/hdqs"), "https://data.humdata.org", mirror.URL)
	build := s.unit(t, "hdqs-build.service", "")
	web := []string{"HDQS_ALLOW_HTTP=true", "HDQS_ALLOW_PRIVATE_HOSTS=true"}
	mustExit(t, 0, "keygen", "--private", s.path("etc/hdqs/sign.pem"), "--public", s.path("etc/hdqs/sign.pub"))

	channel := s.path(setting(t, s.unit(t, "hdqs@.service", ports[0]), "ConditionPathExists"))
	if _, err := os.Stat(channel); err == nil {
		t.Errorf("%s is there before a load", channel)
	}
	if out, err := s.run(t, build, here, web...); err != nil || !bytes.Contains(out, []byte(": published")) {
		t.Fatalf("the load: %v\n%s", err, out)
	}
	if _, err := os.Stat(channel); err != nil {
		t.Errorf("the replicas would not start after a load: %v", err)
	}

	var public, admin []string
	for _, port := range ports {
		unit, socket := s.unit(t, "hdqs@.service", port), s.unit(t, "hdqs@.socket", port)
		if setting(t, socket, "ConditionPathExists") != setting(t, unit, "ConditionPathExists") {
			t.Error("the socket and the service wait for different files")
		}
		f := &fakeSystemd{told: new(testkit.Log)}
		f.hear(t)
		public = append(public, f.open(t, setting(t, socket, "FileDescriptorName"),
			here.Replace(setting(t, socket, "ListenStream"))))
		args := strings.Fields(here.Replace(setting(t, unit, "ExecStart")))
		env := variablesOf(testkit.ReadFile(t, s.path(setting(t, unit, "EnvironmentFile"))), here)
		p := f.startReady(t, env, args[2:]...)
		var found []string
		p.waitFor(t, "admin listener", func() bool { // READY=1 takes another way
			found = adminLine.FindStringSubmatch(p.log.String())
			return found != nil
		})
		admin = append(admin, strings.TrimPrefix(found[1], "http://"))
	}

	base, plain, https := s.startTLS(t, public)
	// by coding, it is weak or not
	weak := func(a answer) string { return strings.TrimPrefix(a.header.Get("ETag"), "W/") }
	path := "/api/v2/affected-people/idps?limit=300&offset="
	for n := range 40 { // each is another answer, so nginx asks both replicas
		target := with(fmt.Sprint(path, n))
		one, other := ask(t, "GET", "http://"+public[0]+target), ask(t, "GET", "http://"+public[1]+target)
		got := https(base + target)
		if got.status != 200 || one.status != 200 || !bytes.Equal(got.body, one.body) ||
			!bytes.Equal(got.body, other.body) || weak(got) != weak(other) {
			t.Fatalf("%s: %d through nginx, %d and %d of the replicas", target, got.status, one.status, other.status)
		}
	}
	for n := range 8 {
		for _, private := range []string{"/metrics", "/readyz", "/healthz", "/debug/pprof/"} {
			if a := https(fmt.Sprintf("%s%s?%d", base, private, n)); a.status != 404 {
				t.Errorf("%s is public: %d %.100s", private, a.status, a.body)
			}
		}
	}
	moved := ask(t, "GET", plain+"/docs?a=b")
	if to := moved.header.Get("Location"); moved.status != 301 || !strings.HasPrefix(to, "https://") ||
		!strings.HasSuffix(to, "/docs?a=b") {
		t.Errorf("without TLS: %d to %q", moved.status, to)
	}

	s.checkPrometheus(t, here, admin)
	// A replica does not start from what another key has signed.
	other := filepath.Join(t.TempDir(), "other")
	mustExit(t, 0, "keygen", "--private", other, "--public", other+".pub")
	out, err := exec.Command(binary, "serve", "--check", "--store", s.path("var/lib/hdqs/store"), "--require-signature",
		"--public-key", other+".pub").CombinedOutput()
	if code := err.(*exec.ExitError).ExitCode(); code != 4 {
		t.Errorf("with another public key: exit code %d, want 4\n%s", code, out)
	}
}

// startTLS starts nginx with a certificate of its own, and returns the addresses with and without
// TLS, and a client that trusts the certificate.
func (s *samples) startTLS(t *testing.T, replicas []string) (base, plain string, get func(string) answer) {
	t.Helper()
	certificate, pool := selfMade(t)
	front := testkit.StartNginx(t, deployedNginx, certificate, replicas...)
	old := &tls.Config{
		RootCAs: pool, ServerName: selfMadeName, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11,
	}
	if conn, err := tls.Dial("tcp", front.Address, old); err == nil {
		conn.Close()
		t.Error("nginx takes TLS 1.1")
	}
	client := http.Client{Timeout: testkit.Patience, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: pool, ServerName: selfMadeName}, ForceAttemptHTTP2: true,
	}}
	t.Cleanup(client.CloseIdleConnections)
	return "https://" + front.Address, "http://" + front.Redirect, func(url string) answer {
		res := testkit.Value(client.Get(url))(t)
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil || res.ProtoMajor != 2 || res.TLS.Version != tls.VersionTLS13 {
			t.Errorf("%s: %v, %s, TLS version %#x", url, err, res.Proto, res.TLS.Version)
		}
		return answer{res.StatusCode, res.Header, body}
	}
}

const selfMadeName = "hdqs.example.org"

// selfMade makes a certificate, and returns its folder and the pool that trusts it.
func selfMade(t *testing.T) (folder string, pool *x509.CertPool) {
	t.Helper()
	key := testkit.Value(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	from := x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{selfMadeName}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
	cert := testkit.Value(x509.CreateCertificate(rand.Reader, &from, &from, key.Public(), key))(t)
	private := testkit.Value(x509.MarshalPKCS8PrivateKey(key))(t)
	folder, pool = t.TempDir(), x509.NewCertPool()
	chain := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})
	pool.AppendCertsFromPEM(chain)
	testkit.WriteFile(t, filepath.Join(folder, "fullchain.pem"), chain)
	testkit.WriteFile(t, filepath.Join(folder, "privkey.pem"),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
	return folder, pool
}

// checkPrometheus checks the configuration and the rules, and that the targets are the admin
// listeners.
func (s *samples) checkPrometheus(t *testing.T, here *strings.Replacer, admin []string) {
	t.Helper()
	config := s.path("etc/prometheus/prometheus.yml")
	promtool := testkit.Program(t, "promtool", "prometheus")
	if out, err := exec.Command(promtool, "check", "config", config).CombinedOutput(); err != nil {
		t.Errorf("promtool check config: %v\n%s", err, out)
	}
	var targets []string
	text := string(testkit.ReadFile(t, config))
	text, _, _ = strings.Cut(text, "job_name: node") // no program of ours
	for _, m := range regexp.MustCompile(`"([\d.]+:\d+)"`).FindAllStringSubmatch(text, -1) {
		targets = append(targets, here.Replace(m[1]))
	}
	if slices.Sort(admin); !slices.Equal(targets, admin) {
		t.Errorf("Prometheus asks %q, the admin listeners are %q", targets, admin)
	}
	for _, target := range targets {
		a := ask(t, "GET", "http://"+target+"/metrics")
		if a.status != 200 || !bytes.Contains(a.body, []byte("hdqs_snapshot_info{")) {
			t.Errorf("%s: %d", target, a.status)
		}
	}
}

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
	exceptions := testkit.Value(filepath.Abs(filepath.Join(deployedUnits, "exceptions.txt")))(t)
	here := strings.NewReplacer(
		"/var/lib/hdqs", dir, "/usr/local/bin/hdqs", binary, "https://data.humdata.org", mirror.URL,
		"/etc/hdqs/sign.pem", key, "/etc/hdqs/exceptions.txt", exceptions)
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
	names := testkit.Value(filepath.Glob(filepath.Join(deployedUnits, "*.*")))(t)
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
