package main_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"hdqs/internal/testkit"
)

var deployed = filepath.Join("..", "..", "deploy")

// object is a part of a manifest.
type object = map[string]any

// at returns what lies at a path of a manifest: names of members, and "0" for the first of a list.
func at(t *testing.T, o any, path ...string) any {
	t.Helper()
	for _, name := range path {
		if list, is := o.([]any); is && len(list) > 0 {
			o = list[0]
			continue
		}
		members, _ := o.(object)
		if o = members[name]; o == nil {
			t.Fatalf("no %s at %q of the manifest", name, path)
		}
	}
	return o
}

// documents parses a file of YAML documents.
func documents(t *testing.T, text []byte) (all []object) {
	t.Helper()
	for d := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var o object
		if err := d.Decode(&o); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, o)
	}
}

// imageFact returns what a line of cmd/release/image.go, which makes the image, says.
func imageFact(t *testing.T, file, pattern string) string {
	t.Helper()
	found := regexp.MustCompile(pattern).FindSubmatch(testkit.ReadFile(t, file))
	if found == nil {
		t.Fatalf("%s has nothing like %s", file, pattern)
	}
	return string(found[1])
}

// TestManifests: variables in files for Kubernetes and compose are flags, and user, folder, port
// and version are those of the image of `make release`.
func TestManifests(t *testing.T) {
	t.Parallel()
	image := filepath.Join("..", "release", "image.go")
	user := imageFact(t, image, `imageUser += (\d+)`)
	folder := imageFact(t, image, `imageFolder += "(.*)"`)
	port := imageFact(t, image, `HDQS_LISTEN=0\.0\.0\.0:(\d+)`)
	version := imageFact(t, "version.go", `const release = "(.*)"`)
	flags := string(testkit.ReadFile(t, filepath.Join("..", "..", "docs", "flags.md")))
	variables, files := 0, 0
	for _, dir := range []string{"kubernetes", "compose"} {
		walk := func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			files++
			text := string(testkit.ReadFile(t, path))
			if strings.Contains(text, "HDQS_MAX_CHANGE") != strings.Contains(text, "HDQS_EXCEPTIONS") {
				t.Errorf("%s: a new plan, of which nothing is paid yet, would stop each load", path)
			}
			for _, v := range regexp.MustCompile(`HDQS_[A-Z_]+`).FindAllString(text, -1) {
				variables++
				flag := strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(v, "HDQS_")), "_", "-")
				if !strings.Contains(flags, "| `--"+flag) {
					t.Errorf("%s: %s is the variable of no flag", path, v)
				}
			}
			for pattern, want := range map[string]string{
				`(?:runAsUser|runAsGroup|fsGroup): (\d+)`:        user,
				`user: "(\d+:\d+)"`:                              user + ":" + user,
				`name: data, mountPath: ([^,}]+)`:                folder,
				`volumes: \["store:(.*)"\]`:                      folder,
				`name: http, containerPort: (\d+)`:               port,
				`name: hdqs, newTag: ([\w.]+)`:                   version,
				`image: hdqs:\$\{TAG:-([\w.]+)\}`:                version,
				`(?:HDQS_DATA_DIR: |HDQS_STORE: )(/var/\w+/\w+)`: folder,
			} {
				for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
					if m[1] != want {
						t.Errorf("%s: %q, the image has %s", path, m[0], want)
					}
				}
			}
			return nil
		}
		testkit.Must(t, filepath.WalkDir(filepath.Join(deployed, dir), walk))
	}
	if files < 12 || variables < 15 {
		t.Errorf("%d variables in %d files", variables, files)
	}
}

// TestCompose: what compose.yaml mounts from this repository is there, each replica has the ports
// that nginx and Prometheus name, and none is open to others.
func TestCompose(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(deployed, "compose")
	services := at(t, documents(t, testkit.ReadFile(t, filepath.Join(dir, "compose.yaml")))[0], "services").(object)
	mounts := 0
	for name, s := range services {
		service := s.(object)
		volumes, _ := service["volumes"].([]any)
		for _, v := range volumes {
			from, _, _ := strings.Cut(v.(string), ":")
			if !strings.HasPrefix(from, ".") || from == "./certificate" { // which compose.yaml says how to make
				continue
			}
			mounts++
			if _, err := os.Stat(filepath.Join(dir, from)); err != nil {
				t.Errorf("%s mounts %s: %v", name, from, err)
			}
		}
		if _, opens := service["ports"]; opens && name != "nginx" {
			t.Errorf("%s opens ports: only nginx may", name)
		}
	}
	if mounts < 5 {
		t.Errorf("%d mounts", mounts)
	}
	nginx := string(testkit.ReadFile(t, filepath.Join(deployedNginx, "hdqs.conf")))
	prometheus := string(testkit.ReadFile(t, filepath.Join(deployed, "prometheus", "prometheus.yml")))
	for _, replica := range []string{"first", "second"} {
		listen := at(t, services, replica, "environment", "HDQS_LISTEN").(string)
		admin := at(t, services, replica, "environment", "HDQS_ADMIN").(string)
		if !strings.Contains(nginx, "server "+listen+" ") || !strings.Contains(prometheus, `"`+admin+`"`) {
			t.Errorf("%s listens on %s and %s, which nginx or Prometheus does not name", replica, listen, admin)
		}
	}
}

// TestEdgeKubernetes: the overlays make valid objects, and the container of the sample does what
// its probes and its time to end ask for.
func TestEdgeKubernetes(t *testing.T) {
	edge(t)
	t.Parallel()
	kustomize, validate := os.Getenv("HDQS_KUSTOMIZE"), os.Getenv("HDQS_KUBERNETES")
	if kustomize == "" || validate == "" {
		t.Fatal("HDQS_KUSTOMIZE and HDQS_KUBERNETES name no programs: 'make edge' does")
	}
	pods := map[string]object{}
	for _, overlay := range []string{"sample", "production"} {
		folder := filepath.Join(deployed, "kubernetes", "overlays", overlay)
		out, err := exec.Command(kustomize, "build", folder).Output()
		if err != nil {
			t.Fatalf("kustomize build %s: %v", overlay, err)
		}
		file := filepath.Join(t.TempDir(), "all.yaml")
		testkit.WriteFile(t, file, out)
		if text, err := exec.Command(validate, "--strict", file).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", overlay, err, text)
		}
		kinds := map[string]bool{}
		for _, o := range documents(t, out) {
			kind := o["kind"].(string)
			kinds[kind] = true
			if kind == "Deployment" {
				pods[overlay] = at(t, o, "spec", "template", "spec").(object)
			}
			if kind != "Namespace" && at(t, o, "metadata", "namespace") != "hdqs" {
				t.Errorf("%s: %s is in no namespace", overlay, kind)
			}
		}
		for _, kind := range []string{"Service", "PodDisruptionBudget", "HorizontalPodAutoscaler", "NetworkPolicy"} {
			if !kinds[kind] {
				t.Errorf("%s has no %s", overlay, kind)
			}
		}
	}

	container := at(t, pods["sample"], "containers", "0").(object)
	flags := map[string]string{}
	for _, v := range container["env"].([]any) {
		name := strings.TrimPrefix(at(t, v, "name").(string), "HDQS_")
		flags[strings.ToLower(strings.ReplaceAll(name, "_", "-"))] = at(t, v, "value").(string)
	}
	_, adminPort, _ := strings.Cut(flags["admin"], ":")
	flags["admin"], flags["listen"], flags["data-dir"] = "127.0.0.1:0", "127.0.0.1:0", t.TempDir()
	var args []string
	for name, value := range flags {
		args = append(args, "--"+name+"="+value)
	}
	s := serveWith(t, nil, args...)
	for _, probe := range []string{"startupProbe", "livenessProbe", "readinessProbe"} {
		get := at(t, container, probe, "httpGet").(object)
		if port := portOf(t, container, get["port"].(string)); port != adminPort {
			t.Errorf("%s asks port %s, the admin listener has %s", probe, port, adminPort)
		}
		testkit.WaitFor(t, probe+" to succeed", func() bool {
			return ask(t, "GET", s.admin+get["path"].(string)).status == 200
		})
	}
	grace := time.Duration(at(t, pods["sample"], "terminationGracePeriodSeconds").(int)) * time.Second
	var needed time.Duration
	for _, name := range []string{"shutdown-delay", "drain-timeout"} {
		d := testkit.Value(time.ParseDuration(flags[name]))(t)
		needed += d
	}
	if needed >= grace {
		t.Errorf("a pod has %s to end, and needs %s", grace, needed)
	}
	testkit.Must(t, s.cmd.Process.Signal(syscall.SIGTERM))
	testkit.WaitFor(t, "the pod to be unready", func() bool { return ask(t, "GET", s.admin+"/readyz").status == 503 })
	s.mustAnswer(t) // while the delay lasts, other machines may not know yet
}

// portOf returns the number of a container's named port.
func portOf(t *testing.T, container object, name string) string {
	t.Helper()
	for _, p := range container["ports"].([]any) {
		if at(t, p, "name") == name {
			text := testkit.Value(yaml.Marshal(at(t, p, "containerPort")))(t)
			return strings.TrimSpace(string(text))
		}
	}
	t.Fatalf("no port %q", name)
	return ""
}

// TestAlertsFireAndEnd: the tests of the rules have for each alert a fault for which it fires, a
// later time at which it has ended, and a time at which all is well.
func TestAlertsFireAndEnd(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(deployed, "prometheus")
	var tests struct {
		Tests []struct {
			Alerts []struct {
				Name string        `yaml:"alertname"`
				At   time.Duration `yaml:"eval_time"`
				Want []any         `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		} `yaml:"tests"`
	}
	testkit.Must(t, yaml.Unmarshal(testkit.ReadFile(t, filepath.Join(dir, "hdqs.test.yml")), &tests))
	ended, well := map[string]bool{}, map[string]bool{}
	for _, one := range tests.Tests {
		fired := map[string]time.Duration{}
		for _, a := range one.Alerts {
			if since, has := fired[a.Name]; len(a.Want) > 0 {
				fired[a.Name] = a.At
			} else if has && a.At > since {
				ended[a.Name] = true
			} else {
				well[a.Name] = true
			}
		}
	}
	rules := string(testkit.ReadFile(t, filepath.Join(dir, "hdqs.rules.yml")))
	names := regexp.MustCompile(`alert: (\w+)`).FindAllStringSubmatch(rules, -1)
	for _, m := range names {
		if !ended[m[1]] || !well[m[1]] {
			t.Errorf("%s: fires and ends: %t; does not fire when all is well: %t", m[1], ended[m[1]], well[m[1]])
		}
	}
	if len(names) < 20 {
		t.Errorf("%d alerts", len(names))
	}
}

var (
	metricName = regexp.MustCompile(`\bhdqs_[a-z_]*[a-z]\b`)
	alertName  = regexp.MustCompile(`\bHdqs[A-Za-z]+\b`)
)

// TestMetricsAreDocumented compares the metrics that documents and alert rules name with the table
// of docs/metrics.md, which TestReference holds to the program, and the alerts of the two.
func TestMetricsAreDocumented(t *testing.T) {
	t.Parallel()
	read := func(path ...string) string {
		return string(testkit.ReadFile(t, filepath.Join(append([]string{"..", ".."}, path...)...)))
	}
	docs := read("docs", "limits.md") + read("docs", "metrics.md")
	rules := read("deploy", "prometheus", "hdqs.rules.yml")
	for _, metric := range metricName.FindAllString(docs+rules, -1) {
		family := strings.TrimSuffix(metric, "_bucket")
		const ofUnit = "hdqs_load_exit_code" // written by hdqs-build.service, for node exporter
		if !strings.Contains(docs, "| `"+family+"` |") && metric != ofUnit {
			t.Errorf("a document or a rule names %s, which the server does not have", metric)
		}
	}
	for _, alert := range alertName.FindAllString(rules, -1) {
		if !strings.Contains(docs, alert) {
			t.Errorf("docs/limits.md does not say what to do about %s", alert)
		}
	}
	for _, alert := range alertName.FindAllString(docs, -1) {
		if !strings.Contains(rules, "alert: "+alert+"\n") {
			t.Errorf("docs/limits.md names the alert %s, which is not in the rules", alert)
		}
	}
}
