package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"hdqs/internal/testkit"
)

// slightlyChangedTables are changedTables of which most rows stay.
func slightlyChangedTables(t *testing.T, r *rand.Rand, rows int) (before, after []*testTable) {
	return changedTables(t, r, rows, 60)
}

func dictionaryOptions() Options {
	return Options{
		Logger: slog.New(slog.DiscardHandler), KeepPrevious: time.Hour, Dictionaries: true,
		Identifier: IgnoreIdentifier,
	}
}

// listenBefore serves a snapshot "before" on a free port. Both tables follow from the seed.
func listenBefore(t *testing.T, seed uint64) (s *Server, address string, before, after []*testTable) {
	t.Helper()
	before, after = slightlyChangedTables(t, rand.New(rand.NewPCG(seed, 9842)), 900)
	s = serverOf(t, dictionaryOptions(), storeSnapshot(t, "before", sampleTime, before))
	return s, listen(t, s), before, after
}

// dictionaryServer serves a snapshot "after", and holds "before".
func dictionaryServer(t *testing.T, before, after []*testTable) *Server {
	t.Helper()
	s := serverOf(t, dictionaryOptions(), storeSnapshot(t, "before", sampleTime, before))
	if err := s.Swap(Release{Snapshot: storeSnapshot(t, "after", sampleTime, after)}); err != nil {
		t.Fatal(err)
	}
	return s
}

// offer returns the header fields of a client that has a page.
func offer(page []byte, id string, accept string) []HeaderField {
	digest := sha256.Sum256(page)
	return []HeaderField{
		{"Accept-Encoding", accept},
		{"Available-Dictionary", ":" + base64.StdEncoding.EncodeToString(digest[:]) + ":"},
		{"Dictionary-ID", `"` + id + `"`},
	}
}

// idOf is the id of a dictionary that a snapshot's table has.
func idOf(t *testing.T, s *Server, snapshot, path string) string {
	t.Helper()
	v := s.acquirePinned(snapshot)
	defer v.release(s.log)
	return v.bound.lists[path].version[:idLength]
}

// undelta decodes a body in dcz.
func undelta(t *testing.T, body, dictionary []byte) []byte {
	t.Helper()
	digest := sha256.Sum256(dictionary)
	frame, ok := bytes.CutPrefix(body, append([]byte("\x5e\x2a\x4d\x18\x20\x00\x00\x00"), digest[:]...))
	if !ok {
		t.Fatalf("the body begins with %x", body[:min(len(body), 40)])
	}
	r, err := zstd.NewReader(nil, zstd.WithDecoderDictRaw(0, dictionary))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	plain, err := r.DecodeAll(frame, nil)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

const withDcz = "gzip, deflate, br, zstd, dcb, dcz"

// waitForEqual asks for a page with a dictionary until the server knows which rows the two versions
// of its table have in common.
func waitForEqual(t *testing.T, s *Server, path string) {
	t.Helper()
	v := s.acquire()
	defer v.release(s.log)
	old := s.acquirePinned("before")
	defer old.release(s.log)
	a, d := reply{served: v, list: v.bound.lists[path], endpoint: planOf(path).Endpoint}, dictionary{
		served: old,
		list:   old.bound.lists[path],
	}
	deadline := time.Now().Add(testkit.Patience)
	for s.equalRows(&a, &d) == nil {
		if known, ok := v.equal.Load(path + " " + d.list.version); ok && known.(*equalRows).Load() != nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: it is still unknown which rows are equal", path)
		}
		time.Sleep(time.Millisecond)
	}
}

// TestDictionaryNegotiation checks who gets dcz: only a client that names it, prefers it, and has
// the page of a snapshot that is held. All others get what they get without the field.
func TestDictionaryNegotiation(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 9842))
	before, after := slightlyChangedTables(t, r, 400)
	s := dictionaryServer(t, before, after)
	path := "/api/v2/coordination-context/conflict-events"
	target := path + "?limit=300"
	waitForEqual(t, s, path)
	page := s.Answer("GET", target+"&snapshot=before", nil).Body
	id := idOf(t, s, "before", path)
	good := offer(page, id, withDcz)
	const available = "Available-Dictionary"
	for _, c := range []struct {
		name   string
		header []HeaderField
		coding string
	}{
		{"good", good, "dcz"},
		{"HEAD asks the same", good, "dcz"},
		{"without dcz", offer(page, id, "gzip, zstd"), "zstd"},
		{"any coding", offer(page, id, "*"), "zstd"},
		{"dcz refused", offer(page, id, "gzip, dcz;q=0"), "gzip"},
		{"gzip preferred", offer(page, id, "dcz;q=0.5, gzip"), "gzip"},
		{"only dcz", offer(page, id, "dcz"), ""},
		{"dcz first", offer(page, id, "dcz, gzip;q=0.5"), "dcz"},
		{"another page", offer(page[1:], id, withDcz), "zstd"},
		{"unknown version", offer(page, strings.Repeat("0", idLength), withDcz), "zstd"},
		{"no id", good[:2], "zstd"},
		{"no dictionary", slices.Concat(good[:1], good[2:]), "zstd"},
		{"not base64", []HeaderField{good[0], {available, ":" + strings.Repeat("!", 44) + ":"}, good[2]}, "zstd"},
		{"too short", []HeaderField{good[0], {available, ":AAAA:"}, good[2]}, "zstd"},
		{"over HTTP", append(slices.Clone(good), HeaderField{"X-Forwarded-Proto", "http"}), "zstd"},
		{"over HTTPS", append(slices.Clone(good), HeaderField{"X-Forwarded-Proto", "https"}), "dcz"},
	} {
		method := "GET"
		if strings.HasPrefix(c.name, "HEAD") {
			method = "HEAD"
		}
		for range 3 { // the third answer is from the cache
			got := s.Answer(method, target, c.header)
			if coding, _ := got.field("Content-Encoding"); coding != c.coding || got.Status != 200 {
				t.Errorf("%s: %d in %q, want %q", c.name, got.Status, coding, c.coding)
			}
			if vary, _ := got.field("Vary"); vary != "Accept-Encoding, Available-Dictionary" {
				t.Errorf("%s: Vary is %q", c.name, vary)
			}
		}
	}
	for _, other := range []string{"&snapshot=after", "&output_format=geojson"} {
		got := s.Answer("GET", target+other, good)
		if coding, _ := got.field("Content-Encoding"); coding == "dcz" {
			t.Errorf("%s is in dcz", other)
		}
		if use, ok := got.field("Use-As-Dictionary"); ok {
			t.Errorf("%s is to be kept: %s", other, use)
		}
	}
}

// TestNoDictionaries checks that without the option no answer differs, whatever a client sends.
func TestNoDictionaries(t *testing.T) {
	t.Parallel()
	s := sampleServer(t, Options{Identifier: IgnoreIdentifier}, 400)
	path := "/api/v2/coordination-context/conflict-events"
	target := path + "?limit=300"
	page := s.Answer("GET", target, nil).Body
	v := s.acquire()
	id := v.bound.lists[path].version[:idLength]
	v.release(s.log)
	want := s.Answer("GET", target, []HeaderField{{"Accept-Encoding", withDcz}})
	got := s.Answer("GET", target, offer(page, id, withDcz))
	if !bytes.Equal(got.Body, want.Body) || !slices.Equal(got.Header, want.Header) {
		t.Errorf("%v, want %v", got.Header, want.Header)
	}
	if vary, _ := got.field("Vary"); vary != "Accept-Encoding" {
		t.Errorf("Vary is %q", vary)
	}
}

// TestUseAsDictionary checks which pages are to be kept, and for which targets.
func TestUseAsDictionary(t *testing.T) {
	t.Parallel()
	s := sampleServer(t, Options{Dictionaries: true}, 400)
	path := "/api/v2/coordination-context/conflict-events"
	identifier := "app_identifier=" + goodIdentifier
	special, ok := appendMatch(nil, []byte("/a?b=*(c):+d&app_identifier=e&f=g?"))
	if want := `/a\\?b=\\*\\(c\\)\\:\\+d&app_identifier=*&f=g\\?`; string(special) != want || !ok {
		t.Errorf("%s, want %s", special, want)
	}
	for query, want := range map[string]string{
		"limit=300&" + identifier:            `/api/v2/coordination-context/conflict-events\\?limit=300&app_identifier=*`,
		identifier + "&limit=200":            `/api/v2/coordination-context/conflict-events\\?app_identifier=*&limit=200`,
		identifier:                           `/api/v2/coordination-context/conflict-events\\?app_identifier=*`,
		identifier + "&limit=20":             "",
		identifier + "&limit=300&x=y":        "",
		"app%5Fidentifier=" + goodIdentifier: "",
		identifier + "&limit=%33%30%30":      `/api/v2/coordination-context/conflict-events\\?app_identifier=*&limit=%33%30%30`,
	} {
		got := s.Answer("GET", path+"?"+query, nil)
		if want != "" {
			v := s.acquire()
			want = fmt.Sprintf(`match="%s", id="%s"`, want, v.bound.lists[path].version[:idLength])
			v.release(s.log)
		}
		if use, _ := got.field("Use-As-Dictionary"); use != want || got.Status != 200 {
			t.Errorf("%s: %d\n%s, want\n%s", query, got.Status, use, want)
		}
		for _, f := range got.Header {
			if strings.Contains(f.Value, goodIdentifier) {
				t.Errorf("%s: %s has the identifier", query, f.Name)
			}
		}
	}
}

// TestDictionaryOfDamagedTable checks that a page is sent in another coding once the table of the
// dictionary is damaged, and that no request keeps a reference to its snapshot.
func TestDictionaryOfDamagedTable(t *testing.T) {
	t.Parallel()
	before, after := slightlyChangedTables(t, rand.New(rand.NewPCG(2, 9842)), 400)
	s := dictionaryServer(t, before, after)
	path := "/api/v2/coordination-context/conflict-events"
	waitForEqual(t, s, path)
	old := s.acquirePinned("before")
	references := old.refs.Load()
	pages := map[string][]byte{}
	known, other := path+"?limit=300", path+"?limit=310" // whether the digest is known before the damage
	for _, target := range []string{known, other} {
		pages[target] = s.Answer("GET", target+"&snapshot=before", nil).Body
	}
	ask := func(target, coding string) {
		t.Helper()
		got := s.Answer("GET", target, offer(pages[target], old.bound.lists[path].version[:idLength], withDcz))
		if sent, _ := got.field("Content-Encoding"); sent != coding {
			t.Errorf("%s: %d bytes in %q, want %q", target, len(got.Body), sent, coding)
		} else if coding != "dcz" {
			body, err := decodeBody(coding, got.Body)
			if want := s.Answer("GET", target, nil).Body; err != nil || !bytes.Equal(body, want) {
				t.Errorf("%s: %d bytes, want %d: %v", target, len(body), len(want), err)
			}
		}
	}
	ask(known, "dcz")
	old.bound.lists[path].segment.MarkSuspect()
	s.bodies.empty()
	ask(known, "zstd")
	ask(other, "zstd")
	if got := old.refs.Load(); got != references {
		t.Errorf("%d references to the earlier snapshot, before %d", got, references)
	}
	old.release(s.log)
}
