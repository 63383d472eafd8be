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
// wait for its large ones. It has the session of the others, as Linux gives each session the same
// part of the cores, whatever the priorities within it.
func readApart(b load.Beside, duration time.Duration) (perSecond float64, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	command := exec.Command("chrt", "--idle", "0", self, "read", "--url", b.Server.URL, "--target", b.Large.Target,
		"--encoding", b.Encoding, "--connections", strconv.Itoa(b.Readers), "--duration", duration.String())
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
	if err := parse(flags, args); err != nil {
		return err
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
	return json.NewEncoder(os.Stdout).Encode(o.PerSecond())
}
