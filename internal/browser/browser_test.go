package browser

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"testing"
)

// TestNotes: requests to other machines and faults of scripts are noted, and nothing else is.
func TestNotes(t *testing.T) {
	t.Parallel()
	p := &Page{}
	for _, m := range []struct{ method, params string }{
		{"Network.requestWillBeSent", `{"request": {"url": "http://127.0.0.1:8080/docs"}}`},
		{"Network.requestWillBeSent", `{"request": {"url": "data:text/plain,a"}}`},
		{"Network.requestWillBeSent", `{"request": {"url": "https://other.example/a.js"}}`},
		{"Network.requestWillBeSent", `{"request": {"url": "http://127.0.0.1.other.example/"}}`},
		{"Log.entryAdded", `{"entry": {"level": "warning", "text": "slow"}}`},
		{"Log.entryAdded", `{"entry": {"level": "error", "text": "refused"}}`},
		{"Runtime.exceptionThrown", `{"exceptionDetails": {"text": "Uncaught", "exception": {"description": "x is null"}}}`},
		{"Page.loadEventFired", `{}`},
		{"Page.frameNavigated", `{}`},
	} {
		p.note(&message{Method: m.method, Params: json.RawMessage(m.params)})
	}
	want := []string{"https://other.example/a.js", "http://127.0.0.1.other.example/"}
	if !slices.Equal(p.Elsewhere(), want) || !slices.Equal(p.Faults(), []string{"refused", "Uncaught x is null"}) ||
		p.loads != 1 {
		t.Errorf("elsewhere %q, faults %q, %d loads", p.Elsewhere(), p.Faults(), p.loads)
	}
}

// TestBrowserDriver: what a page asks another machine for is noted. TestBrowserJourney of cmd/hdqs
// has keys, links and downloads.
func TestBrowserDriver(t *testing.T) {
	if os.Getenv("HDQS_EDGE") == "" {
		t.Skip("HDQS_EDGE is not set: 'make edge' runs this with Chromium")
	}
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<!DOCTYPE html><title>Page</title><img src="https://other.example/a.png">`)
	}))
	t.Cleanup(server.Close)
	p := Open(t)
	p.Goto(server.URL + "/")
	if got := p.Elsewhere(); !slices.Contains(got, "https://other.example/a.png") {
		t.Errorf("requests elsewhere: %q", got)
	}
}
