package judge

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
)

// reply is a server's answer. Body is decoded from its content coding.
type reply struct {
	Status  int
	Headers http.Header
	Body    string
	Coding  string
}

// client sends requests exactly as they are written. It follows no redirects, decompresses nothing
// and adds no headers.
type client struct {
	base *url.URL
	http *http.Client
}

func newClient(base string) (*client, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("base URL %q: want http://host:port", base)
	}
	return &client{base: u, http: &http.Client{
		Timeout:       30 * time.Second,
		Transport:     &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 4},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

func (c *client) send(r request) (reply, error) {
	target := *c.base
	target.Opaque = r.Path // sent unchanged, with its escapes
	req := &http.Request{
		Method: r.Method, URL: &target, Host: c.base.Host,
		Header: http.Header{"User-Agent": {"hdqs-judge"}},
	}
	for name, value := range r.Headers {
		req.Header[name] = []string{value} // in the case it was written: names are case-insensitive
	}
	res, err := c.http.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return reply{}, err
	}
	got := reply{Status: res.StatusCode, Headers: res.Header, Coding: res.Header.Get("Content-Encoding")}
	if r.Method != "HEAD" {
		if body, err = decoded(got.Coding, body); err != nil {
			return got, fmt.Errorf("body with Content-Encoding %s: %w", got.Coding, err)
		}
	}
	got.Body = string(body)
	return got, nil
}

// decoded undoes a content coding. Several gzip members would be valid, but common clients read
// only the first.
func decoded(coding string, body []byte) ([]byte, error) {
	switch coding {
	case "":
		return body, nil
	case "gzip":
		in := bytes.NewReader(body)
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, err
		}
		z.Multistream(false)
		text, err := io.ReadAll(z)
		if err == nil && in.Len() > 0 {
			err = fmt.Errorf("%d bytes follow the first member", in.Len())
		}
		return text, err
	case "zstd":
		z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(8<<20))
		if err != nil {
			return nil, err
		}
		defer z.Close()
		return z.DecodeAll(body, nil)
	}
	return nil, errors.New("this coding was not requested")
}

var fileName = regexp.MustCompile(`^attachment; ?filename="([A-Za-z0-9._-]+)"`)

// differences describes where a reply differs from the contract; empty means that it is right.
func (a answer) differences(r request, got reply) []string {
	var found []string
	differ := func(what, want, have string) {
		if want != have {
			found = append(found, fmt.Sprintf("%s: want %s, got %s", what, clip(want), clip(have)))
		}
	}
	differ("status", fmt.Sprint(a.Status), fmt.Sprint(got.Status))
	differ("Content-Type", a.ContentType, got.Headers.Get("Content-Type"))
	total := ""
	if a.Total != nil {
		total = fmt.Sprint(*a.Total)
	}
	differ("X-Total-Count", total, got.Headers.Get("X-Total-Count"))
	differ("Access-Control-Allow-Origin", "*", got.Headers.Get("Access-Control-Allow-Origin"))
	if disposition := got.Headers.Get("Content-Disposition"); a.File != "" && !a.names(disposition) {
		differ("Content-Disposition", `attachment; filename="`+a.File+"..."+a.End+`"`, disposition)
	}
	if a.Total != nil {
		if vary := got.Headers.Get("Vary"); !strings.Contains(vary, "Accept-Encoding") {
			differ("Vary", "Accept-Encoding", vary)
		}
		if r.Method != "HEAD" {
			length := len(a.Body)
			if a.Check != checkExact {
				length = len(got.Body)
			}
			differ("Content-Encoding", coding(r, length), got.Coding)
		}
	}
	if hint := got.Headers.Get("X-Hint"); !strings.Contains(hint, a.Hint) {
		differ("X-Hint", a.Hint, hint)
	}
	differ("X-Changes", a.Changes, got.Headers.Get("X-Changes"))
	if a.Check == checkChanges {
		differ("X-Result-Count", fmt.Sprint(a.Rows), got.Headers.Get("X-Result-Count"))
	}
	differ("X-Facet-More", a.More, got.Headers.Get("X-Facet-More"))
	if d := a.bodyDifference(got.Body); d != "" {
		found = append(found, d)
	}
	return found
}

// names reports whether a Content-Disposition names the answer's file.
func (a answer) names(disposition string) bool {
	name := fileName.FindStringSubmatch(disposition)
	return name != nil && strings.HasPrefix(name[1], a.File) && strings.HasSuffix(name[1], a.End)
}

// coding is the content coding of a body: the only one that is accepted, and none for a short body.
// Which of several is sent is not judged here: api/encode has cases.
func coding(r request, length int) string {
	if length <= 1024 {
		return ""
	}
	return r.header("Accept-Encoding")
}

func (a answer) bodyDifference(got string) string {
	want := a.Body
	switch a.Check {
	case checkSome:
		if got == "" {
			return "body: empty"
		}
		return ""
	case checkRefused:
		return refusalDifference(want, got)
	case checkChanges:
		return changesDifference(want, got)
	case checkSame:
		return valuesDifference(want, got)
	case checkReasons:
		want, got = withoutReasons(want), withoutReasons(got)
	}
	if want == got {
		return ""
	}
	at := 0
	for at < len(want) && at < len(got) && want[at] == got[at] {
		at++
	}
	from := max(0, at-60)
	for from > 0 && !utf8.RuneStart(want[from]) {
		from--
	}
	return fmt.Sprintf("body: differs at byte %d (want %d bytes, got %d)\n    want ...%s\n    got  ...%s",
		at, len(want), len(got), clip(want[from:]), clip(got[min(from, len(got)):]))
}

var reasonText = regexp.MustCompile(`(valid datetime or date, |valid date or datetime, |"ctx":\{"error":")[^"]*"`)

func withoutReasons(body string) string { return reasonText.ReplaceAllString(body, `$1"`) }

func clip(text string) string {
	const most = 300
	if len(text) > most {
		return text[:most] + "..."
	}
	return text
}
