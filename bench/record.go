package main

import (
	"errors"
	"flag"
	"time"

	"hdqs/bench/load"
)

// record is what the commands that measure our server have in common: how it is started, and where its report goes.
type record struct{ start, out, data, name, note string }

// register adds the flags; unnamed says what the report's files are named after otherwise.
func (r *record) register(flags *flag.FlagSet, unnamed string) {
	flags.StringVar(&r.start, "start", "", "command that starts the server; {listen} in it becomes host:port")
	flags.StringVar(&r.out, "out", "bench/results", "directory of reports, Markdown and SVG")
	flags.StringVar(&r.data, "json", "tmp/bench", "directory of the same reports as JSON")
	flags.StringVar(&r.name, "name", "", "name of the report's files; empty: "+unnamed)
	flags.StringVar(&r.note, "note", "", "what a reader of the report should know")
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

// begin makes a report.
func (r *record) begin() load.Report {
	return load.Report{Date: today(), Commit: commit(), Machine: load.ThisMachine(), Note: r.note}
}

// stem names the files of a report of a date and commit.
func (r *record) stem(date, commit, kind string) string {
	if r.name != "" {
		return r.name
	}
	return date + "-" + commit + kind
}

// write writes a report; kind stands at the end of its files' names.
func (r *record) write(report *load.Report, kind string) error {
	return writeReport(report, r.out, r.data, r.stem(report.Date, report.Commit, kind))
}
