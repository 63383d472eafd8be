package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hdqs/internal/objects"
	"hdqs/internal/testkit"
)

const content = "code,name\nA,first\nB,second\n"

// testOptions returns options with short waits and a stall limit that only a stalled server
// reaches.
func testOptions() Options {
	return Options{
		AllowHTTP: true, AllowPrivate: true, BackoffMin: time.Millisecond, BackoffMax: 50 * time.Millisecond,
		Stall: testkit.Patience, Total: testkit.Patience,
	}
}

// serve answers the n-th request (from 1) with handler.
func serve(
	t *testing.T, handler func(n int64, w http.ResponseWriter, r *http.Request),
) (*httptest.Server, *atomic.Int64) {
	t.Helper()
	count := new(atomic.Int64)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler(count.Add(1), w, r)
	}))
	t.Cleanup(server.Close)
	return server, count
}

func fetchFile(t *testing.T, o Options, q objects.Request) (string, objects.Result, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	c := New(o)
	c.meter.Next.(*http.Transport).ResponseHeaderTimeout = 0 // a short Stall is for bodies
	result, err := c.Download(t.Context(), q, path)
	left, globErr := filepath.Glob(path + ".*")
	if globErr != nil || len(left) > 0 {
		t.Errorf("files are left: %v %v", left, globErr)
	}
	data, readErr := os.ReadFile(path)
	if (err == nil && !result.NotModified) != (readErr == nil) {
		t.Errorf("error %v, but reading the file: %v", err, readErr)
	}
	return string(data), result, err
}

func TestFailuresThatPass(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]func(w http.ResponseWriter, r *http.Request){
		"429 retry-after": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(429)
		},
		"202 empty": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(202) },
		"html with 200": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "\n <!DOCTYPE html><html>try later")
		},
		"empty body":    func(http.ResponseWriter, *http.Request) {},
		"wrong size":    func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, content, "C,third\n") },
		"other content": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.ToUpper(content)) },
	} {
		t.Run(name, func(t *testing.T) {
			server, count := serve(t, func(n int64, w http.ResponseWriter, r *http.Request) {
				if n == 1 {
					first(w, r)
					return
				}
				w.Header().Set("ETag", `"v1"`)
				http.ServeContent(w, r, "", time.Time{}, strings.NewReader(content))
			})
			sum := sha256.Sum256([]byte(content))
			q := objects.Request{Name: server.URL, Size: int64(len(content)), SHA256: hex.EncodeToString(sum[:])}
			got, result, err := fetchFile(t, testOptions(), q)
			if err != nil || got != content || result.Bytes != int64(len(content)) || count.Load() != 2 {
				t.Fatalf("got %q, %+v, %v after %d requests", got, result, err, count.Load())
			}
		})
	}
}

func TestFailuresThatStay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		status int
		want   string
		tries  int64
	}{
		{"gone", 404, "status 404", 1},
		{"forbidden", 403, "status 403", 1},
		{"always down", 503, "try 5 of 5", 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			server, count := serve(t, func(_ int64, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(c.status) })
			_, _, err := fetchFile(t, testOptions(), objects.Request{Name: server.URL})
			if err == nil || !strings.Contains(err.Error(), c.want) || count.Load() != c.tries {
				t.Fatalf("got %v after %d requests", err, count.Load())
			}
		})
	}
}

// TestExpiredLink checks that a redirect is followed again when the link that it led to returns
// 403.
func TestExpiredLink(t *testing.T) {
	t.Parallel()
	server, count := serve(t, func(n int64, w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/file":
			http.Redirect(w, r, fmt.Sprintf("/signed?n=%d", n), http.StatusFound)
		case n == 2:
			w.WriteHeader(http.StatusForbidden)
		default:
			fmt.Fprint(w, content)
		}
	})
	got, _, err := fetchFile(t, testOptions(), objects.Request{Name: server.URL + "/file"})
	if err != nil || got != content || count.Load() != 4 {
		t.Fatalf("got %q %v after %d requests", got, err, count.Load())
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	endless, _ := serve(t, func(_ int64, w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := fmt.Fprint(w, strings.Repeat("x", 4096)); err != nil {
				return
			}
		}
	})
	announced, _ := serve(t, func(_ int64, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "10000000")
		w.WriteHeader(200)
	})
	silent, _ := serve(t, func(_ int64, w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	loop, loops := serve(t, func(n int64, w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, fmt.Sprintf("/%d", n), http.StatusFound)
	})
	patient, waits := serve(t, func(_ int64, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(429)
	})
	o := testOptions()
	o.MaxBytes, o.Tries = 1<<20, 2
	short := o
	short.Stall, short.Tries = time.Second, 1
	for name, c := range map[string]struct {
		o         Options
		url, want string
	}{
		"endless body":          {o, endless.URL, "size limit"},
		"long body announced":   {o, announced.URL, "10000000 bytes announced"},
		"silence":               {short, silent.URL, "body cut after 0 bytes"},
		"redirect loop":         {o, loop.URL, "more than 5 redirects"},
		"wait longer than ours": {o, patient.URL, "asked to wait 1h0m0s"},
	} {
		_, _, err := fetchFile(t, c.o, objects.Request{Name: c.url})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	if loops.Load() > 7 || waits.Load() != 1 {
		t.Errorf("%d requests in the loop, %d to the server with a long Retry-After", loops.Load(), waits.Load())
	}
}

func TestGuard(t *testing.T) {
	t.Parallel()
	local, count := serve(t, func(_ int64, w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, content) })
	port := local.URL[strings.LastIndexByte(local.URL, ':'):]
	redirecting, _ := serve(t, func(_ int64, w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://169.254.169.254/latest/meta-data", http.StatusFound)
	})
	listed := testOptions()
	listed.Hosts = []string{"127.0.0.1", ".example.org"}
	closedNet := testOptions()
	closedNet.AllowPrivate = false
	secure := testOptions()
	secure.AllowHTTP = false
	for name, c := range map[string]struct {
		o   Options
		url string
	}{
		"loopback address":                {closedNet, local.URL},
		"name that leads to loopback":     {closedNet, "http://localhost" + port},
		"loopback in IPv6":                {closedNet, "http://[::1]" + port},
		"IPv4 in IPv6":                    {closedNet, "http://[::ffff:127.0.0.1]" + port},
		"plain http":                      {secure, local.URL},
		"host not in the list":            {listed, "http://localhost" + port},
		"redirect to a host not listed":   {listed, redirecting.URL},
		"file scheme":                     {testOptions(), "file:///etc/passwd"},
		"credentials in the link":         {testOptions(), "http://u:p@127.0.0.1" + port},
		"not a link":                      {testOptions(), "http://%zz"},
		"suffix is not a part of a label": {listed, "http://badexample.org/"},
	} {
		_, _, err := fetchFile(t, c.o, objects.Request{Name: c.url})
		testkit.Is(t, err, ErrRefused, "%s", name)
		if err != nil && strings.Contains(err.Error(), "u:p@") {
			t.Errorf("%s: the error shows the password: %v", name, err)
		}
	}
	testkit.Equal(t, count.Load(), 0, "requests reached the guarded server")
}

func TestJSON(t *testing.T) {
	t.Parallel()
	server, count := serve(t, func(n int64, w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, map[int64]string{1: "<html>maintenance</html>", 2: `{"success": tr`, 3: `{"success": true}`}[n])
	})
	var got struct{ Success bool }
	err := New(testOptions()).JSON(t.Context(), server.URL, 1<<10, &got)
	if err != nil || !got.Success || count.Load() != 3 {
		t.Fatalf("got %+v %v after %d requests", got, err, count.Load())
	}
}

type answers func(*http.Request) (*http.Response, error)

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) { return a(r) }

func TestCancel(t *testing.T) {
	t.Parallel()
	for _, after := range []time.Duration{0, 20 * time.Millisecond} { // during the first try, during the wait
		ctx, cancel := context.WithCancel(t.Context())
		o := testOptions()
		o.BackoffMin, o.BackoffMax, o.Total = time.Hour, time.Hour, 3*time.Hour
		o.Transport = answers(func(*http.Request) (*http.Response, error) {
			if after == 0 {
				cancel()
			}
			time.AfterFunc(after, cancel)
			return &http.Response{StatusCode: 503, Body: http.NoBody}, nil
		})
		start := time.Now()
		_, err := New(o).Download(ctx, objects.Request{Name: "http://example.org/f"}, filepath.Join(t.TempDir(), "f"))
		if !errors.Is(err, context.Canceled) || time.Since(start) >= o.BackoffMin/2 {
			t.Errorf("cancelled after %s: %v", after, err)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, "-1": 0, "soon": 0,
		"Thu, 01 Jan 2026 00:00:30 GMT": 30 * time.Second, "Wed, 31 Dec 2025 00:00:00 GMT": 0,
	} {
		testkit.Equal(t, retryAfter(value, now), want, "%q", value)
	}
}

// TestGuardOnRedirect checks that a redirect is checked by the same dialer after DNS resolution.
// Only the connection to the first host is replaced, as if that were a public one.
func TestGuardOnRedirect(t *testing.T) {
	t.Parallel()
	inner, reached := serve(t, func(_ int64, w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, content) })
	port := inner.URL[strings.LastIndexByte(inner.URL, ':'):]
	for _, target := range []string{
		"http://169.254.169.254/latest/meta-data/", "http://localhost" + port, "http://127.0.0.1" + port, "http://[::1]" + port,
		"http://0.0.0.0" + port, "http://10.0.0.1/", "http://[fd00:ec2::254]/",
	} {
		public, _ := serve(t, func(_ int64, w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, target, http.StatusFound)
		})
		o := testOptions()
		o.AllowPrivate = false
		c := New(o)
		transport := c.meter.Next.(*http.Transport)
		guarded := transport.DialContext
		transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			if address == "catalog.example:80" {
				return (&net.Dialer{}).DialContext(ctx, network, strings.TrimPrefix(public.URL, "http://"))
			}
			return guarded(ctx, network, address)
		}
		_, err := c.Download(t.Context(), objects.Request{Name: "http://catalog.example/file"}, filepath.Join(t.TempDir(), "file"))
		if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "try 1 of") {
			t.Errorf("%s: %v", target, err)
		}
	}
	testkit.Equal(t, reached.Load(), 0, "requests reached the private server")
}

// TestQueueIsNotTime checks that waiting for a slot does not count against the time for a file.
func TestQueueIsNotTime(t *testing.T) {
	t.Parallel()
	server, _ := serve(t, func(_ int64, w http.ResponseWriter, _ *http.Request) {
		time.Sleep(200 * time.Millisecond)
		fmt.Fprint(w, content)
	})
	o := testOptions()
	o.Parallel, o.Total = 1, 3*time.Second // less than all take one after the other, and much more than one
	c := New(o)
	failed := make(chan error, 20)
	for i := range cap(failed) {
		go func() {
			path := filepath.Join(t.TempDir(), fmt.Sprint(i))
			_, err := c.Download(t.Context(), objects.Request{Name: server.URL}, path)
			failed <- err
		}()
	}
	for range cap(failed) {
		testkit.Must(t, <-failed)
	}
}

// TestManners checks the default limit of two requests at once, and the User-Agent of each.
func TestManners(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var now, most int
	two := make(chan struct{}) // closed when there are two
	server, _ := serve(t, func(_ int64, w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		now++
		if now == 2 && most < 2 {
			close(two)
		}
		most = max(most, now)
		mu.Unlock()
		select {
		case <-two:
		case <-time.After(testkit.Patience):
			t.Error("a request was alone")
		}
		time.Sleep(20 * time.Millisecond) // for more than two to come
		mu.Lock()
		now--
		mu.Unlock()
		testkit.Equal(t, r.Header.Get("User-Agent"), "hdqs/test", "User-Agent")
		fmt.Fprint(w, content)
	})
	o := testOptions()
	o.UserAgent = "hdqs/test"
	c := New(o)
	dir := t.TempDir()
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			path := filepath.Join(dir, fmt.Sprint(i))
			testkit.Value(c.Download(t.Context(), objects.Request{Name: server.URL}, path))(t)
		})
	}
	wait.Wait()
	testkit.Equal(t, most, 2, "requests at once")
}

// TestFullDisk checks that a file that cannot be written on this machine does not cause another
// request.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	server, count := serve(t, func(_ int64, w http.ResponseWriter, _ *http.Request) {
		testkit.Must(t, os.MkdirAll(filepath.Join(path, "below"), 0o755)) // nothing can replace it
		fmt.Fprint(w, content)
	})
	_, err := New(testOptions()).Download(t.Context(), objects.Request{Name: server.URL}, path)
	if !errors.Is(err, objects.ErrDisk) || count.Load() != 1 {
		t.Errorf("after %d requests: %v", count.Load(), err)
	}
}

// TestProxy: a proxy is used, although its own address is private, and links to private addresses
// are refused before it is asked.
func TestProxy(t *testing.T) {
	t.Parallel()
	proxy, count := serve(t, func(_ int64, w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, content+r.URL.Host)
	})
	o := testOptions()
	o.AllowPrivate, o.Tries = false, 1
	o.Proxy = func(r *http.Request) (*url.URL, error) {
		if r.URL.Hostname() == "localhost" { // as with NO_PROXY
			return nil, nil
		}
		return url.Parse(proxy.URL)
	}
	data, _, err := fetchFile(t, o, objects.Request{Name: "http://portal.example/a.csv"})
	if err != nil || data != content+"portal.example" {
		t.Errorf("behind a proxy: %q, %v", data, err)
	}
	for _, link := range []string{
		"http://169.254.169.254/latest/meta-data", "http://[::1]/", "http://localhost" + proxy.URL[strings.LastIndexByte(proxy.URL, ':'):],
	} {
		if _, _, err := fetchFile(t, o, objects.Request{Name: link}); !errors.Is(err, ErrRefused) && link[7] != 'l' {
			t.Errorf("%s: %v", link, err)
		}
	}
	if count.Load() > 2 {
		t.Errorf("the proxy was asked %d times", count.Load())
	}
	o.Proxy = nil // the environment of the tests has none
	if _, _, err := fetchFile(t, o, objects.Request{Name: proxy.URL}); !errors.Is(err, ErrRefused) {
		t.Errorf("without a proxy: %v", err)
	}
}

// TestBlocked: a site that takes a load for a bot is named as such, with what to do, and is not
// asked again for the next file. What else is refused is refused for that file only.
func TestBlocked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status   int
		body     string
		blocked  bool
		requests int64 // of two files
	}{
		{403, "<html>Blocked due to Bot Activity</html>", true, 1},
		{403, "Blocked due to bot activity", true, 1},
		{403, "<!DOCTYPE html><title>Forbidden</title>", true, 2}, // perhaps of one file
		{406, "", true, 1},
		{429, "", true, 3}, // the tries of the first file
		{403, "Access denied", false, 2},
		{403, `<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>`, false, 2},
		{403, `{"success": false, "error": {"__type": "Authorization Error"}}`, false, 2},
		{404, "Blocked due to bot activity", false, 2},
	} {
		server, requests := serve(t, func(_ int64, w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			fmt.Fprint(w, c.body)
		})
		o := testOptions()
		o.Tries, o.BackoffMax = 3, testkit.Patience // of the block as well
		client := New(o)
		for file := range int64(2) {
			_, err := client.Download(t.Context(), objects.Request{Name: server.URL}, filepath.Join(t.TempDir(), "f"))
			var status *StatusError
			if !errors.As(err, &status) || status.Code != c.status || IsBlocked(err) != c.blocked ||
				strings.Contains(err.Error(), "--user-agent") != (c.blocked && (file == 0 || c.requests == 2)) {
				t.Errorf("%d %q: %v", c.status, c.body, err)
			}
		}
		testkit.Equal(t, requests.Load(), c.requests, "%d %q: requests for two files", c.status, c.body)
	}
}

// TestBlockEnds: a program that runs for long asks again when the block may have ended.
func TestBlockEnds(t *testing.T) {
	t.Parallel()
	server, _ := serve(t, func(n int64, w http.ResponseWriter, _ *http.Request) {
		if n == 1 {
			w.WriteHeader(http.StatusNotAcceptable)
			return
		}
		fmt.Fprint(w, content)
	})
	o := testOptions()
	o.BackoffMax = time.Millisecond
	client := New(o)
	if _, _, err := client.Read(t.Context(), server.URL, "", 1<<20); !IsBlocked(err) {
		t.Fatalf("first: %v", err)
	}
	time.Sleep(2 * time.Millisecond) // longer than the block
	if _, _, err := client.Read(t.Context(), server.URL, "", 1<<20); err != nil {
		t.Errorf("after the block: %v", err)
	}
}

// TestRetryAfterOfAll: while a site asks to wait no other file is asked for, and a longer wait than
// is allowed ends the load's requests to it.
func TestRetryAfterOfAll(t *testing.T) {
	t.Parallel()
	server, requests := serve(t, func(n int64, w http.ResponseWriter, _ *http.Request) {
		if n == 1 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		fmt.Fprint(w, content)
	})
	o := testOptions()
	o.BackoffMax, o.Parallel = testkit.Patience, 1
	client, began := New(o), time.Now()
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			if _, _, err := client.Read(t.Context(), server.URL, "", 1<<20); err != nil {
				t.Error(err)
			}
			if took := time.Since(began); took < time.Second {
				t.Errorf("a file was asked for after %s, the site asked to wait a second", took)
			}
		})
	}
	group.Wait()
	testkit.Equal(t, requests.Load(), 4, "requests for three files and one refusal")
	o.BackoffMax = time.Millisecond
	requests.Store(0)
	_, _, err := New(o).Read(t.Context(), server.URL, "", 1<<20)
	if !IsBlocked(err) || !strings.Contains(err.Error(), "wait 1s") || requests.Load() != 1 {
		t.Errorf("too long a wait: %d requests, %v", requests.Load(), err)
	}
}

// TestPause: requests to a host begin no sooner after each other than Options.Pause.
func TestPause(t *testing.T) {
	t.Parallel()
	server, _ := serve(t, func(_ int64, w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, content) })
	o := testOptions()
	o.Pause = 20 * time.Millisecond
	client, began := New(o), time.Now()
	for range 4 {
		if _, _, err := client.Read(t.Context(), server.URL, "", 1<<20); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(began); took < 3*o.Pause {
		t.Errorf("four requests in %s, with pauses of %s", took, o.Pause)
	}
}
