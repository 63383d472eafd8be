package main

import (
	"bytes"
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

// process is a server that we started.
type process struct {
	*load.Server
	command *exec.Cmd
	ended   chan error
	stderr  bytes.Buffer
	admin   string // host:port that stood for {admin} in the command; empty without
	begun   time.Time
	took    time.Duration // from its start to its first answer with rows
}

// launch starts a server, sets its address and process id, and waits for its first good answer. In
// the command, {listen} becomes host:port and {admin} another host:port. wrap is put before it.
func launch(s *load.Server, wrap, command string, first load.Query) (*process, error) {
	address, err := load.FreeAddress()
	if err != nil {
		return nil, err
	}
	admin := ""
	if strings.Contains(command, "{admin}") {
		if admin, err = load.FreeAddress(); err != nil {
			return nil, err
		}
	}
	s.URL = "http://" + address
	command = strings.NewReplacer("{listen}", address, "{admin}", admin).Replace(command)
	argv := append(strings.Fields(wrap), strings.Fields(command)...)
	p := &process{Server: s, admin: admin, command: exec.Command(argv[0], argv[1:]...), ended: make(chan error, 1)}
	p.command.Stderr = &p.stderr
	p.command.WaitDelay = time.Second // for children that outlive it and keep our pipe open
	p.begun = time.Now()
	if err := p.command.Start(); err != nil {
		return nil, err
	}
	s.PID = p.command.Process.Pid
	go func() { p.ended <- p.command.Wait() }()
	for ; ; time.Sleep(500 * time.Microsecond) {
		select {
		case err := <-p.ended:
			return nil, fmt.Errorf("%s ended before it answered: %w; stderr: %s", s.Name, err, p.stderr.String())
		default:
		}
		err := p.Answers(first)
		if p.took = time.Since(p.begun); err == nil {
			return p, nil
		}
		if p.took > startPatience {
			stopped := p.stop()
			return nil, errors.Join(fmt.Errorf("%s: no good answer to %s in %v: %w; stderr: %s", s.Name, first.Name,
				startPatience, err, p.stderr.String()), stopped)
		}
	}
}

// startPatience is how long a server may take to start.
const startPatience = time.Minute

// stop terminates a server, and kills it if that takes too long.
func (p *process) stop() error {
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	var err error
	select {
	case err = <-p.ended:
	case <-time.After(20 * time.Second):
		err = errors.Join(p.command.Process.Kill(), <-p.ended)
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) || errors.Is(err, exec.ErrWaitDelay) {
		return nil // its exit code does not matter
	}
	return err
}

// stopWhenInterrupted stops the started servers when this program is interrupted.
func stopWhenInterrupted(stop func() error) {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		<-asked
		fmt.Fprintln(os.Stderr, errors.Join(errors.New("interrupted"), stop()))
		os.Exit(130)
	}()
}

// output holds the flags for the report.
type output struct{ dir, data, name, note string }

func (o *output) flags(flags *flag.FlagSet) {
	flags.StringVar(&o.dir, "out", "bench/results", "directory of the report")
	flags.StringVar(&o.data, "json", "tmp/bench", "directory of the same report as JSON, with every round")
	flags.StringVar(&o.name, "name", "bench", "name of the report's files")
	flags.StringVar(&o.note, "note", "", "note at the top of the report")
}

// write writes a report as Markdown and as JSON.
func (o *output) write(report *load.Report) error {
	data, err := json.MarshalIndent(report, "", " ")
	path := filepath.Join(o.dir, o.name+".md")
	progress("report: %s", path)
	return errors.Join(err, os.MkdirAll(o.dir, 0o755), os.MkdirAll(o.data, 0o755),
		os.WriteFile(path, []byte(report.Markdown()), 0o644),
		os.WriteFile(filepath.Join(o.data, o.name+".json"), data, 0o644))
}

func commit() string {
	text, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(text))
}
