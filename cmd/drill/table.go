package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
)

// The results of a row.
const (
	resultOK     = "ok"
	resultFail   = "FAIL"
	resultNotRun = "not run"
)

// row is one line of the table.
type row struct {
	Scenario string `json:"scenario"`
	Measured string `json:"measured"`
	Figure   string `json:"figure"`
	Bound    string `json:"bound"`
	Metric   string `json:"metric"` // that moved, or had to move
	Result   string `json:"result"`
}

// table collects the rows of a drill and prints each scenario's progress.
type table struct {
	progress io.Writer
	scenario string
	rows     []row
}

// add adds a row with a bound.
func (t *table) add(measured, figure, bound, metric string, ok bool) {
	result := resultOK
	if !ok {
		result = resultFail
	}
	t.put(row{Measured: measured, Figure: figure, Bound: bound, Metric: metric, Result: result})
}

// report adds a row that is for information only.
func (t *table) report(measured, figure string) {
	t.put(row{Measured: measured, Figure: figure, Bound: "none", Result: resultOK})
}

// fail adds a row for something that ended a scenario or a part of it.
func (t *table) fail(measured string, err error) {
	t.put(row{Measured: measured, Figure: "could not be finished: " + err.Error(), Result: resultFail})
}

// notRun adds a row for something that this machine does not allow.
func (t *table) notRun(measured, why string) {
	t.put(row{Measured: measured, Figure: "not run: " + why, Result: resultNotRun})
}

func (t *table) put(r row) {
	r.Scenario = t.scenario
	if r.Bound == "" {
		r.Bound = "-"
	}
	if r.Metric == "" {
		r.Metric = "-"
	}
	t.rows = append(t.rows, r)
	fmt.Fprintf(t.progress, "%-8s %s: %s: %s\n", r.Result, r.Scenario, r.Measured, r.Figure)
}

// failed counts the rows out of their bound.
func (t *table) failed() (n int) {
	for _, r := range t.rows {
		if r.Result == resultFail {
			n++
		}
	}
	return n
}

// write prints the table.
func (t *table) write(w io.Writer) error {
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(columns, "scenario\tmeasured\tfigure\tbound\tmetric\tresult")
	for _, r := range t.rows {
		fmt.Fprintf(columns, "%s\t%s\t%s\t%s\t%s\t%s\n",
			r.Scenario, r.Measured, oneLine(r.Figure), r.Bound, r.Metric, r.Result)
	}
	return columns.Flush()
}

// oneLine cuts a text at its first line break and after 100 characters. The progress has all of it.
func oneLine(text string) string {
	for i, c := range text {
		if c == '\n' || i >= 100 {
			return text[:i] + "..."
		}
	}
	return text
}

// writeJSON writes the rows to a file.
func (t *table) writeJSON(path string) error {
	text, err := json.MarshalIndent(t.rows, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}
