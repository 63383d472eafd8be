package odata

import (
	"errors"
	"testing"

	"github.com/valyala/fasthttp"

	"hdqs/aggregate"
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

// TestValueOf: a value of a computed record is what a filter compares with.
func TestValueOf(t *testing.T) {
	t.Parallel()
	const noon = int64(1_715_947_200_000_000) // 2024-05-17T12:00:00
	for _, c := range []struct {
		kind kind
		from aggregate.Value
		want value
	}{
		{text, aggregate.Value{}, value{}},
		{float, aggregate.Value{Kind: aggregate.Differ}, value{}},
		{text, aggregate.Value{Kind: aggregate.Text, Text: ""}, value{kind: text}},
		{text, aggregate.Value{Kind: aggregate.Text, Text: "null"}, value{kind: text, text: "null"}},
		{boolean, aggregate.Value{Kind: aggregate.Bool, Int: 1}, value{kind: boolean, int: 1}},
		{day, aggregate.Value{Kind: aggregate.Time, Int: noon}, value{kind: day, int: noon - microsPerDay/2}},
		{instant, aggregate.Value{Kind: aggregate.Time, Int: noon}, value{kind: instant, int: noon}},
		{integer, aggregate.Value{Kind: aggregate.Int, Int: 7}, value{kind: integer, int: 7}},
		{float, aggregate.Value{Kind: aggregate.Int, Int: 7}, value{kind: float, float: 7}},
		{float, aggregate.Value{Kind: aggregate.Decimal, Int: 125, Scale: 2}, value{kind: float, float: 1.25}},
		{float, aggregate.Value{Kind: aggregate.Float, Float: 0.1}, value{kind: float, float: 0.1}},
		{
			integer,
			aggregate.Value{Kind: aggregate.Int, Text: "10000000000000000000"},
			value{kind: float, float: 1e19},
		},
	} {
		p := property{kind: c.kind}
		if got := p.valueOf(c.from); got != c.want {
			t.Errorf("%v as %s is %v, want %v", c.from, kindNames[c.kind], got, c.want)
		}
	}
}
