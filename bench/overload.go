package main

import (
	"errors"
	"flag"
	"time"

	"hdqs/bench/load"
)

// overload is the command overload.
func overload(flags *flag.FlagSet, args []string) (err error) {
	e := experiment{}
	v := load.Overload{Progress: progress}
	e.flags(flags, "overload")
	// The query costs the server so much CPU that one core of the harness can request three times
	// what one core of the server answers.
	flags.Lookup("only").DefValue = "conflict-scattered-10k"
	flags.Lookup("encodings").DefValue = "gzip"
	for _, name := range []string{"only", "encodings"} {
		if err := flags.Set(name, flags.Lookup(name).DefValue); err != nil {
			return err
		}
	}
	flags.IntVar(&v.Wide, "wide", 512, "connections of the open loop")
	flags.IntVar(&v.Idle, "idle", 10000, "idle connections; both sides need as many open files")
	flags.DurationVar(&v.Patience, "patience", time.Second, "how long callers of the open loop wait for an answer")
	flags.IntVar(&v.Rounds, "rounds", 7, "number of rounds")
	flags.DurationVar(&v.Burst, "burst", 4*time.Second,
		"length of each of the nine parts of a round; the two with many connections are three times as long")
	if err := e.parse(flags, args); err != nil {
		return err
	}
	p, err := launch(&load.Server{Name: "ours"}, e.wrap, e.start, firstPlain(e.queries))
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
		if err := e.write(e.name+"-"+v.Encoding, r); err != nil {
			return err
		}
	}
	return nil
}
