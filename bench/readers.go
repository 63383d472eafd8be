package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"hdqs/bench/load"
)

// readApart reads the large answers in a process of its own, which runs when the core of the
// clients has nothing else to do: one process for both would measure how long its small requests
// wait for its large ones. It stays in the session of this process, because Linux divides the
// cores equally among sessions, whatever the priorities within them. For a server of which new
// pages are requested, first is the number of the first of them.
func readApart(b load.Beside, first int, duration time.Duration) (perSecond float64, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	command := exec.Command("chrt", "--idle", "0", self, "read", "--url", b.Server.URL, "--target", b.Large.Target,
		"--encoding", b.Encoding, "--connections", strconv.Itoa(b.Readers), "--duration", duration.String())
	if b.Server.Fresh != nil {
		command.Args = append(command.Args, "--fresh", strconv.Itoa(first))
	}
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		return 0, fmt.Errorf("%s: %w", strings.Join(command.Args, " "), err)
	}
	return perSecond, json.Unmarshal(out, &perSecond)
}

// readOne is the command read.
func readOne(flags *flag.FlagSet, args []string) error {
	var server load.Server
	flags.StringVar(&server.URL, "url", "http://127.0.0.1:8080", "base address of the server")
	target := flags.String("target", "", "path and query to request")
	encoding := flags.String("encoding", load.Identity, "content coding to request: identity, gzip, zstd")
	connections := flags.Int("connections", 10, "number of connections")
	duration := flags.Duration("duration", 5*time.Second, "how long to request")
	fresh := flags.Int64("fresh", -1, "number of the first page, of pages that all differ; -1: the same page")
	if err := parse(flags, args); err != nil {
		return err
	}
	if *fresh >= 0 {
		server.Fresh = &load.Fresh{First: *fresh}
	}
	o, err := server.Run(load.Drive{
		Queries: []load.Query{{Name: "large", Target: *target, Status: 200, Weight: 1}}, Encoding: *encoding,
		Connections: *connections, Duration: *duration,
	})
	if err != nil {
		return err
	}
	if o.FirstWrong != "" {
		fmt.Fprintln(os.Stderr, "first wrong answer:", o.FirstWrong)
	}
	if o.Requests == 0 {
		return fmt.Errorf("no good answers to %s", *target)
	}
	return json.NewEncoder(os.Stdout).Encode(o.PerSecond())
}
