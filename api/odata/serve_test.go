package odata

import (
	"errors"
	"testing"

	"github.com/valyala/fasthttp"

	"hdqs/api/list"
)

// answers notes what is sent, and sends nothing.
type answers struct {
	contentType string
	err         error
}

func (*answers) BaseOf(*fasthttp.RequestCtx) string { return "http://a" + Root }

func (a *answers) Send(_ *fasthttp.RequestCtx, contentType string, _ list.Content) error {
	a.contentType = contentType
	return a.err
}

func (*answers) SetPolicy(*fasthttp.ResponseHeader, bool) {}

// TestDocuments asks for each document, without lists. What refuses to send it is the answer.
func TestDocuments(t *testing.T) {
	refused := errors.New("refused")
	for path, contentType := range map[string]string{
		"":             form{}.contentType(),
		"$metadata":    xmlType,
		connectionFile: "application/json",
		"things.odc":   "text/x-ms-odc; charset=utf-8",
		vocabularyFolder + "Org.OData.Core.V1.xml": xmlType,
	} {
		for _, want := range []error{nil, refused} {
			sent := &answers{err: want}
			s := &Service{sender: sent, sets: []*set{fuzzSet}}
			s.docs[0] = list.MadeOnce(func() ([]byte, error) { return metadataXML(s.sets) })
			var ctx fasthttp.RequestCtx
			ctx.Request.SetRequestURI(Root + path)
			if err := s.answer(&ctx); err != want || sent.contentType != contentType {
				t.Errorf("%q: %v, %q; want %v, %q", path, err, sent.contentType, want, contentType)
			}
		}
	}
}
