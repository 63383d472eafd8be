package main

import (
	"cmp"
	"fmt"
	"io"
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
	scenario, measured, figure, bound string
	metric                            string // that moved, or had to move
	result                            string
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
	t.put(row{measured: measured, figure: figure, bound: bound, metric: metric, result: result})
}

// report adds a row that is for information only.
func (t *table) report(measured, figure string) {
	t.put(row{measured: measured, figure: figure, bound: "none", result: resultOK})
}

// fail adds a row for something that ended a scenario or a part of it.
func (t *table) fail(measured string, err error) {
	t.put(row{measured: measured, figure: "could not be finished: " + err.Error(), result: resultFail})
}

// notRun adds a row for something that this machine does not allow.
func (t *table) notRun(measured, why string) {
	t.put(row{measured: measured, figure: "not run: " + why, result: resultNotRun})
}

func (t *table) put(r row) {
	r.scenario, r.bound, r.metric = t.scenario, cmp.Or(r.bound, "-"), cmp.Or(r.metric, "-")
	t.rows = append(t.rows, r)
	fmt.Fprintf(t.progress, "%-8s %s: %s: %s\n", r.result, r.scenario, r.measured, r.figure)
}

// failed counts the rows out of their bound.
func (t *table) failed() (n int) {
	for _, r := range t.rows {
		if r.result == resultFail {
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
			r.scenario, r.measured, oneLine(r.figure), r.bound, r.metric, r.result)
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
