package load

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// One process, whose CPU and memory are those of nginx.
const nginxConf = `%sdaemon off;
master_process off;
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

// Nginx is the control that sends the answers of another server from dir/files: the cost of an
// answer that needs no computation. Names are the paths of the files. It also writes and returns
// the configuration with which nginx is to be started.
func Nginx(dir string, names map[string]string) (s *Server, conf string, err error) {
	address, err := FreeAddress()
	if err != nil {
		return nil, "", err
	}
	user := ""
	if os.Geteuid() == 0 {
		user = "user root;\n" // else its workers cannot read our files
	}
	s = &Server{Name: "nginx", URL: "http://" + address, Path: func(q Query, encoding string) string {
		if encoding == Zstd {
			return "" // Debian's nginx has no zstd module
		}
		return names[q.Name]
	}}
	conf = filepath.Join(dir, "nginx.conf")
	return s, conf, os.WriteFile(conf, fmt.Appendf(nil, nginxConf, user, address), 0o644)
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
