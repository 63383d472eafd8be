package main_test

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"hdqs/internal/ckantest"
	"hdqs/internal/testkit"
)

// webServer serves files, or a CKAN site.
type webServer struct {
	*httptest.Server
	hangs atomic.Bool
	paths testkit.Log // that it was asked for
	files *ckantest.Site

	mu     sync.Mutex
	faults map[string]http.HandlerFunc // by the beginning of a path, or by a file of the site
}

// faultOf is the fault of what a request asks for, nil without one.
func (w *webServer) faultOf(r *http.Request) http.HandlerFunc {
	w.mu.Lock()
	defer w.mu.Unlock()
	for path, fault := range w.faults {
		if strings.HasPrefix(r.URL.Path, path) || r.URL.Query().Get("path") == path {
			return fault
		}
	}
	return nil
}

// setFault makes w answer requests for a path with fault, or as it did before where fault is nil.
func (w *webServer) setFault(path string, fault http.HandlerFunc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if fault == nil {
		delete(w.faults, path)
	} else {
		w.faults[path] = fault
	}
}

func (s *story) serve(args []string) bool {
	s.start(args)
	started := listening(s.T, s.server(args[0]).process)
	s.servers[args[0]] = started
	s.script.Setenv(args[0], started.base)
	s.script.Setenv(args[0]+"_HOST", strings.TrimPrefix(started.base, "http://"))
	return true
}

func (s *story) start(args []string) bool {
	flags := append([]string{"serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"}, args[1:]...)
	cmd := exec.Command(binary, flags...)
	cmd.Dir = s.script.Getenv("WORK")
	started := adminListening(s.T, startCommand(s.T, s.variables(), cmd))
	s.servers[args[0]] = started
	s.script.Setenv(args[0]+"_ADMIN", started.admin)
	return true
}

func (s *story) polls(args []string) bool {
	server := s.server(args[0])
	for range mustNumber(s.T, args[1]) {
		moved := time.Now()
		server.waitFor(s.T, "a later poll", func() bool {
			type polled struct {
				LastPoll struct{ At time.Time } `json:"last_poll"`
			}
			return decode[polled](s.T, ask(s.T, "GET", server.admin+"/readyz").body).LastPoll.At.After(moved)
		})
	}
	return true
}

func (s *story) hangup(args []string) bool {
	s.server(args[0]).signalAndWait(s.T, args[1], args[1])
	return true
}

func (s *story) await(args []string) bool {
	server := s.server(args[0])
	server.waitFor(s.T, args[1], func() bool { return server.logged(args[1]) })
	return true
}

func (s *story) signal(args []string) bool {
	s.server(args[0]).signal(s.T, syscall.SIGHUP)
	return true
}

func (s *story) kill9(args []string) bool {
	s.server(args[0]).kill()
	return true
}

func (s *story) drain(args []string) bool {
	s.server(args[0]).signal(s.T, syscall.SIGTERM)
	return true
}

func (s *story) ends(args []string) bool { return s.drain(args) && s.ended(args) }

func (s *story) ended(args []string) bool {
	server := s.server(args[0])
	if code := server.wait(s.T); code != mustNumber(s.T, args[1]) {
		s.script.Fatalf("exit code %d\n%s", code, server.log)
	}
	return true
}

func (s *story) ask(args []string) bool {
	var fields []string
	for _, field := range args[2:] {
		name, value, _ := strings.Cut(field, ":")
		fields = append(fields, name, value)
	}
	a := ask(s.T, "GET", args[1], fields...)
	fmt.Fprintf(s.script.Stdout(), "%s\n", bytes.TrimSuffix(a.body, []byte("\n")))
	testkit.Must(s.T, a.header.Write(s.script.Stderr()))
	if a.status != mustNumber(s.T, args[0]) {
		s.script.Fatalf("status %d", a.status)
	}
	return true
}

func (s *story) heads(args []string) bool {
	name, value, _ := strings.Cut(args[1], ": ")
	testkit.WaitFor(s.T, args[1], func() bool { return ask(s.T, "GET", args[0]).header.Get(name) == value })
	return true
}

func (s *story) becomes(args []string) bool {
	testkit.WaitFor(s.T, args[1]+" at "+args[0], func() bool {
		if strings.HasPrefix(args[0], "http:") {
			return bytes.Contains(ask(s.T, http.MethodGet, args[0]).body, []byte(args[1]))
		}
		text, err := os.ReadFile(s.script.MkAbs(args[0]))
		return err == nil && bytes.Contains(text, []byte(args[1]))
	})
	return true
}

func (s *story) logged(args []string) bool { return s.server(args[0]).logged(args[1]) }

func (s *story) server(name string) *server {
	found := s.servers[name]
	if found == nil {
		s.script.Fatalf("no server %s", name)
	}
	return found
}

// variables are those of the script that a server needs too.
func (s *story) variables() (all []string) {
	all = append(all, "TMPDIR="+s.script.Getenv("TMPDIR"))
	if s.objects != nil {
		all = append(all, s.objects.env...)
	}
	return all
}

func (s *story) web(args []string) bool {
	files := http.FileServer(http.Dir(s.script.MkAbs(args[1])))
	if len(args) > 2 {
		return s.open(args[0], http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			files.ServeHTTP(sizeless{w}, r)
		}))
	}
	return s.open(args[0], files)
}

// sizeless does not announce how long an answer is.
type sizeless struct{ http.ResponseWriter }

func (w sizeless) WriteHeader(status int) {
	w.Header().Del("Content-Length")
	w.ResponseWriter.WriteHeader(status)
}

func (s *story) site(args []string) bool {
	files := &ckantest.Site{
		Files: os.DirFS(args[1]), Override: map[string][]byte{}, Modified: map[string]string{},
	}
	s.open(args[0], files)
	s.webs[args[0]].files = files
	return true
}

func (s *story) fault(args []string) bool {
	if args[2] == "off" {
		s.webs[args[0]].setFault(args[1], nil)
	} else {
		s.webs[args[0]].setFault(args[1], s.answer(args[2:]))
	}
	return true
}

// answer refuses a request: STATUS, and a text.
func (s *story) answer(args []string) http.HandlerFunc {
	status := mustNumber(s.T, args[0])
	return func(out http.ResponseWriter, _ *http.Request) {
		out.Header().Set("Retry-After", "1")
		out.WriteHeader(status)
		_, _ = io.WriteString(out, strings.Join(args[1:], " "))
	}
}

func (s *story) onceOnly(args []string) bool {
	w, requests, fault := s.webs[args[0]], new(atomic.Int64), s.answer(args[2:])
	w.setFault(args[1], func(out http.ResponseWriter, r *http.Request) {
		if requests.Add(1) == 1 { // files are downloaded two at a time
			fault(out, r)
			return
		}
		w.files.ServeHTTP(out, r)
	})
	return true
}

func (s *story) modified(args []string) bool {
	site := s.webs[args[0]].files
	site.Lock()
	defer site.Unlock()
	site.Modified[args[1]] = args[2]
	site.Override[args[1]] = testkit.ReadFile(s.T, filepath.Join(s.script.Getenv("FILES"), args[1]))
	return true
}

func (s *story) open(name string, files http.Handler) bool {
	w := &webServer{faults: map[string]http.HandlerFunc{}}
	w.Server = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(&w.paths, r.URL.Path)
		hung := w.hangs.Load()
		for r.Context().Err() == nil && w.hangs.Load() {
			time.Sleep(20 * time.Millisecond)
		}
		switch fault := w.faultOf(r); {
		case hung:
		case fault != nil:
			fault(out, r)
		default:
			files.ServeHTTP(out, r)
		}
	}))
	s.T.Cleanup(w.Close)
	s.webs[name] = w
	s.script.Setenv(name, w.URL)
	return true
}

func (s *story) close(args []string) bool {
	s.webs[args[0]].Close()
	return true
}

func (s *story) hang(args []string) bool {
	s.webs[args[0]].hangs.Store(args[1] == "on")
	return true
}

func (s *story) deaf(args []string) bool {
	l, err := net.Listen("tcp", "127.0.0.1:0") // the kernel accepts connections
	testkit.Must(s.T, err)
	s.T.Cleanup(func() { l.Close() })
	s.script.Setenv(args[0], l.Addr().String())
	return true
}

func (s *story) asked(args []string) bool {
	return regexp.MustCompile(args[1]).MatchString(s.webs[args[0]].paths.String())
}

func (s *story) bucket([]string) bool {
	s.objects = newObjectStore(s.T, s3Servers[1])
	for _, variable := range s.objects.env {
		name, value, _ := strings.Cut(variable, "=")
		s.script.Setenv(name, value)
	}
	return true
}

func (s *story) list(args []string) bool {
	for _, name := range slices.Sorted(maps.Keys(s.objects.list(s.T, args[0]))) {
		fmt.Fprintln(s.script.Stdout(), name)
	}
	return true
}

func (s *story) put(args []string) bool {
	s.objects.put(s.T, args[0], testkit.ReadFile(s.T, s.script.MkAbs(args[1])))
	return true
}

func (s *story) get(args []string) bool {
	testkit.WriteFile(s.T, s.script.MkAbs(args[1]), s.objects.get(s.T, args[0]))
	return true
}

func (s *story) download(args []string) bool {
	for name := range s.objects.list(s.T, args[0]) {
		path := filepath.Join(s.script.MkAbs(args[1]), filepath.FromSlash(name))
		testkit.WriteFile(s.T, path, s.objects.get(s.T, name))
	}
	return true
}

func (s *story) upload(args []string) bool {
	there := s.objects.list(s.T, args[0]+"/")
	for name, file := range stored(s.T, s.script.MkAbs(args[1])) {
		_, has := there[args[0]+"/"+name]
		if !has && (strings.HasPrefix(name, "segments/") || strings.HasPrefix(name, "manifests/")) {
			s.objects.put(s.T, args[0]+"/"+name, file.data)
		}
	}
	return true
}

func (s *story) offline(args []string) bool {
	s.objects.setOffline(args[0] == "on")
	return true
}

func (s *story) requests([]string) bool {
	for _, p := range s.objects.take(s.T) {
		fmt.Fprintln(s.script.Stdout(), p.method, p.path)
	}
	return true
}

func (s *story) pause(args []string) bool {
	s.paused, s.resumed = make(chan struct{}), make(chan struct{})
	var first sync.Once
	s.objects.beforeEach(func(r *http.Request) {
		isFirst := false
		if r.Method == http.MethodPut && strings.Contains(r.URL.Path, args[0]) {
			first.Do(func() { isFirst = true })
		}
		if isFirst {
			close(s.paused)
			<-s.resumed
		}
	})
	return true
}

func (s *story) isPaused([]string) bool {
	<-s.paused
	return true
}

func (s *story) resume([]string) bool {
	close(s.resumed)
	return true
}
