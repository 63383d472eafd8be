package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"hdqs/bench/load"
)

// drive holds the flags that all commands have for requests.
type drive struct {
	mix         string
	only        string
	encodings   string
	connections int
}

func (d *drive) flags(flags *flag.FlagSet) {
	flags.StringVar(&d.mix, "mix", "bench/mixes/typical.txt", "files of queries, separated by commas")
	flags.StringVar(&d.only, "only", "",
		"send only queries whose name contains one of these texts, separated by commas")
	flags.StringVar(&d.encodings, "encodings", "identity,gzip",
		"content codings to request, separated by commas: identity, gzip, zstd")
	flags.IntVar(&d.connections, "connections", 8, "number of connections")
}

func (d *drive) queries() ([]load.Query, error) {
	var some []load.Query
	for _, path := range strings.Split(d.mix, ",") {
		mix, err := readMix(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		some = append(some, slices.DeleteFunc(mix, func(q load.Query) bool {
			return !slices.ContainsFunc(strings.Split(d.only, ","), func(part string) bool {
				return strings.Contains(q.Name, part)
			})
		})...)
	}
	if len(some) == 0 {
		return nil, fmt.Errorf("%s: no query name contains %q", d.mix, d.only)
	}
	return some, nil
}

func readMix(path string) ([]load.Query, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return load.ReadMix(f)
}

func (d *drive) codings() []string { return strings.Split(d.encodings, ",") }

func loadOne(flags *flag.FlagSet, args []string) error {
	var d drive
	d.flags(flags)
	server := load.Server{Name: "server"}
	flags.StringVar(&server.URL, "url", "http://127.0.0.1:8080", "base address of the server")
	flags.IntVar(&server.PID, "pid", 0, "process id of the server, for its CPU and memory")
	rate := flags.Float64("rate", 0, "requests due per second; 0: as fast as the server answers")
	duration := flags.Duration("duration", 5*time.Second, "duration for each coding")
	if err := parse(flags, args); err != nil {
		return err
	}
	queries, err := d.queries()
	if err != nil {
		return err
	}
	var r load.Report
	for _, encoding := range d.codings() {
		p, err := server.Point(load.Drive{
			Queries: queries, Encoding: encoding, Connections: d.connections, Rate: *rate, Duration: *duration,
		})
		if err != nil {
			return err
		}
		if p.FirstWrong != "" {
			fmt.Fprintln(os.Stderr, "first wrong answer:", p.FirstWrong)
		}
		if p.PerSecond == 0 {
			return errors.New("no good answers")
		}
		r.Loads = append(r.Loads, p)
	}
	fmt.Print(r.Tables())
	return nil
}

func comparePairs(flags *flag.FlagSet, args []string) error {
	var d drive
	d.flags(flags)
	c := load.Comparison{Progress: progress}
	flags.IntVar(&c.Rounds, "rounds", 5, "bursts per server")
	flags.DurationVar(&c.Burst, "burst", time.Second, "length of a burst")
	flags.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: bench pair [flags] NAME=URL[,PID] NAME=URL[,PID] ...")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	for _, arg := range flags.Args() {
		s, err := parseServer(arg)
		if err != nil {
			return err
		}
		c.Servers = append(c.Servers, s)
	}
	if len(c.Servers) < 2 {
		return errors.New("want two or more servers as NAME=URL[,PID]")
	}
	var err error
	if c.Queries, err = d.queries(); err != nil {
		return err
	}
	c.Encodings, c.Connections = d.codings(), d.connections
	err = c.Run()
	r := load.Report{Cells: c.Cells}
	fmt.Print(r.Tables())
	return err
}

func parseServer(text string) (*load.Server, error) {
	name, rest, ok := strings.Cut(text, "=")
	if !ok {
		return nil, fmt.Errorf("%q is not NAME=URL[,PID]", text)
	}
	url, pid, known := strings.Cut(rest, ",")
	s := &load.Server{Name: name, URL: strings.TrimSuffix(url, "/")}
	if known {
		var err error
		if s.PID, err = strconv.Atoi(pid); err != nil {
			return nil, fmt.Errorf("%q: process id %q is not a number", text, pid)
		}
	}
	return s, nil
}

func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
