package load

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/valyala/fasthttp"
)

// The content codings that can be requested.
const (
	Identity = "identity"
	Gzip     = "gzip"
	Zstd     = "zstd"
)

// Server is a server to be measured.
type Server struct {
	Name string
	URL  string
	PID  int // of its first process; 0: unknown, CPU and memory are not measured

	// Path is the path of a query's answer on a server of files, "" if it has none. nil: the
	// query's own path.
	Path func(q Query, encoding string) string

	Bounded bool // asked only for what a bound of a query names it for
}

// Identifier is sent with every query that is not anonymous: base64 of "hdqs
// bench:bench@example.org".
const Identifier = "aGRxcyBiZW5jaDpiZW5jaEBleGFtcGxlLm9yZw=="

// answerTimeout limits the wait for a whole answer.
const answerTimeout = 60 * time.Second

// target is the path and query of a query on this server, "" if it has no answer to it.
func (s *Server) target(q Query, encoding string) string {
	if s.Path != nil {
		return s.Path(q, encoding)
	}
	return q.Target
}

func (s *Server) request(q Query, encoding string) *fasthttp.Request {
	r := &fasthttp.Request{}
	r.SetRequestURI(s.URL + s.target(q, encoding))
	r.Header.SetUserAgent("hdqs-bench")
	if !q.Anonymous {
		r.Header.Set("X-CATALOG-API-APP-IDENTIFIER", Identifier)
	}
	if encoding != Identity {
		r.Header.Set("Accept-Encoding", encoding)
	}
	return r
}

// client returns a client that has one connection. It sends each request once.
func (s *Server) client() (*fasthttp.HostClient, error) {
	base, err := url.Parse(s.URL)
	if err != nil || base.Host == "" {
		return nil, fmt.Errorf("load: %s: %q is not the address of a server", s.Name, s.URL)
	}
	return &fasthttp.HostClient{
		Addr: base.Host, MaxConns: 1, MaxIdemponentCallAttempts: 1, ReadTimeout: answerTimeout,
		ReadBufferSize: 1 << 17, DisablePathNormalizing: true,
	}, nil
}

// answer is a whole answer, for comparison or to be served as a file.
type answer struct {
	status      int
	etag, total string
	contentType string
	sent        []byte // body as sent
	body        []byte // decoded
}

// fetch sends a query once, unconditionally, and decodes the answer.
func (s *Server) fetch(q Query, encoding string) (*answer, error) {
	c, err := s.client()
	if err != nil {
		return nil, err
	}
	defer c.CloseIdleConnections()
	var r fasthttp.Response
	if err := c.Do(s.request(q, encoding), &r); err != nil {
		return nil, fmt.Errorf("load: %s: %s: %w", s.Name, q.Name, err)
	}
	body, err := r.BodyUncompressed()
	if err != nil {
		return nil, fmt.Errorf("load: %s: %s: %w", s.Name, q.Name, err)
	}
	return &answer{
		status: r.StatusCode(), etag: string(r.Header.Peek("ETag")), total: string(r.Header.Peek("X-Total-Count")),
		contentType: string(r.Header.ContentType()), sent: slices.Clone(r.Body()), body: slices.Clone(body),
	}, nil
}

// must fetches a query and fails unless the answer has the query's status, or is the 200 from which
// a conditional query gets its ETag.
func (s *Server) must(q Query, encoding string) (*answer, error) {
	a, err := s.fetch(q, encoding)
	if err != nil {
		return nil, err
	}
	want := q.Status
	if q.Conditional {
		want = http.StatusOK
	}
	if a.status != want {
		return nil, fmt.Errorf("load: %s (%s): %s: status %d, want %d: %.200s", s.Name, encoding, q.Name, a.status,
			want, a.body)
	}
	return a, nil
}

// Answers fails unless the server answers a query with its status.
func (s *Server) Answers(q Query) error {
	_, err := s.must(q, Identity)
	return err
}

// ETag is the entity tag of the server's answer to a query.
func (s *Server) ETag(q Query) (string, error) {
	a, err := s.must(q, Identity)
	if err != nil {
		return "", err
	}
	return a.etag, nil
}
