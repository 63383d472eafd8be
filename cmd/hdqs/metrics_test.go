package main_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

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
