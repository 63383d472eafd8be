package browser

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"hdqs/internal/testkit"
)

// Posted serves pages, opens the one at a path in a Chromium of its own, and returns the text that
// its script posts to /done. It waits as long as the page goes on to ask for something. Server and
// Chromium end with the test.
func Posted(t testing.TB, path string, pages http.HandlerFunc) string {
	t.Helper()
	done, asked := make(chan string, 1), make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case asked <- r.URL.String():
		default:
		}
		if r.URL.Path != "/done" {
			pages(w, r)
			return
		}
		text, _ := io.ReadAll(r.Body)
		done <- string(text)
	}))
	t.Cleanup(server.Close)
	p := Open(t)
	p.Size(1400, 1000, false)
	p.ask(nil, "Page.navigate", "url", server.URL+path) // it may not have loaded before it posts
	for last := path; ; {
		select {
		case text := <-done:
			return text
		case last = <-asked:
		case <-time.After(testkit.Patience):
			t.Fatalf("the page has posted no result, and has asked for nothing since %s\n%s", last, p.messages)
		}
	}
}
