package load

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Control is an nginx that serves the answers of another server as files: the cost of an answer
// that needs no computation.
type Control struct {
	Server
	command *exec.Cmd
	dir     string
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

// SaveAnswers sends each query once to a server and writes the answers below dir: plain ones as
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
		a, err := from.fetch(q, Identity)
		if err != nil {
			return nil, err
		}
		if a.status != http.StatusOK {
			return nil, fmt.Errorf("load: %s answers %s with %d", from.Name, q.Name, a.status)
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
		if !zipped.coded {
			continue // a short body
		}
		if err := os.WriteFile(filepath.Join(dir, name+".gz"), zipped.sent, 0o644); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// settled sends a query until its answer stays the same: a server may compress parts of its tables
// when they are first requested, a few at a time.
func (s *Server) settled(q Query, encoding string) (*answer, error) {
	const enough, most = 3, 100
	var last *answer
	for same, n := 0, 0; ; n++ {
		a, err := s.fetch(q, encoding)
		if err != nil {
			return nil, err
		}
		if same++; last == nil || !bytes.Equal(last.sent, a.sent) {
			same = 1
		}
		if last = a; same == enough {
			return a, nil
		}
		if n == most {
			return nil, fmt.Errorf("load: %s answers %s (%s) with other bytes each time", s.Name, q.Name, encoding)
		}
	}
}

// StartNginx serves the answers of another server from files below dir: the same bytes, plain and
// in gzip. wrap is put before the command, for example taskset -c 0.
func StartNginx(binary, dir string, wrap []string, from *Server, queries []Query) (*Control, error) {
	names, err := SaveAnswers(filepath.Join(dir, "files"), from, queries, true)
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
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	argv := append(append([]string(nil), wrap...), binary, "-p", absolute, "-c",
		filepath.Join(absolute, "nginx.conf"), "-e", "stderr")
	c := &Control{dir: dir, command: exec.Command(argv[0], argv[1:]...)}
	c.command.Stderr = os.Stderr
	if err := c.command.Start(); err != nil {
		return nil, err
	}
	c.Server = Server{
		Name: "nginx", URL: "http://" + address, PID: c.command.Process.Pid,
		Path: func(q Query, encoding string) string {
			if encoding == Zstd {
				return "" // Debian's nginx has no zstd module
			}
			return names[q.Name]
		},
	}
	if err := WaitUntilUp(c.URL, time.Minute); err != nil {
		return nil, err
	}
	return c, nil
}

// Save writes the answers to a query again. nginx sends them from the next request on.
func (c *Control) Save(from *Server, q Query) error {
	_, err := SaveAnswers(filepath.Join(c.dir, "files"), from, []Query{q}, true)
	return err
}

// Stop terminates nginx.
func (c *Control) Stop() error {
	if err := c.command.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return c.command.Wait()
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

// WaitUntilUp waits until a server gives any answer.
func WaitUntilUp(url string, most time.Duration) error {
	var last error
	for end := time.Now().Add(most); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		response, err := plain.Get(url + "/")
		if err == nil {
			return response.Body.Close()
		}
		last = err
	}
	return fmt.Errorf("load: %s does not answer after %v: %w", url, most, last)
}
