package edge_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

// TestPlainParameters holds what all caches of deploy rely on when they sort parameters of lists:
// their names, in both sets, have only letters that are written in one way.
func TestPlainParameters(t *testing.T) {
	t.Parallel()
	for _, name := range parameterNames() {
		if !isPlain.MatchString(name) {
			t.Errorf("the caches of deploy do not sort the parameter %q", name)
		}
	}
}

// TestEdgePoison: nobody can make a cache keep an answer that another caller would not get, by
// headers, repeated or encoded names, or another host. The first request of each pair tries, the
// second is an ordinary one, whose answer must be the service's.
func TestEdgePoison(t *testing.T) { onFronts(t, testEdgePoison) }

func testEdgePoison(t *testing.T, f *front) {
	g := startEdge(t, f, state.Options{})
	list := strings.Replace(apitest.Target, "?", "?limit=5&", 1)
	for _, c := range []struct {
		target string
		header []reply.HeaderField
		then   string
	}{
		{"/", apitest.Fields("X-Forwarded-Host", "evil.example"), "/"},
		{"/", apitest.Fields("X-Forwarded-Proto", "evil", "Forwarded", "host=evil.example"), "/"},
		{"/docs", apitest.Fields("Host", "evil.example"), "/docs"},
		{list, apitest.Fields("X-Original-URL", "/evil", "X-Rewrite-URL", "/evil"), list},
		{list, apitest.Fields("X-HTTP-Method-Override", "HEAD"), list},
		{list, apitest.Fields("Origin", "https://evil.example", "Cookie", "a=b"), list},
		{list, apitest.Fields("Range", "bytes=0-3"), list},
		{list, apitest.Fields("If-None-Match", "*"), list},
		{list, apitest.Fields("Prefer", "handling=strict"), list},
		{list, apitest.Fields("X-Edge-Try", "stale", "X-Edge-Key", "/", "X-Edge-Label", "x"), list},
		{list, apitest.Fields("Accept", "application/json;odata.metadata=full"), list},
		{list + "&limit=2", nil, list}, // the last value counts
		{list + "&limit=2", nil, apitest.Target + "&limit=2&limit=5"},
		{list, nil, list + "&limit=2"},
		{apitest.Target + "&limit=2&limit=5", nil, list + "&limit=2"},
		{list + "&Limit=2", nil, list},   // names have no capitals
		{list + "&l%69mit=2", nil, list}, // another spelling of the name
		{list + "&l%69mit=2", nil, apitest.Target + "&l%69mit=2&limit=5"},
		{list + "%26offset=3", nil, list + "&offset=3"},
		{list + ";offset=3", nil, list + "&offset=3"},
		{list + "#&offset=3", nil, list},
		{strings.Replace(list, "/sector", "/%73ector", 1) + "&offset=1", nil, list + "&offset=1"},
		{strings.Replace(list, "/sector?", "/sector%3F", 1), nil, list},
		{strings.Replace(list, "/sector?", "//sector?", 1), nil, list},
		{strings.Replace(list, "/sector?", "/sector/?", 1), nil, list},
		{"/hapi" + list, nil, list},
		{list, nil, "/hapi" + list},
		{"http://evil.example/docs", nil, "/docs"},
		{list + "&app_identifier=%26output_format%3Dcsv", nil, list},
		{list + "&a=b&output_format=csv", nil, list + "&a=b%26output_format%3Dcsv"},
	} {
		g.ask(t, "GET", c.target, c.header)
		want := g.server.Answer("GET", c.then, nil)
		for range 2 {
			got := g.ask(t, "GET", c.then, nil)
			same := got.Status == want.Status
			if c.then == "/" { // it has the address that was asked
				want = got
			}
			same = same && bytes.Equal(got.Body, want.Body)
			for _, name := range []string{
				"ETag", "Link", "X-Total-Count", "X-Unknown-Params", "Content-Type", "Content-Range",
			} {
				mine, theirs := apitest.Header(got, name), apitest.Header(want, name)
				same = same && strings.TrimPrefix(mine, "W/") == strings.TrimPrefix(theirs, "W/")
			}
			if !same || bytes.Contains(got.Body, []byte("evil")) {
				t.Errorf("%s after %s %v: %d %v %.200s\nwant %d %.200s", c.then, c.target, c.header,
					got.Status, got.Header, got.Body, want.Status, want.Body)
			}
		}
	}
	// What cannot be an identifier does not get a kept answer: the service says what is wrong.
	for _, wrong := range []string{"", "x", "a name", "%22%3E", "../../etc", strings.Repeat("%", 9)} {
		target := strings.Replace(list, apitest.Identifier, wrong, 1)
		if got := g.ask(t, "GET", target, nil); got.Status != 403 && got.Status != 400 {
			t.Errorf("%s: %d, want 403", target, got.Status)
		}
	}
}

// TestEdgeForms: what depends on Accept is for each client what the service would send it, whoever
// asked before and however; a path has at most two copies.
func TestEdgeForms(t *testing.T) { onFronts(t, testEdgeForms) }

func testEdgeForms(t *testing.T, f *front) {
	g := startEdge(t, f, state.Options{BaseURL: "http://edge.example"})
	accept := func(values ...string) (header []reply.HeaderField) {
		for _, value := range values {
			header = append(header, reply.HeaderField{Name: "Accept", Value: value})
		}
		return header
	}
	browser := accept("text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8")
	clients := [][]reply.HeaderField{
		nil, accept("*/*"), accept("application/json"), accept("application/geo+json, */*"), browser,
		accept("text/html"), accept("TEXT/HTML"), accept("application/json, text/html"),
		accept("application/json", "text/html"), accept("text/html", "application/json"),
	}
	random := rand.New(rand.NewPCG(7, 1))
	for _, target := range []string{
		"/ogc", "/ogc?f=json", "/ogc?f=html", "/ogc/conformance", "/ogc/collections", "/ogc/collections/market",
		"/ogc/collections/market/items?limit=2", "/ogc/nothing", "/nothing", "/nothing/at/all", "/fr/nothing",
		"/api/v2/nothing", "/bulk/nothing", "/hapi/api/v2/nothing", "/odata/v4/nothing", "/", "/docs", "/status",
		"/llms.txt", "/sources", "/fr/sources",
	} {
		check := func(header []reply.HeaderField, form string) {
			t.Helper()
			got, want := g.ask(t, "GET", target, header), g.server.Answer("GET", target, header)
			kind, _, _ := strings.Cut(apitest.Header(want, "Content-Type"), ";")
			if got.Status != want.Status || !strings.HasPrefix(apitest.Header(got, "Content-Type"), kind) {
				t.Errorf("%s for %s: %d %s, want %d %s", target, form, got.Status, apitest.Header(got, "Content-Type"),
					want.Status, kind)
			}
		}
		for _, i := range random.Perm(len(clients)) {
			g.ask(t, "GET", target, clients[i])
			check(browser, "a browser")
			check(nil, "a program")
		}
		g.seen()
		for _, header := range clients {
			g.ask(t, "GET", target, header)
		}
		if mayKeep.MatchString(apitest.Header(g.server.Answer("GET", target, browser), "Cache-Control")) {
			if seen := g.seen(); len(seen) > 0 {
				t.Errorf("%s: %d requests reached the service for what is kept", target, len(seen))
			}
		}
	}
}

// TestEdgePurge: what a publication names is purged, and nothing else.
func TestEdgePurge(t *testing.T) { onFronts(t, testEdgePurge) }

func testEdgePurge(t *testing.T, f *front) {
	g := startEdge(t, f, state.Options{BaseURL: "http://edge.example"})
	with := func(path string) string { return path + "?limit=4&app_identifier=" + apitest.Identifier }
	targets := []string{
		with("/api/v2/affected-people/idps"), with("/hapi/api/v2/affected-people/idps"),
		with("/api/v2/affected-people/idps") + "&location_code=AFG",
		with(
			"/api/v2/affected-people/refugees-persons-of-concern"), with("/api/v2/metadata/sector"), with("/api/v2/metadata/sector") + "&snapshot=" + apitest.SampleID, "/", "/docs",
	}
	keep := func() {
		for _, target := range targets {
			testkit.Equal(t, g.ask(t, "GET", target, nil).Status, 200, "%s", target)
		}
		g.seen()
	}
	for _, tables := range [][]string{{"idps"}, {"sector"}, {"refugees_persons_of_concern", "idps"}} {
		keep()
		keys := reply.PurgeKeys(tables) // which publish, rollback and build print
		g.purge(keys)
		for _, target := range targets {
			want := int64(0)
			own := strings.Fields(apitest.Header(g.server.Answer("GET", target, nil), "Surrogate-Key"))
			if slices.ContainsFunc(own, func(k string) bool { return slices.Contains(keys, k) }) {
				want = 1
			}
			got, n := g.askCounted(t, "GET", target)
			if got.Status != 200 || n != want {
				t.Errorf("after a purge of %q: %s with the keys %q: %d, %d requests, want %d", keys, target, own,
					got.Status, n, want)
			}
		}
	}
}

// TestEdgeMessages: messages of agents pass through, each to the service.
func TestEdgeMessages(t *testing.T) { onFronts(t, testEdgeMessages) }

func testEdgeMessages(t *testing.T, f *front) {
	g := startEdge(t, f, state.Options{Agents: true, Version: "test"})
	const message = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	post := func(address string) (int, string) {
		req := testkit.Value(http.NewRequest("POST", "http://"+address+"/mcp", strings.NewReader(message)))(t)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		res := testkit.Value(http.DefaultClient.Do(req))(t)
		defer res.Body.Close()
		var body bytes.Buffer
		testkit.Value(body.ReadFrom(res.Body))(t)
		return res.StatusCode, body.String()
	}
	for n := range int64(3) {
		status, body := post(g.address)
		if status != 200 || !strings.Contains(body, `"tools":[`) || g.requests.Load() != n+1 {
			t.Errorf("message %d: %d, %d requests: %.300s", n, status, g.requests.Load(), body)
		}
	}
	for range 2 {
		if got, n := g.askCounted(t, "GET", "/mcp"); got.Status < 400 || n != 1 {
			t.Errorf("GET: %d, %d requests", got.Status, n)
		}
	}
	for _, method := range []string{"POST", "DELETE", "PUT", "PURGE"} {
		testkit.Equal(t, g.ask(t, method, apitest.Target, nil).Status, 405, "%s of a list", method)
	}
}

// TestEdgeCloudFront runs the function of deploy/cloudfront with Node.js, which is not CloudFront:
// callers of one answer have one address, and nothing that counts is lost.
func TestEdgeCloudFront(t *testing.T) {
	apitest.NeedEdge(t)
	t.Parallel()
	const list, label = "/api/v2/metadata/sector", contract.IdentifierParam
	function := string(testkit.ReadFile(t, "../../deploy/cloudfront/function.js"))
	type value struct {
		Value      string  `json:"value"`
		MultiValue []value `json:"multiValue,omitempty"`
	}
	one := func(text string) value { return value{Value: text} }
	for _, c := range []struct {
		uri        string
		query      map[string]value
		want, sent string

		accept, form string
	}{
		{"/ogc", map[string]value{}, "", "", "text/html,*/*;q=0.8", "text/html"},
		{"/nothing", map[string]value{}, "", "", "application/json, text/html", "*/*"},
		{
			"/odata/v4/org",
			map[string]value{},
			"", "", "application/json;odata.metadata=full", "application/json;odata.metadata=full",
		},
		{
			list,
			map[string]value{"limit": one("5"), "code": one("a"), label: one(apitest.Identifier)},
			"code,limit", apitest.Identifier, "text/html", "*/*",
		},
		{
			list,
			map[string]value{"code": one("a"), label: one("bXktYXBwOm1l%3D"), "limit": one("5")},
			"code,limit", "bXktYXBwOm1l=", "", "*/*",
		},
		{list, map[string]value{label: one("x")}, "app_identifier", "", "", "*/*"},
		{
			list,
			map[string]value{"limit": {"2", []value{one("5"), one("2")}}, "code": one("a")},
			"code,limit", "", "", "*/*",
		},
		{list, map[string]value{"l%69mit": one("2"), "a": one("b")}, "a,l%69mit", "", "", "*/*"},
	} {
		event, err := json.Marshal(map[string]any{"request": map[string]any{
			"uri": c.uri, "querystring": c.query, "headers": map[string]value{
				"range": one("bytes=0-3"), "accept": one(c.accept),
			},
		}})
		testkit.Must(t, err)
		command := exec.Command(testkit.Program(t, "node", "nodejs"), "-e", function+`
const got = handler(`+string(event)+`);
console.log(JSON.stringify([Object.keys(got.querystring).join(","), got.querystring, got.headers]));`)
		out := testkit.Value(command.Output())(t)
		var got struct {
			names   string
			query   map[string]value
			headers map[string]value
		}
		testkit.Must(t, json.Unmarshal(out, &[]any{&got.names, &got.query, &got.headers}))
		names := strings.Split(got.names, ",")
		sorted := slices.IsSorted(names)
		if plain := !strings.Contains(c.want, "%") && c.query["limit"].MultiValue == nil; plain != sorted && plain {
			t.Errorf("%s is not sorted", got.names)
		}
		slices.Sort(names)
		if strings.Join(names, ",") != c.want || got.headers["x-catalog-api-app-identifier"].Value != c.sent ||
			got.headers["range"].Value != "" {
			t.Errorf("%v: %s with the headers %v, want %s and the identifier %q", c.query, got.names, got.headers,
				c.want, c.sent)
		}
		testkit.Equal(t, got.headers["accept"].Value, c.form, "%s with Accept %q", c.uri, c.accept)
		for name, v := range got.query {
			if v.Value != c.query[name].Value || len(v.MultiValue) != len(c.query[name].MultiValue) {
				t.Errorf("%v: %s is %v", c.query, name, v)
			}
		}
	}
}
