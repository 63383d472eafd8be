package testkit

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// nginxConf includes the files of deploy/nginx. It has short timeouts, and nginx writes only below
// the folder that it is started with.
const nginxConf = `daemon off;
master_process off;
pid nginx.pid;
error_log stderr warn;
events {}
http {
access_log off;
client_header_timeout 1s;
client_body_timeout 1s;
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
	secondReplica = "127.0.0.1:8081"
)

// StartNginx starts an nginx in front of one or two replicas and returns its address. It uses the
// files in deployed, the folder deploy/nginx, and changes only addresses and the folder of the
// cache. With one replica the line of the second is left out.
func StartNginx(t testing.TB, deployed string, replicas ...string) string {
	t.Helper()
	dir, address := t.TempDir(), freeAddress(t)
	conf := string(ReadFile(t, filepath.Join(deployed, "hdqs.conf")))
	for _, part := range []string{firstReplica, secondReplica, "listen 8088", "/var/cache/nginx/hdqs"} {
		if strings.Count(conf, part) != 1 {
			t.Fatalf("%s/hdqs.conf has %q %d times, want once", deployed, part, strings.Count(conf, part))
		}
	}
	if len(replicas) == 1 {
		before, after, _ := strings.Cut(conf, "\tserver "+secondReplica)
		_, after, _ = strings.Cut(after, "\n")
		conf = before + after
		replicas = append(replicas, "")
	}
	conf = strings.NewReplacer(firstReplica, replicas[0], secondReplica, replicas[1],
		"listen 8088", "listen "+address, "/var/cache/nginx/hdqs", filepath.Join(dir, "cache")).Replace(conf)
	WriteFile(t, filepath.Join(dir, "hdqs.conf"), []byte(conf))
	WriteFile(t, filepath.Join(dir, "params.conf"), ReadFile(t, filepath.Join(deployed, "params.conf")))
	WriteFile(t, filepath.Join(dir, "nginx.conf"), []byte(nginxConf))
	log := new(Log)
	command := exec.Command(Program(t, "nginx", "nginx-light"), "-p", dir, "-c", filepath.Join(dir, "nginx.conf"),
		"-e", "stderr")
	command.Stderr = log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = command.Wait() // it is killed
		close(ended)
	}()
	t.Cleanup(func() {
		_ = command.Process.Kill() // it may have ended
		<-ended
		if t.Failed() {
			text := log.String()
			t.Logf("nginx: %s", text[:min(len(text), 2000)])
		}
	})
	WaitFor(t, "nginx to listen", func() bool {
		select {
		case <-ended:
			t.Fatalf("nginx: %s", log)
		default:
		}
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	return address
}

// freeAddress returns an address with a free port. The IP address differs from process to process,
// so no other test takes the port before nginx does.
func freeAddress(t testing.TB) string {
	t.Helper()
	pid := os.Getpid()
	l, err := net.Listen("tcp", fmt.Sprintf("127.%d.%d.%d:0", 100+pid>>14&0x7f, pid>>7&0x7f, 1+pid&0x7f))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
