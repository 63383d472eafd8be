package browser

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
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

// TestBrowserDriver: keys reach the element with the focus, links and downloads are followed, and
// nothing leaves this machine.
func TestBrowserDriver(t *testing.T) {
	if os.Getenv("HDQS_EDGE") == "" {
		t.Skip("HDQS_EDGE is not set: 'make edge' runs this with Chromium")
	}
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(servePages))
	t.Cleanup(server.Close)
	p := Open(t)
	p.Size(390, 844, true)
	p.Goto(server.URL + "/form")
	if got := p.Eval("innerWidth + ' ' + devicePixelRatio"); got != "390 2" {
		t.Errorf("a phone is %s", got)
	}
	p.TabTo("x.id == 'field'")
	p.Type("Mali 2")
	p.Control("a", "selectAll")
	p.Control("c", "copy")
	p.Press("End")
	p.Control("v", "paste")
	p.Wait("document.getElementById('field').value == 'Mali 2Mali 2'")
	p.Media("print", "dark")
	const medium = "matchMedia('print').matches + ' ' + matchMedia('(prefers-color-scheme: dark)').matches"
	if got := p.Eval(medium); got != "true true" {
		t.Errorf("the medium is %s", got)
	}
	p.TabTo("x.id == 'file'")
	p.Press("Enter")
	if name, content := p.Downloaded(".csv"); name != "rows.csv" || string(content) != "a,b\n" {
		t.Errorf("downloaded %s with %q", name, content)
	}
	p.Follow("x.id == 'next'", "Enter")
	p.Wait("location.pathname == '/next'")
	if picture := p.Picture(50); !strings.HasPrefix(string(picture), "RIFF") {
		t.Errorf("the picture begins with %.12q", picture)
	}
	if got := p.Elsewhere(); !slices.Contains(got, "https://other.example/a.png") {
		t.Errorf("requests elsewhere: %q", got)
	}
	p.Scripts(false)
	p.Goto(server.URL + "/form")
	if got := p.Eval("document.title"); got != "Form" {
		t.Errorf("without scripts the title is %q", got)
	}
}

// servePages serves a form, whose script changes its title, and the page after it.
func servePages(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/form":
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<!DOCTYPE html><title>Form</title><meta name="viewport" content="width=device-width">
			<input id="field"><a id="file" href="/rows.csv" download>rows</a><a id="next" href="/next">next</a>
			<script>document.title = 'with scripts'</script>`)
	case "/rows.csv":
		_, _ = io.WriteString(w, "a,b\n")
	case "/next":
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<!DOCTYPE html><title>Next</title><img src="https://other.example/a.png">`)
	default:
		http.NotFound(w, r)
	}
}
