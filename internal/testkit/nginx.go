package testkit

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// nginxConf includes the files of deploy/nginx. nginx closes refused connections early, and writes
// only below the folder that it is started with.
const nginxConf = `daemon off;
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

// Nginx is a running nginx.
type Nginx struct {
	Address  string // host:port
	Redirect string // the address in place of port 80
	Dir      string // has the folder of its cache
}

// StartNginx starts an nginx in front of one or more replicas, until the test ends. Of the
// configuration in deployed, the folder deploy/nginx, it changes only this: the addresses of the
// replicas, the ports 443 and 80, and the folders of the cache and of the certificate. With one
// replica the line of the second one is left out, without a folder with fullchain.pem and
// privkey.pem the lines of TLS.
func StartNginx(t testing.TB, deployed, tls string, replicas ...string) *Nginx {
	t.Helper()
	n := &Nginx{Address: FreeAddress(t), Redirect: FreeAddress(t), Dir: t.TempDir()}
	WriteFile(t, filepath.Join(n.Dir, "nginx.conf"), []byte(nginxConf))
	WriteFile(t, filepath.Join(n.Dir, "hdqs", "params.conf"), ReadFile(t, filepath.Join(deployed, "params.conf")))
	WriteFile(t, filepath.Join(n.Dir, "hdqs.conf"), []byte(n.site(t, deployed, tls, replicas)))
	RunListening(t, n.Address, exec.Command(Program(t, "nginx", "nginx-light"), "-p", n.Dir, "-c",
		filepath.Join(n.Dir, "nginx.conf"), "-e", "stderr"))
	return n
}

// site is the deployed configuration of the site with what differs here.
func (n *Nginx) site(t testing.TB, deployed, tls string, replicas []string) string {
	t.Helper()
	source := filepath.Join(deployed, "hdqs.conf")
	site, listen := string(ReadFile(t, source)), "listen "+n.Address+";"
	if tls != "" {
		listen = "listen " + n.Address + " ssl http2;"
	}
	others := replicas[min(1, len(replicas)-1):]
	changes := []string{
		firstReplica, replicas[0], secondReplica, strings.Join(others, " max_fails=0;\n\tserver "),
		"listen 443 ssl http2;", listen, "listen 80;", "listen " + n.Redirect + ";",
		"/var/cache/nginx/hdqs", filepath.Join(n.Dir, "cache"),
		"/etc/letsencrypt/live/hdqs.example.org/fullchain.pem", tls + "/fullchain.pem",
		"/etc/letsencrypt/live/hdqs.example.org/privkey.pem", tls + "/privkey.pem",
	}
	for i := 0; i < len(changes); i += 2 {
		if part := changes[i]; strings.Count(site, part) != 1 {
			t.Fatalf("%s has %q %d times, want once", source, part, strings.Count(site, part))
		}
	}
	if len(replicas) == 1 {
		site = withoutLine(site, "server "+secondReplica)
	}
	if tls == "" {
		site = withoutLine(withoutLine(site, "ssl_certificate "), "ssl_certificate_key ")
	}
	return strings.NewReplacer(changes...).Replace(site)
}

// withoutLine leaves out the line that begins, after a tab, with start.
func withoutLine(text, start string) string {
	before, after, _ := strings.Cut(text, "\t"+start)
	_, after, _ = strings.Cut(after, "\n")
	return before + after
}
