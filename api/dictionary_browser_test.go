package api

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"hdqs/api/contract"
	"hdqs/internal/browser"
	"hdqs/internal/testkit"
)

// openOverTLS opens Chromium for an address behind a proxy that ends TLS, and returns its base URL.
// Its name is not one of this machine: Chromium exempts those from some of its rules.
func openOverTLS(t *testing.T, address string) (p *browser.Page, base string) {
	t.Helper()
	proxy := httptest.NewTLSServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: address})
		r.SetXForwarded()
	}})
	t.Cleanup(proxy.Close)
	key := sha256.Sum256(proxy.Certificate().RawSubjectPublicKeyInfo)
	const name = "hdqs.test"
	p = browser.Open(
		t, "--ignore-certificate-errors-spki-list="+base64.StdEncoding.EncodeToString(key[:]),
		"--host-resolver-rules=MAP "+name+" 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
		// Otherwise Chromium keeps dictionaries only from servers with a certificate of an
		// authority that it has from the start.
		"--disable-features=CompressionDictionaryTransportRequireKnownRootCert",
	)
	_, port, _ := strings.Cut(proxy.Listener.Addr().String(), ":")
	return p, "https://" + name + ":" + port
}

// TestBrowserDictionaries lets Chromium fetch a page over TLS, publishes a snapshot, and lets it
// fetch the page again. It must offer the first page as a dictionary, get dcz, and read today's
// page.
func TestBrowserDictionaries(t *testing.T) {
	t.Parallel()
	needEdge(t)
	s, address, before, after := listenBefore(t, 3)
	p, base := openOverTLS(t, address)
	p.Goto(base + "/docs/interactive")
	const path = "/api/v2/coordination-context/conflict-events"
	for _, query := range []string{"?limit=800", "?output_format=csv&limit=500&app_identifier=" + goodIdentifier} {
		target := path + query
		fetch := `fetch("` + target + `", {cache: "reload"}).then(async (r) =>
			r.headers.get("Content-Encoding") + " " + await r.text())`
		ask := func() (coding, body string) {
			coding, body, _ = strings.Cut(p.Eval(fetch), " ")
			if want := string(s.Answer("GET", target, nil).Body); body != want {
				t.Fatalf("%s: the page, in %s, has %d bytes, want %d", target, coding, len(body), len(want))
			}
			return coding, body
		}
		coding, first := ask()
		if coding == "dcz" {
			t.Fatalf("%s: the first page is in dcz", target)
		}
		swap := func(name string, tables []*testTable) {
			if err := s.Swap(Release{Snapshot: storeSnapshot(t, name, sampleTime, tables)}); err != nil {
				t.Fatal(err)
			}
		}
		// Chromium stores the page of each answer as a dictionary in the background, and offers
		// none meanwhile. Then it has to begin again, since the next answer takes its place.
		testkit.WaitFor(t, "Chromium offers the page of the snapshot before", func() bool {
			testkit.WaitFor(t, "Chromium offers the page as its own dictionary", func() bool {
				coding, _ := ask()
				return coding == "dcz"
			})
			swap("after", after)
			waitForEqual(t, s, path)
			coding, second := ask()
			if second == first {
				t.Fatalf("%s: the page of the next snapshot is the same", target)
			}
			swap("before", before)
			return coding == "dcz"
		})
	}
	if pages := testkit.Trials(1_000, 0); pages > 0 {
		fetchRandomPages(t, s, p, before, after, pages)
	}
}

// fetchRandomPages lets Chromium fetch random pages of two snapshots, the second time with the
// first page as a dictionary, and compares the digests of what it reads.
func fetchRandomPages(t *testing.T, s *Server, p *browser.Page, before, after []*testTable, pages int) {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 9842))
	coded := 0
	const batch = 50
	for range pages / batch {
		var targets []string
		for range batch {
			e := &contract.Endpoints[r.IntN(len(contract.Endpoints))]
			targets = append(targets, fmt.Sprintf("%s?limit=%d%s", e.Path, 128+r.IntN(700), randomPage(r, e)))
		}
		list, err := json.Marshal(targets)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range []struct {
			name   string
			tables []*testTable
		}{{"before", before}, {"after", after}} {
			if err := s.Swap(Release{Snapshot: storeSnapshot(t, x.name, sampleTime, x.tables)}); err != nil {
				t.Fatal(err)
			}
			if x.name == "after" {
				for i := range contract.Endpoints {
					waitForEqual(t, s, contract.Endpoints[i].Path)
				}
			}
			fetched := p.Eval(`(async () => {
				const lines = [];
				for (const target of ` + string(list) + `) {
					const r = await fetch(target, {cache: "reload"});
					const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", await r.arrayBuffer()));
					lines.push([...digest].map((b) => b.toString(16).padStart(2, "0")).join("") + " " +
						r.headers.get("Content-Encoding"));
				}
				return lines.join("\n");
			})()`)
			lines := strings.Split(fetched, "\n")
			for i, line := range lines {
				digest, coding, _ := strings.Cut(line, " ")
				want := sha256.Sum256(s.Answer("GET", targets[i], nil).Body)
				if digest != hex.EncodeToString(want[:]) {
					t.Fatalf("%s of %s, in %s, differs", targets[i], x.name, coding)
				}
				if x.name == "after" && coding == "dcz" {
					coded++
				}
			}
		}
	}
	t.Logf("%d of %d pages in dcz", coded, pages)
	if coded < pages/4 {
		t.Errorf("only %d of %d pages are in dcz", coded, pages)
	}
}

// randomPage returns random parameters of a page.
func randomPage(r *rand.Rand, e *contract.Endpoint) string {
	query := ""
	if r.IntN(2) == 0 {
		query += someFilter(e)
	}
	if r.IntN(3) == 0 {
		query += fmt.Sprintf("&offset=%d", r.IntN(700))
	}
	if r.IntN(3) == 0 {
		query += "&output_format=csv"
	}
	if r.IntN(4) == 0 {
		query += "&fields=" + e.Fields[r.IntN(len(e.Fields))].Name + "," + e.Fields[0].Name
	}
	return query
}
