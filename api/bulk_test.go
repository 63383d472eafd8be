package api

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

	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/bulk"
	"hdqs/internal/testkit"
	"hdqs/snapshot/store"
)

const (
	bulkTable     = "price/location_code=AFG/part-0.parquet"
	bulkText      = "price.csv.gz"
	bulkOfNothing = "sources.csv"
)

// bulkDir is a store with bulk files, without segments.
type bulkDir struct {
	*bulk.Bulk
	dir   string
	files map[string][]byte // by snapshot and path
}

func newBulkDir(t *testing.T) *bulkDir {
	t.Helper()
	dir := t.TempDir()
	st, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return &bulkDir{bulk.Open(st), dir, map[string][]byte{}}
}

// put adds the files of a snapshot, which are random but for an empty one.
func (b *bulkDir) put(t *testing.T, id string, r *rand.Rand) {
	t.Helper()
	make := func(path string, format bulk.Format, bytes int) bulk.File {
		data := make([]byte, bytes)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		sum := sha256.Sum256(data)
		f := bulk.File{Path: path, Format: format, Bytes: int64(bytes), SHA256: hex.EncodeToString(sum[:])}
		testkit.WriteFile(t, b.Path(&f), data)
		b.files[id+"/"+path] = data
		return f
	}
	manifest := &bulk.Manifest{
		Format: bulk.ManifestFormat, Snapshot: id, Created: sampleTime,
		Tables: []bulk.Table{{Table: "price", Segment: strings.Repeat("0", 64), Files: []bulk.File{
			make(bulkTable, bulk.Parquet, 300_000+r.IntN(3_000_000)), make(bulkText, bulk.CSVGzip, 1+r.IntN(9000)),
		}}},
		Files: []bulk.File{make(bulkOfNothing, bulk.CSV, 0)},
	}
	data, err := manifest.Encode()
	if err != nil {
		t.Fatal(err)
	}
	testkit.WriteFile(t, filepath.Join(b.dir, bulk.ManifestName(id)), data)
	b.files[id+"/manifest.json"] = data
}

// bulkServer serves the sample and bulk files of its snapshot.
func bulkServer(t *testing.T, o state.Options) (*Server, *bulkDir) {
	t.Helper()
	o.Bulk = true
	s, b := sampleServer(t, o, 3), newBulkDir(t)
	b.put(t, sampleID, rand.New(rand.NewPCG(1, 17)))
	testkit.Must(t, s.Files.LookForBulk(b.Bulk))
	return s, b
}

func TestBulkFiles(t *testing.T) {
	t.Parallel()
	s, b := bulkServer(t, state.Options{})
	address := listen(t, s)
	for _, prefix := range []string{"", "/hapi"} {
		for _, path := range []string{bulkTable, bulkText, bulkOfNothing, "manifest.json"} {
			want := b.files[sampleID+"/"+path]
			moved := ask(t, address, "GET", prefix+"/bulk/latest/"+path, nil)
			target := headerOf(moved, "Location")
			if moved.Status != 302 || target != prefix+"/bulk/"+sampleID+"/"+path ||
				headerOf(moved, "Cache-Control") != "public, max-age=60" {
				t.Fatalf("%s: %d to %q, %v", path, moved.Status, target, moved.Header)
			}
			for _, method := range []string{"GET", "HEAD"} {
				got := ask(t, address, method, target, nil)
				if method == "GET" && !bytes.Equal(got.Body, want) || method == "HEAD" && len(got.Body) > 0 {
					t.Errorf("%s %s: %d bytes, want the %d of the file", method, target, len(got.Body), len(want))
				}
				if got.Status != 200 || headerOf(got, "Content-Length") != strconv.Itoa(len(want)) ||
					headerOf(got, "Cache-Control") != reply.ImmutableKept {
					t.Errorf("%s %s: %d %v", method, target, got.Status, got.Header)
				}
			}
		}
	}
	got := ask(t, address, "GET", "/bulk/"+sampleID+"/"+bulkTable, nil)
	sum := sha256.Sum256(b.files[sampleID+"/"+bulkTable])
	for name, want := range map[string]string{
		"Etag": `"` + hex.EncodeToString(sum[:]) + `"`, "Accept-Ranges": "bytes", "X-Snapshot-Id": sampleID,
		"Content-Type": "application/vnd.apache.parquet", "Content-Encoding": "",
	} {
		if headerOf(got, name) != want {
			t.Errorf("%s is %q, want %q", name, headerOf(got, name), want)
		}
	}
	index := ask(t, address, "GET", "/bulk/index.json", nil)
	if want := `"` + sampleID + `/manifest.json"`; !strings.Contains(string(index.Body), want) {
		t.Errorf("the index lacks %s:\n%s", want, index.Body)
	}
	if page := ask(t, address, "GET", "/", nil); !strings.Contains(string(page.Body), "/bulk/latest/manifest.json") {
		t.Error("the landing page has no link to the files")
	}
	// The same without a network, as 'hdqs query' asks.
	answer := s.Answer("GET", "/bulk/"+sampleID+"/"+bulkTable, []reply.HeaderField{{Name: "Range", Value: "bytes=5-9"}})
	if answer.Status != 206 || !bytes.Equal(answer.Body, b.files[sampleID+"/"+bulkTable][5:10]) {
		t.Errorf("without a network: %d, %d bytes", answer.Status, len(answer.Body))
	}
}

// TestBulkPartsOfLatest checks that parts of files are read from one snapshot: the redirect to the
// latest may lead elsewhere for the next part.
func TestBulkPartsOfLatest(t *testing.T) {
	t.Parallel()
	s, b := bulkServer(t, state.Options{})
	address := listen(t, s)
	part := reply.HeaderField{Name: "Range", Value: "bytes=2-5"}
	for _, prefix := range []string{"", "/hapi"} {
		for _, c := range []struct {
			path   string
			header []reply.HeaderField
			want   int
		}{
			{bulkTable, []reply.HeaderField{part}, 400},
			{bulkText, []reply.HeaderField{part}, 400},
			{bulkTable, []reply.HeaderField{part, {Name: "If-Range", Value: `"other"`}}, 302}, // all of it, if it is another file
			{"manifest.json", []reply.HeaderField{part}, 302},
			{bulkTable, nil, 302},
		} {
			got := ask(t, address, "GET", prefix+"/bulk/latest/"+c.path, c.header)
			if got.Status != c.want {
				t.Errorf("%s %v: %d, want %d", c.path, c.header, got.Status, c.want)
			}
			if got.Status == 302 {
				if headerOf(got, "Vary") != "Range" {
					t.Errorf("%s: Vary %q, want Range", c.path, headerOf(got, "Vary"))
				}
				continue
			}
			_, target, _ := strings.Cut(headerOf(got, "X-Hint"), ": ")
			if !strings.HasPrefix(target, prefix+"/bulk/"+sampleID) || headerOf(got, "Cache-Control") != "no-store" {
				t.Errorf("%s: the hint names %q; %v", c.path, target, got.Header)
			}
			file := b.files[sampleID+"/"+c.path]
			if now := ask(t, address, "GET", target, c.header); now.Status != 206 || !bytes.Equal(now.Body, file[2:6]) {
				t.Errorf("%s: %d %q, want the bytes 2 to 5", target, now.Status, now.Body)
			}
		}
	}
}

// TestBulkRanges compares parts of files with the same parts of what was written, and answers
// to conditions with what RFC 9110 says.
func TestBulkRanges(t *testing.T) {
	t.Parallel()
	s, b := bulkServer(t, state.Options{})
	address := listen(t, s)
	target := "/bulk/" + sampleID + "/" + bulkTable
	file := b.files[sampleID+"/"+bulkTable]
	size := len(file)
	sum := sha256.Sum256(file)
	tag := `"` + hex.EncodeToString(sum[:]) + `"`
	check := func(method string, header []reply.HeaderField, status, from, to int) {
		t.Helper()
		got := ask(t, address, method, target, header)
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
		if headerOf(got, "Content-Range") != wantRange {
			t.Errorf("%v: Content-Range %q, want %q", header, headerOf(got, "Content-Range"), wantRange)
		}
		if status < 300 && method == "GET" && !bytes.Equal(got.Body, want) {
			t.Errorf("%v: %d bytes, want %d of the file's", header, len(got.Body), len(want))
		}
		if status == 304 && (len(got.Body) > 0 || headerOf(got, "Etag") != tag) {
			t.Errorf("%v: 304 with %v", header, got.Header)
		}
	}
	ranges := func(text string) []reply.HeaderField { return []reply.HeaderField{{Name: "Range", Value: text}} }
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
	check("GET", []reply.HeaderField{{Name: "Range", Value: "bytes=0-1"}, {Name: "Range", Value: "bytes=0-1"}}, 416,
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
		{[]reply.HeaderField{{Name: "If-None-Match", Value: tag}}, 304},
		{[]reply.HeaderField{part, {Name: "If-None-Match", Value: "W/" + tag}}, 304},
		{[]reply.HeaderField{{Name: "If-None-Match", Value: `"a", ` + tag}}, 304},
		{[]reply.HeaderField{{Name: "If-None-Match", Value: "*"}}, 304},
		{[]reply.HeaderField{{Name: "If-None-Match", Value: `"other"`}}, 200},
		{[]reply.HeaderField{part, {Name: "If-Match", Value: tag}}, 206},
		{[]reply.HeaderField{part, {Name: "If-Match", Value: `"x",` + tag}}, 206},
		{[]reply.HeaderField{{Name: "If-Match", Value: "*"}}, 200},
		{[]reply.HeaderField{part, {Name: "If-Match", Value: "W/" + tag}}, 412},
		{[]reply.HeaderField{{Name: "If-Match", Value: `"other"`}}, 412},
	} {
		check("GET", c.header, c.status, 10, 20)
	}
	if got := ask(t, address, "GET", "/bulk/"+sampleID+"/"+bulkOfNothing, ranges("bytes=0-")); got.Status != 416 {
		t.Errorf("a part of an empty file: %d, want 416", got.Status)
	}
}

// TestBulkOfOtherSnapshots checks what happens to files as snapshots come and go.
func TestBulkOfOtherSnapshots(t *testing.T) {
	t.Parallel()
	first, second := twoSnapshots(t, 20)
	s, b := serverOf(t, state.Options{Bulk: true}, first), newBulkDir(t)
	address := listen(t, s)
	look := func() {
		t.Helper()
		testkit.Must(t, s.Files.LookForBulk(b.Bulk))
	}
	status := func(target string, want int) Answer {
		t.Helper()
		got := ask(t, address, "GET", target, nil)
		if got.Status != want {
			t.Errorf("%s: %d, want %d", target, got.Status, want)
		}
		return got
	}
	latest := func(want string) {
		t.Helper()
		moved := status("/bulk/latest/"+bulkText, 302)
		if got := headerOf(moved, "Location"); got != "/bulk/"+want+"/"+bulkText {
			t.Errorf("the latest is %s, want %s", got, want)
		}
	}
	status("/bulk/latest/"+bulkText, 503) // before the first look
	look()
	if got := status("/bulk/latest/"+bulkText, 404); !strings.Contains(headerOf(got, "X-Hint"), "--bulk") {
		t.Errorf("the hint is %q", headerOf(got, "X-Hint"))
	}
	b.put(t, "first", rand.New(rand.NewPCG(4, 1)))
	b.put(t, "older", rand.New(rand.NewPCG(4, 2)))
	look()
	latest("first")
	mustSwap(t, s, state.Release{Snapshot: second, PublishedAt: publishedTime})
	look()
	latest("first") // the second has none yet
	b.put(t, "second", rand.New(rand.NewPCG(4, 3)))
	look()
	latest("second")
	for _, id := range []string{"first", "older", "second"} {
		if got := status("/bulk/"+id+"/"+bulkText, 200); !bytes.Equal(got.Body, b.files[id+"/"+bulkText]) {
			t.Errorf("%s has other bytes", id)
		}
	}
	// Files stay readable without their names, until nothing needs them.
	testkit.Must(t, os.RemoveAll(filepath.Join(b.dir, "bulk")))
	for _, id := range []string{"first", "second"} {
		for range 2 {
			if got := status("/bulk/"+id+"/"+bulkTable, 200); !bytes.Equal(got.Body, b.files[id+"/"+bulkTable]) {
				t.Errorf("%s has other bytes after its names are gone", id)
			}
			look()
		}
	}
	gone := status("/bulk/older/"+bulkText, 410)
	none := status("/bulk/never/"+bulkText, 404)
	for _, got := range []Answer{gone, none} {
		if !strings.Contains(headerOf(got, "X-Hint"), "/bulk/index.json") {
			t.Errorf("the hint is %q", headerOf(got, "X-Hint"))
		}
	}
}

// TestBulkPathsAreKeys checks that no path leads out of the manifest.
func TestBulkPathsAreKeys(t *testing.T) {
	t.Parallel()
	s, b := bulkServer(t, state.Options{})
	testkit.WriteFile(t, filepath.Join(b.dir, "secret"), []byte("secret"))
	address := listen(t, s)
	for target, want := range map[string]int{
		"/bulk/": 307, "/bulk": 302, "/bulk/" + sampleID: 302, "/bulk/" + sampleID + "/": 302,
		"/bulk/" + sampleID + "/../../../secret": 404, "/bulk/" + sampleID + "/%2e%2e/%2e%2e/%2e%2e/secret": 404,
		"/bulk/../secret": 404, "/bulk/" + sampleID + "//" + bulkText: 404, "/bulk/" + sampleID + "/" + bulkText +
			"/": 404,
		"/bulk/" + sampleID + "/price": 404, "/bulk//" + sampleID: 302, "/bulk/%00": 404, "/bulk/latest": 302,
		"/bulk/latest//evil.example/": 302, "/bulk/" + sampleID + "/manifest.sig": 404,
		"/bulk/" + sampleID + "/location_code%3DAFG": 404, "/bulk/" + sampleID +
			"/price/location_code%3DAFG/part-0.parquet": 200,
	} {
		got := ask(t, address, "GET", target, nil)
		if got.Status != want || bytes.Contains(got.Body, []byte("secret")) {
			t.Errorf("%s: %d, want %d", target, got.Status, want)
		}
		if location := headerOf(got, "Location"); strings.HasPrefix(location, "//") {
			t.Errorf("%s leads to another host: %s", target, location)
		}
	}
	off := sampleServer(t, state.Options{}, 3)
	if got := off.Answer("GET", "/bulk/latest/manifest.json", nil); got.Status != 404 {
		t.Errorf("without bulk files: %d, want 404", got.Status)
	}
}

func TestBulkIdentifier(t *testing.T) {
	t.Parallel()
	s, _ := bulkServer(t, state.Options{BulkIdentifier: true})
	const good = "app_identifier=" + goodIdentifier
	for target, want := range map[string]int{
		"/bulk/latest/manifest.json": 403, "/bulk/latest/manifest.json?" + good: 302, "/bulk/index.json": 403,
		"/bulk/" + sampleID + "/" + bulkText: 403, "/bulk/" + sampleID + "/" + bulkText + "?" + good: 200,
	} {
		got := s.Answer("GET", target, nil)
		if location := headerOf(got, "Location"); got.Status != want || strings.Contains(location, goodIdentifier) {
			t.Errorf("%s: %d to %q, want %d, and no identifier in a redirect that caches keep", target, got.Status,
				location,
				want)
		}
	}
	open, _ := bulkServer(t, state.Options{})
	if got := open.Answer("GET", "/bulk/"+sampleID+"/"+bulkText, nil); got.Status != 200 {
		t.Errorf("%d, want 200: bulk files need no identifier", got.Status)
	}
}

// TestBulkHasNoFilters checks that a filter is an error: ignored, it would give wrong rows to a
// program that reads no header fields.
func TestBulkHasNoFilters(t *testing.T) {
	t.Parallel()
	s, _ := bulkServer(t, state.Options{})
	for _, prefix := range []string{"", "/hapi"} {
		for _, path := range []string{"index.json", "latest/" + bulkText, sampleID + "/" + bulkText, sampleID} {
			for query, name := range map[string]string{
				"location_code=AFG": "location_code", "Limit=5&app_identifier=" + goodIdentifier: "Limit",
				"location%5Fcode": "location_code", "a=1&=2": "(empty)", goodIdentifier: "(withheld)",
			} {
				got := s.Answer("GET", prefix+"/bulk/"+path+"?"+query, nil)
				if body := string(got.Body); got.Status != 422 || !strings.Contains(body, `["query","`+name+`"]`) ||
					!strings.Contains(body, "LIST/export") || strings.Contains(body, goodIdentifier) {
					t.Errorf("%s?%s: %d %s, want 422 that names %s", path, query, got.Status, body, name)
				}
			}
			for _, query := range []string{"", "&", "app_identifier=" + goodIdentifier, "app%5Fidentifier=x"} {
				if got := s.Answer("GET", prefix+"/bulk/"+path+"?"+query, nil); got.Status >= 400 {
					t.Errorf("%s?%s: %d %s", path, query, got.Status, got.Body)
				}
			}
		}
	}
}

// TestBulkIsCounted checks that downloads are in the metrics and the access log, with the bytes
// that were sent, and that a file that cannot be read is no answer.
func TestBulkIsCounted(t *testing.T) {
	t.Parallel()
	l, read := openAccessLog(t)
	s, _ := bulkServer(t, state.Options{AccessLog: l, SurrogateKey: true})
	address := listen(t, s)
	got := ask(t, address, "GET", "/bulk/"+sampleID+"/"+bulkTable, []reply.HeaderField{{
		Name:  "Range",
		Value: "bytes=100-299999",
	}})
	if keys := headerOf(got, "Surrogate-Key"); keys != "all snap-"+sampleID {
		t.Errorf("purge keys %q", keys)
	}
	admin := listenAdmin(t, s)
	testkit.WaitFor(t, "the end of the request", func() bool {
		scraped := ask(t, admin, "GET", "/metrics", nil)
		return strings.Contains(string(scraped.Body), `hdqs_http_response_bytes_total{coding="identity"} 299900`)
	})
	scraped := ask(t, admin, "GET", "/metrics", nil)
	if want := `hdqs_http_requests_total{code="206",endpoint="/bulk/",format="other"} 1`; !strings.Contains(
		string(scraped.Body), want) {
		t.Errorf("the metrics lack %s", want)
	}
	testkit.WaitFor(t, "a line of the access log", func() bool { return len(read()) > 0 })
	if line := read()[0]; line.Endpoint != "/bulk/" || line.Query != sampleID+"/"+bulkTable || line.Status != 206 ||
		*line.Bytes != 299_900 {
		t.Errorf("the access log has %+v", line)
	}
	broken := newBulkDir(t)
	broken.put(t, sampleID, rand.New(rand.NewPCG(5, 1)))
	m, err := broken.Manifest(sampleID)
	if err != nil {
		t.Fatal(err)
	}
	f, _ := m.Find(bulkText)
	testkit.WriteFile(t, broken.Path(f), []byte("short"))
	other := sampleServer(t, state.Options{Bulk: true}, 3)
	if err := other.Files.LookForBulk(broken.Bulk); err == nil || !strings.Contains(err.Error(), "1 bulk files") {
		t.Errorf("error %v, want one that counts the files", err)
	}
	if got := other.Answer("GET", "/bulk/"+sampleID+"/"+bulkText, nil); got.Status != 503 {
		t.Errorf("a file that is cut: %d, want 503", got.Status)
	}
	if got := other.Answer("GET", "/bulk/"+sampleID+"/"+bulkTable, nil); got.Status != 200 {
		t.Errorf("a file beside it: %d, want 200", got.Status)
	}
}
