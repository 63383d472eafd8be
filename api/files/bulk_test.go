package files_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

const sampleBulk = "/bulk/" + apitest.SampleID + "/"

func TestBulkFiles(t *testing.T) {
	t.Parallel()
	s, b := apitest.BulkServer(t, state.Options{})
	address := apitest.Listen(t, s)
	for _, prefix := range []string{"", "/hapi"} {
		for _, path := range []string{apitest.BulkTable, apitest.BulkText, apitest.BulkOfNothing, "manifest.json"} {
			want := b.Files[apitest.SampleID+"/"+path]
			moved := apitest.Ask(t, address, "GET", prefix+"/bulk/latest/"+path, nil)
			target := apitest.Header(moved, "Location")
			if moved.Status != 302 || target != prefix+sampleBulk+path ||
				apitest.Header(moved, "Cache-Control") != "public, max-age=60" {
				t.Fatalf("%s: %d to %q, %v", path, moved.Status, target, moved.Header)
			}
			for _, method := range []string{"GET", "HEAD"} {
				got := apitest.Ask(t, address, method, target, nil)
				if method == "GET" && !bytes.Equal(got.Body, want) || method == "HEAD" && len(got.Body) > 0 {
					t.Errorf("%s %s: %d bytes, want the %d of the file", method, target, len(got.Body), len(want))
				}
				if got.Status != 200 || apitest.Header(got, "Content-Length") != strconv.Itoa(len(want)) ||
					apitest.Header(got, "Cache-Control") != reply.ImmutableKept {
					t.Errorf("%s %s: %d %v", method, target, got.Status, got.Header)
				}
			}
		}
	}
	got := apitest.Ask(t, address, "GET", sampleBulk+apitest.BulkTable, nil)
	sum := sha256.Sum256(b.Files[apitest.SampleID+"/"+apitest.BulkTable])
	for name, want := range map[string]string{
		"Etag": `"` + hex.EncodeToString(sum[:]) + `"`, "Accept-Ranges": "bytes", "X-Snapshot-Id": apitest.SampleID,
		"Content-Type": "application/vnd.apache.parquet", "Content-Encoding": "",
	} {
		testkit.Equal(t, apitest.Header(got, name), want, "%s", name)
	}
	index := apitest.Ask(t, address, "GET", "/bulk/index.json", nil)
	testkit.Contains(t, index.Body, `"`+apitest.SampleID+`/manifest.json"`, "the index")
	if page := apitest.Ask(t, address, "GET", "/", nil); !strings.Contains(string(page.Body),
		"/bulk/latest/manifest.json") {
		t.Error("the landing page has no link to the files")
	}
	// The same without a network, as 'hdqs query' asks.
	answer := s.Answer("GET", sampleBulk+apitest.BulkTable, apitest.Fields("Range", "bytes=5-9"))
	if answer.Status != 206 || !bytes.Equal(answer.Body, b.Files[apitest.SampleID+"/"+apitest.BulkTable][5:10]) {
		t.Errorf("without a network: %d, %d bytes", answer.Status, len(answer.Body))
	}
}

// TestBulkPartsOfLatest checks that parts of files are read from one snapshot: the redirect to the
// latest may lead elsewhere for the next part.
func TestBulkPartsOfLatest(t *testing.T) {
	t.Parallel()
	s, b := apitest.BulkServer(t, state.Options{})
	address := apitest.Listen(t, s)
	part := reply.HeaderField{Name: "Range", Value: "bytes=2-5"}
	for _, prefix := range []string{"", "/hapi"} {
		for _, c := range []struct {
			path   string
			header []reply.HeaderField
			want   int
		}{
			{apitest.BulkTable, []reply.HeaderField{part}, 400},
			{apitest.BulkText, []reply.HeaderField{part}, 400},
			{apitest.BulkTable, []reply.HeaderField{part, {Name: "If-Range", Value: `"other"`}}, 302}, // all of it, if it is another file
			{"manifest.json", []reply.HeaderField{part}, 302},
			{apitest.BulkTable, nil, 302},
		} {
			got := apitest.Ask(t, address, "GET", prefix+"/bulk/latest/"+c.path, c.header)
			testkit.Equal(t, got.Status, c.want, "%s %v", c.path, c.header)
			if got.Status == 302 {
				testkit.Equal(t, apitest.Header(got, "Vary"), "Range", "%s: Vary", c.path)
				continue
			}
			_, target, _ := strings.Cut(apitest.Header(got, "X-Hint"), ": ")
			if !strings.HasPrefix(target, prefix+"/bulk/"+apitest.SampleID) ||
				apitest.Header(got, "Cache-Control") != "no-store" {
				t.Errorf("%s: the hint names %q; %v", c.path, target, got.Header)
			}
			file := b.Files[apitest.SampleID+"/"+c.path]
			if now := apitest.Ask(t, address, "GET", target, c.header); now.Status != 206 ||
				!bytes.Equal(now.Body, file[2:6]) {
				t.Errorf("%s: %d %q, want the bytes 2 to 5", target, now.Status, now.Body)
			}
		}
	}
}

// TestBulkRanges compares parts of files with the same parts of what was written, and answers
// to conditions with what RFC 9110 says.
func TestBulkRanges(t *testing.T) {
	t.Parallel()
	s, b := apitest.BulkServer(t, state.Options{})
	address := apitest.Listen(t, s)
	target := sampleBulk + apitest.BulkTable
	file := b.Files[apitest.SampleID+"/"+apitest.BulkTable]
	size := len(file)
	sum := sha256.Sum256(file)
	tag := `"` + hex.EncodeToString(sum[:]) + `"`
	check := func(method string, header []reply.HeaderField, status, from, to int) {
		t.Helper()
		got := apitest.Ask(t, address, method, target, header)
		if got.Status != status {
			t.Errorf("%s with %v: %d, want %d", method, header, got.Status, status)
			return
		}
		wantRange, want := "", []byte(nil)
		switch status {
		case 200:
			want = file
		case 206:
			wantRange, want = fmt.Sprintf("bytes %d-%d/%d", from, to-1, size), file[from:to]
		case 416:
			wantRange = fmt.Sprintf("bytes */%d", size)
		}
		testkit.Equal(t, apitest.Header(got, "Content-Range"), wantRange, "%v: Content-Range", header)
		if status < 300 && method == "GET" && !bytes.Equal(got.Body, want) {
			t.Errorf("%v: %d bytes, want %d of the file's", header, len(got.Body), len(want))
		}
		if status == 304 && (len(got.Body) > 0 || apitest.Header(got, "Etag") != tag) {
			t.Errorf("%v: 304 with %v", header, got.Header)
		}
	}
	ranges := func(text string) []reply.HeaderField { return apitest.Fields("Range", text) }
	end := strconv.Itoa(size)
	for text, want := range map[string][3]int{
		"bytes=0-0": {206, 0, 1}, "bytes=0-": {206, 0, size}, "bytes=-1": {206, size - 1, size},
		"bytes=7-" + end: {206, 7, size}, "bytes=-" + end + "9": {206, 0, size}, "Bytes= 3-4 ": {206, 3, 5},
		"bytes=1-99999999999999999999": {206, 1, size}, "bytes=99999999999999999999-": {416},
		"bytes=" + end + "-": {416}, "bytes=-0": {416}, "bytes=0-1,5-6": {416}, "bytes=0-1,": {416},
		"bytes=5-4": {200}, "bytes=": {200}, "bytes=-": {200}, "bytes=a-b": {200}, "bytes=1-2-3": {200}, "bytes": {200},
		"bytes=+1-2": {200}, "rows=1-2": {200}, "bytes=1 - 2": {200},
	} {
		check("GET", ranges(text), want[0], want[1], want[2])
	}
	check("GET", apitest.Fields("Range", "bytes=0-1", "Range", "bytes=0-1"), 416,
		0, 0)
	check("HEAD", ranges("bytes=0-1"), 200, 0, 0)
	part := reply.HeaderField{Name: "Range", Value: "bytes=10-19"}
	for _, c := range []struct {
		header []reply.HeaderField
		status int
	}{
		{[]reply.HeaderField{part, {Name: "If-Range", Value: tag}}, 206},
		{[]reply.HeaderField{part, {Name: "If-Range", Value: "W/" + tag}}, 200},
		{[]reply.HeaderField{part, {Name: "If-Range", Value: `"other"`}}, 200},
		{[]reply.HeaderField{part, {Name: "If-Range", Value: "Wed, 21 Oct 2026 07:28:00 GMT"}}, 200},
		{apitest.Fields("If-None-Match", tag), 304},
		{[]reply.HeaderField{part, {Name: "If-None-Match", Value: "W/" + tag}}, 304},
		{apitest.Fields("If-None-Match", `"a", `+tag), 304},
		{apitest.Fields("If-None-Match", "*"), 304},
		{apitest.Fields("If-None-Match", `"other"`), 200},
		{[]reply.HeaderField{part, {Name: "If-Match", Value: tag}}, 206},
		{[]reply.HeaderField{part, {Name: "If-Match", Value: `"x",` + tag}}, 206},
		{apitest.Fields("If-Match", "*"), 200},
		{[]reply.HeaderField{part, {Name: "If-Match", Value: "W/" + tag}}, 412},
		{apitest.Fields("If-Match", `"other"`), 412},
	} {
		check("GET", c.header, c.status, 10, 20)
	}
	if got := apitest.Ask(t, address, "GET", sampleBulk+apitest.BulkOfNothing, ranges("bytes=0-")); got.Status != 416 {
		t.Errorf("a part of an empty file: %d, want 416", got.Status)
	}
}

// TestBulkOfOtherSnapshots checks what happens to files as snapshots come and go.
func TestBulkOfOtherSnapshots(t *testing.T) {
	t.Parallel()
	first, second := apitest.TwoSnapshots(t, 20)
	s, b := apitest.Serve(t, state.Options{Bulk: true}, first), apitest.NewBulkDir(t)
	address := apitest.Listen(t, s)
	look := func() {
		t.Helper()
		testkit.Must(t, s.Files.LookForBulk(b.Bulk))
	}
	status := func(target string, want int) api.Answer {
		t.Helper()
		got := apitest.Ask(t, address, "GET", target, nil)
		testkit.Equal(t, got.Status, want, "%s", target)
		return got
	}
	latest := func(want string) {
		t.Helper()
		moved := status("/bulk/latest/"+apitest.BulkText, 302)
		if got := apitest.Header(moved, "Location"); got != "/bulk/"+want+"/"+apitest.BulkText {
			t.Errorf("the latest is %s, want %s", got, want)
		}
	}
	status("/bulk/latest/"+apitest.BulkText, 503) // before the first look
	look()
	if got := status("/bulk/latest/"+apitest.BulkText, 404); !strings.Contains(apitest.Header(got, "X-Hint"),
		"--bulk") {
		t.Errorf("the hint is %q", apitest.Header(got, "X-Hint"))
	}
	b.Put(t, "first", rand.New(rand.NewPCG(4, 1)))
	b.Put(t, "older", rand.New(rand.NewPCG(4, 2)))
	look()
	latest("first")
	apitest.Swap(t, s, state.Release{Snapshot: second, PublishedAt: apitest.PublishedTime})
	look()
	latest("first") // the second has none yet
	b.Put(t, "second", rand.New(rand.NewPCG(4, 3)))
	look()
	latest("second")
	for _, id := range []string{"first", "older", "second"} {
		if got := status("/bulk/"+id+"/"+apitest.BulkText, 200); !bytes.Equal(got.Body,
			b.Files[id+"/"+apitest.BulkText]) {
			t.Errorf("%s has other bytes", id)
		}
	}
	// Files stay readable without their names, until nothing needs them.
	testkit.Must(t, os.RemoveAll(filepath.Join(b.Dir, "bulk")))
	for _, id := range []string{"first", "second"} {
		for range 2 {
			if got := status("/bulk/"+id+"/"+apitest.BulkTable, 200); !bytes.Equal(got.Body,
				b.Files[id+"/"+apitest.BulkTable]) {
				t.Errorf("%s has other bytes after its names are gone", id)
			}
			look()
		}
	}
	gone := status("/bulk/older/"+apitest.BulkText, 410)
	none := status("/bulk/never/"+apitest.BulkText, 404)
	for _, got := range []api.Answer{gone, none} {
		testkit.Contains(t, apitest.Header(got, "X-Hint"), "/bulk/index.json", "the hint")
	}
}

// TestBulkShapes checks the cases of testdata/bulk.txt in both layouts, and that there are no files
// without the option.
func TestBulkShapes(t *testing.T) {
	t.Parallel()
	s, b := apitest.BulkServer(t, state.Options{})
	testkit.WriteFile(t, filepath.Join(b.Dir, "secret"), []byte("secret"))
	for _, prefix := range []string{"", "/hapi"} {
		apitest.Shapes(t, s, prefix, "testdata/bulk.txt", func(string, api.Answer) {})
	}
	off := apitest.Sample(t, state.Options{}, 3)
	testkit.Equal(t, off.Answer("GET", "/bulk/latest/manifest.json", nil).Status, 404, "without bulk files")
}

func TestBulkIdentifier(t *testing.T) {
	t.Parallel()
	s, _ := apitest.BulkServer(t, state.Options{BulkIdentifier: true})
	const good = "app_identifier=" + apitest.Identifier
	for target, want := range map[string]int{
		"/bulk/latest/manifest.json": 403, "/bulk/latest/manifest.json?" + good: 302, "/bulk/index.json": 403,
		sampleBulk + apitest.BulkText: 403, sampleBulk + apitest.BulkText + "?" + good: 200,
	} {
		got := s.Answer("GET", target, nil)
		if location := apitest.Header(got, "Location"); got.Status != want ||
			strings.Contains(location, apitest.Identifier) {
			t.Errorf("%s: %d to %q, want %d, and no identifier in a redirect that caches keep", target, got.Status,
				location,
				want)
		}
	}
	open, _ := apitest.BulkServer(t, state.Options{})
	testkit.Equal(t, open.Answer("GET", sampleBulk+apitest.BulkText, nil).Status, 200, "without an identifier")
}

// TestBulkIsCounted checks that downloads are in the metrics and the access log, with the bytes
// that were sent, and that a file that cannot be read is no answer.
func TestBulkIsCounted(t *testing.T) {
	t.Parallel()
	l, read := apitest.OpenAccessLog(t)
	s, _ := apitest.BulkServer(t, state.Options{AccessLog: l, SurrogateKey: true})
	address := apitest.Listen(t, s)
	got := apitest.Ask(t, address, "GET", sampleBulk+apitest.BulkTable, apitest.Fields("Range", "bytes=100-299999"))
	testkit.Equal(t, apitest.Header(got, "Surrogate-Key"), "all snap-"+apitest.SampleID, "purge keys")
	admin := apitest.ListenAdmin(t, s)
	testkit.WaitFor(t, "the end of the request", func() bool {
		scraped := apitest.Ask(t, admin, "GET", "/metrics", nil)
		return strings.Contains(string(scraped.Body), `hdqs_http_response_bytes_total{coding="identity"} 299900`)
	})
	scraped := apitest.Ask(t, admin, "GET", "/metrics", nil)
	if want := `hdqs_http_requests_total{code="206",endpoint="/bulk/",format="other"} 1`; !strings.Contains(
		string(scraped.Body), want) {
		t.Errorf("the metrics lack %s", want)
	}
	testkit.WaitFor(t, "a line of the access log", func() bool { return len(read()) > 0 })
	if line := read()[0]; line.Endpoint != "/bulk/" || line.Query != apitest.SampleID+"/"+apitest.BulkTable ||
		line.Status != 206 ||
		*line.Bytes != 299_900 {
		t.Errorf("the access log has %+v", line)
	}
	broken := apitest.NewBulkDir(t)
	broken.Put(t, apitest.SampleID, rand.New(rand.NewPCG(5, 1)))
	m := testkit.Value(broken.Manifest(apitest.SampleID))(t)
	f, _ := m.Find(apitest.BulkText)
	testkit.WriteFile(t, broken.Path(f), []byte("short"))
	other := apitest.Sample(t, state.Options{Bulk: true}, 3)
	if err := other.Files.LookForBulk(broken.Bulk); err == nil || !strings.Contains(err.Error(), "1 bulk files") {
		t.Errorf("error %v, want one that counts the files", err)
	}
	testkit.Equal(t, other.Answer("GET", sampleBulk+apitest.BulkText, nil).Status, 503, "a file that is cut")
	testkit.Equal(t, other.Answer("GET", sampleBulk+apitest.BulkTable, nil).Status, 200, "a file beside it")
}
