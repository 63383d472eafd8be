package main_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

// TestEdgeDashboard: after a short load every panel of the dashboard has data, asked of a real
// Prometheus with the configuration of deploy, of which only addresses and intervals are changed.
func TestEdgeDashboard(t *testing.T) {
	edge(t)
	t.Parallel()
	var dashboard struct {
		Panels []struct {
			Type, Title string
			Targets     []struct{ Expr string }
		}
	}
	testkit.Must(t, json.Unmarshal(testkit.ReadFile(t, filepath.Join(deployed, "grafana", "hdqs.json")), &dashboard))

	store := sampleStore(t)
	var replicas []*server
	for range 2 {
		replicas = append(replicas, serve(t, "--store", store, "--memory-limit", "1GiB", "--snapshot-poll", "1s"))
	}
	base := "http://" + startPrometheus(t, replicas)
	load := func(n int) {
		for _, s := range replicas {
			for _, target := range []string{
				with(fmt.Sprint("/api/v2/affected-people/idps?limit=50&offset=", n)),
				with("/api/v2/affected-people/idps?nothing=1"),
				with("/api/v2/metadata/location/export"), "/api/v2/metadata/location", "/docs",
			} {
				ask(t, "GET", s.base+target, "Accept-Encoding", "gzip")
			}
		}
	}
	has := func(expr string) bool {
		expr = strings.ReplaceAll(expr, "$__rate_interval", "1m")
		a := ask(t, "GET", base+"/api/v1/query?query="+url.QueryEscape(expr))
		if a.status != 200 {
			t.Fatalf("%s: %d %s", expr, a.status, a.body)
		}
		got := decode[struct {
			Data struct {
				Result []struct{ Value [2]any }
			}
		}](t, a.body)
		for _, r := range got.Data.Result {
			if r.Value[1] != "NaN" {
				return true
			}
		}
		return false
	}
	n, asked := 0, 0
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			asked++
			testkit.WaitFor(t, p.Title+" to have data: "+target.Expr, func() bool {
				n++
				load(n)
				return has(target.Expr)
			})
		}
	}
	if asked < 30 {
		t.Errorf("%d queries", asked)
	}
	for _, p := range dashboard.Panels { // the panels say which alerts are about them
		if p.Type == "row" && len(p.Targets) > 0 {
			t.Errorf("the row %s has queries", p.Title)
		}
	}
}

// startPrometheus starts one that asks the admin listeners of two replicas, and returns its
// address.
func startPrometheus(t *testing.T, replicas []*server) string {
	t.Helper()
	dir := t.TempDir()
	config := string(testkit.ReadFile(t, filepath.Join(deployed, "prometheus", "prometheus.yml")))
	config, _, _ = strings.Cut(config, "  # Node exporter") // which does not run here
	targets := regexp.MustCompile(`127\.0\.0\.1:\d+`).FindAllString(config, -1)
	if len(targets) != len(replicas) {
		t.Fatalf("%d targets", len(targets))
	}
	pairs := []string{"15s", "1s"}
	for i, s := range replicas {
		pairs = append(pairs, targets[i], strings.TrimPrefix(s.admin, "http://"))
	}
	testkit.WriteFile(t, filepath.Join(dir, "prometheus.yml"), []byte(strings.NewReplacer(pairs...).Replace(config)))
	testkit.WriteFile(t, filepath.Join(dir, "hdqs.rules.yml"),
		testkit.ReadFile(t, filepath.Join(deployed, "prometheus", "hdqs.rules.yml")))
	address := testkit.FreeAddress(t)
	testkit.RunListening(t, address, exec.Command(testkit.Program(t, "prometheus", "prometheus"),
		"--config.file="+filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address="+address, "--log.level=warn"))
	testkit.WaitFor(t, "Prometheus", func() bool {
		a, err := tryAsk("GET", "http://"+address+"/-/ready")
		return err == nil && a.status == 200
	})
	return address
}
