package edge_test

import (
	"bytes"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/internal/browser"
	"hdqs/internal/testkit"
	"hdqs/snapshot/store"
)

var update = flag.Bool("update", false, "rewrite files that are made from the endpoints")

// parameterNames returns the names of all parameters of lists, in both sets, but that of the app
// identifier.
func parameterNames() []string {
	var names []string
	kinds := []contract.Kind{contract.Rows}
	for _, source := range api.New(state.Options{Logger: slog.New(slog.DiscardHandler)}).Lists.Routes.RecordSources {
		kinds = append(kinds, source.Kind)
	}
	for i := range contract.Endpoints {
		h := apitest.HAPIEndpoint(i) // has all filters of the other set, and those of version 1
		for _, kind := range kinds {
			for _, p := range contract.NewPlan(h, kind).Params {
				if p.Name != contract.IdentifierParam {
					names = append(names, p.Name)
				}
				if twin := p.Twin(); twin != "" {
					names = append(names, twin)
				}
			}
		}
	}
	names = append(names, contract.SnapshotParam)
	slices.Sort(names)
	return slices.Compact(names)
}

// isPlain matches the names of parameters that the caches of deploy sort.
var isPlain = regexp.MustCompile("^[a-z0-9_]+$")

// nginxParams generates deploy/nginx/params.conf: variables that hold a query's parameters in a
// fixed order, for the cache key. A query is normalized only if that loses nothing: all its names
// are known and in the right case, each occurs once, and each has a value. nginx cannot sort, so it
// needs the names; the others sort what is plain.
func nginxParams() string {
	names := parameterNames()
	var b strings.Builder
	b.WriteString("# Made from the endpoints by 'make golden'; a test holds it.\n\nvariables_hash_max_size 4096;\n\n")
	b.WriteString("map $args $hdqs_plain {\n\tdefault \"\";\n\t\"\" " +
		"1;\n\t\"~^(?=.{1,4000}$)(?!(?:.*&)?([a-z0-9_]+)=.*&\\1=)(?:(?:" +
		strings.Join(append([]string{contract.IdentifierParam}, names...), "|") + ")=[^&]+(?:&|$))+$\" 1;\n}\n\n")
	for _, name := range names {
		b.WriteString(
			"map $arg_" + name + " $hdqs_p_" + name + ` { "" ""; default "` + name + "=$arg_" + name + "&\"; }\n")
	}
	b.WriteString("\nmap \"\" $hdqs_sorted {\n\tdefault \"")
	for _, name := range names {
		b.WriteString("$hdqs_p_" + name)
	}
	b.WriteString("\";\n}\n")
	return b.String()
}

// TestGoldenNginxParams checks that deploy/nginx/params.conf matches the endpoints.
func TestGoldenNginxParams(t *testing.T) {
	t.Parallel()
	const file = "../../deploy/nginx/params.conf"
	if *update {
		testkit.Must(t, os.WriteFile(file, []byte(nginxParams()), 0o644))
	}
	text, err := os.ReadFile(file)
	if err != nil || string(text) != nginxParams() {
		t.Errorf("%s does not match the endpoints (go test ./api/edge -run Golden -update rewrites it): %v", file, err)
	}
}

// origin is a server behind a cache with a configuration of ours. It counts the requests that reach
// it.
type origin struct {
	front    *front
	server   *api.Server
	requests atomic.Int64
	stop     func() // stops the server, not the cache
	started

	mu      sync.Mutex
	targets []string // methods and targets since the last call of seen
}

// seen returns the requests that the server received since the last call.
func (g *origin) seen() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	targets := g.targets
	g.targets = nil
	return targets
}

// startEdge starts both. The cache uses the files of deploy, with only addresses and directories
// changed.
func startEdge(t *testing.T, f *front, o state.Options) *origin {
	t.Helper()
	apitest.NeedEdge(t)
	o.SurrogateKey, o.CacheTag = true, true
	g := &origin{front: f, server: apitest.Sample(t, o, 1500)}
	handler := g.server.Lists.Public.Handler
	g.server.Lists.Public.Handler = func(ctx *fasthttp.RequestCtx) {
		g.requests.Add(1)
		target := string(ctx.Method()) + " " + string(ctx.RequestURI())
		g.mu.Lock()
		g.targets = append(g.targets, target)
		g.mu.Unlock()
		handler(ctx)
	}
	l, err := net.Listen("tcp", net.JoinHostPort(testkit.OwnHost(), "0")) // no other's after stop
	testkit.Must(t, err)
	go g.server.Serve(l) //nolint:errcheck // returns when the listener is closed
	g.stop = sync.OnceFunc(func() {
		testkit.Is(t, g.server.Lists.Public.Shutdown(), nil, "Shutdown")
	})
	t.Cleanup(g.stop)
	g.started = f.start(t, l.Addr().String())
	return g
}

// askCounted sends a request to the cache, and also returns how many requests reached the origin
// for it.
func (g *origin) askCounted(t *testing.T, method, target string, header ...reply.HeaderField) (api.Answer, int64) {
	t.Helper()
	before := g.requests.Load()
	return g.ask(t, method, target, header), g.requests.Load() - before
}

// TestEdgeKey checks the cache key: one cached answer serves all callers, any order of parameters,
// and GET and HEAD, but only one coding. Queries that nginx cannot normalize are passed on
// unchanged. Every answer equals the origin's.
func TestEdgeKey(t *testing.T) { onFronts(t, testEdgeKey) }

func testEdgeKey(t *testing.T, f *front) {
	g := startEdge(t, f, state.Options{})
	other, _ := contract.EncodeIdentifier("another application", "you@example.com")
	const events = "/api/v2/coordination-context/conflict-events?"
	first, n := g.askCounted(t, "GET",
		events+"location_code=AFG&limit=700&has_hrp=true&app_identifier="+apitest.Identifier)
	if first.Status != 200 || n != 1 {
		t.Fatalf("%d, %d requests", first.Status, n)
	}
	for _, c := range []struct {
		method, target string
		header         []reply.HeaderField
	}{
		{"GET", events + "has_hrp=true&limit=700&location_code=AFG&app_identifier=" + url.QueryEscape(other), nil},
		{"HEAD", events + "app_identifier=" + other + "&limit=700&has_hrp=true&location_code=AFG", nil},
		{
			"GET", events + "limit=700&location_code=AFG&has_hrp=true",
			apitest.Fields("X-CATALOG-API-APP-IDENTIFIER", other),
		},
		{"GET", events + "limit=700&location_code=AFG&has_hrp=true&", apitest.Fields("x-catalog-api-app-identifier", apitest.Identifier, "User-Agent", "x", "Origin", "https://y")},
	} {
		got, n := g.askCounted(t, c.method, c.target, c.header...)
		if got.Status != 200 || n != 0 || c.method == "GET" && !bytes.Equal(got.Body, first.Body) {
			t.Errorf("%s %s: %d, %d requests, %d bytes", c.method, c.target, got.Status, n, len(got.Body))
		}
		for _, name := range []string{
			"ETag", "X-Total-Count", "Link", "X-Snapshot-Id", "Access-Control-Allow-Origin",
			"Cache-Control",
		} {
			a, _ := apitest.Field(first, name)
			if b, _ := apitest.Field(got, name); a != b {
				t.Errorf("%s: %s %q, want %q", c.target, name, b, a)
			}
		}
	}
	// One cached answer for each coding, however the browser spells it, with the bytes as we made
	// them.
	for _, c := range []struct {
		accept, coding string
		requests       int64
	}{
		{"gzip", "gzip", 1},
		{"gzip, deflate", "gzip", 0},
		{"GZIP,br", "gzip", 0},
		{"gzip, deflate, br, zstd", "gzip", 0},
		{"zstd", "zstd", 1},
		{"br, zstd", "zstd", 0},
		{"br", "", 0},
		{"gzip;q=0", "", 1},
		{"zstd;q=0.1, gzip;q=0.5", "gzip", 1},
	} {
		if !f.zstd && c.coding == "zstd" {
			c.coding, c.requests = "", 0
		}
		target := events + "limit=700&location_code=AFG&has_hrp=true&app_identifier=" + apitest.Identifier
		got, n := g.askCounted(t, "GET", target, reply.HeaderField{Name: "Accept-Encoding", Value: c.accept})
		coding, _ := apitest.Field(got, "Content-Encoding")
		own := g.server.Answer("GET", target, apitest.Fields("Accept-Encoding", c.accept))
		if got.Status != 200 || coding != c.coding || n != c.requests || !f.same(t, got, own) {
			t.Errorf("%q: %d, coding %q, %d requests, %d bytes, origin %d", c.accept, got.Status, coding, n,
				len(got.Body), len(own.Body))
		}
	}
	// Requests without an identifier are always passed on to the service.
	for range 2 {
		if got, n := g.askCounted(t, "GET", events+"limit=700&location_code=AFG&has_hrp=true"); got.Status != 403 ||
			n != 1 {
			t.Errorf("no identifier: %d, %d requests", got.Status, n)
		}
	}
	if got, _ := g.askCounted(t, "GET", "/api/v2/util/version"); got.Status != 200 {
		t.Errorf("version: %d", got.Status)
	}
	// No caller gets a landing page with the host of another caller's request.
	g.askCounted(t, "GET", "/", reply.HeaderField{Name: "Host", Value: "evil.example"})
	if got, n := g.askCounted(t, "GET", "/"); got.Status != 200 || n != 1 ||
		bytes.Contains(got.Body, []byte("evil.example")) {
		t.Errorf("landing page: %d, %d requests, %s", got.Status, n, got.Body)
	}
	// A percent-encoded question mark in a path does not share a cache key with a real one.
	g.askCounted(t, "GET", "/docs%3Fx")
	if got, _ := g.askCounted(t, "GET", "/docs?x?"); got.Status != 200 {
		t.Errorf("question mark: %d", got.Status)
	}
	// A 422 is not cached, a 404 is.
	wrong := events + "limit=x&app_identifier=" + apitest.Identifier
	for target, want := range map[string]int64{wrong: 1, "/nowhere": 0} {
		g.askCounted(t, "GET", target)
		if _, n := g.askCounted(t, "GET", target); n != want {
			t.Errorf("%s, the second time: %d requests", target, n)
		}
	}
}

// TestEdgeAnswers compares answers through a cache with our own, twice each, for random requests in
// many spellings, each below every prefix: an answer with names of one set is never sent to who
// asks in the other one, and a parameter of the other set has the effect that the service gives it.
func TestEdgeAnswers(t *testing.T) { onFronts(t, testEdgeAnswers) }

func testEdgeAnswers(t *testing.T, f *front) {
	g := startEdge(t, f, state.Options{})
	random := rand.New(rand.NewPCG(2, 7))
	for range 120 {
		var targets []string
		asked := g.server.Lists.Routes.Mounts[random.IntN(len(g.server.Lists.Routes.Mounts))]
		at := random.IntN(len(contract.Endpoints))
		var pairs []string
		for _, p := range contract.NewPlan(&contract.EndpointsIn(asked.Names)[at], contract.Rows).Params {
			if random.IntN(4) == 0 && p.Name != contract.IdentifierParam {
				name := p.Name
				if twin := p.Twin(); twin != "" && random.IntN(2) == 0 {
					name = twin
				}
				pairs = append(pairs, name+"="+url.QueryEscape(p.Example()))
			}
		}
		pairs = append(pairs, []string{
			"limit=5", "limit=5&limit=2", "Limit=1", "limit=", "x=1", "lim%69t=3", "snapshot=x",
			"snapshot=20261120T0200Z-test", "code=%", "code", "&", "output_format=csv",
		}[random.IntN(12)])
		pairs = append(pairs, "app_identifier="+apitest.Identifier)
		random.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
		for _, m := range g.server.Lists.Routes.Mounts { // the same below every prefix
			targets = append(targets, m.Prefix+contract.EndpointsIn(m.Names)[at].Path+"?"+strings.Join(pairs, "&"))
		}
		for _, target := range append(targets, targets...) {
			want, got := g.server.Answer("GET", target, nil), g.ask(t, "GET", target, nil)
			same := got.Status == want.Status && bytes.Equal(got.Body, want.Body)
			for _, name := range []string{
				"ETag", "Link", "X-Total-Count", "X-Unknown-Params", "Content-Disposition",
				"Content-Type",
			} {
				same = same && apitest.Header(want, name) == apitest.Header(got, name)
			}
			if !same {
				t.Errorf("%s: %d %.200s\nwant %d %.200s\nheaders %q\nwant %q", target, got.Status, got.Body,
					want.Status, want.Body, got.Header, want.Header)
			}
		}
	}
}

// TestEdgeNames checks that both sets of names, both identifier headers and all prefixes are
// treated alike: one cached answer for all callers and orders of parameters, none without an
// identifier.
func TestEdgeNames(t *testing.T) { onFronts(t, testEdgeNames) }

func testEdgeNames(t *testing.T, f *front) {
	for _, root := range []contract.NameSet{contract.ContractNames, contract.HAPINames} {
		g := startEdge(t, f, state.Options{Names: root})
		for _, m := range g.server.Lists.Routes.Mounts {
			phase, kind := "classification_phase=2&", "classification_type=current&"
			if m.Names == contract.HAPINames {
				phase, kind = "ipc_phase=2&", "ipc_type=current&"
			}
			list := m.Prefix + "/api/v2/food-security-nutrition-poverty/food-security?"
			first, n := g.askCounted(t, "GET", list+phase+kind+"limit=30&app_identifier="+apitest.Identifier)
			if first.Status != 200 || n != 1 {
				t.Fatalf("%s, names %s: %d, %d requests", list, root, first.Status, n)
			}
			for _, header := range []string{"X-CATALOG-API-APP-IDENTIFIER", "X-HDX-HAPI-APP-IDENTIFIER"} {
				got, n := g.askCounted(t, "GET", list+kind+"limit=30&"+phase, reply.HeaderField{
					Name:  header,
					Value: apitest.Identifier,
				})
				if got.Status != 200 || n != 0 || !bytes.Equal(got.Body, first.Body) {
					t.Errorf("%s, %s: %d, %d requests, %d bytes", list, header, got.Status, n, len(got.Body))
				}
			}
			for range 2 {
				if got, n := g.askCounted(t, "GET", list+kind+"limit=30&"+phase); got.Status != 403 || n != 1 {
					t.Errorf("%s, no identifier: %d, %d requests", list, got.Status, n)
				}
			}
			for want := range int64(2) {
				got, n := g.askCounted(t, "GET", m.Prefix+"/api/v2/util/version")
				if got.Status != 200 || n != 1-want {
					t.Errorf("%s, version: %d, %d requests, want %d", m.Prefix, got.Status, n, 1-want)
				}
			}
			if got, _ := g.askCounted(t, "GET", m.Prefix+"/openapi.json"); got.Status != 200 {
				t.Errorf("%s, description: %d", m.Prefix, got.Status)
			}
		}
	}
}

// TestEdgeStale checks that a stale answer is used during revalidation, which costs one 304, and
// while the service is down, both for as long as the answer's Cache-Control allows.
func TestEdgeStale(t *testing.T) { onFronts(t, testEdgeStale) }

func testEdgeStale(t *testing.T, f *front) {
	g := startEdge(t, f, state.Options{Freshness: reply.Freshness{
		MaxAge: -1, SharedMaxAge: 3 * time.Second,
		StaleWhileRevalidate: 6 * time.Second, StaleIfError: 13 * time.Second,
	}})
	target, began := apitest.Target+"&limit=20", time.Now()
	first, _ := g.askCounted(t, "GET", target)
	// until asks again and again until an answer is in a state. All answers before it are the first
	// one. It returns when that answer was asked for, and when it came.
	until := func(what string, is func(status int, state string) bool) (asked, came time.Time) {
		t.Helper()
		testkit.WaitFor(t, what, func() bool {
			asked = time.Now()
			got, _ := g.askCounted(t, "GET", target)
			came = time.Now()
			state, _ := apitest.Field(got, "X-Cache")
			if is(got.Status, state) {
				return true
			}
			if got.Status != 200 || !bytes.Equal(got.Body, first.Body) {
				t.Fatalf("before %s: %d, X-Cache %s", what, got.Status, state)
			}
			time.Sleep(20 * time.Millisecond)
			return false
		})
		return asked, came
	}
	const rounding = time.Second // nginx counts in whole seconds
	stale, came := until("a stale answer", func(_ int, state string) bool { return state == "STALE" })
	if after := came.Sub(began); after < 3*time.Second-rounding {
		t.Errorf("stale after %s, want 3s", after)
	}
	testkit.WaitFor(t, "the background revalidation", func() bool { return g.requests.Load() > 1 })
	_, came = until("a fresh answer", func(_ int, state string) bool { return state == "HIT" })
	if n, most := g.requests.Load(), 2+int64(came.Sub(stale)/(3*time.Second-rounding)); n > most && f.sharesMisses {
		t.Errorf("%d requests after the revalidation, want %d or fewer", n, most)
	}
	g.stop()
	_, came = until("the end of stale-if-error", func(status int, _ string) bool { return status == 502 })
	if after := came.Sub(stale); after < 16*time.Second-rounding {
		t.Errorf("the first 502 came %s after the revalidation, want 16s", after)
	}
}

// TestEdgeSources checks that nginx, which does not update the header of a cached answer after a
// 304, passes on that a table with the same rows is stale, and later that it is not.
func TestEdgeSources(t *testing.T) { onFronts(t, testEdgeSources) }

func testEdgeSources(t *testing.T, f *front) {
	g := startEdge(t, f, state.Options{Freshness: reply.Freshness{
		MaxAge: -1, SharedMaxAge: time.Second, StaleWhileRevalidate: -1, StaleIfError: -1,
	}})
	target := apitest.Target + "&limit=20"
	first, _ := g.askCounted(t, "GET", target)
	for _, want := range []string{"", "since=2026-11-18", ""} {
		snap := apitest.SampleSnapshot(t, 1500)
		at := slices.IndexFunc(snap.Manifest.Sources, func(x store.TableSource) bool { return x.Table == "sector" })
		if want != "" {
			snap.Manifest.Sources[at].StaleSince = apitest.SampleStale
		}
		apitest.Swap(t, g.server, state.Release{Snapshot: snap, PublishedAt: apitest.PublishedTime})
		testkit.WaitFor(t, "nginx to send X-Data-Stale: "+want, func() bool {
			got, _ := g.askCounted(t, "GET", target)
			since, has := apitest.Field(got, contract.HeaderStale)
			if !bytes.Equal(got.Body, first.Body) {
				t.Errorf("the body changed: status %d", got.Status)
			}
			return since == want && has == (want != "")
		})
	}
}

// TestEdgeStampede checks that many concurrent misses of one answer make one request to the origin.
func TestEdgeStampede(t *testing.T) { onFronts(t, testEdgeStampede) }

func testEdgeStampede(t *testing.T, f *front) {
	g := startEdge(t, f, state.Options{})
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			if got := g.ask(t, "GET", apitest.Target+"&limit=50", nil); got.Status != 200 {
				t.Error(got.Status)
			}
		})
	}
	all.Wait()
	if n := g.requests.Load(); n != 1 && f.sharesMisses || n > 100 {
		t.Errorf("%d requests reached the origin, want 1", n)
	}
}

// TestBrowser checks in Chromium that a page of another origin can read rows and headers.
func TestBrowser(t *testing.T) {
	t.Parallel()
	apitest.NeedEdge(t)
	s := apitest.Sample(t, state.Options{}, 30)
	base := "http://" + apitest.Listen(t, s)
	page := fmt.Sprintf(`<!doctype html><title>t</title><script>
(async () => {
  const out = {}, names = ["ETag", "Link", "X-Total-Count", "X-Result-Count", "X-Snapshot-Id", "X-Unknown-Params", "Content-Disposition", "X-Request-Id"];
  const read = (r) => Object.fromEntries(names.map((n) => [n, r.headers.get(n)]));
  const query = await fetch(%[1]q);
  out.query = {status: query.status, rows: (await query.json()).data.length, ...read(query)};
  const header = await fetch(%[2]q, {headers: {"X-CATALOG-API-APP-IDENTIFIER": %[3]q}, cache: "no-store"});
  out.header = {status: header.status, text: (await header.text()).split("\r\n").length, ...read(header)};
  const again = await fetch(%[1]q, {headers: {"If-None-Match": query.headers.get("ETag")}, cache: "no-store"});
  out.again = {status: again.status, ...read(again)};
  const gone = await fetch(%[2]q);
  out.gone = {status: gone.status, body: await gone.json(), ...read(gone)};
  return JSON.stringify(out);
})().catch((e) => "failed: " + e).then((result) => fetch("/done", {method: "POST", body: result}));
</script>`, base+apitest.Target+"&limit=4&sort_by=x", base+"/api/v2/metadata/sector?output_format=csv&limit=3", apitest.Identifier)
	result := browser.Posted(t, "/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, page)
	})
	for _, part := range []string{
		`"query":{"status":200,"rows":4,"ETag":"W/`, `rel=\"next\"`,
		`"X-Total-Count":"30","X-Result-Count":"4","X-Snapshot-Id":"20261120T0200Z-test","X-Unknown-Params":"sort_by"`,
		`"header":{"status":200,"text":5,"ETag":"W/`, `filename=\"sector_2026-11-20.csv\"`,
		`"again":{"status":304,"ETag":"W/`, `"gone":{"status":403,"body":{"error":"Missing app identifier"`,
	} {
		testkit.Contains(t, result, part, "the result")
	}
}

// TestEdgeRange checks that a range request gets the whole body, as "Accept-Ranges: none"
// announces, and that a range never costs the service more than one request: the answer is kept for
// all, and is taken from the cache when it is there.
func TestEdgeRange(t *testing.T) { onFronts(t, testEdgeRange) }

func testEdgeRange(t *testing.T, f *front) {
	g := startEdge(t, f, state.Options{})
	for i, first := range apitest.Fields("Range", "bytes=0-9", "Accept", "*/*") {
		target := fmt.Sprintf("%s&limit=%d", apitest.Target, 28+i)
		want := g.server.Answer("GET", target, nil)
		for n, header := range [][]reply.HeaderField{
			{first},
			{{Name: "Range", Value: "bytes=0-9"}},
			{{Name: "Range", Value: "bytes=5-"}, {Name: "If-Range", Value: apitest.Header(want, "Etag")}},
			{{Name: "Range", Value: "bytes=-3,0-1"}},
			{},
		} {
			got, requests := g.askCounted(t, "GET", target, header...)
			if got.Status != 200 || !bytes.Equal(got.Body, want.Body) || requests != int64(max(0, 1-n)) {
				t.Errorf("%v: status %d, %d bytes, want 200, %d bytes; %d requests", header, got.Status, len(got.Body),
					len(want.Body), requests)
			}
		}
	}
}

// TestEdgeHead checks that a HEAD is answered from a stored GET, and otherwise reaches the service
// as a HEAD, whose answer is not stored in place of that of a GET.
func TestEdgeHead(t *testing.T) { onFronts(t, testEdgeHead) }

func testEdgeHead(t *testing.T, f *front) {
	g := startEdge(t, f, state.Options{})
	for _, target := range []string{
		apitest.Target + "&limit=27",
		strings.Replace(apitest.Target, "?", "/export?", 1),
		"/docs",
		apitest.Target + "&limit=x", // 422, which is never stored
	} {
		g.seen()
		want := g.server.Answer("GET", target, nil)
		stored := want.Status == 200
		for n, method := range []string{"HEAD", "HEAD", "GET", "HEAD", "GET"} {
			got := g.ask(t, method, target, nil)
			body := want.Body
			if method == "HEAD" {
				body = nil
			}
			if got.Status != want.Status || !bytes.Equal(got.Body, body) ||
				apitest.Header(got, "Etag") != apitest.Header(want, "Etag") {
				t.Errorf("%s %s: status %d, %d bytes, want %d, %d bytes", method, target, got.Status, len(got.Body),
					want.Status, len(body))
			}
			wanted := []string{method + " " + target}
			if stored && n > 2 {
				wanted = nil
			}
			if seen := g.seen(); len(seen) != len(wanted) ||
				len(seen) > 0 && !strings.HasPrefix(seen[0], method+" ") {
				t.Errorf("request %d, %s %s: the service received %q, want %q", n, method, target, seen, wanted)
			}
		}
	}
	began := time.Now()
	var all sync.WaitGroup
	const heads = 100
	for range heads {
		all.Go(func() {
			testkit.Equal(t, g.ask(t, "HEAD", apitest.Target+"&limit=26", nil).Status, 200, "HEADs at once: status")
		})
	}
	all.Wait()
	// One after the other, each would wait for half a second.
	if took := time.Since(began); took > heads*time.Second/2 {
		t.Errorf("%d HEADs at once took %s", heads, took)
	}
}

// TestEdgeBulk checks that parts of bulk files can be read through nginx, as by engines and by
// downloads that are continued.
func TestEdgeBulk(t *testing.T) { onFronts(t, testEdgeBulk) }

func testEdgeBulk(t *testing.T, f *front) {
	g, b := startEdge(t, f, state.Options{Bulk: true}), apitest.NewBulkDir(t)
	b.Put(t, apitest.SampleID, rand.New(rand.NewPCG(6, 17)))
	testkit.Must(t, g.server.Files.LookForBulk(b.Bulk))
	file := b.Files[apitest.SampleID+"/"+apitest.BulkTable]
	size := len(file)
	for _, prefix := range []string{"", "/hapi"} {
		moved := g.ask(t, "GET", prefix+"/bulk/latest/"+apitest.BulkTable, nil)
		target := prefix + "/bulk/" + apitest.SampleID + "/" + apitest.BulkTable
		if at := apitest.Header(moved, "Location"); moved.Status != 302 || !strings.HasSuffix(at, target) {
			t.Errorf("the latest: %d to %s, want %s", moved.Status, at, target)
		}
		part := g.ask(t, "GET", prefix+"/bulk/latest/"+apitest.BulkTable, apitest.Fields("Range", "bytes=-8"))
		testkit.Equal(t, part.Status, 400, "a part of the latest")
		tag := ""
		for range 2 { // the second time a cache could answer
			whole := g.ask(t, "GET", target, nil)
			if tag = apitest.Header(whole, "Etag"); whole.Status != 200 || !bytes.Equal(whole.Body, file) ||
				tag == "" ||
				apitest.Header(whole, "Accept-Ranges") != "bytes" {
				t.Errorf("the whole file: %d, %d bytes, %v", whole.Status, len(whole.Body), whole.Header)
			}
		}
		for _, c := range []struct {
			header   []reply.HeaderField
			status   int
			from, to int
		}{
			{apitest.Fields("Range", "bytes=0-3"), 206, 0, 4},
			{apitest.Fields("Range", "bytes=-8"), 206, size - 8, size},
			{apitest.Fields("Range", "bytes=100000-"), 206, 100_000, size},
			{apitest.Fields("Range", "bytes=5-9", "If-Range", tag), 206, 5, 10},
			{apitest.Fields("Range", "bytes=5-9", "If-Range", `"other"`), 200, 0, size},
			{apitest.Fields("Range", "bytes=0-1,5-6"), 416, 0, 0},
			{apitest.Fields("Range", fmt.Sprintf("bytes=%d-", size)), 416, 0, 0},
			{apitest.Fields("If-None-Match", tag), 304, 0, 0},
		} {
			got := g.ask(t, "GET", target, c.header)
			if got.Status != c.status || c.status < 300 && !bytes.Equal(got.Body, file[c.from:c.to]) {
				t.Errorf("%v: %d, %d bytes, want %d with the bytes %d to %d", c.header, got.Status, len(got.Body),
					c.status, c.from, c.to)
			}
		}
		head := g.ask(t, "HEAD", target, nil)
		if length := apitest.Header(head, "Content-Length"); head.Status != 200 || length != fmt.Sprint(size) {
			t.Errorf("HEAD: %d, Content-Length %s, want %d", head.Status, length, size)
		}
		testkit.Equal(t, g.ask(t, "GET", target+"?location_code=AFG", nil).Status, 422, "a filter")
	}
}

// TestEdgeOData checks that answers of OData are kept, but those that Accept chooses: these are
// asked of the service also where another one is kept.
func TestEdgeOData(t *testing.T) { onFronts(t, testEdgeOData) }

func testEdgeOData(t *testing.T, f *front) {
	g := startEdge(t, f, state.Options{BaseURL: apitest.ODataBase})
	full := apitest.Fields("Accept", "application/json;odata.metadata=full")
	inJSON := apitest.Fields("Accept", "application/json")
	const set = "/odata/v4/org?$top=2&$filter=name%20ne%20'x'"
	const schema = "/odata/v4/$metadata"
	for i, c := range []struct {
		target string
		header []reply.HeaderField
		cache  string
		has    string
	}{
		{set, nil, "MISS", `{"@odata.context":`},
		{set, nil, "HIT", `{"@odata.context":`},
		{set, full, "BYPASS", `"@odata.id":`},
		{set, inJSON, "HIT", `{"@odata.context":`},
		{schema, nil, "MISS", "<edmx:Edmx"},
		{schema, nil, "HIT", "<edmx:Edmx"},
		{schema, inJSON, "BYPASS", `"$Version"`},
		{schema, nil, "HIT", "<edmx:Edmx"},
	} {
		got := g.ask(t, "GET", c.target, c.header)
		cache := apitest.Header(got, "X-Cache")
		if got.Status != 200 || cache != c.cache || !strings.Contains(string(got.Body), c.has) {
			t.Errorf("request %d: %d, %s, want %s: %.200s", i, got.Status, cache, c.cache, got.Body)
		}
	}
}
