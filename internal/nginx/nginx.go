// Package nginx starts an nginx with the configuration of deploy/nginx, for tests and cmd/drill.
package nginx

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// conf includes the files of deploy/nginx. nginx closes refused connections early, and writes only
// below the folder that it is started with.
const conf = `daemon off;
master_process off;
pid nginx.pid;
error_log stderr warn;
events {}
http {
access_log off;
lingering_timeout 1s;
client_body_temp_path body;
proxy_temp_path proxy;
fastcgi_temp_path fastcgi;
uwsgi_temp_path uwsgi;
scgi_temp_path scgi;
include hdqs.conf;
}
`

// The lines of deploy/nginx/hdqs.conf that name the replicas.
const (
	firstReplica  = "127.0.0.1:8080"
	secondReplica = "127.0.0.1:8090"
)

// Server is a running nginx.
type Server struct {
	Address  string // host:port
	Redirect string // the address in place of port 80
	process  *os.Process
	ended    chan struct{}
}

// Options are what Start needs.
type Options struct {
	Binary   string    // of nginx
	Deployed string    // the folder deploy/nginx
	Dir      string    // an existing folder for configuration and cache
	Replicas []string  // the addresses of one or more replicas
	TLS      string    // a folder with fullchain.pem and privkey.pem; empty: no TLS
	Log      io.Writer // gets what nginx writes to standard error
}

// Start starts an nginx in front of the replicas and waits until it listens. Of the deployed
// configuration it changes only this: the addresses of the replicas, the ports 443 and 80, and the
// folders of the cache and of the certificate. With one replica the line of the second one is left
// out, without TLS those of the certificate.
func Start(o Options) (*Server, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	redirect, err := freeAddress()
	if err != nil {
		return nil, err
	}
	if err := o.configure(address, redirect); err != nil {
		return nil, err
	}
	command := exec.Command(o.Binary, "-p", o.Dir, "-c", filepath.Join(o.Dir, "nginx.conf"), "-e", "stderr")
	command.Stderr = o.Log
	if err := command.Start(); err != nil {
		return nil, err
	}
	s := &Server{Address: address, Redirect: redirect, process: command.Process, ended: make(chan struct{})}
	go func() {
		_ = command.Wait() // it is killed
		close(s.ended)
	}()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		select {
		case <-s.ended:
			return nil, fmt.Errorf("nginx: ended at its start: %v", command.ProcessState)
		default:
		}
		if conn, err := net.Dial("tcp", address); err == nil {
			return s, conn.Close()
		}
	}
	s.Stop()
	return nil, fmt.Errorf("nginx: does not listen on %s after a minute", address)
}

// configure writes the configuration into the folder.
func (o *Options) configure(address, redirect string) error {
	source := filepath.Join(o.Deployed, "hdqs.conf")
	text, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	params, err := os.ReadFile(filepath.Join(o.Deployed, "params.conf"))
	if err != nil {
		return err
	}
	site, listen := string(text), "listen "+address+";"
	if o.TLS != "" {
		listen = "listen " + address + " ssl http2;"
	}
	others := o.Replicas[min(1, len(o.Replicas)-1):]
	changes := []string{
		firstReplica, o.Replicas[0], secondReplica, strings.Join(others, " max_fails=0;\n\tserver "),
		"listen 443 ssl http2;", listen, "listen 80;", "listen " + redirect + ";",
		"/var/cache/nginx/hdqs", filepath.Join(o.Dir, "cache"),
		"/etc/letsencrypt/live/hdqs.example.org/fullchain.pem", o.TLS + "/fullchain.pem",
		"/etc/letsencrypt/live/hdqs.example.org/privkey.pem", o.TLS + "/privkey.pem",
	}
	for i := 0; i < len(changes); i += 2 {
		if part := changes[i]; strings.Count(site, part) != 1 {
			return fmt.Errorf("nginx: %s has %q %d times, want once", source, part, strings.Count(site, part))
		}
	}
	if len(o.Replicas) == 1 {
		site = withoutLine(site, "server "+secondReplica)
	}
	if o.TLS == "" {
		site = withoutLine(withoutLine(site, "ssl_certificate "), "ssl_certificate_key ")
	}
	site = strings.NewReplacer(changes...).Replace(site)
	if err := os.MkdirAll(filepath.Join(o.Dir, "hdqs"), 0o755); err != nil {
		return err
	}
	files := map[string][]byte{"hdqs.conf": []byte(site), "hdqs/params.conf": params, "nginx.conf": []byte(conf)}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(o.Dir, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// withoutLine leaves out the line that begins, after a tab, with start.
func withoutLine(text, start string) string {
	before, after, _ := strings.Cut(text, "\t"+start)
	_, after, _ = strings.Cut(after, "\n")
	return before + after
}

// Stop kills nginx and waits for its end.
func (s *Server) Stop() {
	_ = s.process.Kill() // it may have ended
	<-s.ended
}

// freeAddress returns an address with a free port. The IP address differs from process to process,
// so no other program takes the port before nginx does.
func freeAddress() (string, error) {
	pid := os.Getpid()
	l, err := net.Listen("tcp", fmt.Sprintf("127.%d.%d.%d:0", 100+pid>>14&0x7f, pid>>7&0x7f, 1+pid&0x7f))
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}
