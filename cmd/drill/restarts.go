package main

import (
	"bytes"
	"context"
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
func (d *drill) edgeLoad(ctx context.Context, base string, data *dataset) (load, error) {
	untouched, err := d.serve(ctx, serving{args: patientFlags("--store", data.store)})
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

// answered waits for more answers.
func (r *running) answered(ctx context.Context, more int64) error {
	before := r.asked.Load()
	return waitFor(ctx, "answers", func() bool { return r.asked.Load() >= before+more })
}

// replicaAgain starts a replica on the address of one that has ended, and waits until it is ready.
func (d *drill) replicaAgain(ctx context.Context, s serving) (*replica, error) {
	r, err := d.serve(ctx, s)
	if err != nil {
		return nil, err
	}
	return r, waitFor(ctx, "the replica to be ready", func() bool { return r.readiness().ready })
}

func (r *replica) address() string { return strings.TrimPrefix(r.public, "http://") }

// pair are two replicas behind an nginx.
type pair struct {
	replicas [2]*replica
	again    [2]serving // starts one of them on its address
	base     string     // of nginx
	stop     func()     // stops nginx
}

func (d *drill) startPair(ctx context.Context, data *dataset) (p *pair, err error) {
	p = new(pair)
	for i := range p.replicas {
		p.again[i] = serving{args: patientFlags("--store", data.store)}
		if p.replicas[i], err = d.serve(ctx, p.again[i]); err != nil {
			return nil, err
		}
		p.again[i].listen = p.replicas[i].address()
	}
	p.base, p.stop, err = d.startNginx(p.again[0].listen, p.again[1].listen)
	return p, err
}

// restarts restarts replicas behind nginx: two in turn, then one whose listening socket outlives
// it.
func restarts(ctx context.Context, d *drill, t *table) error {
	if _, err := findProgram("nginx"); err != nil {
		t.notRun("restarts behind nginx", "nginx is not installed")
		return nil
	}
	data, err := d.sample(ctx)
	if err != nil {
		return err
	}
	if err := rollingRestarts(ctx, d, t, data); err != nil {
		t.fail("rolling restarts of two replicas", err)
	}
	d.processes.killAll(false)
	return activatedRestarts(ctx, d, t, data)
}

func rollingRestarts(ctx context.Context, d *drill, t *table, data *dataset) error {
	p, err := d.startPair(ctx, data)
	if err != nil {
		return err
	}
	defer p.stop()
	edge, err := d.edgeLoad(ctx, p.base, data)
	if err != nil {
		return err
	}
	l := edge.start(ctx)
	defer l.cancel()
	rounds := d.times(20, 2)
	for range rounds {
		for i := range p.replicas {
			if code, err := p.replicas[i].stop(ctx); err != nil || code != 0 {
				return fmt.Errorf("exit code %d after SIGTERM, %w", code, err)
			}
			if err := l.answered(ctx, 50); err != nil {
				return err
			}
			if p.replicas[i], err = d.replicaAgain(ctx, p.again[i]); err != nil {
				return err
			}
			if err := l.answered(ctx, 50); err != nil {
				return err
			}
		}
	}
	l.stop()
	t.clean(fmt.Sprintf("%d rolling restarts of two replicas", 2*rounds), l, metricUp)
	return nil
}

// activatedRestarts restarts one replica that inherits its listening socket, as from a systemd
// socket unit. Connections that come meanwhile wait in the socket.
func activatedRestarts(ctx context.Context, d *drill, t *table, data *dataset) error {
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
	s := serving{socket: socket, args: patientFlags("--store", data.store)}
	r, err := d.serve(ctx, s)
	if err != nil {
		return err
	}
	if r.address() != listener.Addr().String() {
		return fmt.Errorf("the replica listens on %s, not in the socket that was passed to it", r.public)
	}
	base, stop, err := d.startNginx(r.address())
	if err != nil {
		return err
	}
	defer stop()
	edge, err := d.edgeLoad(ctx, base, data)
	if err != nil {
		return err
	}
	l := edge.start(ctx)
	defer l.cancel()
	rounds := d.times(20, 3)
	for range rounds {
		if err := l.answered(ctx, 50); err != nil {
			return err
		}
		if code, err := r.stop(ctx); err != nil || code != 0 {
			return fmt.Errorf("exit code %d after SIGTERM, %w", code, err)
		}
		if r, err = d.serve(ctx, s); err != nil {
			return err
		}
	}
	if err := l.answered(ctx, 50); err != nil {
		return err
	}
	l.stop()
	t.clean(fmt.Sprintf("%d socket-activated restarts of one replica", rounds), l, metricUp)
	return nil
}

// kills kills one of two replicas behind nginx. Only requests that it was answering may fail.
func kills(ctx context.Context, d *drill, t *table) error {
	if _, err := findProgram("nginx"); err != nil {
		t.notRun("kill -9 behind nginx", "nginx is not installed")
		return nil
	}
	data, err := d.sample(ctx)
	if err != nil {
		return err
	}
	p, err := d.startPair(ctx, data)
	if err != nil {
		return err
	}
	defer p.stop()
	edge, err := d.edgeLoad(ctx, p.base, data)
	if err != nil {
		return err
	}
	l := edge.start(ctx)
	defer l.cancel()
	var inFlight int64
	rounds := d.times(20, 3)
	for n := range rounds {
		if err := l.answered(ctx, 50); err != nil {
			return err
		}
		inFlight += l.inFlight.Load()
		if err := p.replicas[n%2].signal(syscall.SIGKILL); err != nil {
			return err
		}
		if err := l.answered(ctx, 100); err != nil {
			return err
		}
		if p.replicas[n%2], err = d.replicaAgain(ctx, p.again[n%2]); err != nil {
			return err
		}
	}
	l.stop()
	t.add(fmt.Sprintf("%d kills of one of two replicas", rounds), l.counts(),
		fmt.Sprintf("0 wrong, at most the %d in flight", inFlight), metricUp, l.wrong() == 0 && l.failed() <= inFlight)
	return nil
}
