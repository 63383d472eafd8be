package load

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Nginx is a control that serves the answers of another server as files: the cost of an answer that
// needs no computation.
type Nginx struct {
	Server
	cancel func() // terminates it
	ended  chan error
	files  string
}

const nginxConf = `%sdaemon off;
worker_processes 1;
error_log stderr crit;
pid nginx.pid;
events { worker_connections 1024; }
http {
  access_log off;
  sendfile on;
  tcp_nopush on;
  keepalive_requests 1000000000;
  types { application/json json; text/csv csv; }
  client_body_temp_path body; proxy_temp_path proxy;
  fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  server {
    listen %s backlog=1024;
    root files;
    gzip_static on;
    gzip_vary on;
  }
}
`

// SaveAnswers sends each query once to a server and writes the answers into dir: plain ones as
// NAME.json or NAME.csv and, if compressed is set, the bodies that the server sends in gzip beside
// them as NAME.json.gz, which gzip_static serves. It returns the paths of the files from dir, by
// the names of the queries. Queries whose answer is not a 200 are left out.
func SaveAnswers(dir string, from *Server, queries []Query, compressed bool) (map[string]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	names := map[string]string{}
	for _, q := range queries {
		if q.Status != http.StatusOK && !q.Conditional {
			continue
		}
		a, err := from.must(q, Identity)
		if err != nil {
			return nil, err
		}
		name := q.Name + ".json"
		if strings.HasPrefix(a.contentType, "text/csv") {
			name = q.Name + ".csv"
		}
		names[q.Name] = "/" + name
		if err := os.WriteFile(filepath.Join(dir, name), a.body, 0o644); err != nil {
			return nil, err
		}
		if !compressed {
			continue
		}
		zipped, err := from.settled(q, Gzip)
		if err != nil {
			return nil, err
		}
		if bytes.Equal(zipped.sent, zipped.body) {
			continue // too short to be compressed
		}
		if err := os.WriteFile(filepath.Join(dir, name+".gz"), zipped.sent, 0o644); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// settled sends a query until its answer stays the same: a server may compress parts of its tables
// when they are first requested, a few at a time.
func (s *Server) settled(q Query, encoding string) (last *answer, err error) {
	const enough, most = 3, 100
	for same, n := 0, 0; n < most; n++ {
		a, err := s.fetch(q, encoding)
		if err != nil {
			return nil, err
		}
		if last == nil || !bytes.Equal(last.sent, a.sent) {
			same = 0
		}
		if last = a; same == enough-1 {
			return a, nil
		}
		same++
	}
	return nil, fmt.Errorf("load: %s answers %s (%s) with other bytes each time", s.Name, q.Name, encoding)
}

// StartNginx serves the answers of another server from files below dir: the same bytes, plain and
// in gzip. wrap is put before the command, for example taskset -c 0.
func StartNginx(binary, dir string, wrap []string, from *Server, queries []Query) (*Nginx, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	n := &Nginx{files: filepath.Join(dir, "files"), ended: make(chan error, 1)}
	names, err := SaveAnswers(n.files, from, queries, true)
	if err != nil {
		return nil, err
	}
	address, err := FreeAddress()
	if err != nil {
		return nil, err
	}
	user := ""
	if os.Geteuid() == 0 {
		user = "user root;\n" // else its workers cannot read our files
	}
	conf := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(conf, fmt.Appendf(nil, nginxConf, user, address), 0o644); err != nil {
		return nil, err
	}
	argv := append(slices.Clone(wrap), binary, "-p", dir, "-c", conf, "-e", "stderr")
	ctx, cancel := context.WithCancel(context.Background())
	n.cancel = cancel
	command := exec.CommandContext(ctx, argv[0], argv[1:]...)
	command.Stderr = os.Stderr
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	if err := command.Start(); err != nil {
		cancel()
		return nil, err
	}
	go func() { n.ended <- command.Wait() }()
	n.Server = Server{
		Name: "nginx", URL: "http://" + address, PID: command.Process.Pid,
		Path: func(q Query, encoding string) string {
			if encoding == Zstd {
				return "" // Debian's nginx has no zstd module
			}
			return names[q.Name]
		},
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(2 * time.Millisecond) {
		if _, err = n.fetch(Query{Name: "start"}, Identity); err == nil {
			return n, nil
		} else if time.Now().After(end) {
			n.Stop()
			return nil, err
		}
	}
}

// Save writes the answers to a query again. nginx sends them from the next request on.
func (n *Nginx) Save(from *Server, q Query) error {
	_, err := SaveAnswers(n.files, from, []Query{q}, true)
	return err
}

// Stop terminates nginx.
func (n *Nginx) Stop() {
	n.cancel()
	<-n.ended
}

// FreeAddress returns a host:port of this machine that nothing listens on.
func FreeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
