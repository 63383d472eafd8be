//go:build !race

package list_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
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

// pager follows next links over HTTP and collects ids.
type pager struct {
	address, target string
	ids             []int
	snapshots       map[string]bool
}

// step requests the next page and reports whether there is another one.
func (p *pager) step(t *testing.T) (more bool) {
	t.Helper()
	got := apitest.Ask(t, p.address, "GET", p.target,
		apitest.Fields("X-CATALOG-API-APP-IDENTIFIER", apitest.Identifier, "Accept-Encoding", "gzip"))
	body, err := apitest.Decode(apitest.Header(got, "Content-Encoding"), got.Body)
	testkit.Must(t, err)
	var answer struct{ Data []struct{ ID int } }
	if err := json.Unmarshal(body, &answer); got.Status != 200 || err != nil {
		t.Fatalf("%s: %d %v %.200s", p.target, got.Status, err, body)
	}
	for _, row := range answer.Data {
		p.ids = append(p.ids, row.ID)
	}
	if p.snapshots == nil {
		p.snapshots = map[string]bool{}
	}
	p.snapshots[apitest.Header(got, contract.HeaderSnapshot)] = true
	next, ok := linksOf(got)["next"]
	if !ok {
		return false
	}
	base, err := url.Parse(p.target)
	testkit.Must(t, err)
	reference, err := base.Parse(next)
	testkit.Must(t, err)
	p.target = reference.String()
	return true
}

// TestPinnedPaging pages through 100,000 rows by links while another snapshot is published. With a
// pinned snapshot no row is lost or repeated. Without one, the header shows that the rows are from
// two snapshots.
func TestPinnedPaging(t *testing.T) {
	t.Parallel()
	const rows = 100_000
	first := apitest.StoreSnapshot(t, "first", apitest.SampleTime, []*apitest.Table{apitest.Locations(rows, nil)})
	second := apitest.StoreSnapshot(t, "second", apitest.SampleTime,
		[]*apitest.Table{apitest.Locations(rows, func(id int) bool { return id%10 == 0 })})
	s := apitest.Empty(t, state.Options{SkipWarmUp: true})
	apitest.Swap(t, s, state.Release{Snapshot: first, PublishedAt: apitest.PublishedTime})
	address := apitest.Listen(t, s)
	pinned := &pager{address: address, target: "/api/v2/metadata/location?limit=7000&snapshot=first"}
	loose := &pager{address: address, target: "/api/v2/metadata/location?limit=7000"}
	for page := 0; ; page++ {
		if page == 5 {
			apitest.Swap(t, s, state.Release{Snapshot: second, PublishedAt: apitest.PublishedTime.AddDate(0, 0, 1)})
		}
		more := pinned.step(t)
		loose.step(t)
		if !more {
			break
		}
	}
	if len(pinned.ids) != rows || len(pinned.snapshots) != 1 {
		t.Errorf("%d rows from the snapshots %v", len(pinned.ids), pinned.snapshots)
	}
	for i, id := range pinned.ids {
		if id != i {
			t.Fatalf("row %d has id %d", i, id)
		}
	}
	if len(loose.snapshots) != 2 {
		t.Errorf("without a pin: rows from the snapshots %v", loose.snapshots)
	}
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
				if a != b {
					t.Errorf("%s: GET\n%s\nHEAD\n%s", target, a, b)
				}
			}
		}
	}
	if withLength == 0 || without == 0 {
		t.Errorf("%d answers with a length and %d without", withLength, without)
	}
	// The connection stays usable.
	conn := apitest.Dial(t, address)
	for range 3 {
		_, err := fmt.Fprintf(conn, "HEAD %s HTTP/1.1\r\nHost: a\r\n\r\n", apitest.Target)
		testkit.Must(t, err)
		response, err := http.ReadResponse(conn.Reader, &http.Request{Method: "HEAD"})
		if err != nil || response.StatusCode != 200 || response.Close {
			t.Fatalf("%v %+v", err, response)
		}
		io.Copy(io.Discard, response.Body) //nolint:errcheck // empty
	}
}
