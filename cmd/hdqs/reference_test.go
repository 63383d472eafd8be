package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hdqs/api"
	"hdqs/api/state"
	"hdqs/internal/follow"
	"hdqs/internal/testkit"
)

// TestReference compares docs/flags.md with the flags of all commands, the table of docs/metrics.md
// with the descriptions of the metrics of serve, and testdata/openapi.txt with what serve describes
// at /openapi.json. With -update it writes them.
func TestReference(t *testing.T) {
	t.Parallel()
	metrics := readDoc(t, "metrics.md")
	const begin, end = "-update -->\n", "<!-- end -->"
	before, rest, found := strings.Cut(metrics, begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("docs/metrics.md has no part between %q and %q", begin, end)
	}
	for name, want := range map[string]string{
		"../../docs/flags.md":   flagReference(),
		"../../docs/metrics.md": before + begin + "\n" + metricTable(t) + "\n" + end + after,
		"testdata/openapi.txt":  openAPI(t),
	} {
		if flag.Lookup("update").Value.String() == "true" {
			testkit.Must(t, os.WriteFile(name, []byte(want), 0o644))
		} else if string(testkit.ReadFile(t, name)) != want {
			t.Errorf("%s is not what the program has: go test ./cmd/hdqs -run TestReference -update", name)
		}
	}
}

func readDoc(t *testing.T, name string) string {
	t.Helper()
	text := testkit.ReadFile(t, "../../docs/"+name)
	return string(text)
}

// openAPI is the description of the interface, one line for each parameter, answer and field. What
// is written already is named by its label only: its name and a part of its checksum.
func openAPI(t *testing.T) string {
	t.Helper()
	server := api.New(state.Options{})
	defer server.Shutdown(t.Context())
	var doc map[string]any
	testkit.Must(t, json.Unmarshal(server.Answer("GET", "/openapi.json", nil).Body, &doc))
	components := doc["components"].(map[string]any)
	shared := components["parameters"].(map[string]any)
	delete(components, "parameters") // written where they are used
	var text strings.Builder
	written := map[string]bool{}
	// lines writes the new ones of some named values, each on a line, and the labels of the others.
	lines := func(names []string, values []any) {
		var known []string
		for i, name := range names {
			var line bytes.Buffer
			encoder := json.NewEncoder(&line)
			encoder.SetEscapeHTML(false)
			testkit.Must(t, encoder.Encode(values[i]))
			label := fmt.Sprintf("%s#%.4x", name, sha256.Sum256(line.Bytes()))
			if written[label] {
				known = append(known, label)
				continue
			}
			written[label] = true
			fmt.Fprintf(&text, "  %s %s", label, line.String())
		}
		if len(known) > 0 {
			fmt.Fprintln(&text, " ", strings.Join(known, " "))
		}
	}
	part := func(title string, of any) {
		fmt.Fprintln(&text, title)
		object, _ := of.(map[string]any)
		parameters, _ := object["parameters"].([]any)
		responses, _ := object["responses"].(map[string]any)
		fields, _ := object["properties"].(map[string]any)
		for _, key := range []string{"parameters", "responses", "properties"} {
			delete(object, key)
		}
		lines([]string{"about"}, []any{of})
		names := make([]string, len(parameters))
		for i, one := range parameters {
			if to, is := one.(map[string]any)["$ref"].(string); is {
				parameters[i] = shared[strings.TrimPrefix(to, "#/components/parameters/")]
			}
			names[i], _ = parameters[i].(map[string]any)["name"].(string)
		}
		lines(names, parameters)
		for _, inner := range []map[string]any{responses, fields} {
			sorted := slices.Sorted(maps.Keys(inner))
			values := make([]any, len(sorted))
			for i, name := range sorted {
				values[i] = inner[name]
			}
			lines(sorted, values)
		}
	}
	for _, kind := range []string{"paths", "components"} {
		all := doc[kind].(map[string]any)
		delete(doc, kind)
		for _, name := range slices.Sorted(maps.Keys(all)) {
			inner := all[name].(map[string]any)
			for _, one := range slices.Sorted(maps.Keys(inner)) {
				part(name+" "+one, inner[one])
			}
		}
	}
	part("document", doc)
	return text.String()
}

// sharedFlags are titles of the flags that the same commands have, by one of them.
var sharedFlags = map[string]string{
	"store": "Stores", "allow-http": "Web addresses", "cache": "Downloads", "catalog-url": "Loads",
	"max-change": "Comparisons", "sign-key": "Publications",
}

// flagReference is a page with a table for each command. Flags that several commands have alike are
// at its end, in one table for those that the same commands have.
func flagReference() string {
	var page strings.Builder
	page.WriteString(`# Flags

Made by "go test ./cmd/hdqs -run TestReference -update" from the help of the program. Every flag is also an
environment variable, for example HDQS_DATA_DIR for --data-dir. The command line wins. After a flag is its default,
or what it takes.
`)
	commands := newRoot(nil).Commands()
	having := map[string][]string{} // the names of the commands that have a row
	titles := map[string]string{}   // of tables at the end, by those names
	for _, cmd := range commands {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { having[flagRow(f)] = append(having[flagRow(f)], cmd.Name()) })
	}
	rowsOf := map[string][]string{}
	for _, cmd := range commands {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			row := flagRow(f)
			key := strings.Join(having[row], ", ")
			if title := sharedFlags[f.Name]; title != "" && len(having[row]) > 1 {
				titles[key] = title
			}
			if row != "" && !slices.Contains(rowsOf[key], row) {
				rowsOf[key] = append(rowsOf[key], row)
			}
		})
	}
	for _, cmd := range commands {
		fmt.Fprintf(&page, "\n## %s\n%s:", cmd.Name(), strings.TrimSuffix(cmd.Short, "."))
		var own, more []string
		for _, one := range append([]*cobra.Command{cmd}, cmd.Commands()...) {
			fmt.Fprintf(&page, " `%s`.", strings.TrimSuffix(one.UseLine(), " [flags]"))
			one.LocalFlags().VisitAll(func(f *pflag.Flag) {
				row := flagRow(f)
				title := titles[strings.Join(having[row], ", ")]
				switch {
				case row != "" && title == "":
					own = append(own, row)
				case row != "" && !slices.Contains(more, title):
					more = append(more, title)
				}
			})
		}
		for i, title := range slices.Sorted(slices.Values(more)) {
			more[i] = fmt.Sprintf("[%s](#%s)", title, strings.ReplaceAll(strings.ToLower(title), " ", "-"))
		}
		if len(more) > 0 {
			fmt.Fprintf(&page, "\nAlso: %s.", strings.Join(more, ", "))
		}
		page.WriteString("\n")
		writeFlags(&page, own)
	}
	for _, key := range slices.SortedFunc(maps.Keys(titles), func(a, b string) int {
		return strings.Compare(titles[a], titles[b])
	}) {
		fmt.Fprintf(&page, "\n## %s\nFlags of %s.\n", titles[key], key)
		writeFlags(&page, rowsOf[key])
	}
	return page.String()
}

func writeFlags(page *strings.Builder, rows []string) {
	if len(rows) > 0 {
		page.WriteString("\n| flag | means |\n|---|---|\n" + strings.Join(rows, ""))
	}
}

// flagRow describes a flag, empty for one that is not described.
func flagRow(f *pflag.Flag) string {
	if f.Hidden || f.Name == "help" {
		return ""
	}
	value, usage := pflag.UnquoteUsage(f)
	if f.DefValue != "" && f.DefValue != "[]" && f.DefValue != "false" {
		value = strings.Trim(f.DefValue, "[]")
	}
	name := strings.TrimSpace("--" + f.Name + " " + value)
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	return fmt.Sprintf("| `%s` | %s |\n", name, cell(usage))
}

// cell escapes what would end a cell or begin markup.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`).Replace(strings.Join(strings.Fields(text), " "))
}

// description is how a description of a metric prints itself, which is all that it exports.
var description = regexp.MustCompile(
	`^Desc\{fqName: "(hdqs_\w+)", help: (".*"), unit: .*, variableLabels: \{(.*)\}\}$`)

// metricTable lists the metrics of serve, as the program describes them.
func metricTable(t *testing.T) string {
	server := api.New(state.Options{})
	t.Cleanup(func() { _ = server.Shutdown(t.Context()) })
	registry := server.Metrics()
	registry.MustRegister(newBuildInfo())
	follow.NewMetrics(registry)
	newLoadMetrics(registry)
	all := make(chan *prometheus.Desc)
	go func() { registry.(prometheus.Collector).Describe(all); close(all) }()
	var rows []string
	for desc := range all {
		m := description.FindStringSubmatch(desc.String())
		if m == nil {
			continue // of the Go runtime or the process
		}
		help := testkit.Value(strconv.Unquote(m[2]))(t)
		labels := ""
		if m[3] != "" {
			labels = " By `" + strings.ReplaceAll(m[3], ",", "`, `") + "`."
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s%s |\n", m[1], cell(help), labels))
	}
	slices.Sort(rows)
	if len(rows) < 40 {
		t.Errorf("only %d metrics", len(rows))
	}
	table := "| metric | means |\n|---|---|\n" + strings.Join(rows, "")
	collected, err := registry.(prometheus.Gatherer).Gather() // also what is not described
	testkit.Must(t, err)
	for _, family := range collected {
		if name := family.GetName(); strings.HasPrefix(name, "hdqs_") && !strings.Contains(table, "`"+name+"`") {
			t.Errorf("%s is collected, but not in Describe", name)
		}
	}
	return table
}

// TestCheckSystem: every command that neither writes nor follows a store runs on Windows.
func TestCheckSystem(t *testing.T) {
	t.Parallel()
	reads := []string{
		"status", "query", "mcp", "inspect", "verify", "diff", "history", "export", "keygen", "identifier", "init",
		"licenses", "boundaries",
	}
	for _, cmd := range newRoot(nil).Commands() {
		if err := checkSystem("windows", cmd.Name()); (err == nil) != slices.Contains(reads, cmd.Name()) {
			t.Errorf("%s on Windows: %v", cmd.Name(), err)
		}
		testkit.Must(t, checkSystem("linux", cmd.Name()))
	}
}
