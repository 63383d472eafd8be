package main

import (
	"errors"
	"flag"
	"time"

	"hdqs/bench/load"
)

// record holds the flags that the commands with reports share: how our server is started and where
// the report goes.
type record struct{ start, out, data, name, note string }

// register adds the flags. kind is the default name of the report's files.
func (r *record) register(flags *flag.FlagSet, kind string) {
	flags.StringVar(&r.start, "start", "", "command that starts the server; {listen} in it becomes host:port")
	flags.StringVar(&r.out, "out", "bench/results", "directory of reports, Markdown and SVG")
	flags.StringVar(&r.data, "json", "tmp/bench", "directory of the same reports as JSON")
	flags.StringVar(&r.name, "name", kind, "name of the report's files")
	flags.StringVar(&r.note, "note", "", "note at the top of the report")
}

// parse parses all flags.
func (r *record) parse(flags *flag.FlagSet, args []string) error {
	if err := parse(flags, args); err != nil {
		return err
	}
	if r.start == "" {
		return errors.New("--start is missing: the command that starts the server")
	}
	return nil
}

// today is the date of a report.
func today() string { return time.Now().UTC().Format("2006-01-02") }

// begin returns an empty report.
func (r *record) begin() load.Report {
	return load.Report{Date: today(), Commit: commit(), Machine: load.ThisMachine(), Note: r.note}
}

// write writes a report in place of the one before.
func (r *record) write(report *load.Report) error { return writeReport(report, r.out, r.data, r.name) }
