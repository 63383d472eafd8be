//go:build !race

package site_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

// TestBrowserHTML has the checker of the W3C (vnu) read every kind of page, and the pages of
// records of all endpoints with and without filters: there must be no error and no warning.
func TestBrowserHTML(t *testing.T) {
	t.Parallel()
	apitest.NeedEdge(t)
	checker := os.Getenv("HDQS_VNU")
	if checker == "" {
		t.Fatal("HDQS_VNU must name vnu.jar, as 'make edge' sets it")
	}
	s := changedServer(t)
	pages := map[string]string{} // addresses by file
	dir := t.TempDir()
	for _, path := range htmlPaths(s) {
		answer := s.Answer("GET", path, apitest.Fields("Host", "data.example.org"))
		if answer.Status != 200 && answer.Status != 422 || apitest.Header(answer, "Content-Type") != reply.HtmlType {
			t.Errorf("%s: %d", path, answer.Status)
		}
		name := filepath.Join(dir, fmt.Sprintf("%03d.html", len(pages)))
		testkit.WriteFile(t, name, answer.Body)
		pages["file:"+name] = path
	}
	var found struct {
		Messages []struct{ Type, URL, Message, Extract string }
	}
	java := func(args ...string) *exec.Cmd {
		command := exec.Command("java", append([]string{"-jar", checker}, args...)...)
		command.Env = append(os.Environ(), testkit.ShortJava)
		return command
	}
	out, err := java("--format", "json", "--exit-zero-always", "--stdout", dir).Output()
	if err == nil {
		err = json.Unmarshal(out, &found)
	}
	if err != nil {
		t.Fatalf("%v: %.500s", err, out)
	}
	reported := map[string]bool{}
	for _, m := range found.Messages {
		if reported[m.Message] {
			continue // most pages have the same templates
		}
		reported[m.Message] = true
		t.Errorf("%s: %s: %s: %.200q", pages[m.URL], m.Type, m.Message, m.Extract)
	}
	broken := filepath.Join(t.TempDir(), "broken.html")
	testkit.WriteFile(t, broken, []byte("<!DOCTYPE html><title>a</title><p><div id=a></p><b id=a>"))
	if java(broken).Run() == nil {
		t.Error("the checker accepts a page that is broken on purpose")
	}
}

// changedServer serves a snapshot of the sample tables that has replaced another one.
func changedServer(t *testing.T) *api.Server {
	t.Helper()
	_, second := apitest.TwoSnapshots(t, 20)
	s := apitest.Serve(t, state.Options{}, second)
	apitest.Swap(t, s, state.Release{Snapshot: apitest.SampleSnapshot(t, 30), PublishedAt: apitest.PublishedTime})
	return s
}

// htmlPaths are the addresses of all kinds of pages in all their states.
func htmlPaths(s *api.Server) []string {
	paths := []string{
		"/docs/interactive", "/identifier", "/docs?q=location", "/docs?q=nowhere", "/browse/idps?country=AFG",
		"/browse/conflict-events?admin_level=7&start_date=soon", "/browse/location?name=nowhere", "/search",
		"/search?q=refugees+AFG", "/search?q=a&kind=province&offset=20", "/search?q=xyzzyqwx", "/hapi/search?q=funding",
		"/embed/conflict-events", "/hapi/embed/conflict-events?by=location_code&measure=records",
		"/embed/humanitarian-needs?by=location_code&measure=population",
		"/changelog?since=2001-01-01", "/hapi/changelog?since=2001-01-01&list=idps&kind=added", "/changelog?since=x",
	}
	paths = append(paths, "/fr/", "/es/country/AFG", "/ar/", "/ar/country/AFG", "/ar/identifier", "/ar/status",
		"/ar/browse/humanitarian-needs?row=0", "/fr/browse/food-security", "/hapi/es/search?q=refugees+AFG")
	for _, m := range s.Lists.Routes.Mounts {
		paths = append(paths, m.Prefix+"/", m.Prefix+"/docs", m.Prefix+"/status", m.Prefix+"/changelog")
		countries := m.Prefix + "/country"
		paths = append(paths, countries, countries+"/AFG", countries+"/MLI")
		endpoints := contract.EndpointsIn(m.Names)
		for i := range endpoints {
			page := m.Prefix + "/browse/" + endpoints[i].Name()
			paths = append(paths, page,
				page+"?row=0&latest=true&by=location_code&measure=records&limit=5&admin_level=1")
			if i%8 == 0 {
				paths = append(paths, m.Prefix+"/docs/"+endpoints[i].Name())
			}
		}
	}
	return paths
}
