package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestMetricsAreDocumented: docs/operating.md has each metric that a fault of the drill moves in
// its table of faults, beside an alert of deploy/prometheus, and names every other metric of the
// drill.
func TestMetricsAreDocumented(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	guide, rules := read("docs/operating.md"), read("deploy/prometheus/hdqs.rules.yml")
	alerts := faultTable(t, guide)
	faults, others := metricConstants(t)
	for _, metric := range faults {
		if len(alerts[metric]) == 0 {
			t.Errorf("the table of faults in docs/operating.md lacks %s, which a fault of the drill moves", metric)
		}
		for _, alert := range alerts[metric] {
			if !strings.Contains(rules, "- alert: "+alert+"\n") {
				t.Errorf("%s: docs/operating.md names the alert %s, which deploy/prometheus lacks", metric, alert)
			}
		}
	}
	for _, metric := range others {
		if name := nameOf(metric); strings.HasPrefix(name, "hdqs_") && !strings.Contains(guide, "`"+name+"`") {
			t.Errorf("docs/operating.md does not name %s", name)
		}
	}
}

var codeSpan = regexp.MustCompile("`([^`]+)`")

// faultTable returns the alerts of each metric in the table of faults. Of a metric with a label, a
// further span may have another value only.
func faultTable(t *testing.T, guide string) map[string][]string {
	t.Helper()
	_, table, found := strings.Cut(guide, "\n| fault | metric | alert |")
	if !found {
		t.Fatal("docs/operating.md has no table of faults, metrics and alerts")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	alerts := map[string][]string{}
	for _, line := range strings.Split(table, "\n")[2:] {
		cells := strings.Split(line, "|")
		if len(cells) < 5 {
			t.Fatalf("a line of the table of faults has %d cells: %s", len(cells), line)
		}
		last := ""
		for _, span := range codeSpan.FindAllStringSubmatch(cells[2], -1) {
			metric := span[1]
			if strings.HasPrefix(metric, "{") {
				metric = nameOf(last) + metric
			}
			last = metric
			for _, alert := range strings.Split(cells[3], ",") {
				alerts[metric] = append(alerts[metric], strings.Trim(alert, " `"))
			}
		}
	}
	return alerts
}

// metricConstants reads the two groups of metrics.go.
func metricConstants(t *testing.T) (faults, others []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "metrics.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var groups [][]string
	for _, decl := range file.Decls {
		var group []string
		for _, spec := range decl.(*ast.GenDecl).Specs {
			text, err := strconv.Unquote(spec.(*ast.ValueSpec).Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			group = append(group, text)
		}
		groups = append(groups, group)
	}
	if len(groups) != 2 || !slices.Contains(groups[0], metricChannel) || !slices.Contains(groups[1], metricSwapped) {
		t.Fatalf("metrics.go has other groups: %q", groups)
	}
	return groups[0], groups[1]
}
