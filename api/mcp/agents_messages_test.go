package mcp_test

import (
	"encoding/json"
	"slices"
	"strconv"
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
	words := strings.NewReplacer("PING", ping, "BATCH", batch, "BOM", "\ufeff")
	for _, c := range testkit.Cases(t, "testdata/requests.txt", " | ", 4) {
		want, revision, has, body := c[0], c[1], c[2], words.Replace(c[3])
		for _, accept := range []string{"application/json, text/event-stream", "application/json", "*/*"} {
			status, text, h := post(t, address, body, "Mcp-Protocol-Version", revision, "Accept", accept,
				"Mcp-Method", "nope")
			if strconv.Itoa(status) != want || !strings.Contains(text, has) ||
				status != 202 && (!json.Valid([]byte(text)) || h.Get("Content-Type") != contract.JSONType) {
				t.Errorf("%.60s of %q, accepting %s: %d %s %.300s; want %s with %s", body, revision, accept, status,
					h.Get("Content-Type"), text, want, has)
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
			testkit.Equal(t, strings.Contains(fields, name), c.isOfMine, "%s: %s is in %q", c.path, name, fields)
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
	s := apitest.Server(t, state.Options{Agents: true}, apitest.FigureTables(t))
	figures := agent(t, apitest.Listen(t, s), "2025-06-18")
	for _, c := range testkit.Cases(t, "testdata/forms.txt", " | ", 3) {
		arguments, want := json.RawMessage(c[1]), c[2]
		if c[0] == "same" {
			got := toldAnswer(t, session, "rows", arguments)
			want := toldAnswer(t, session, "rows", json.RawMessage(want))
			testkit.Equal(t, marshalled(got), marshalled(want), "%s", arguments)
			continue
		}
		of := session
		if c[0] == "answered" {
			of = figures
		}
		text, refused := told(t, of, "rows", arguments)
		if refused != (c[0] == "refused") || !strings.Contains(text, want) {
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

// TestAgentsInstead: the calls that answers and refusals name answer.
func TestAgentsInstead(t *testing.T) {
	t.Parallel()
	s := apitest.Server(t, state.Options{Agents: true}, apitest.TrapTables(t))
	session := agent(t, apitest.Listen(t, s), "2025-06-18")
	for _, c := range testkit.Cases(t, "testdata/instead.txt", " | ", 2) {
		text, _ := told(t, session, c[0], json.RawMessage(c[1]))
		var of struct {
			Instead *mcp.Call
			Nothing struct{ Nearest []struct{ Call *mcp.Call } }
		}
		testkit.Must(t, json.Unmarshal([]byte(text), &of))
		calls := []*mcp.Call{of.Instead}
		for _, near := range of.Nothing.Nearest {
			calls = append(calls, near.Call)
		}
		for _, next := range slices.DeleteFunc(calls, func(next *mcp.Call) bool { return next == nil }) {
			if text, refused := told(t, session, next.Tool, next.Arguments); refused {
				t.Errorf("%s %s names %s, which is refused: %.300s", c[0], c[1], marshalled(next), text)
			}
		}
	}
}

// TestAgentsSchemas: strict converters keep all that schemas have, and others can read them.
func TestAgentsSchemas(t *testing.T) {
	t.Parallel()
	session := agent(t, apitest.Listen(t, apitest.Sample(t, state.Options{Agents: true}, 0)), "2025-06-18")
	tools := testkit.Value(session.ListTools(t.Context(), nil))(t)
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
