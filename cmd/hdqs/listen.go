package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"strings"

	"github.com/coreos/go-systemd/v22/activation"

	"hdqs/api"
	"hdqs/api/state"
	"hdqs/internal/memory"
)

// adminSocket is the name of a passed socket that is for the admin listener. All others are public.
const adminSocket = "admin"

// passedSockets are the sockets that systemd has opened for this process (sd_listen_fds).
type passedSockets struct{ public, admin []net.Listener }

// takePassed returns the sockets that systemd has passed, none without systemd. One that is no
// stream socket is an error: connections to it would wait forever.
func takePassed() (p passedSockets, err error) {
	for _, file := range activation.Files(true) {
		l, failed := net.FileListener(file) // it has a duplicate of the descriptor
		name := file.Name()
		_ = file.Close()
		switch {
		case failed != nil:
			err = errors.Join(err, fmt.Errorf("the passed socket %s: %w", name, failed))
		case name == adminSocket:
			p.admin = append(p.admin, l)
		default:
			p.public = append(p.public, l)
		}
	}
	return p, err
}

// check refuses flags that contradict the passed sockets: one of the two would be ignored.
func (p passedSockets) check(f *serveFlags) error {
	if len(p.public) > 0 && f.listenSet {
		return fmt.Errorf("--listen %s, but systemd has passed a socket (%s): leave out one of them",
			f.listen, p.public[0].Addr())
	}
	if len(p.admin) > 0 && f.admin != "" {
		return fmt.Errorf("--admin %s, but systemd has passed an admin socket (%s): leave out one of them",
			f.admin, p.admin[0].Addr())
	}
	return nil
}

func (p passedSockets) serveAdmin(server *api.Server, address string, failed chan<- error) ([]net.Listener, error) {
	if address != "" {
		l, err := net.Listen("tcp", address)
		if err != nil {
			return nil, fmt.Errorf("--admin %s: %w", address, err)
		}
		p.admin = []net.Listener{l}
	}
	for _, l := range p.admin {
		go func() { failed <- server.ServeAdmin(l) }()
	}
	return p.admin, nil
}

// publicListeners are opened when the first snapshot is served.
type publicListeners struct {
	sockets   passedSockets
	server    *api.Server
	address   string
	failed    chan error // gets the error of a listener that ends
	opened    bool
	listeners []net.Listener
	err       error // why they could not be opened
}

// open opens the public listeners and serves them, unless it has done so. Passed sockets are left
// as they are at the end, so that connections wait in them for the next process. If an address
// cannot be opened, open ends the warm-up, since the program will end.
func (p *publicListeners) open(ctx context.Context) {
	if p.opened {
		return
	}
	p.opened = true
	endsInOrder.Store(true)
	if p.listeners = p.sockets.public; len(p.listeners) > 0 {
		for _, l := range p.listeners {
			go func() { p.failed <- p.server.ServeInherited(l) }()
		}
		return
	}
	l, err := listenPublic(ctx, p.address)
	if err != nil {
		p.err = fmt.Errorf("--listen %s: %w", p.address, err)
		p.server.State.EndWarmUp()
		return
	}
	p.listeners = []net.Listener{l}
	go func() { p.failed <- p.server.Serve(l) }()
}

// defaultHost is the host of an address that is only a port.
const defaultHost = "127.0.0.1"

// checkAddress checks the address of a flag, if there is one. A port alone is one on the default
// host.
func checkAddress(flag string, address *string) error {
	if *address == "" {
		return nil
	}
	if _, err := strconv.ParseUint(*address, 10, 16); err == nil {
		*address = net.JoinHostPort(defaultHost, *address)
		return nil
	}
	_, port, err := net.SplitHostPort(*address)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil || port == "" {
		return fmt.Errorf("--%s %s: want HOST:PORT, :PORT for every address of this machine, or PORT for %s:PORT",
			flag, *address, defaultHost)
	}
	return nil
}

// listenPublic listens for plain TCP. With multipath TCP, the default of package net, the kernel
// has no socket filters, and closing the listener would reset connections that have just begun
// (api.Server.Shutdown).
func listenPublic(ctx context.Context, address string) (net.Listener, error) {
	var plain net.ListenConfig
	plain.SetMultipathTCP(false)
	return plain.Listen(ctx, "tcp", address)
}

// addressOf returns how to reach a listener, with http:// before it.
func addressOf(l net.Listener) string {
	if l.Addr().Network() == "unix" {
		return "unix:" + strings.TrimPrefix(l.Addr().String(), "@")
	}
	return "http://" + l.Addr().String()
}

// maxReserved is the most descriptors that are kept from connections. A snapshot with bulk files
// keeps a few hundred files open, and three snapshots may be open at once.
const maxReserved = 4096

// The least limits of a process that serves. Go reserves address space that it does not use, and
// segments take what they are long.
const (
	leastOpenFiles = 128
	leastAddresses = 4 << 30
)

// checkLimits returns an error where the process would end with a stack trace sooner or later.
func checkLimits() error {
	files, addresses, err := memory.ProcessLimits()
	switch {
	case err != nil:
		return err
	case files < leastOpenFiles:
		return fmt.Errorf("this process may open %d files, serve needs %d: raise LimitNOFILE= of the unit or ulimit -n",
			files, leastOpenFiles)
	case addresses < leastAddresses:
		return fmt.Errorf("the address space of this process is limited to %s, serve needs %s and room for the "+
			"segments: "+
			"remove LimitAS= of the unit or ulimit -v, and limit memory with MemoryMax= or --memory-limit",
			memory.Size(int64(addresses)), memory.Size(leastAddresses))
	}
	return nil
}

// limitConnections keeps a quarter of the process's descriptors from public connections, so that
// idle clients cannot keep the server from opening files and answering its admin listener.
func limitConnections(o *state.Options, log *slog.Logger) error {
	files, _, err := memory.ProcessLimits()
	if err != nil {
		return err
	}
	asked := cmp.Or(o.Connections, state.DefaultConnections)
	o.Connections = int(min(uint64(asked), files-min(files/4, maxReserved)))
	if o.Connections < asked {
		log.Info("fewer connections than --max-connections, since the process may open few files; "+
			"raise LimitNOFILE= of the unit or ulimit -n", "connections", o.Connections, "wanted", asked,
			"open_files", files)
	}
	return nil
}
