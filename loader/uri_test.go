package loader

import (
	"strings"
	"testing"
)

func TestPrintedLinks(t *testing.T) {
	t.Parallel()
	for _, c := range readCases(t, "testdata/uri/printed.txt") {
		stored, want := c.cut(" -> ")
		if got := normalURI(stored); got != want {
			t.Errorf("%s: %q is printed %q, want %q", c.at, stored, got, want)
		}
	}
}

// FuzzPrintedLinks checks that a web link is printed in ASCII without blanks and controls, except
// for its host, and that a printed link is printed as itself.
func FuzzPrintedLinks(f *testing.F) {
	for _, seed := range []string{
		"http://x.org", "HTTPS://A@b:443/../a b?c d#e f", "https://x/%2e%2E/%", "a://b",
		"://", "http://é/\t\n\\", "javascript:alert(1)", "http:///x", "https://a:b@c:1/?#",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		got := normalURI(uri)
		if again := normalURI(got); again != got {
			t.Errorf("%q is printed %q, and that %q", uri, got, again)
		}
		if link, ok := webLink(uri); ok && (link != got || !strings.HasPrefix(link, "http://") &&
			!strings.HasPrefix(link, "https://") || strings.ContainsAny(link, " \t\r\n\"<>")) {
			t.Errorf("%q is taken for the link %q", uri, link)
		}
		scheme, rest, _ := strings.Cut(got, "://")
		slash := strings.IndexByte(rest, '/')
		if _, isHost := normalHost(rest[:max(slash, 0)], ""); !isHost || scheme != "http" && scheme != "https" {
			return // no address of the web: as stored
		}
		for _, c := range []byte(rest[slash:]) {
			if c <= ' ' || c >= 0x7f {
				t.Errorf("%q is printed %q", uri, got)
			}
		}
	})
}
