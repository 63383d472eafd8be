//go:build !race

package list_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

var linkForm = regexp.MustCompile(`<([^>]*)>; rel="(\w+)"`)

// linksOf returns the targets of the Link field by relation.
func linksOf(a api.Answer) map[string]string {
	links := map[string]string{}
	for _, m := range linkForm.FindAllStringSubmatch(apitest.Header(a, "Link"), -1) {
		links[m[2]] = m[1]
	}
	return links
}

// dropUnknownLength removes what says how long the body is from the answers to GET and HEAD, if
// HEAD has no length.
func dropUnknownLength(get, head *api.Answer) (dropped bool) {
	if _, known := apitest.Field(*head, "Content-Length"); known {
		return false
	}
	drop := func(f reply.HeaderField) bool {
		return f == reply.HeaderField{Name: "Transfer-Encoding", Value: "chunked"} || f.Name == "Content-Length"
	}
	get.Header, head.Header = slices.DeleteFunc(get.Header, drop), slices.DeleteFunc(head.Header, drop)
	return true
}

// TestHead checks that HEAD has the header of GET, with the length of the body. Some clients read a
// file by URL only if HEAD has its length. Only that of long compressed bodies is not known: it
// depends on which rows were encoded before.
func TestHead(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, apitest.Trials(1500, 500))
	address := apitest.Listen(t, s)
	withLength, without := 0, 0
	for i := range contract.Endpoints {
		for _, rest := range []string{"", "&limit=3", "&limit=0", "&output_format=csv&offset=7"} {
			for _, accept := range []string{"identity", "gzip", "zstd"} {
				header := apitest.Fields("Accept-Encoding", accept)
				target := contract.Endpoints[i].Path + "?app_identifier=" + apitest.Identifier + rest
				get, head := apitest.Ask(t, address, "GET", target,
					header), apitest.Ask(t, address, "HEAD", target, header)
				if head.Status != 200 || len(head.Body) > 0 {
					t.Fatalf("%s: %d, %d bytes", target, head.Status, len(head.Body))
				}
				length, _ := apitest.Field(head, "Content-Length")
				if accept != "identity" && dropUnknownLength(&get, &head) {
					without++
				} else if withLength++; length != strconv.Itoa(len(get.Body)) {
					t.Errorf("%s, %s: HEAD has Content-Length %q, GET %d bytes", target, accept, length, len(get.Body))
				}
				a, b := strings.Join(apitest.SortedHeader(get.Header),
					"\n"), strings.Join(apitest.SortedHeader(head.Header), "\n")
				testkit.Equal(t, a, b, "%s: GET and HEAD", target)
			}
		}
	}
	if withLength == 0 || without == 0 {
		t.Errorf("%d answers with a length and %d without", withLength, without)
	}
	// The connection stays usable.
	conn := apitest.Dial(t, address)
	for range 3 {
		testkit.Value(fmt.Fprintf(conn, "HEAD %s HTTP/1.1\r\nHost: a\r\n\r\n", apitest.Target))(t)
		response, err := http.ReadResponse(conn.Reader, &http.Request{Method: "HEAD"})
		if err != nil || response.StatusCode != 200 || response.Close {
			t.Fatalf("%v %+v", err, response)
		}
		io.Copy(io.Discard, response.Body) //nolint:errcheck // empty
	}
}

// TestLinksOfLongQueries checks that, for a query of any length, either every page but the last has
// a next link, or no page has one, and that the header states the number of rows.
func TestLinksOfLongQueries(t *testing.T) {
	t.Parallel()
	const path = "/api/v2/metadata/dataset"
	datasets := apitest.SampleTable(apitest.Plan(path).Endpoint, 120, rand.New(rand.NewPCG(5, 6)))
	s := apitest.Server(t, state.Options{Identifier: state.IgnoreIdentifier}, []*apitest.Table{datasets})
	field := func(a api.Answer, name string) int {
		n, err := strconv.Atoi(apitest.Header(a, name))
		if a.Status != 200 || err != nil {
			t.Fatalf("%d, %s: %v", a.Status, name, err)
		}
		return n
	}
	linked, bare := 0, 0
	for n := 1; n <= 1024; n++ {
		if n > 200 && n < 600 && n%10 > 0 {
			continue // only one link is left from about 210 on, and none from about 650 on
		}
		target, rows, pages := "?limit=9&dataset_catalog_title="+strings.Repeat("%25", n), 0, 0
		var total int
		for target != "" {
			page := s.Answer("GET", path+target, nil)
			rows, pages, total = rows+field(page, contract.HeaderResult), pages+1, field(page, contract.HeaderTotal)
			target = linksOf(page)["next"]
		}
		switch {
		case total < 100:
			t.Fatalf("%d rows, want more, so that offsets get longer", total)
		case pages == 1:
			bare++
		case rows == total:
			linked++
		default:
			t.Errorf("%d percent signs: %d of %d rows in %d pages", n, rows, total, pages)
		}
	}
	if linked < 200 || bare < 200 {
		t.Errorf("%d queries with links, %d without", linked, bare)
	}
}
