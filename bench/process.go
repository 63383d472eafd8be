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
	"strconv"
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
	said    bytes.Buffer
	took    time.Duration // from its start to its first answer with rows
}

// launch starts a server, fills in its address and process, and waits for its first good answer. {listen} in the command becomes host:port,
// {port} the port alone; wrap stands before it.
func launch(s *load.Server, wrap, command string, first load.Query, patience time.Duration) (*process, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := l.Addr().(*net.TCPAddr)
	l.Close()
	s.URL = "http://" + address.String()
	command = strings.NewReplacer("{listen}", address.String(), "{port}", strconv.Itoa(address.Port)).Replace(command)
	argv := append(strings.Fields(wrap), strings.Fields(command)...)
	p := &process{Server: s, command: exec.Command(argv[0], argv[1:]...), ended: make(chan error, 1)}
	p.command.Stderr = &p.said
	p.command.WaitDelay = time.Second // for children that outlive it with our pipe in their hands
	begun := time.Now()
	if err := p.command.Start(); err != nil {
		return nil, err
	}
	s.PID = p.command.Process.Pid
	go func() { p.ended <- p.command.Wait() }()
	for ; ; time.Sleep(500 * time.Microsecond) {
		select {
		case err := <-p.ended:
			return nil, fmt.Errorf("%s ended before it answered: %w; it said: %s", s.Name, err, p.said.String())
		default:
		}
		if err = p.Answers(first); err == nil {
			p.took = time.Since(begun)
			return p, nil
		}
		if time.Since(begun) > patience {
			stopped := p.stop()
			return nil, errors.Join(fmt.Errorf("%s: no good answer to %s in %v: %w; it said: %s", s.Name, first.Name, patience, err, p.said.String()), stopped)
		}
	}
}

// settle waits until a server does nothing any more: one of several processes may answer while the others still load.
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
	return fmt.Errorf("%s is still at work after %v", p.Name, most)
}

// stop ends a server, by force when asking does not.
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
			_ = syscall.Kill(pid, syscall.SIGKILL) // one that has ended meanwhile is what we want
		}
		err = errors.Join(unknown, <-p.ended)
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) || errors.Is(err, exec.ErrWaitDelay) {
		return nil // how it ends is not measured
	}
	return err
}

// stopWhenInterrupted ends what was started before the program ends.
func stopWhenInterrupted(stop func() error) {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		<-asked
		fmt.Fprintln(os.Stderr, errors.Join(errors.New("interrupted"), stop()))
		os.Exit(130)
	}()
}

// writeReport writes a report and its plots into a directory, and the report as JSON into another.
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

// writeFile writes a file and makes its directory if there is none.
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
