//go:build !race

package wire

import (
	"bufio"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"

	"hdqs/internal/testkit"
)

// Reference implementations of the checks, which scan hosts and header fields byte by byte.
var (
	hostForm = regexp.MustCompile(`^(\[([A-Za-z0-9._~!$&'()*+,;=:-]|%[0-9A-Fa-f]{2})+\]|` +
		`([A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+)(:[0-9]*)?$`)
	codedForm = regexp.MustCompile(`(?i)(^|\n)transfer-encoding:`)
	chunkForm = regexp.MustCompile(`(?i)(^|\n)transfer-encoding:[ \t]*chunked`)
	foldForm  = regexp.MustCompile(`(^|\n)[ \t]`)
)

// randomText joins up to most random pieces.
func randomText(r *rand.Rand, most int, pieces []string) string {
	var text strings.Builder
	for range r.IntN(most + 1) {
		text.WriteString(pieces[r.IntN(len(pieces))])
	}
	return text.String()
}

// trials returns how many random texts a test compares.
func trials() int {
	if testing.Short() {
		return 50_000
	}
	return 200_000
}

// TestHostForm compares isHost with a regular expression.
func TestHostForm(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 1))
	pieces := []string{
		"a", "Z9", ".", "-", "[", "]", ":", "::1", "80", "%", "%c3", "%zz", "@", "/", "?", "#", " ", "_", "~",
		"!$&'()*+,;=", "\\", "\"", "\xe9", "\x00",
	}
	good := 0
	for range trials() {
		text := randomText(r, 5, pieces)
		want := hostForm.MatchString(text)
		if want {
			good++
		}
		testkit.Equal(t, isHost([]byte(text)), want, "isHost(%q)", text)
	}
	testkit.AtLeast(t, good, 1000, "texts were valid hosts")
}

// TestMalformedFields compares inspectFields with regular expressions.
func TestMalformedFields(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 2))
	pieces := []string{
		"Transfer-Encoding:", "tRANSFER-eNCODING: ", "T", "TE: trailers", "chunked", "CHUNKED", "identity",
		" ", "\t", "\n", "\r\n", "\r\n ", "X: y",
	}
	uncoded := 0
	for range trials() {
		text := randomText(r, 7, pieces)
		if strings.Count(strings.ToLower(text), "transfer-encoding") > 1 {
			continue // fasthttp refuses a second one
		}
		coded := codedForm.MatchString(text) && !chunkForm.MatchString(text)
		if coded && !foldForm.MatchString(text) {
			uncoded++
		}
		want := coded || foldForm.MatchString(text)
		if got, _ := inspectFields([]byte(text + "\r\n\r\n")); got != want {
			t.Fatalf("inspectFields(%q) is %v, want %v", text, got, want)
		}
	}
	testkit.AtLeast(t, uncoded, 1000, "texts were uncoded")
}

// TestConditions reads requests and checks that a condition that fasthttp finds is announced, in
// any case and at any place.
func TestConditions(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 3))
	lines := []string{
		"If-Match: *", "if-unmodified-since:x", "IF-NONE-MATCH: *", "If-Modified-Since:  x", "If-Match:",
		"Accept: */*", "I: f", "If: match", "If-Range: x", "X: If-Match: y", "User-Agent: If-None-Match",
		"Range: bytes=0-1", "RANGE:x", "Referer: Range: x", "Rate: Range",
	}
	found := 0
	for range trials() / 10 {
		text := "GET / HTTP/1.1\r\nHost: a\r\n"
		for range r.IntN(4) {
			text += lines[r.IntN(len(lines))] + "\r\n"
		}
		var request fasthttp.Request
		if err := request.Read(bufio.NewReader(strings.NewReader(text + "\r\n"))); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		h := &request.Header
		has := func(name string) bool { return len(h.PeekAll(name)) > 0 }
		malformed, got := Inspect(h)
		if malformed || (has("If-Match") || has("If-Unmodified-Since")) && got&Precondition == 0 ||
			(has("If-None-Match") || has("If-Modified-Since")) && got&Revalidation == 0 ||
			has("Range") && got&InRange == 0 {
			t.Fatalf("%q: %v, %b", text, malformed, got)
		}
		if !has("If-Match") && !has("If-Modified-Since") && !has("If-None-Match") && got&Revalidation != 0 ||
			!has("If-Match") && !has("If-Modified-Since") && !has("If-Unmodified-Since") && got&Precondition != 0 ||
			!has("Range") && !has("Rate") && got&InRange != 0 {
			t.Fatalf("%q: %b is too much", text, got)
		}
		if got != 0 {
			found++
		}
	}
	testkit.AtLeast(t, found, 1000, "requests with conditions")
}
