package mcp_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/mcp"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

// agent connects a client of a revision of the protocol.
func agent(t *testing.T, address, revision string) *sdk.ClientSession {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: "http://" + address + mcp.Path, DisableStandaloneSSE: true, MaxRetries: -1,
	}, &sdk.ClientSessionOptions{ProtocolVersion: revision})
	testkit.Must(t, err)
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// told is what a tool has answered, as text.
func told(t *testing.T, session *sdk.ClientSession, tool string, arguments any) (text string, refused bool) {
	t.Helper()
	r := testkit.Value(session.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments}))(t)
	text = r.Content[0].(*sdk.TextContent).Text
	if structured, _ := json.Marshal(r.StructuredContent); !r.IsError {
		var a, b any
		if json.Unmarshal(structured, &a) != nil || json.Unmarshal([]byte(text), &b) != nil {
			t.Fatalf("%s: %s", tool, text)
		}
		testkit.Equal(t, marshalled(a), marshalled(b), "%s: the structured content and the text", tool)
	}
	return text, r.IsError
}

func marshalled(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

// toldAnswer is an answer that is no refusal.
func toldAnswer(t *testing.T, session *sdk.ClientSession, tool string, arguments any) (a mcp.Answer) {
	t.Helper()
	text, refused := told(t, session, tool, arguments)
	if err := json.Unmarshal([]byte(text), &a); err != nil || refused {
		t.Fatalf("%s %v: %s", tool, arguments, text)
	}
	var rows struct{ Rows, Results []json.RawMessage }
	testkit.Must(t, json.Unmarshal([]byte(text), &rows))
	a.Rows = append(rows.Rows, rows.Results...)
	return a
}

// TestAgents: clients of each revision get the same tools in the same bytes from servers of all
// kinds, at most 7 KB, and the answers that plain requests get.
func TestAgents(t *testing.T) {
	t.Parallel()
	var lists []string
	for _, o := range []state.Options{
		{Agents: true},
		{Agents: true, Names: contract.HAPINames, BaseURL: "http://127.0.0.1"},
		{Agents: true, Identifier: state.IgnoreIdentifier, Strict: true},
	} {
		s := apitest.Sample(t, o, 30)
		address := apitest.Listen(t, s)
		for _, revision := range []string{"2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"} {
			session := agent(t, address, revision)
			testkit.Equal(t, session.InitializeResult().ProtocolVersion, revision, "asked for revision")
			a := toldAnswer(t, session, "rows", map[string]any{"list": "idps", "limit": 3})
			path := strings.TrimPrefix(a.URL, "http://"+address)
			path = strings.TrimPrefix(path, o.BaseURL)
			plain := s.Answer("GET", path, named)
			var of struct{ Data []json.RawMessage }
			if json.Unmarshal(plain.Body, &of) != nil || marshalled(of.Data) != marshalled(a.Rows) ||
				apitest.Header(plain, contract.HeaderTotal) != marshalled(a.Total) || a.Snapshot != apitest.SampleID {
				t.Errorf("%s: %d %.200s, the tool %.200s of %d in %s", path, plain.Status, plain.Body, a.Rows, a.Total,
					a.Snapshot)
			}
			read, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "hdqs://coverage"})
			if err != nil || !strings.Contains(read.Contents[0].Text, `"list":"idps"`) {
				t.Errorf("coverage: %v", err)
			}
		}
		lists = append(lists, rawTools(t, address))
	}
	slices.Sort(lists)
	if lists = slices.Compact(lists); len(lists) != 1 || len(lists[0]) > 7000 {
		t.Errorf("%d lists of tools, the first of %d bytes; want one of at most 7000", len(lists), len(lists[0]))
	}
	if !strings.Contains(lists[0], `"ttlMs":3600000,"cacheScope":"public"`) {
		t.Errorf("nothing says how long the tools may be kept: %.300s", lists[0])
	}
}

// named is a header with an identifier.
var named = apitest.Fields(contract.ContractNames.IdentifierHeader(), apitest.Identifier)

// post sends a message of the newest revision.
func post(t *testing.T, address, body string, header ...string) (int, string, http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", "http://"+address+mcp.Path, strings.NewReader(body))
	testkit.Must(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
	}
	answer := testkit.Value(http.DefaultClient.Do(r))(t)
	defer answer.Body.Close()
	return answer.StatusCode, string(testkit.Value(io.ReadAll(answer.Body))(t)), answer.Header
}

const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"}}`

func rawTools(t *testing.T, address string) string {
	t.Helper()
	status, text, _ := post(t, address, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{`+meta+`}}`,
		"Mcp-Method", "tools/list")
	if status != 200 {
		t.Fatalf("tools/list: %d %s", status, text)
	}
	return text
}

// TestAgentsAtTheDoor: who is let in, and that the answer to who is not says why.
func TestAgentsAtTheDoor(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	var lock sync.Mutex
	s := apitest.Sample(t, state.Options{
		Agents: true, BaseURL: "https://data.example.org", Logger: slog.New(slog.NewTextHandler(locked{&lock, &log}, nil)),
	}, 30)
	address := apitest.Listen(t, s)
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta + `}}`
	const old = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	listen := strings.ReplaceAll(list, "tools/list", "subscriptions/listen")
	for _, c := range []struct {
		status int
		body   string
		header []string
	}{
		{200, list, nil},
		{200, list, []string{"Host", "data.example.org", "Origin", "https://data.example.org"}},
		{200, list, []string{"Host", "localhost", "Origin", "http://localhost:6274"}},
		{200, list, []string{"Host", "[::1]:80"}},
		{403, list, []string{"Host", "rebound.example"}},
		{403, list, []string{"Origin", "https://foreign.example"}},
		{403, list, []string{"Origin", "null"}},
		{403, list, []string{"Host", "data.example.org", "Origin", "http://localhost"}},
		{404, listen, []string{"Mcp-Method", "subscriptions/listen"}},
		{400, "{", nil},
		{400, list, []string{"Mcp-Protocol-Version", "1999-01-01\x7f"[:10]}},
		{415, list, []string{"Content-Type", "text/plain"}},
		{413, list + strings.Repeat(" ", mcp.MaxBody), nil},
		{200, "[" + old + strings.Repeat(","+old, 7) + "]", []string{"Mcp-Protocol-Version", "2025-03-26"}},
		{400, "[" + old + strings.Repeat(","+old, 8) + "]", []string{"Mcp-Protocol-Version", "2025-03-26"}},
	} {
		status, text, h := post(t, address, c.body, append([]string{"Mcp-Method", "tools/list"}, c.header...)...)
		isListen := c.body == listen && (status == 404 || strings.Contains(text, "-32601"))
		if status != c.status && !isListen {
			t.Errorf("%.40s with %q: %d %.200s, want %d", c.body, c.header, status, text, c.status)
		}
		if status == 403 && !strings.Contains(text, "Host") && !strings.Contains(text, "Origin") {
			t.Errorf("%q: %s says not why", c.header, text)
		}
		if h.Get("Cache-Control") != reply.NoStore && status != 413 {
			t.Errorf("%q: Cache-Control %q", c.header, h.Get("Cache-Control"))
		}
	}
	host := apitest.Fields("Host", "localhost")
	if a := s.Answer("GET", mcp.Path, host); a.Status != 405 || apitest.Header(a, "Allow") != "POST" {
		t.Errorf("GET: %d, Allow %q", a.Status, apitest.Header(a, "Allow"))
	}
	if a := apitest.Sample(t, state.Options{}, 30).Answer("GET", mcp.Path, nil); a.Status != 404 {
		t.Errorf("without the option: %d, want 404", a.Status)
	}
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"figure","arguments":{"countries":` +
		`["x\nlevel=ERROR msg=forged\u001b[2J"],"figure":"\r\nforged"},` + meta + `}}`
	_, text, _ := post(t, address, call, "Mcp-Method", "tools/call", "Mcp-Name", "figure")
	lock.Lock()
	defer lock.Unlock()
	if logged := log.String(); strings.Contains(logged, "forged") || strings.Contains(logged, "rebound") ||
		!strings.Contains(text, `"isError":true`) {
		t.Errorf("the log has bytes of requests: %s\nanswer %s", logged, text)
	}
}

// locked is a writer of several goroutines.
type locked struct {
	*sync.Mutex
	io.Writer
}

func (l locked) Write(p []byte) (int, error) {
	l.Lock()
	defer l.Unlock()
	return l.Writer.Write(p)
}

// TestAgentsHostile: texts that look like instructions or markup come back as the values that they
// are, whatever tool reads them, and without a sign that no reader sees.
func TestAgentsHostile(t *testing.T) {
	t.Parallel()
	s := apitest.Hostile(t)
	server := s.NewAgents("test")
	client, transport := sdk.NewInMemoryTransports()
	go func() { _ = server.Run(t.Context(), transport) }()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil).Connect(t.Context(), client, nil)
	testkit.Must(t, err)
	for i := range contract.Endpoints {
		e := &contract.Endpoints[i]
		for tool, arguments := range map[string]map[string]any{
			"rows": {"list": e.Name(), "limit": 1000}, "source": {"list": e.Name()},
			"aggregate": {"list": e.Name(), "group_by": []string{e.Fields[0].Name}},
		} {
			text, refused := told(t, session, tool, arguments)
			isHidden := func(r rune) bool { return unicode.In(r, unicode.Cf, unicode.Zl) }
			if hidden := strings.IndexFunc(text, isHidden); refused || hidden >= 0 || len(text) > 50_000 {
				t.Errorf("%s of %s: refused %t, a hidden sign at %d, %d bytes: %.300s", tool, e.Name(), refused, hidden,
					len(text), text)
			}
			if tool != "rows" {
				continue
			}
			var got, want struct {
				Data, Rows []any
				URL        string
			}
			testkit.Must(t, json.Unmarshal([]byte(text), &got))
			testkit.Must(t, json.Unmarshal(s.Answer("GET", got.URL, named).Body, &want))
			if marshalled(got.Rows) != marshalled(want.Data[:len(got.Rows)]) {
				t.Errorf("%s: cells differ from those of the plain answer", e.Name())
			}
		}
	}
	for _, text := range apitest.HostileTexts {
		for tool, arguments := range map[string]map[string]any{
			"find": {"words": text}, "figure": {"countries": []string{text}, "figure": text}, "changes": {"list": text},
			"rows": {"list": "idps", "filters": map[string]any{"location_name": text, "operation": text}},
		} {
			told(t, session, tool, arguments) // which checks that it is JSON
		}
	}
}

// TestAgentsFilters: no filter is ignored, and no answer contains an identifier.
func TestAgentsFilters(t *testing.T) {
	t.Parallel()
	session := agent(t, apitest.Listen(t, apitest.Sample(t, state.Options{Agents: true}, 0)), "2025-06-18")
	for _, filters := range []map[string]any{
		{"location_code": []string{"AFG"}, "location_code__in": []string{"TCD"}},
		{"location_code": []string{"AFG", "TCD"}, "location_code__in": "AFG,TCD"},
		{"location_code": "AFG", contract.IdentifierParam: apitest.Identifier},
		{"location_code": []string{""}},
	} {
		text, refused := told(t, session, "rows", map[string]any{"list": "idps", "filters": filters})
		if !refused || strings.Contains(text, apitest.Identifier) {
			t.Errorf("%v: refused %t, %.200s", filters, refused, text)
		}
	}
	both := map[string]any{"admin_level": "coarsest", "admin_level__in": "1,2"}
	if text, refused := told(t, session, "rows", map[string]any{"list": "idps", "filters": both}); refused {
		t.Errorf("%v: %.200s", both, text)
	}
}

// TestAgentsFlood: calls beyond the slots of agents wait or are refused, and plain requests and
// pages beside them are answered.
func TestAgentsFlood(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{Agents: true}, 30)
	address := apitest.Listen(t, s)
	inside := make(chan struct{})
	release := make(chan struct{})
	for range max(1, runtime.GOMAXPROCS(0)/2) { // all slots
		go func() {
			_ = s.Lists.Admission.Pass(func() error {
				inside <- struct{}{}
				<-release
				return nil
			}, s.Lists.Admission.Agents)
		}()
		<-inside
	}
	var calls sync.WaitGroup
	for range 20 {
		calls.Go(func() {
			const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call",` +
				`"params":{"name":"find","arguments":{"words":"refugees"}}}`
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+"/mcp",
				strings.NewReader(call))
			testkit.Must(t, err)
			r.Header = http.Header{
				"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
			}
			answer, err := http.DefaultClient.Do(r)
			if err == nil && answer.StatusCode != 200 && answer.StatusCode != 503 { // on a slow machine
				t.Errorf("a call: %d", answer.StatusCode)
			}
			if err == nil {
				answer.Body.Close()
			}
		})
	}
	testkit.WaitFor(t, "calls to wait", func() bool { return s.Lists.Admission.Agents.Waiting() > 0 })
	for range 50 { // while no call has a slot
		for _, target := range []string{"/api/v2/affected-people/idps?limit=1", "/browse/idps"} {
			if a := apitest.Ask(t, address, "GET", target, named); a.Status != 200 {
				t.Errorf("%s beside waiting calls: %d %s", target, a.Status, a.Body)
			}
		}
	}
	close(release)
	calls.Wait()
}

// TestAgentsFaults: a panic costs one call, and the next one is answered.
func TestAgentsFaults(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 30)
	var log bytes.Buffer
	isFirst := true
	server := mcp.New(mcp.Options{
		Lists: s.Lists, Mount: s.Lists.Routes.MountIn(contract.ContractNames),
		Log: slog.New(slog.NewTextHandler(&log, nil)),
		Sources: func(*state.Served, string) *state.Sources {
			if isFirst {
				isFirst = false
				panic("at the first call")
			}
			return &state.Sources{Lists: make([]state.ListSources, 1)}
		},
	})
	client, transport := sdk.NewInMemoryTransports()
	go func() { _ = server.Run(t.Context(), transport) }()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil).Connect(t.Context(), client, nil)
	testkit.Must(t, err)
	call := &sdk.CallToolParams{Name: "rows", Arguments: map[string]any{"list": "idps", "limit": 1}}
	if _, err = session.CallTool(t.Context(), call); err == nil || !strings.Contains(err.Error(), "at the moment") {
		t.Errorf("a call that panics: %v", err)
	}
	testkit.Contains(t, log.String(), "at the first call", "the log has no panic")
	a := toldAnswer(t, session, "rows", call.Arguments)
	testkit.Equal(t, len(a.Rows), 1, "rows after a panic")
}

// TestAgentsArguments: each argument means what it says on all pages, with all digits, or is
// refused.
func TestAgentsArguments(t *testing.T) {
	t.Parallel()
	address := apitest.Listen(t, apitest.Sample(t, state.Options{Agents: true}, 0))
	session := agent(t, address, "2025-06-18")
	for _, c := range []struct{ tool, arguments, want string }{
		{"rows", `{"list":"idps","limit":0}`, "limit is 0; want 1 or more"},
		{"rows", `{"list":"idps","limit":-5}`, "limit is -5; want 1 or more"},
		{"rows", `{"list":"idps","offset":-3}`, "offset is -3; want 0 or more"},
		{"source", `{"offset":-4}`, "offset is -4; want 0 or more"},
		{"find", `{"words":"sudan","offset":-1}`, "offset is -1; want 0 or more"},
		{"find", `{"words":"` + strings.Repeat("long ", 500) + `"}`, "send fewer or shorter values"},
		{"rows", `{"list":"admin1","filters":{"code":["A\\_01"]}}`, "has a backslash in an array"},
		{"rows", `{"list":"idps","filters":{"admin_level":1e400}}`, "admin_level: Input should be"},
	} {
		text, refused := told(t, session, c.tool, json.RawMessage(c.arguments))
		if !refused || !strings.Contains(text, c.want) {
			t.Errorf("%s %s: refused %t, %.300s; want %q", c.tool, c.arguments, refused, text, c.want)
		}
	}
	for _, c := range []struct{ arguments, want string }{
		{`{"list":"baseline-population","filters":{"population_min":9007199254740993}}`, "population_min=9007199254740993"},
		{`{"list":"idps","filters":{"admin_level":1.0}}`, "?admin_level=1&limit=50"},
	} {
		if a := toldAnswer(t, session, "rows", json.RawMessage(c.arguments)); !strings.HasSuffix(a.URL, c.want) {
			t.Errorf("%s: %s, want %s at its end", c.arguments, a.URL, c.want)
		}
	}
	a := toldAnswer(t, session, "figure", map[string]any{"figure": "people_in_need", "end_date": "1990"})
	if body := marshalled(a.Nothing); !strings.Contains(body, "without") || strings.Contains(body, `"records"`) {
		t.Errorf("records without the date were not counted: %s", body)
	}
}

// TestAgentsPages: pages have each record once, and every tool takes the call that leads to the
// next one.
func TestAgentsPages(t *testing.T) {
	t.Parallel()
	session := agent(t, apitest.Listen(t, apitest.Sample(t, state.Options{Agents: true}, 300)), "2025-06-18")
	tools := testkit.Value(session.ListTools(t.Context(), nil))(t)
	for _, tool := range tools.Tools {
		if !strings.Contains(marshalled(tool.InputSchema), `"offset":`) {
			t.Errorf("%s has no offset, which the call in next has", tool.Name)
		}
	}
	for _, first := range []mcp.Call{
		{Tool: "rows", Arguments: map[string]any{"list": "returnees", "limit": 1000}},
		{Tool: "aggregate", Arguments: map[string]any{"list": "location", "group_by": "name", "limit": 7}},
		{Tool: "find", Arguments: map[string]any{"words": "name"}},
	} {
		seen, pages, total := map[string]int{}, 0, 0
		for next := &first; next != nil && pages < 200; pages++ {
			a := toldAnswer(t, session, next.Tool, next.Arguments)
			for _, row := range a.Rows {
				seen[marshalled(row)]++
			}
			next, total = a.Next, a.Total
		}
		if len(seen) != total || pages < 2 {
			t.Errorf("%s: %d records on %d pages, want %d on several", first.Tool, len(seen), pages, total)
		}
	}
	for tool, arguments := range map[string]map[string]any{"figure": {"figure": "overall_risk"}, "source": {}} {
		all := toldAnswer(t, session, tool, arguments)
		arguments["offset"] = 7
		rest := toldAnswer(t, session, tool, arguments)
		if len(all.Rows) != all.Total || rest.Total != all.Total || marshalled(rest.Rows) != marshalled(all.Rows[7:]) {
			t.Errorf("%s: %d records of %d after 7, want %d", tool, len(rest.Rows), rest.Total, all.Total-7)
		}
	}
}
