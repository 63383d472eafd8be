package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"hdqs/bench/load"
)

type process struct {
	*load.Server
	cancel func() // terminates it
	ended  chan struct{}
	stderr bytes.Buffer
	begun  time.Time
	took   time.Duration // from its start to its first answer with rows
}

// launch starts a server, sets its process id, and waits for its first good answer. In its command
// line, {listen} becomes host:port, that of its address if it has one. wrap is put before.
func launch(s *load.Server, wrap, line string, first load.Query) (*process, error) {
	address := strings.TrimPrefix(s.URL, "http://")
	if address == "" {
		var err error
		if address, err = load.FreeAddress(); err != nil {
			return nil, err
		}
		s.URL = "http://" + address
	}
	argv := strings.Fields(strings.ReplaceAll(wrap+" "+line, "{listen}", address))
	ctx, cancel := context.WithCancel(context.Background())
	p := &process{Server: s, begun: time.Now(), cancel: cancel, ended: make(chan struct{})}
	command := exec.CommandContext(ctx, argv[0], argv[1:]...)
	command.Stderr, command.WaitDelay = &p.stderr, 20*time.Second
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	if err := command.Start(); err != nil {
		cancel()
		return nil, err
	}
	s.PID = command.Process.Pid
	var failure error
	go func() {
		failure = command.Wait()
		close(p.ended)
	}()
	for ; ; time.Sleep(500 * time.Microsecond) {
		select {
		case <-p.ended:
			return nil, fmt.Errorf("%s ended before it answered: %w; stderr: %s", s.Name, failure, p.stderr.String())
		default:
		}
		err := p.Answers(first)
		if p.took = time.Since(p.begun); err == nil {
			return p, nil
		}
		if p.took > startPatience {
			p.stop()
			return nil, fmt.Errorf("%s: no good answer to %s in %v: %w; stderr: %s", s.Name, first.Name,
				startPatience, err, p.stderr.String())
		}
	}
}

// startPatience is how long a server may take to start.
const startPatience = time.Minute

// stop terminates a server, and kills it if that takes too long. Its exit code does not matter.
func (p *process) stop() {
	p.cancel()
	<-p.ended
}

// stopWhenInterrupted stops the started servers when this program is interrupted.
func stopWhenInterrupted(stop func()) {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		<-asked
		stop()
		fmt.Fprintln(os.Stderr, "interrupted")
		os.Exit(130)
	}()
}

// output holds the flags for the report.
type output struct{ dir, data, note string }

func (o *output) flags(flags *flag.FlagSet) {
	flags.StringVar(&o.dir, "out", "bench/results", "directory of the report")
	flags.StringVar(&o.data, "json", "tmp/bench", "directory of the same report as JSON, with every round")
	flags.StringVar(&o.note, "note", "", "note at the top of the report")
}

func (o *output) write(report *load.Report) error {
	data, err := json.MarshalIndent(report, "", " ")
	path := filepath.Join(o.dir, "bench.md")
	progress("report: %s", path)
	return errors.Join(err, os.MkdirAll(o.dir, 0o755), os.MkdirAll(o.data, 0o755),
		os.WriteFile(path, []byte(report.Markdown()), 0o644),
		os.WriteFile(filepath.Join(o.data, "bench.json"), data, 0o644))
}

func commit() string {
	text, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(text))
}
