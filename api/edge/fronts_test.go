package edge_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/reply"
	"hdqs/internal/testkit"
)

// front is one of the caches of deploy that run here.
type front struct {
	name  string
	start func(t *testing.T, replica string) started
	// recodes is set if it may compress an answer anew, so that only the decoded bytes are ours.
	recodes bool
	// sharesMisses is set if concurrent misses of one answer are one request.
	sharesMisses bool
	zstd         bool // it asks for zstd on behalf of who accepts only that
}

// started is a cache in front of a replica.
type started struct {
	address string
	purge   func(keys []string) // purges the answers with any of the keys, as the documentation says
	puts    func() int64        // of caches that keep an answer after they have sent it: how many are kept
}

var fronts = []*front{
	{name: "nginx", start: startNginxFront, sharesMisses: true, zstd: true},
	{name: "varnish", start: startVarnish, sharesMisses: true, zstd: true},
	{name: "workerd", start: startWorker, recodes: true},
}

// onFronts runs a test once for each cache.
func onFronts(t *testing.T, test func(t *testing.T, f *front)) {
	apitest.NeedEdge(t)
	t.Parallel()
	for _, f := range fronts {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			test(t, f)
		})
	}
}

// same compares bodies.
func (f *front) same(t *testing.T, got, want api.Answer) bool {
	t.Helper()
	if f.recodes {
		return bytes.Equal(apitest.Body(t, got), apitest.Body(t, want))
	}
	return bytes.Equal(got.Body, want.Body)
}

// startNginxFront: nginx has no purge by key, but its files have the heads of answers.
func startNginxFront(t *testing.T, replica string) started {
	t.Helper()
	nginx := testkit.StartNginx(t, "../../deploy/nginx", "", replica)
	text := string(testkit.ReadFile(t, "../../docs/caching.md"))
	line := regexp.MustCompile("(?m)^    (grep -.*)$").FindStringSubmatch(text)
	if line == nil {
		t.Fatal("docs/caching.md has no command that purges nginx's cache by key")
	}
	return started{address: nginx.Address, purge: func(keys []string) {
		t.Helper()
		command := strings.ReplaceAll(line[1], "/var/cache/nginx/hdqs", filepath.Join(nginx.Dir, "cache"))
		command = strings.ReplaceAll(command, "landing ep-idps", strings.Join(keys, " "))
		if out, err := exec.Command("/bin/sh", "-c", command).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
	}}
}

// replaceOnce replaces each text, which must be there once.
func replaceOnce(t *testing.T, file string, pairs ...string) string {
	t.Helper()
	text := string(testkit.ReadFile(t, file))
	for i := 0; i < len(pairs); i += 2 {
		testkit.Equal(t, strings.Count(text, pairs[i]), 1, "%s: times that it has %q", file, pairs[i])
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// startVarnish runs deploy/varnish with the parameters that its first lines name.
func startVarnish(t *testing.T, replica string) started {
	t.Helper()
	const file = "../../deploy/varnish/hdqs.vcl"
	host, port, _ := net.SplitHostPort(replica)
	vcl := replaceOnce(t, file, `"8080"`, `"`+port+`"`, `"8090"`, `"`+port+`"`)
	vcl = strings.ReplaceAll(vcl, `.host = "127.0.0.1"`, `.host = "`+host+`"`)
	dir := t.TempDir()
	testkit.WriteFile(t, filepath.Join(dir, "hdqs.vcl"), []byte(vcl))
	public, purge := testkit.FreeAddress(t), testkit.FreeAddress(t)
	command := regexp.MustCompile(`(?m)^#   varnishd (.*) \\\n#     (.*)$`).FindStringSubmatch(vcl)
	if command == nil {
		t.Fatalf("%s does not say how to start varnishd", file)
	}
	arguments := strings.NewReplacer("/etc/varnish", dir, ":6081", public, "127.0.0.1:6083", purge, "4g", "64m").
		Replace(command[1] + " " + command[2])
	run := exec.Command(testkit.Program(t, "varnishd", "varnish"), append(strings.Fields(arguments), "-F", "-j", "none",
		"-n", filepath.Join(dir, "work"), "-p", "cc_command=exec gcc -w -O0 -fpic -shared -pthread -o %o %s")...)
	testkit.RunListening(t, public, run)
	return started{address: public, purge: func(keys []string) {
		t.Helper()
		for _, c := range []struct {
			address string
			status  int
		}{{public, 405}, {purge, 200}} { // the public listener never purges
			got := apitest.Ask(t, c.address, "PURGE", "/", apitest.Fields("Surrogate-Key", strings.Join(keys, " ")))
			testkit.Equal(t, got.Status, c.status, "PURGE at %s: %s", c.address, got.Body)
		}
	}}
}

// startWorker runs deploy/cloudflare with workerd, which asks a service for what its Cache API
// keeps.
func startWorker(t *testing.T, replica string) started {
	t.Helper()
	packages := filepath.Join(os.Getenv("HDQS_WORKERD"), "node_modules")
	found, err := filepath.Glob(filepath.Join(packages, "@cloudflare", "workerd-*", "bin", "workerd"))
	if err != nil || len(found) != 1 {
		t.Fatalf("HDQS_WORKERD names no folder with workerd, as 'make edge' does: %v", err)
	}
	kept := &cacheAPI{t: t, kept: map[string]keptAnswer{}}
	cache := httptest.NewServer(kept)
	t.Cleanup(cache.Close)
	dir, address := t.TempDir(), testkit.FreeAddress(t)
	config := replaceOnce(t, "../../deploy/cloudflare/workerd.capnp", "127.0.0.1:8070", cache.Listener.Addr().String(),
		"127.0.0.1:8081", address, "http://127.0.0.1:8080", "http://"+replica)
	testkit.WriteFile(t, filepath.Join(dir, "workerd.capnp"), []byte(config))
	testkit.WriteFile(t, filepath.Join(dir, "worker.js"), testkit.ReadFile(t, "../../deploy/cloudflare/worker.js"))
	testkit.RunListening(t, address, exec.Command(found[0], "serve", filepath.Join(dir, "workerd.capnp")))
	return started{address: address, purge: kept.purge, puts: kept.puts.Load}
}

// cacheAPI keeps what a Worker puts into the Cache API, by the rules that Cloudflare documents: for
// as long as the answer's Cache-Control says, for GET only, never a part, and without looking at
// Vary. Answers are purged by the tags in their Cache-Tag.
type cacheAPI struct {
	t    testing.TB
	mu   sync.Mutex
	kept map[string]keptAnswer
	puts atomic.Int64
}

type keptAnswer struct {
	head   http.Header
	status int
	body   []byte
	tags   []string
	until  time.Time
}

var sMaxAge = regexp.MustCompile(`s-maxage=(\d+)`)

func (c *cacheAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := r.Host + r.URL.RequestURI()
	switch r.Method {
	case http.MethodGet:
		a, has := c.kept[key]
		if !has || time.Now().After(a.until) {
			w.Header().Set("CF-Cache-Status", "MISS")
			w.WriteHeader(http.StatusGatewayTimeout)
			return
		}
		for name, values := range a.head {
			w.Header()[name] = values
		}
		w.Header().Set("CF-Cache-Status", "HIT")
		w.WriteHeader(a.status)
		_, _ = w.Write(a.body) // workerd may have gone
	case http.MethodPut: // the body is an answer in the form of HTTP/1.1
		// The body follows the head as it is, also where the head says that it is in chunks.
		from := bufio.NewReader(r.Body)
		status, err1 := from.ReadString('\n')
		head, err2 := textproto.NewReader(from).ReadMIMEHeader()
		body, err := io.ReadAll(from)
		if errors.Join(err1, err2, err) != nil {
			return // workerd has gone; the platform keeps no part of an answer either
		}
		head.Del("Transfer-Encoding")
		age := sMaxAge.FindStringSubmatch(head.Get("Cache-Control"))
		code, err := strconv.Atoi(strings.Fields(status)[1])
		if err != nil || age == nil || code == http.StatusPartialContent || head.Get("Set-Cookie") != "" {
			c.t.Errorf("the platform would not keep an answer %q with the head %v: %v", status, head, err)
			return
		}
		seconds, err := strconv.Atoi(age[1])
		testkit.Must(c.t, err)
		c.kept[key] = keptAnswer{
			http.Header(head), code, body, strings.Split(head.Get("Cache-Tag"), ","),
			time.Now().Add(time.Duration(seconds) * time.Second),
		}
		c.puts.Add(1)
		w.WriteHeader(http.StatusNoContent)
	default:
		http.Error(w, r.Method, http.StatusMethodNotAllowed)
	}
}

// purge is what the platform's purge by tag does.
func (c *cacheAPI) purge(keys []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, a := range c.kept {
		for _, tag := range a.tags {
			for _, k := range keys {
				if strings.TrimSpace(tag) == k {
					delete(c.kept, key)
				}
			}
		}
	}
}

// ask sends a request to the cache, and waits until it has kept the answer, if it may and does so
// later.
func (g *origin) ask(t *testing.T, method, target string, header []reply.HeaderField) api.Answer {
	t.Helper()
	if g.puts == nil {
		return apitest.Ask(t, g.address, method, target, header)
	}
	before := g.puts()
	got := apitest.Ask(t, g.address, method, target, header)
	state := apitest.Header(got, "X-Cache")
	if method == "GET" && (state == "MISS" || state == "EXPIRED") && got.Status < 500 &&
		mayKeep.MatchString(apitest.Header(got, "Cache-Control")) {
		testkit.WaitFor(t, "the answer to be kept", func() bool { return g.puts() > before })
	}
	return got
}

var mayKeep = regexp.MustCompile(`^public, .*max-?age=[1-9]`)
