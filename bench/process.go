package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
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
// the command, {listen} becomes host:port, {port} the port, and {admin} another host:port. wrap is
// put before it.
func launch(s *load.Server, wrap, command string, first load.Query, patience time.Duration) (*process, error) {
	address, err := load.FreeAddress()
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(address)
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
	command = strings.NewReplacer("{listen}", address, "{port}", port, "{admin}", admin).Replace(command)
	argv := append(strings.Fields(wrap), strings.Fields(command)...)
	p := &process{Server: s, admin: admin, command: exec.Command(argv[0], argv[1:]...), ended: make(chan error, 1)}
	p.command.Stderr = &p.stderr
	p.command.WaitDelay = time.Second // for children that outlive it and keep our pipe open
	begun := time.Now()
	p.begun = begun
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
		if err = p.Answers(first); err == nil {
			p.took = time.Since(begun)
			return p, nil
		}
		if time.Since(begun) > patience {
			stopped := p.stop()
			return nil, errors.Join(fmt.Errorf("%s: no good answer to %s in %v: %w; stderr: %s", s.Name, first.Name,
				patience, err, p.stderr.String()), stopped)
		}
	}
}

// settle waits until a server uses no more CPU: one of its processes may answer while others are
// still loading.
func (p *process) settle(most time.Duration) error {
	last := -1.0
	for end := time.Now().Add(most); time.Now().Before(end); time.Sleep(time.Second) {
		u, err := load.UsageOf(p.PID)
		if err != nil {
			return err
		}
		if last >= 0 && u.CPU-last < 0.05 {
			return nil
		}
		last = u.CPU
	}
	return fmt.Errorf("%s still uses CPU after %v", p.Name, most)
}

// stop terminates a server, and kills it if that takes too long.
func (p *process) stop() error {
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	var err error
	select {
	case err = <-p.ended:
	case <-time.After(20 * time.Second):
		tree, unknown := load.Tree(p.PID)
		for _, pid := range tree {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended meanwhile
		}
		err = errors.Join(unknown, <-p.ended)
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

// writeReport writes a report and its plots to one directory, and the report as JSON to another.
func writeReport(r *load.Report, dir, data, name string) error {
	base := filepath.Join(dir, name)
	var names []string
	for kind, plot := range r.Plots() {
		if err := writeFile(base+"-"+kind+".svg", plot.WriteSVG); err != nil {
			return err
		}
		names = append(names, name+"-"+kind+".svg")
	}
	slices.Sort(names)
	r.Pictures = names
	if err := writeFile(filepath.Join(data, name+".json"), r.WriteJSON); err != nil {
		return err
	}
	progress("report: %s.md", base)
	return writeFile(base+".md", r.WriteMarkdown)
}

// writeFile writes a file. It creates the directory if there is none.
func writeFile(path string, write func(w io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
