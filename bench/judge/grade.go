package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"
)

// reply is what a server said: Body after its content coding was undone, Wire
// as many bytes as came over it.
type reply struct {
	Status  int
	Headers http.Header
	Body    string
	Coding  string
}

// client sends requests as they are written, without following redirects,
// inflating or adding headers of its own.
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
	target.Opaque = r.Path // goes out as it is, escapes and all
	req := &http.Request{Method: r.Method, URL: &target, Host: c.base.Host, Header: http.Header{"User-Agent": {"hdqs-judge"}}}
	for name, value := range r.Headers {
		req.Header[name] = []string{value} // as written: names have no case
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
	return newReply(res.StatusCode, res.Header, body, r.Method == "HEAD")
}

func newReply(status int, headers http.Header, body []byte, head bool) (reply, error) {
	r := reply{Status: status, Headers: headers, Coding: headers.Get("Content-Encoding")}
	if r.Coding == "gzip" && !head {
		z, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return r, fmt.Errorf("body said to be gzip: %w", err)
		}
		z.Multistream(false)
		if body, err = io.ReadAll(z); err != nil {
			return r, fmt.Errorf("body said to be gzip: %w", err)
		}
	}
	r.Body = string(body)
	return r, nil
}

// batchAnswer is one line that `hdqs query --batch` writes.
type batchAnswer struct {
	Request json.RawMessage `json:"request"`
	Status  int             `json:"status"`
	Headers map[string]any  `json:"headers"`
	Body    *string         `json:"body"`
	BodyB64 string          `json:"body_b64"`
}

func (b batchAnswer) reply(head bool) (reply, error) {
	headers := http.Header{}
	for name, v := range b.Headers {
		switch v := v.(type) {
		case string:
			headers.Set(name, v)
		case []any:
			for _, one := range v {
				headers.Add(name, fmt.Sprint(one))
			}
		}
	}
	if b.Body != nil {
		return newReply(b.Status, headers, []byte(*b.Body), head)
	}
	body, err := base64.StdEncoding.DecodeString(b.BodyB64)
	if err != nil {
		return reply{}, fmt.Errorf("body_b64: %w", err)
	}
	return newReply(b.Status, headers, body, head)
}

var fileName = regexp.MustCompile(`^attachment; ?filename="([A-Za-z0-9._-]+)"`)

// differences lists in words what a reply has that the contract does not
// want; nothing means that it is right.
func (a answer) differences(r request, got reply) []string {
	var found []string
	differ := func(what, want, have string) {
		if want != have {
			found = append(found, fmt.Sprintf("%s: want %s, got %s", what, clip(want), clip(have)))
		}
	}
	differ("status", fmt.Sprint(a.Status), fmt.Sprint(got.Status))
	switch contentType := got.Headers.Get("Content-Type"); a.ContentType {
	case "":
	case htmlType:
		if !strings.HasPrefix(contentType, htmlType) {
			differ("Content-Type", htmlType, contentType)
		}
	default:
		differ("Content-Type", a.ContentType, contentType)
	}
	total := ""
	if a.Total != nil {
		total = fmt.Sprint(*a.Total)
	}
	differ("X-Total-Count", total, got.Headers.Get("X-Total-Count"))
	if a.Allow != "" {
		differ("Allow", a.Allow, got.Headers.Get("Allow"))
	}
	differ("Location", a.Location, got.Headers.Get("Location"))
	differ("Access-Control-Allow-Origin", "*", got.Headers.Get("Access-Control-Allow-Origin"))
	if a.File != "" {
		name := fileName.FindStringSubmatch(got.Headers.Get("Content-Disposition"))
		if name == nil || !strings.HasPrefix(name[1], a.File) || !strings.HasSuffix(name[1], ".csv") {
			differ("Content-Disposition", `attachment; filename="`+a.File+`...csv"`, got.Headers.Get("Content-Disposition"))
		}
	}
	if a.Total != nil && !strings.Contains(got.Headers.Get("Vary"), "Accept-Encoding") {
		differ("Vary", "Accept-Encoding", got.Headers.Get("Vary"))
	}
	if r.Method != "HEAD" && a.Total != nil {
		coding := ""
		if r.header("Accept-Encoding") == "gzip" && len(a.Body) > 1024 {
			coding = "gzip"
		}
		differ("Content-Encoding", coding, got.Coding)
	}
	if d := a.bodyDifference(got.Body); d != "" {
		found = append(found, d)
	}
	return found
}

func (a answer) bodyDifference(got string) string {
	want := a.Body
	switch a.Check {
	case checkSome:
		if got == "" {
			return "body: empty"
		}
		return ""
	case checkHint:
		var both struct{ Error, Hint string }
		if json.Unmarshal([]byte(got), &both) != nil || both.Hint == "" || !strings.HasPrefix(got, strings.TrimSuffix(want, "}")+",") {
			return fmt.Sprintf("body: want %s with a hint, got %s", want, clip(got))
		}
		return ""
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
