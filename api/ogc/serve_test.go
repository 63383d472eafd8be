package ogc

import (
	"errors"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"

	"hdqs/api/list"
)

// answers keeps what is sent.
type answers struct {
	contentType, body string
	err               error
}

func (*answers) BaseOf(*fasthttp.RequestCtx) string { return "http://a" + Root }

func (*answers) Described(work func() error) error { return work() }

func (a *answers) Send(_ *fasthttp.RequestCtx, contentType string, c list.Content) error {
	body, _ := c.(list.Made)
	a.contentType, a.body = contentType, string(body)
	return a.err
}

func (*answers) SetPolicy(*fasthttp.ResponseHeader, bool) {}

// TestDocuments asks for documents in both forms, without lists. What refuses to send one is the
// answer.
func TestDocuments(t *testing.T) {
	refused := errors.New("refused")
	things := &collection{id: "things", title: "Things", level: 1}
	for path, has := range map[string]string{
		"": "Humanitarian data on the map", "conformance": "ogcapi-features-1", "api": "openapi",
		"collections": "Things", "collections/things": "Things", "collections/things/queryables": "queryables",
	} {
		for query, contentType := range map[string]string{"f=json": "json", "f=html": "text/html"} {
			for _, want := range []error{nil, refused} {
				sent := &answers{err: want}
				s := &Service{sender: sent, collections: []*collection{things}}
				var ctx fasthttp.RequestCtx
				ctx.Request.SetRequestURI(Root + path + "?" + query)
				if err := s.answer(&ctx); err != want || !strings.Contains(sent.contentType, contentType) ||
					!strings.Contains(sent.body, has) {
					t.Errorf("%s?%s: %v, %s %.200s", path, query, err, sent.contentType, sent.body)
				}
			}
		}
	}
}
