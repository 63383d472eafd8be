package load

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/klauspost/compress/gzip"
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
    listen 127.0.0.1:%d backlog=1024;
    root files;
    gzip_static on;
    gzip_vary on;
  }
}
`

// StartNginx sends each query once to a server, writes the answers below dir, plain and at gzip
// level 6, and serves them. Queries whose answer is not a 200 are left out. wrap is put before the
// command, for example taskset -c 0.
func StartNginx(binary, dir string, wrap []string, from *Server, queries []Query) (*Control, error) {
	files := filepath.Join(dir, "files")
	if err := os.MkdirAll(files, 0o755); err != nil {
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
		if err := writeBoth(filepath.Join(files, name), a.body); err != nil {
			return nil, err
		}
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	user := ""
	if os.Geteuid() == 0 {
		user = "user root;\n" // else its workers cannot read our files
	}
	conf := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(conf, fmt.Appendf(nil, nginxConf, user, port), 0o644); err != nil {
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
		Name: "nginx", URL: "http://127.0.0.1:" + strconv.Itoa(port), PID: c.command.Process.Pid,
		Path: func(q Query, encoding string) string {
			if encoding == Zstd {
				return "" // Debian's nginx has no zstd module
			}
			return names[q.Name]
		},
	}
	if err := WaitUntilUp(c.URL, 10*time.Second); err != nil {
		return nil, err
	}
	return c, nil
}

// Stop terminates nginx.
func (c *Control) Stop() error {
	if err := c.command.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return c.command.Wait()
}

// writeBoth writes a file and its gzipped form, which gzip_static serves.
func writeBoth(path string, body []byte) error {
	if err := os.WriteFile(path, body, 0o644); err != nil {
		return err
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, 6)
	if err != nil {
		return err
	}
	if _, err := z.Write(body); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(path+".gz", b.Bytes(), 0o644)
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
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
