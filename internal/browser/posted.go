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
// its script posts to /done. Server and Chromium end with the test.
func Posted(t testing.TB, path string, pages http.HandlerFunc) string {
	t.Helper()
	done := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
	select {
	case text := <-done:
		return text
	case <-time.After(5 * testkit.Patience):
	}
	t.Fatalf("the page has posted no result\n%s", p.messages)
	return ""
}
