package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"hdqs/internal/nginx"
)

// startNginx starts an nginx in front of replicas and returns its address.
func (d *drill) startNginx(addresses ...string) (base string, stop func(), err error) {
	binary, err := findProgram("nginx")
	if err != nil {
		return "", nil, err
	}
	dir, err := d.folder("nginx")
	if err != nil {
		return "", nil, err
	}
	log := new(logBuffer)
	s, err := nginx.Start(nginx.Options{Binary: binary, Deployed: d.nginx, Dir: dir, Replicas: addresses, Log: log})
	if err != nil {
		return "", nil, fmt.Errorf("%w: %s", err, log.last())
	}
	return "http://" + s.Address, s.Stop, nil
}

// findProgram also looks where only root's PATH leads.
func findProgram(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		path, err = exec.LookPath(filepath.Join("/usr/sbin", name))
	}
	return path, err
}

// edgeLoad asks nginx for pages that are not in its cache, and compares them with those of a
// replica that is never restarted.
func (d *drill) edgeLoad(ctx context.Context, base string) (load, error) {
	untouched, err := d.serve(ctx, serving{args: patientFlags("--store", d.data.store)})
	if err != nil {
		return load{}, err
	}
	direct := newClient(8)
	const page = "/api/v2/coordination-context/conflict-events?limit=%d&offset=%d"
	check := func(ctx context.Context, edge *http.Client, turn int) (verdict, string) {
		q := request{path: fmt.Sprintf(page, 1+turn/500, turn%500)}
		a, err := ask(ctx, edge, base, q)
		if err != nil || a.status != http.StatusOK {
			return failed, fmt.Sprintf("%s: status %d, %v, %.200s", q.path, a.status, err, a.body)
		}
		want, err := ask(ctx, direct, untouched.public, q)
		if err != nil {
			return failed, fmt.Sprintf("%s from the replica that is not restarted: %v", q.path, err)
		}
		if !bytes.Equal(a.body, want.body) {
			return wrong, fmt.Sprintf("%s: another body: %.200s", q.path, a.body)
		}
		return good, ""
	}
	return load{clients: 8, pause: d.span(2*time.Millisecond, 20*time.Millisecond), check: check}, nil
}

func (r *running) answered(ctx context.Context, more int64) error {
	before := r.asked.Load()
	return waitFor(ctx, "answers", func() bool { return r.asked.Load() >= before+more })
}

func (r *replica) address() string { return strings.TrimPrefix(r.public, "http://") }

// replicas are those behind an nginx, each with what starts it again at its address.
type replicas struct {
	*drill
	running []*replica
	again   []serving
}

func (d *drill) startReplicas(ctx context.Context, all ...serving) (rs *replicas, err error) {
	rs = &replicas{d, make([]*replica, len(all)), all}
	for i := range all {
		if rs.running[i], err = d.serve(ctx, all[i]); err != nil {
			return nil, err
		}
		if all[i].socket == nil {
			all[i].listen = rs.running[i].address()
		}
	}
	return rs, nil
}

// end ends a replica by SIGTERM.
func (rs *replicas) end(ctx context.Context, i int) error {
	if code, err := rs.running[i].stop(ctx); err != nil || code != 0 {
		return fmt.Errorf("exit code %d after SIGTERM, %w", code, err)
	}
	return nil
}

// begin starts a replica that has ended, and waits until it is ready.
func (rs *replicas) begin(ctx context.Context, i int) (err error) {
	if rs.running[i], err = rs.serve(ctx, rs.again[i]); err != nil {
		return err
	}
	return waitFor(ctx, "the replica to be ready", func() bool { return rs.running[i].readiness().ready })
}

// underLoad does something to replicas again and again while an nginx in front of them is asked,
// and returns the load when it has ended.
func (rs *replicas) underLoad(ctx context.Context, times int, do func(l *running, n int) error,
) (*running, error) {
	var addresses []string
	for _, r := range rs.running {
		addresses = append(addresses, r.address())
	}
	base, stop, err := rs.startNginx(addresses...)
	if err != nil {
		return nil, err
	}
	defer stop()
	edge, err := rs.edgeLoad(ctx, base)
	if err != nil {
		return nil, err
	}
	l := edge.start(ctx)
	defer l.cancel()
	for n := range times {
		if err := l.answered(ctx, 50); err != nil {
			return nil, err
		}
		if err := do(l, n); err != nil {
			return nil, err
		}
	}
	err = l.answered(ctx, 50)
	l.stop()
	return l, err
}

// restarts restarts replicas behind nginx: two in turn, then one whose listening socket outlives
// it.
func restarts(ctx context.Context, d *drill, t *table) error {
	if _, err := findProgram("nginx"); err != nil {
		t.notRun("restarts behind nginx", "nginx is not installed")
		return nil
	}
	if err := rollingRestarts(ctx, d, t); err != nil {
		t.fail("rolling restarts of two replicas", err)
	}
	return activatedRestarts(ctx, d, t)
}

func rollingRestarts(ctx context.Context, d *drill, t *table) error {
	usual := serving{args: patientFlags("--store", d.data.store)}
	rs, err := d.startReplicas(ctx, usual, usual)
	if err != nil {
		return err
	}
	times := 2 * d.times(20, 2)
	l, err := rs.underLoad(ctx, times, func(l *running, n int) error {
		if err := errors.Join(rs.end(ctx, n%2), l.answered(ctx, 50)); err != nil {
			return err
		}
		return rs.begin(ctx, n%2)
	})
	if err == nil {
		t.clean(fmt.Sprintf("%d rolling restarts of two replicas", times), l, metricUp)
	}
	return err
}

// activatedRestarts restarts one replica that inherits its listening socket, as from a systemd
// socket unit. Connections that come meanwhile wait in the socket.
func activatedRestarts(ctx context.Context, d *drill, t *table) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer listener.Close()
	socket, err := listener.(*net.TCPListener).File()
	if err != nil {
		return err
	}
	defer socket.Close()
	rs, err := d.startReplicas(ctx, serving{socket: socket, args: patientFlags("--store", d.data.store)})
	if err != nil {
		return err
	}
	if at := rs.running[0].address(); at != listener.Addr().String() {
		return fmt.Errorf("the replica listens on %s, not in the socket that was passed to it", at)
	}
	times := d.times(20, 3)
	l, err := rs.underLoad(ctx, times, func(*running, int) error {
		if err := rs.end(ctx, 0); err != nil {
			return err
		}
		return rs.begin(ctx, 0)
	})
	if err == nil {
		t.clean(fmt.Sprintf("%d socket-activated restarts of one replica", times), l, metricUp)
	}
	return err
}

// kills kills one of two replicas behind nginx. Only requests that it was answering may fail.
func kills(ctx context.Context, d *drill, t *table) error {
	if _, err := findProgram("nginx"); err != nil {
		t.notRun("kill -9 behind nginx", "nginx is not installed")
		return nil
	}
	usual := serving{args: patientFlags("--store", d.data.store)}
	rs, err := d.startReplicas(ctx, usual, usual)
	if err != nil {
		return err
	}
	var inFlight int64
	times := d.times(20, 3)
	l, err := rs.underLoad(ctx, times, func(l *running, n int) error {
		inFlight += l.inFlight.Load()
		if err := errors.Join(rs.running[n%2].signal(syscall.SIGKILL), l.answered(ctx, 100)); err != nil {
			return err
		}
		return rs.begin(ctx, n%2)
	})
	if err == nil {
		t.add(fmt.Sprintf("%d kills of one of two replicas", times), l.counts(),
			fmt.Sprintf("0 wrong, at most the %d in flight", inFlight), metricUp,
			l.wrong() == 0 && l.failed() <= inFlight)
	}
	return err
}
