package mcp_test

import (
	"encoding/json"
	"strings"
	"testing"

	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/mcp"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

// TestAgentsMessages: what is wrong in a request over HTTP is a JSON-RPC error with its id, and the
// other messages of a batch are answered.
func TestAgentsMessages(t *testing.T) {
	t.Parallel()
	address := apitest.Listen(t, apitest.Sample(t, state.Options{Agents: true}, 0))
	const ping = `{"jsonrpc":"2.0","id":7,"method":"ping"}`
	batch := "[" + strings.Repeat(ping+",", 269) + ping + "]"
	for _, c := range []struct {
		body, revision string
		status         int
		want           string
	}{
		{ping, "", 200, `{"jsonrpc":"2.0","id":7,"result":{}}`},
		{"\ufeff" + ping, "", 200, `"id":7,"result"`},
		{batch, "2025-03-26", 400, "-32600"},
		{batch + " x", "2025-03-26", 400, "-32700"},
		{batch + "[]", "2025-03-26", 400, "-32700"},
		{batch + "}", "", 400, "-32700"},
		{ping + ping, "", 400, "-32700"},
		{"{", "", 400, `"code":-32700`},
		{"", "", 400, `"id":null`},
		{"[" + ping + "]", "2025-06-18", 400, "-32600"},
		{"[" + ping + "]", "2025-03-26", 200, `[{"jsonrpc":"2.0","id":7,"result":{}}]`},
		{"[" + ping + `,{"jsonrpc":"2.0","id":8,"method":"nope"},7]`, "", 200, `"id":7,"result":{}},{`},
		{"[" + ping + `,{"jsonrpc":"2.0","id":8,"method":"nope"},7]`, "", 200, `-32601`},
		{"[" + ping + `,{"jsonrpc":"2.0","id":8,"method":"nope"},7]`, "", 200, `"id":8`},
		{`[{"jsonrpc":"2.0","method":"notifications/foo"}]`, "", 202, ""},
		{`{"jsonrpc":"2.0","method":"notifications/foo"}`, "", 202, ""},
		{`{"jsonrpc":"2.0","method":"notifications/initialized"}`, "2025-06-18", 202, ""},
		{`{"jsonrpc":"2.0","id":7,"method":"tasks/list"}`, "", 200, `"code":-32601`},
		{`{"jsonrpc":"2.0","id":"x","method":"nope"}`, "2025-11-25", 200, `"id":"x"`},
		{`{"jsonrpc":"2.0","id":7,"method":"nope"}`, "2026-07-28", 404, `"code":-32601`},
		{`{"jsonrpc":"2.0","id":7,"method":"prompts/list"}`, "", 200, `"code":-32601`},
		{`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, "", 400, `"id":1.5`},
		{`{"jsonrpc":"2.0","id":7,"method":"tools/call"}`, "", 400, `"id":7`},
		{`{"jsonrpc":"2.0","method":"tools/list"}`, "", 400, `"id":null`},
		{`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"nope"}}`, "", 200, `-32602`},
		{`{"jsonrpc":"2.0","id":7,"method":"ping","method":"tools/list"}`, "", 400, `\"method\" is there twice`},
	} {
		for _, accept := range []string{"application/json, text/event-stream", "application/json", "*/*"} {
			status, text, h := post(t, address, c.body, "Mcp-Protocol-Version", c.revision, "Accept", accept,
				"Mcp-Method", "nope")
			if status != c.status || !strings.Contains(text, c.want) ||
				status != 202 && (!json.Valid([]byte(text)) || h.Get("Content-Type") != contract.JSONType) {
				t.Errorf("%.60s of %q, accepting %s: %d %s %.300s; want %d with %s", c.body, c.revision, accept, status,
					h.Get("Content-Type"), text, c.status, c.want)
			}
		}
	}
}

// TestAgentsPreflight: a browser lets pages send messages, and to no other path.
func TestAgentsPreflight(t *testing.T) {
	t.Parallel()
	preflight := apitest.Fields("Origin", "http://localhost:6274", "Access-Control-Request-Method", "POST",
		"Access-Control-Request-Headers", "content-type,mcp-protocol-version")
	for _, c := range []struct {
		path     string
		agents   bool
		isOfMine bool
	}{
		{mcp.Path, true, true},
		{mcp.Path, false, false},
		{apitest.Target, true, false},
		{"/nowhere", true, false},
	} {
		a := apitest.Sample(t, state.Options{Agents: c.agents}, 0).Answer("OPTIONS", c.path, preflight)
		fields := apitest.Header(a, "Access-Control-Allow-Headers")
		methods := contract.AllowedMethods
		if c.isOfMine {
			methods = "POST, OPTIONS"
		}
		for _, name := range []string{
			"MCP-Protocol-Version", "Mcp-Session-Id", "Authorization", "Mcp-Method", "Mcp-Name",
		} {
			if strings.Contains(fields, name) != c.isOfMine {
				t.Errorf("%s: %s is in %q", c.path, name, fields)
			}
		}
		if a.Status != 204 || apitest.Header(a, "Allow") != methods ||
			apitest.Header(a, "Access-Control-Allow-Methods") != methods || !strings.Contains(fields, "Content-Type") {
			t.Errorf("%s: %d, Allow %q, methods %q, fields %q", c.path, a.Status, apitest.Header(a, "Allow"),
				apitest.Header(a, "Access-Control-Allow-Methods"), fields)
		}
	}
}

// TestAgentsForms: arguments in the forms that models send mean the same, or are refused.
func TestAgentsForms(t *testing.T) {
	t.Parallel()
	session := agent(t, apitest.Listen(t, apitest.Sample(t, state.Options{Agents: true}, 0)), "2025-06-18")
	for _, c := range testkit.Cases(t, "testdata/forms.txt", " | ", 3) {
		arguments, want := json.RawMessage(c[1]), c[2]
		if c[0] == "same" {
			got := toldAnswer(t, session, "rows", arguments)
			want := toldAnswer(t, session, "rows", json.RawMessage(want))
			if marshalled(got) != marshalled(want) {
				t.Errorf("%s: %.300s, want %.300s", arguments, marshalled(got), marshalled(want))
			}
			continue
		}
		if text, refused := told(t, session, "rows", arguments); !refused || !strings.Contains(text, want) {
			t.Errorf("%s: refused %t, %.400s; want %s", arguments, refused, text, want)
		}
	}
	search := func(arguments string) string {
		return marshalled(toldAnswer(t, session, "find", json.RawMessage(arguments)).Rows)
	}
	if search(`{"words":"name","kind":"any"}`) != search(`{"words":"name"}`) {
		t.Error("find of any kind is not find")
	}
}

// TestAgentsSchemas: strict converters keep all that schemas have, and others can read them.
func TestAgentsSchemas(t *testing.T) {
	t.Parallel()
	session := agent(t, apitest.Listen(t, apitest.Sample(t, state.Options{Agents: true}, 0)), "2025-06-18")
	tools, err := session.ListTools(t.Context(), nil)
	testkit.Must(t, err)
	var check func(path string, schema map[string]any)
	check = func(path string, schema map[string]any) {
		if _, has := schema["additionalProperties"]; has {
			t.Errorf("%s has additionalProperties, at which google-genai fails", path)
		}
		properties, _ := schema["properties"].(map[string]any)
		switch kind, _ := schema["type"].(string); {
		case kind == "":
			t.Errorf("%s has no type", path)
		case kind == "object" && len(properties) == 0:
			t.Errorf("%s is an object without properties, of which strict converters leave nothing", path)
		case kind == "array" && schema["items"] == nil:
			t.Errorf("%s is an array of nothing", path)
		}
		for name, of := range properties {
			check(path+"."+name, of.(map[string]any))
		}
	}
	for _, tool := range tools.Tools {
		check(tool.Name, tool.InputSchema.(map[string]any))
		if strings.Contains(marshalled(tool.OutputSchema), "additionalProperties") {
			t.Errorf("the answer of %s has additionalProperties", tool.Name)
		}
	}
}

// TestAgentsUnknown: a filter that a list does not have is refused, with the one that was meant.
func TestAgentsUnknown(t *testing.T) {
	t.Parallel()
	session := agent(t, apitest.Listen(t, apitest.Sample(t, state.Options{Agents: true}, 30)), "2025-06-18")
	for _, c := range []struct{ tool, arguments, want string }{
		{"rows", `{"list":"location","limit":3,"filters":{"locaton_code":"AFG"}}`, `"filters":{"code":"AFG"}`},
		{"rows", `{"list":"idps","filters":{"country":"AFG"}}`, `"filters":{"location_code":"AFG"}`},
		{"aggregate", `{"list":"idps","filters":{"nonsense":"AFG","rubbish":"1"}}`, "nonsense"},
	} {
		text, refused := told(t, session, c.tool, json.RawMessage(c.arguments))
		if !refused || !strings.Contains(text, c.want) || strings.Contains(text, `"rows":`) {
			t.Errorf("%s %s: refused %t, %.400s; want %s", c.tool, c.arguments, refused, text, c.want)
		}
	}
	good := json.RawMessage(`{"list":"location","filters":{"code":"AFG"}}`)
	if a := toldAnswer(t, session, "rows", good); a.Total == 0 {
		t.Error("no rows with a good filter")
	}
}
