package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"time"

	"hdqs/internal/testkit"
)

// logBuffer collects what a process writes.
type logBuffer struct{ testkit.Log }

func (l *logBuffer) count(text string) int { return strings.Count(l.String(), text) }

func (l *logBuffer) last() string {
	text := l.String()
	return text[max(0, len(text)-1500):]
}

type process struct {
	log   *logBuffer
	cmd   *exec.Cmd
	ended chan struct{} // closed when it has ended
}

// start starts a program, which is killed at the end of ctx. Its first descriptors after the usual
// three are the files.
func (d *drill) start(ctx context.Context, env []string, files []*os.File, argv ...string) (*process, error) {
	p := &process{log: new(logBuffer), ended: make(chan struct{})}
	p.cmd = exec.CommandContext(ctx, argv[0], argv[1:]...)
	p.cmd.Dir, p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr, p.cmd.ExtraFiles = d.dir, env, p.log, p.log, files
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	d.running.Go(func() {
		_ = p.cmd.Wait() // the exit code is looked at where it matters
		close(p.ended)
	})
	return p, nil
}

// kill ends a process at once, also one that is stopped.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.ended
}

func (p *process) alive() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

func (p *process) signal(sig syscall.Signal) error {
	if err := p.cmd.Process.Signal(sig); err != nil {
		return fmt.Errorf("signal %v: %w; its log ends with:\n%s", sig, err, p.log.last())
	}
	return nil
}

// wait waits for the end and returns the exit code, -1 after a signal.
func (p *process) wait(ctx context.Context, most time.Duration) (code int, err error) {
	select {
	case <-p.ended:
		return p.cmd.ProcessState.ExitCode(), nil
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(most):
		return 0, fmt.Errorf("the process has not ended after %s; its log ends with:\n%s", most, p.log.last())
	}
}

func (p *process) stop(ctx context.Context) (code int, err error) {
	if err := p.signal(syscall.SIGTERM); err != nil {
		return 0, err
	}
	return p.wait(ctx, patience)
}

// patience bounds every wait for something that should take a moment.
const patience = time.Minute

// waitFor polls until a condition holds.
func waitFor(ctx context.Context, what string, holds func() bool) error {
	pause := time.Millisecond
	for end := time.Now().Add(patience); !holds(); {
		pause = min(2*pause, 20*time.Millisecond)
		if time.Now().After(end) {
			return fmt.Errorf("waited %s for %s", patience, what)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
	return nil
}

// sleep waits unless the drill ends.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// replica is a running `hdqs serve`.
type replica struct {
	*process
	public, admin string // http://127.0.0.1:port
}

type serving struct {
	args   []string
	listen string   // "": a free port
	socket *os.File // if not nil, the listening socket that it inherits, as from systemd
	before string   // shell command that runs in the process before the program takes its place
}

var (
	publicLine = regexp.MustCompile(`(?m)^listening on (http://\S+)$`)
	adminLine  = regexp.MustCompile(`(?m)^admin on (http://[^/\s]+)`)
)

// serve starts a replica and waits until it listens.
func (d *drill) serve(ctx context.Context, s serving) (*replica, error) {
	argv := []string{d.binary, "serve", "--admin", "127.0.0.1:0"}
	if d.cores > 0 {
		argv = append([]string{"taskset", "-c", fmt.Sprintf("0-%d", d.cores-1)}, argv...)
	}
	env, files := d.environment(), []*os.File(nil)
	switch {
	case s.socket != nil: // in the way of sd_listen_fds
		env, files = append(env, "LISTEN_FDS=1", "LISTEN_FDNAMES=drill"), []*os.File{s.socket}
		s.before = "export LISTEN_PID=$$" // the shell has the process id that the program will have
	case s.listen == "":
		argv = append(argv, "--listen", "127.0.0.1:0")
	default:
		argv = append(argv, "--listen", s.listen)
	}
	argv = append(argv, s.args...)
	if s.before != "" {
		argv = append([]string{"/bin/sh", "-c", s.before + `; exec "$@"`, "sh"}, argv...)
	}
	p, err := d.start(ctx, env, files, argv...)
	if err != nil {
		return nil, err
	}
	err = waitFor(ctx, "the public listener", func() bool {
		return !p.alive() || publicLine.MatchString(p.log.String())
	})
	if err != nil {
		return nil, fmt.Errorf("%w; the log:\n%s", err, p.log.last())
	}
	public, admin := publicLine.FindStringSubmatch(p.log.String()), adminLine.FindStringSubmatch(p.log.String())
	if public == nil || admin == nil {
		return nil, fmt.Errorf("the server ended before it listened; its log:\n%s", p.log.last())
	}
	return &replica{process: p, public: public[1], admin: admin[1]}, nil
}

// environment is ours without settings of the program, and with the number of cores.
func (d *drill) environment() []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "HDQS_") && !strings.HasPrefix(v, "GOMAXPROCS=") {
			env = append(env, v)
		}
	}
	if d.cores > 0 {
		env = append(env, fmt.Sprintf("GOMAXPROCS=%d", d.cores))
	}
	return env
}

func (d *drill) run(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, d.binary, args...)
	cmd.Dir, cmd.Env = d.dir, d.environment()
	if messages, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("hdqs %s: %w; it says: %s", strings.Join(args, " "), err, messages)
	}
	return nil
}
