package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"hdqs/internal/testkit"
)

// edge skips a test that needs nginx unless 'make edge' runs it.
func edge(t *testing.T) {
	t.Helper()
	if os.Getenv("HDQS_EDGE") == "" {
		t.Skip("HDQS_EDGE is not set: 'make edge' runs this with nginx")
	}
}

var deployedNginx = filepath.Join("..", "..", "deploy", "nginx")

// TestEdgeUnavailable: a request goes on to the second replica when the first one answers 503 or
// 502. When both do, the client gets that answer with its header and body.
func TestEdgeUnavailable(t *testing.T) {
	edge(t)
	t.Parallel()
	var status, asked [2]atomic.Int64
	var addresses []string
	for i := range status {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked[i].Add(1)
			w.Header().Set("Retry-After", "7")
			w.Header().Set("Cache-Control", "no-store")
			w.WriteHeader(int(status[i].Load()))
			fmt.Fprint(w, "from a replica")
		}))
		defer s.Close()
		addresses = append(addresses, s.Listener.Addr().String())
	}
	nginx := testkit.StartNginx(t, deployedNginx, "", addresses...).Address
	for _, c := range []struct {
		first, second int64
		want          int
	}{
		{200, 200, 200},
		{503, 200, 200},
		{200, 503, 200},
		{502, 200, 200},
		{503, 503, 503},
		{422, 422, 422},
	} {
		status[0].Store(c.first)
		status[1].Store(c.second)
		for n := range 4 {
			a := ask(t, "GET", fmt.Sprintf("http://%s%s", nginx, with(fmt.Sprintf("/api/v2/metadata/location?offset=%d", n))))
			if a.status != c.want || string(a.body) != "from a replica" || a.header.Get("Retry-After") != "7" {
				t.Errorf("replicas answer %d and %d: got %d, Retry-After %q, %q",
					c.first, c.second, a.status, a.header.Get("Retry-After"), a.body)
			}
		}
	}
	before := asked[0].Load() + asked[1].Load()
	status[0].Store(503)
	status[1].Store(503)
	ask(t, "GET", "http://"+nginx+with("/api/v2/metadata/location?offset=9"))
	if n := asked[0].Load() + asked[1].Load() - before; n != 2 {
		t.Errorf("%d requests to the replicas for one that both refuse, want 2", n)
	}
}

// TestEdgeRestarts ends and starts two replicas in turn behind nginx, and then kills them. Every
// answer is that of a replica which goes on meanwhile. No request fails because of a restart, and
// because of a kill at most those that the replica was answering.
func TestEdgeRestarts(t *testing.T) {
	edge(t)
	parallel(t)
	const clients = 8
	store := sampleStore(t)
	start := func(address string) *server {
		return serve(t, "--store", store, "--listen", address, "--snapshot-poll", "0", "--queue-wait", "30s")
	}
	untouched := start("127.0.0.1:0")
	own := func() string { return net.JoinHostPort(testkit.OwnHost(), "0") } // free during a restart
	replicas := [2]*server{start(own()), start(own())}
	addressOf := func(s *server) string { return strings.TrimPrefix(s.base, "http://") }
	nginx := testkit.StartNginx(t, deployedNginx, "", addressOf(replicas[0]), addressOf(replicas[1]))
	for _, c := range []struct {
		signal       syscall.Signal
		times, loses int
	}{{syscall.SIGTERM, testkit.Trials(40, 4), 0}, {syscall.SIGKILL, testkit.Trials(20, 3), clients}} {
		var asked, failed atomic.Int64
		var all sync.WaitGroup
		stop := make(chan struct{})
		for range clients {
			all.Go(func() {
				for {
					select {
					case <-stop:
						return
					case <-time.After(callerPause):
					}
					n := asked.Add(1) // a page that is not in the cache of nginx
					page := with(fmt.Sprintf("%s?limit=%d&offset=%d", conflictPath, int64(c.signal)*100+n/500, n%500))
					want := ask(t, "GET", untouched.base+page)
					if got, err := tryAsk("GET", "http://"+nginx.Address+page); err != nil || got.status != http.StatusOK {
						failed.Add(1)
						t.Logf("%v: %s: %d, %v", c.signal, page, got.status, err)
					} else if !bytes.Equal(got.body, want.body) {
						t.Errorf("%v: %s: another body: %.200s", c.signal, page, got.body)
					}
				}
			})
		}
		answered := func(more int64) {
			before := asked.Load()
			testkit.WaitFor(t, "answers", func() bool { return asked.Load() >= before+more })
		}
		for n := range c.times {
			answered(50)
			r := replicas[n%2]
			r.signal(t, c.signal)
			if code := r.wait(t); code != 0 && c.signal == syscall.SIGTERM {
				t.Errorf("exit code %d\n%s", code, r.log)
			}
			answered(100)
			replicas[n%2] = start(addressOf(r))
		}
		answered(50)
		close(stop)
		all.Wait()
		if n := int(failed.Load()); n > c.loses*c.times {
			t.Errorf("%v: %d of %d requests failed, want at most %d", c.signal, n, asked.Load(), c.loses*c.times)
		}
	}
}

// TestEdgeLimits: an address that asks too often, or has too many requests running, gets 429 that
// says why and when to come back. Others, and addresses that the configuration leaves out, do not.
func TestEdgeLimits(t *testing.T) {
	edge(t)
	t.Parallel()
	var waiting atomic.Int64
	release := make(chan struct{})
	replica := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			waiting.Add(1)
			<-release
		}
		fmt.Fprint(w, "from the replica")
	}))
	defer replica.Close()
	address := replica.Listener.Addr().String()
	folder := t.TempDir()
	testkit.Must(t, os.CopyFS(folder, os.DirFS(deployedNginx)))
	file := filepath.Join(folder, "hdqs.conf")
	const exempt = "127.0.0.0/8  0;"
	text := string(testkit.ReadFile(t, file))
	if strings.Count(text, exempt) != 1 {
		t.Fatalf("%s has no %q", file, exempt)
	}
	testkit.WriteFile(t, file, []byte(strings.ReplaceAll(text, exempt, "127.0.0.0/8  1;")))
	limited := "http://" + testkit.StartNginx(t, folder, "", address).Address
	free := "http://" + testkit.StartNginx(t, deployedNginx, "", address).Address

	refused := func(a answer) bool {
		if a.status != http.StatusTooManyRequests {
			return false
		}
		if a.header.Get("Retry-After") != "1" || a.header.Get("Cache-Control") != "no-store" ||
			a.header.Get("Content-Type") != "application/json" || a.header.Get("Access-Control-Allow-Origin") != "*" ||
			!strings.Contains(string(a.body), `"rule":"requests of one address"`) {
			t.Errorf("429: %v %s", a.header, a.body)
		}
		return true
	}
	count := func(base string, requests int) (bad int64) {
		var many atomic.Int64
		var all sync.WaitGroup
		for worker := range 8 {
			all.Go(func() {
				for n := worker; n < requests; n += 8 {
					if a := ask(t, "GET", base+"/fast"); refused(a) {
						many.Add(1)
					} else if a.status != http.StatusOK {
						t.Errorf("status %d", a.status)
					}
				}
			})
		}
		all.Wait()
		return many.Load()
	}
	if n := count(limited, 480); n != 0 {
		t.Errorf("%d of the first 480 requests got 429", n)
	}
	began := time.Now()
	if n := count(limited, 2000); n < 1400-int64(100*time.Since(began).Seconds()) {
		t.Errorf("%d of 2,000 more requests within %s got 429", n, time.Since(began))
	}
	if n := count(free, 2000); n != 0 {
		t.Errorf("%d of 2,000 requests of an address without a limit got 429", n)
	}
	time.Sleep(3 * time.Second) // for 300 more requests

	var all sync.WaitGroup
	for n := range 100 {
		all.Go(func() {
			if a := ask(t, "GET", fmt.Sprintf("%s/slow?n=%d", limited, n)); a.status != http.StatusOK {
				t.Errorf("one of 100 requests at once: status %d", a.status)
			}
		})
	}
	testkit.WaitFor(t, "100 running requests", func() bool { return waiting.Load() == 100 })
	if a := ask(t, "GET", limited+"/fast"); !refused(a) {
		t.Errorf("beside 100 running requests: status %d", a.status)
	}
	a := ask(t, "HEAD", limited+"/fast")
	if a.status != http.StatusTooManyRequests || a.header.Get("Retry-After") != "1" {
		t.Errorf("a HEAD beside 100 running requests: status %d, %v", a.status, a.header)
	}
	if a := ask(t, "GET", free+"/fast"); a.status != http.StatusOK {
		t.Errorf("an address without a limit: status %d", a.status)
	}
	close(release)
	all.Wait()
	if a := ask(t, "GET", limited+"/fast"); a.status != http.StatusOK {
		t.Errorf("after the running requests: status %d", a.status)
	}
}

// TestEdgeDashboard: after a short load every panel of the dashboard has data, asked of a real
// Prometheus with the configuration of deploy, of which only addresses and intervals are changed.
func TestEdgeDashboard(t *testing.T) {
	edge(t)
	t.Parallel()
	var dashboard struct {
		Panels []struct {
			Type, Title string
			Targets     []struct{ Expr string }
		}
	}
	testkit.Must(t, json.Unmarshal(testkit.ReadFile(t, filepath.Join(deployed, "grafana", "hdqs.json")), &dashboard))

	store := sampleStore(t)
	var replicas []*server
	for range 2 {
		replicas = append(replicas, serve(t, "--store", store, "--memory-limit", "1GiB", "--snapshot-poll", "1s"))
	}
	base := "http://" + startPrometheus(t, replicas)
	load := func(n int) {
		for _, s := range replicas {
			for _, target := range []string{
				with(fmt.Sprint("/api/v2/affected-people/idps?limit=50&offset=", n)),
				with("/api/v2/affected-people/idps?nothing=1"),
				with("/api/v2/metadata/location/export"), "/api/v2/metadata/location", "/docs",
			} {
				ask(t, "GET", s.base+target, "Accept-Encoding", "gzip")
			}
		}
	}
	has := func(expr string) bool {
		expr = strings.ReplaceAll(expr, "$__rate_interval", "1m")
		a := ask(t, "GET", base+"/api/v1/query?query="+url.QueryEscape(expr))
		if a.status != 200 {
			t.Fatalf("%s: %d %s", expr, a.status, a.body)
		}
		got := decode[struct {
			Data struct {
				Result []struct{ Value [2]any }
			}
		}](t, a.body)
		for _, r := range got.Data.Result {
			if r.Value[1] != "NaN" {
				return true
			}
		}
		return false
	}
	n, asked := 0, 0
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			asked++
			testkit.WaitFor(t, p.Title+" to have data: "+target.Expr, func() bool {
				n++
				load(n)
				return has(target.Expr)
			})
		}
	}
	if asked < 30 {
		t.Errorf("%d queries", asked)
	}
	for _, p := range dashboard.Panels { // the panels say which alerts are about them
		if p.Type == "row" && len(p.Targets) > 0 {
			t.Errorf("the row %s has queries", p.Title)
		}
	}
}

// startPrometheus starts one that asks the admin listeners of two replicas, and returns its
// address.
func startPrometheus(t *testing.T, replicas []*server) string {
	t.Helper()
	dir := t.TempDir()
	config := string(testkit.ReadFile(t, filepath.Join(deployed, "prometheus", "prometheus.yml")))
	config, _, _ = strings.Cut(config, "  # Node exporter") // which does not run here
	targets := regexp.MustCompile(`127\.0\.0\.1:\d+`).FindAllString(config, -1)
	if len(targets) != len(replicas) {
		t.Fatalf("%d targets", len(targets))
	}
	pairs := []string{"15s", "1s"}
	for i, s := range replicas {
		pairs = append(pairs, targets[i], strings.TrimPrefix(s.admin, "http://"))
	}
	testkit.WriteFile(t, filepath.Join(dir, "prometheus.yml"), []byte(strings.NewReplacer(pairs...).Replace(config)))
	testkit.WriteFile(t, filepath.Join(dir, "hdqs.rules.yml"),
		testkit.ReadFile(t, filepath.Join(deployed, "prometheus", "hdqs.rules.yml")))
	address := testkit.FreeAddress(t)
	testkit.RunListening(t, address, exec.Command(testkit.Program(t, "prometheus", "prometheus"),
		"--config.file="+filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address="+address, "--log.level=warn"))
	testkit.WaitFor(t, "Prometheus", func() bool {
		a, err := tryAsk("GET", "http://"+address+"/-/ready")
		return err == nil && a.status == 200
	})
	return address
}
