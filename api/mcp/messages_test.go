package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"hdqs/api/contract"
	"hdqs/internal/testkit"
)

// TestReadMessages: what is no message has a fault with its id, and does not hide the others.
func TestReadMessages(t *testing.T) {
	t.Parallel()
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	words := strings.NewReplacer("PING", ping, "BOM", "\ufeff", "CRLF", "\r\n", "NUL", "\x00")
	for _, c := range testkit.Cases(t, "testdata/messages.txt", " | ", 3) {
		want, revision, text := c[0], c[1], words.Replace(c[2])
		all, _ := readMessages([]byte(text), revision)
		got := ""
		for _, m := range all {
			switch {
			case m.fault == nil:
				got += "."
			case m.fault.Code == -32600:
				got += "6"
			case m.fault.Code == -32700:
				got += "7"
			}
		}
		testkit.Equal(t, got, want, "%q of revision %q", text, revision)
	}
	all, _ := readMessages([]byte(`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`), "")
	if got := string(all[0].refusal()); !bytes.Contains(all[0].refusal(), []byte(`"id":1.5`)) {
		t.Errorf("the refusal has not the id that was sent: %s", got)
	}
}

// FuzzReadMessages: any bytes give messages, at most a batch of them, and faults are JSON.
func FuzzReadMessages(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `[{"jsonrpc":"2.0","method":"x"},7]`, "\ufeffnull", "hello", "[[[",
		`{"jsonrpc":"2.0","id":1.5,"id":{},"method":"a","params":{"a":1,"a":2}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		all, _ := readMessages(text, "")
		if len(all) == 0 || len(all) > mostMessages {
			t.Errorf("%d messages", len(all))
		}
		for i := range all {
			if all[i].fault != nil && !json.Valid(all[i].refusal()) {
				t.Errorf("no JSON: %s", all[i].refusal())
			}
		}
	})
}

// TestDecode: a JSON value is read only if all of it is one value in which no name is there twice.
func TestDecode(t *testing.T) {
	t.Parallel()
	for text, ok := range map[string]bool{
		`{"a":1,"b":{"a":2}}`:              true,
		`[{"a":1},{"a":2}]`:                true,
		`{"code":"AFG","code":"SDN"}`:      false,
		`{"code":"AFG","c\u006fde":"SDN"}`: false,
		`{"x":[{"y":{"a":1,"a":1}}]}`:      false,
		`5 6`:                              false,
		`{} {}`:                            false,
	} {
		var value any
		if err := decode([]byte(text), &value); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestVisible: signs that no reader sees are escaped, and all others are as they were.
func TestVisible(t *testing.T) {
	t.Parallel()
	for _, hidden := range []string{
		"\u007f", "\u0080", "\u009b", "\u009f", "\u00ad", "\u034f", "\u115f", "\u180b", "\u200b", "\u202e", "\u2028",
		"\u3164", "\ue000", "\ufe0f", "\ufeff", "\uffa0", "\U000e0041", "\U000e0100",
	} {
		text := marshal("a" + hidden + "b")
		var back string
		if got := visible(text); bytes.Contains(got, []byte(hidden)) || json.Unmarshal(got, &back) != nil ||
			back != "a"+hidden+"b" {
			t.Errorf("%q is %s", hidden, got)
		}
	}
	for _, plain := range []string{"~", "é", "\u00a0", "العربية", "हिन्दी", "中文", "€", "💧"} {
		if text := marshal(plain); !bytes.Equal(visible(text), text) {
			t.Errorf("%q is %s", plain, visible(text))
		}
	}
}

// TestCallFor: a call has all filters of the question that it asks, also a value and a list of one
// parameter.
func TestCallFor(t *testing.T) {
	t.Parallel()
	q := contract.Ask(contract.EndpointOf("food_security", contract.ContractNames), contract.Aggregate)
	q.Keep("admin_level__in", "1", "2").Keep("location_code__in", "ETH", "SDN").GroupBy("admin1_name")
	if got, want := fmt.Sprint(callFor(q).Arguments["filters"]),
		"map[admin_level:[1 2] location_code:[ETH SDN]]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	q.Keep("admin_level", contract.Coarsest)
	if got, want := fmt.Sprint(callFor(q).Arguments["filters"]),
		"map[admin_level:coarsest admin_level__in:1,2 location_code:[ETH SDN]]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
