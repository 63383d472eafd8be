//go:build !race

package site_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/state"
)

// TestMadeUp: every page of a server whose figures are made up says so once, before its content. No
// page of another server does, and the other answers of both are the same.
func TestMadeUp(t *testing.T) {
	t.Parallel()
	const note = `role="note"><strong>` // in any language
	const says = note + `These figures are made up.</strong> They are a sample to try the program with.</p>`
	honest, sample := apitest.Sample(t, state.Options{}, 30), apitest.Sample(t, state.Options{MadeUp: true}, 30)
	empty := api.New(state.Options{MadeUp: true})
	paths := append(htmlPaths(honest), "/hapi/docs/interactive", "/hapi/identifier", "/hapi/docs?q=location",
		"/browse/conflict-events?start_date=never", "/docs?q="+strings.Repeat("x", 1000))
	for _, path := range paths {
		page, other := apitest.Browse(sample, path), apitest.Browse(honest, path)
		if !strings.HasPrefix(apitest.Header(page, "Content-Type"), "text/html") {
			t.Errorf("%s: %q", path, apitest.Header(page, "Content-Type"))
		}
		inEnglish := !slices.ContainsFunc([]string{"/fr/", "/es/", "/ar/"}, func(part string) bool {
			return strings.Contains(path, part)
		})
		if n, at := bytes.Count(page.Body, []byte(note)), bytes.Index(page.Body, []byte(note)); n != 1 ||
			at > bytes.Index(page.Body, []byte("<main")) || inEnglish && !bytes.Contains(page.Body, []byte(says)) {
			t.Errorf("%s says %d times that the figures are made up", path, n)
		}
		if bytes.Contains(other.Body, []byte(note)) || other.Status != page.Status {
			t.Errorf("%s says of real figures that they are made up, or is %d in place of %d",
				path, other.Status, page.Status)
		}
	}
	for _, path := range []string{"/figure/conflict-events.svg", "/embed/conflict-events"} {
		page, other := apitest.Browse(sample, path), apitest.Browse(honest, path)
		if !bytes.Contains(page.Body, []byte("These figures are made up")) ||
			bytes.Contains(other.Body, []byte("These figures")) || other.Status != 200 {
			t.Errorf("%s does not say that figures are made up, or says it of others", path)
		}
	}
	for _, path := range []string{"/", "/docs", "/status"} {
		if page := apitest.Browse(empty, path); !bytes.Contains(page.Body, []byte(says)) {
			t.Errorf("%s without a snapshot does not say it", path)
		}
	}
	for _, path := range []string{
		"/api/v2", "/openapi.json", "/api/v2/metadata/location?app_identifier=" + apitest.Identifier,
		"/api/v2/coordination-context/conflict-events?limit=3&app_identifier=" + apitest.Identifier,
		"/browse/idps/download?output_format=json",
	} {
		if a, b := apitest.Browse(sample, path), apitest.Browse(honest, path); a.Status != 200 ||
			!bytes.Equal(a.Body, b.Body) {
			t.Errorf("%s: %d, another answer where figures are made up", path, a.Status)
		}
	}
}
