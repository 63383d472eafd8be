package main_test

import (
	"slices"
	"strings"
	"testing"
)

// TestMCPLines: a line that is no message is answered with an error, and does not end the command.
func TestMCPLines(t *testing.T) {
	parallel(t)
	store := sampleStore(t)
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for _, c := range []struct{ line, want string }{ // want is a part of each answer, with blanks between
		{"\ufeff" + ping, `"id":1,"result":{}`},
		{ping + "\r", `"id":1,"result":{}`},
		{"", ""},
		{"2026/11/28 12:00:00 a line of a log", "-32700"},
		{"{this line is no JSON", "-32700"},
		{ping + ping, "-32700"},
		{ping + " x", "-32700"},
		{"\x00\xff", "-32700"},
		{"[" + ping + `,{"jsonrpc":"2.0","id":"b","method":"ping"}]`, `"id":1,"result":{} "id":"b","result":{}`},
		{"[" + ping + `,7,{"jsonrpc":"2.0","method":"notifications/foo"}]`, `"id":1,"result":{} -32600`},
		{"[]", "-32600"},
		{"[" + strings.Repeat(ping+",", 300) + ping + "]", "-32600"},
		{`{"jsonrpc":"2.0","id":1,"method":"nope"}`, `-32601`},
		{`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, `"id":1.5`},
		{`{"jsonrpc":"2.0","id":1,"result":{}}`, "-32600"},
		{`{"jsonrpc":"2.0","method":"tools/call"}`, ""},
		{strings.Repeat("long", 1<<20), "-32600"},
		{strings.Repeat("[", 100_000), "-32700"},
	} {
		const begin = `{"jsonrpc":"2.0","id":"begin","method":"initialize","params":{"protocolVersion":"2025-03-26",` +
			`"capabilities":{},"clientInfo":{"name":"x","version":"1"}}}` + "\n" +
			`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
		const last = `{"jsonrpc":"2.0","id":"last","method":"ping"}`
		for _, end := range []string{"\n", ""} {
			r := runWith(t, nil, begin+c.line+"\n"+last+end, "mcp", "--store", store)
			answers := strings.Split(strings.TrimSuffix(r.stdout, "\n"), "\n")
			answers = slices.DeleteFunc(answers, func(a string) bool { return strings.Contains(a, `"id":"begin"`) })
			wanted := append(strings.Fields(c.want), `"id":"last","result":{}`)
			for _, want := range wanted {
				if !slices.ContainsFunc(answers, func(a string) bool { return strings.Contains(a, want) }) {
					t.Errorf("%.80q: exit code %d, %.300q; want %s", c.line, r.code, answers, want)
				}
			}
			if r.code != 0 || len(answers) != len(wanted) {
				t.Errorf("%.80q: exit code %d, %d answers, %s; want %d", c.line, r.code, len(answers), r.stderr,
					len(wanted))
			}
		}
	}
}

// TestMCPForward: a replica that answers agents gets the messages, whatever their revision of the
// protocol, and what is no message never leaves. One that does not is named, with the remedy.
func TestMCPForward(t *testing.T) {
	parallel(t)
	store := sampleStore(t)
	replica, other := serve(t, "--store", store, "--mcp"), serve(t, "--store", store)
	const lists = `{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"rows","arguments":{"list":"idps"},` +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},` +
		`"io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"}}}}`
	const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
		`"capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
	const unknown = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"rows","arguments":` +
		`{"list":"idps","filters":{"country":"AFG"}}}}`
	for _, c := range []struct{ base, line, want string }{
		{replica.base, initialize, `"protocolVersion":"2025-11-25"`},
		{replica.base, lists, replica.base + "/api/v2/affected-people/idps?limit=50"},
		{replica.base + "/contract/", lists, `"id":"a","result"`},
		{replica.base, unknown, `"isError":true`},
		{replica.base, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, ""},
		{replica.base, `{"jsonrpc":"2.0","id":1,"method":"nope"}`, "-32601"},
		{replica.base, "a line of a log", "-32700"},
		{replica.base, "[" + initialize + `,{"jsonrpc":"2.0","id":7,"method":"ping"}]`, `"id":7,"result":{}`},
		{replica.base, `{"jsonrpc":"2.0","id":3,"method":"ping","x":"` + strings.Repeat("x", 40_000) + `"}`, "413"},
		{other.base, initialize, "must be started with serve --mcp"},
		{other.base, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, ""},
		{"http://127.0.0.1:1", initialize, "the replica does not answer"},
	} {
		r := runWith(t, nil, c.line+"\n", "mcp", "--url", c.base)
		if r.code != 0 || !strings.Contains(r.stdout, c.want) || (c.want == "") != (r.stdout == "") {
			t.Errorf("%s %.80s: exit code %d, %.400s%s; want %s", c.base, c.line, r.code, r.stdout, r.stderr, c.want)
		}
	}
}
