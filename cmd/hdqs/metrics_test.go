package main_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"hdqs/internal/testkit"
)

var (
	metricName = regexp.MustCompile(`\bhdqs_[a-z_]*[a-z]\b`)
	alertName  = regexp.MustCompile(`\bHdqs[A-Za-z]+\b`)
)

// scrape returns the metrics of a server.
func (s *server) scrape(t *testing.T) string {
	t.Helper()
	a := ask(t, "GET", s.admin+"/metrics")
	if a.status != 200 {
		t.Fatalf("/metrics: %d %s", a.status, a.body)
	}
	return string(a.body)
}

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

// TestMetricsOfLooks checks that a failed poll, its stage and a repaired store show in the metrics
// and in /readyz.
func TestMetricsOfLooks(t *testing.T) {
	parallel(t)
	store := filepath.Join(t.TempDir(), "store")
	mustExit(t, 0, "build", "--catalog", filepath.Join("..", "..", "loader", "sample", "catalog"), "--store", store)
	s := serve(t, "--store", store, "--snapshot-poll", "0") // none but those of SIGHUP, which are counted
	channel := filepath.Join(store, "channels", "stable.json")
	good := testkit.ReadFile(t, channel)
	has := func(line string) bool { return strings.Contains(s.scrape(t), line+"\n") }
	if !has(`hdqs_polls_total{outcome="swapped"} 1`) || !has("hdqs_poll_running_seconds 0") {
		t.Errorf("after the start:\n%s", s.scrape(t))
	}
	testkit.WriteFile(t, channel, []byte("nonsense"))
	s.signalAndWait(t, "the failed poll", "another snapshot could not be served")
	testkit.WaitFor(t, "the failed poll in the metrics", func() bool {
		return has(`hdqs_poll_failures_total{stage="channel"} 1`) && has(`hdqs_polls_total{outcome="failed"} 1`)
	})
	poll := decode[struct {
		Last struct{ Outcome, Reason string } `json:"last_poll"`
	}](t, ask(t, "GET", s.admin+"/readyz").body).Last
	if poll.Outcome != "failed" || !strings.HasPrefix(poll.Reason, "channel: ") {
		t.Errorf("the last poll in /readyz: %+v", poll)
	}
	testkit.WriteFile(t, channel, good)
	testkit.WaitFor(t, "a poll that finds the store repaired", func() bool {
		s.signal(t, syscall.SIGHUP)
		return has(`hdqs_poll_failures_total{stage="channel"} 1`) && !has(`hdqs_polls_total{outcome="unchanged"} 0`)
	})
}

// TestAccessLogOfServe checks the log's file, its key, and SIGHUP after the file was moved away.
func TestAccessLogOfServe(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	path, key := filepath.Join(dir, "access.log"), filepath.Join(dir, "key")
	testkit.WriteFile(t, key, []byte("0123456789abcdef0123456789abcdef\n"))
	s := serve(t, "--access-log", path, "--access-log-key-file", key)
	s.mustAnswer(t)
	var first string
	testkit.WaitFor(t, "a line", func() bool {
		first = string(testkit.ReadFile(t, path))
		return strings.HasSuffix(first, "}\n")
	})
	line := decode[struct {
		Endpoint, Query, App string
		Status               int
	}](t, []byte(first))
	if line.Endpoint != "location" || line.Query != "limit=1" || line.Status != 200 || len(line.App) != 16 ||
		strings.Contains(first, identifier) {
		t.Errorf("the line %q", first)
	}
	testkit.Must(t, os.Rename(path, path+".1"))
	s.signal(t, syscall.SIGHUP)
	testkit.WaitFor(t, "a new file", func() bool {
		_, err := os.Stat(path)
		return err == nil
	})
	s.mustAnswer(t)
	testkit.WaitFor(t, "a line in the new file", func() bool {
		return strings.HasSuffix(string(testkit.ReadFile(t, path)), "}\n")
	})
	for _, args := range [][]string{
		{"--access-log", dir},
		{"--access-log", path, "--access-log-sample", "2"},
		{"--access-log", path, "--access-log-key-file", path + ".missing"},
	} {
		mustExit(t, 2, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	}
}
