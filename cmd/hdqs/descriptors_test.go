package main_test

import (
	"net"
	"os/exec"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

// TestDescriptorsRunOut opens more idle connections than the process may open files. The admin
// listener and requests on connections that were open before are answered, and the process goes on.
func TestDescriptorsRunOut(t *testing.T) {
	parallel(t)
	const files = 200
	s := listening(t, startCommand(t, nil, exec.Command("sh", "-c", `ulimit -n 200 && exec "$0" "$@"`, binary,
		"serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--identifier", "off")))
	if !s.logged("connections=150 wanted=65536 open_files=200") {
		t.Errorf("the log does not name the limit of connections\n%s", s.log)
	}
	s.mustAnswer(t)
	var idle []net.Conn
	defer func() {
		for _, c := range idle {
			_ = c.Close()
		}
	}()
	for _, address := range []string{s.base, s.admin} { // those of the admin listener have no limit
		for range 2 * files {
			c, err := net.Dial("tcp", strings.TrimPrefix(address, "http://"))
			testkit.Must(t, err)
			idle = append(idle, c)
		}
		if address == s.base {
			if m := ask(t, "GET", s.admin+"/metrics"); m.status != 200 {
				t.Errorf("/metrics beside idle clients: %d", m.status)
			}
		}
	}
	testkit.WaitFor(t, "the shortage to be logged", func() bool {
		return s.logged("no descriptor or memory for " +
			"a connection")
	})
	for _, c := range idle {
		_ = c.Close()
	}
	s.mustAnswer(t)
	if m := ask(t, "GET", s.admin+"/metrics"); m.status != 200 {
		t.Errorf("/metrics after idle clients: %d", m.status)
	}
	if code := s.stop(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, s.log)
	}
}
