//go:build linux

package main_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hdqs/internal/ckantest"
	"hdqs/internal/testkit"
)

// terminal opens a pseudo-terminal: what is written to program is read from screen.
func terminal(t *testing.T) (screen, program *os.File) {
	t.Helper()
	screen = testkit.Value(os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0))(t)
	t.Cleanup(func() { screen.Close() })
	n, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0)
	}
	testkit.Must(t, err)
	if program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { program.Close() })
	return screen, program
}

// TestProgressOnTerminal: a load on a terminal shows what it downloads and reads, its speed and the
// time left. The report goes to stdout only.
func TestProgressOnTerminal(t *testing.T) {
	parallel(t)
	files, dir := newCatalog(t, 1), t.TempDir()
	const slow = "idps/hdx_hapi_idps_global.csv"
	data := testkit.ReadFile(t, filepath.Join(files, slow))
	seen := new(testkit.Log)
	site := &ckantest.Site{Files: os.DirFS(files), Fault: func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Get("path") != slow {
			return false
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(data)))
		for rest := data; len(rest) > 0; time.Sleep(120 * time.Millisecond) { // until it is on the screen
			n := len(rest)
			if !strings.Contains(seen.String(), slow) {
				n = min(n, len(data)/1000)
			}
			_, _ = w.Write(rest[:n])
			w.(http.Flusher).Flush()
			rest = rest[n:]
		}
		return true
	}}
	server := httptest.NewServer(site)
	t.Cleanup(server.Close)
	screen, program := terminal(t)
	cmd := exec.CommandContext(t.Context(), binary, "build", "--catalog", server.URL, "--json",
		"--store", filepath.Join(dir, "store"), "--data-dir", dir, "--allow-http", "--allow-private-hosts",
		"--allow-host", "127.0.0.1", "--location-list", filepath.Join(files, "reference", "location.csv"))
	cmd.Env, cmd.Stderr = environment("COLUMNS=200"), program
	var out bytes.Buffer
	cmd.Stdout = &out
	testkit.Must(t, cmd.Start())
	program.Close()
	_, _ = io.Copy(seen, screen) // ends with an error when the program has closed its side
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, seen)
	}
	for _, want := range []string{"downloading " + slow, "loading ", "%", "/s", "B/", ":"} {
		if !strings.Contains(seen.String(), want) {
			t.Errorf("%q is not on the screen:\n%q", want, seen.String())
		}
	}
	if !strings.Contains(out.String(), `"outcome": "published"`) {
		t.Errorf("report: %.200s", out.String())
	}
}
