package main

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"time"

	"hdqs/bench/load"
)

// overload is the command overload.
func overload(flags *flag.FlagSet, args []string) (err error) {
	e := experiment{}
	v := load.Overload{Progress: progress}
	e.drive.flags(flags)
	// The query costs the server so much CPU that one core of the harness can request three times
	// what one core of the server answers.
	flags.Lookup("only").DefValue = "conflict-scattered-10k"
	flags.Lookup("encodings").DefValue = "gzip"
	for _, name := range []string{"only", "encodings"} {
		if err := flags.Set(name, flags.Lookup(name).DefValue); err != nil {
			return err
		}
	}
	e.record.register(flags, "overload")
	flags.StringVar(&e.wrap, "wrap", "", "prefix of the server's command, such as: taskset -c 0")
	flags.IntVar(&v.Wide, "wide", 512, "connections of the open loop")
	flags.IntVar(&v.Idle, "idle", 10000, "idle connections; both sides need as many open files")
	flags.DurationVar(&v.Patience, "patience", time.Second, "how long callers of the open loop wait for an answer")
	flags.IntVar(&v.Rounds, "rounds", 7, "number of rounds")
	flags.DurationVar(&v.Burst, "burst", 4*time.Second,
		"length of each of the nine parts of a round; the two with many connections are three times as long")
	if err := e.record.parse(flags, args); err != nil {
		return err
	}
	if e.queries, err = e.drive.queries(); err != nil {
		return err
	}
	p, err := launch(&load.Server{Name: "ours"}, e.wrap, e.start, firstPlain(e.queries), time.Minute)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	v.Server, v.Queries, v.Connections = p.Server, e.queries, e.connections
	for _, v.Encoding = range e.codings() {
		r, err := v.Run()
		if err != nil {
			return err
		}
		r.Date, r.Commit, r.Note = today(), commit(), e.note
		name := e.name + "-" + v.Encoding
		err = errors.Join(
			writeFile(filepath.Join(e.data, name+".json"), r.WriteJSON),
			writeFile(filepath.Join(e.out, name+".md"), r.WriteMarkdown),
			r.WriteMarkdown(os.Stdout),
		)
		if err != nil {
			return err
		}
	}
	return nil
}
