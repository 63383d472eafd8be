package ogc

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/state"
)

// answerItems answers with features.
func (a *request) answerItems(c *collection) error {
	o, err := a.readOptions(c)
	switch {
	case err != nil:
		return err
	case c.level != ofList:
		return a.answerAreas(c, o)
	}
	v := &list.View{Version: o.state, Filters: o.filters, Points: true, PlacesFirst: true, Finish: a.finish}
	v.Around = func(sc *list.Scratch, l *state.BoundList) (head, tail []byte) {
		return a.before(o, sc.Page.Rows, sc.Page.Total, l.ShortVersion()), []byte("]}")
	}
	v.Key = fmt.Appendf(nil, "ogc 2 %s %s %v %v", a.base, c.id, a.html, a.sent.Encode())
	if a.html {
		v.Write = func(_ []byte, sc *list.Scratch, l *state.BoundList) []byte {
			return a.pageOf(c, appendRows(nil, v, sc, l))
		}
	}
	return a.answerRows(c, v, o, o.limit)
}

// answerItem answers with one feature.
func (a *request) answerItem(c *collection, id string) error {
	if c.level != ofList {
		o := newOptions(1)
		o.one, o.equal["code"] = true, id
		return a.answerAreas(c, o)
	}
	version, row, err := a.service.lists.RowOf(c.endpoint, id, c.id+" has no feature")
	if err != nil {
		return err
	}
	v := &list.View{Version: version, Points: true, Finish: a.finish}
	v.Around = func(*list.Scratch, *state.BoundList) (head, tail []byte) { return nil, nil }
	v.Key = fmt.Appendf(nil, "ogc 1 %s %s %v %v item", a.base, c.id, a.html, a.named)
	v.Write = func(_ []byte, sc *list.Scratch, l *state.BoundList) []byte {
		one := a.withLinks(appendRows(nil, v, sc, l), c)
		if a.html {
			return a.pageOf(c, one)
		}
		return one
	}
	return a.answerRows(c, v, &options{skip: row}, 1)
}

// answerRows answers with rows of a list.
func (a *request) answerRows(c *collection, v *list.View, o *options, limit int) error {
	query := with(o.own, "limit", strconv.Itoa(limit))
	query.Set("offset", strconv.FormatUint(o.skip, 10))
	var r contract.Request // refuses wrong values in the form of this interface
	r.Scanned.Scan(c.route.List, []byte(query.Encode()))
	if err := r.Parse(); err != nil {
		return err
	}
	to := c.route
	to.Public = true
	return a.service.lists.Lists.Answer(a.ctx, &to, []byte(query.Encode()), v)
}

// appendRows appends the GeoJSON of the rows of a page.
func appendRows(dst []byte, v *list.View, sc *list.Scratch, l *state.BoundList) []byte {
	head, tail := v.Around(sc, l)
	if l.Segment == nil {
		return append(append(dst, head...), tail...)
	}
	return l.Named[contract.HAPINames].Renderer.Features().Framed(head, tail).Append(dst, sc.Page.Ranges)
}

// finish sets the header fields of an answer with features.
func (a *request) finish(h *fasthttp.ResponseHeader) {
	h.SetContentType(a.itemsType())
	a.policy(h)
}

func (a *request) itemsType() string {
	if a.html {
		return htmlType
	}
	return geoJSONType
}

// before is the text before the features of a page.
func (a *request) before(o *options, rows, total int, state string) []byte {
	links := a.links(geoJSONType)
	if next := o.skip + uint64(rows); rows > 0 && next < uint64(total) {
		query := with(a.sent, "token", state+tokenMark+strconv.FormatUint(next, 10))
		if a.html {
			query.Set("f", "html")
		}
		links = append(links, link{"next", a.itemsType(), "next page", a.addressOf(query)})
	}
	text, err := json.Marshal(links)
	if err != nil {
		panic(err) // they are texts
	}
	return fmt.Appendf(nil, `{"type":"FeatureCollection","timeStamp":%q,"numberMatched":%d,"numberReturned":%d,`+
		`"links":%s,"features":[`, time.Now().UTC().Format(time.RFC3339), total, rows, text)
}

// withLinks adds the links of a feature to it.
func (a *request) withLinks(one []byte, c *collection) []byte {
	links := append(a.links(geoJSONType), link{"collection", jsonType, c.title, a.base + "collections/" + c.id})
	text, err := json.Marshal(links)
	if err != nil {
		panic(err) // they are texts
	}
	return append(append(append(one[:len(one)-1], `,"links":`...), text...), '}')
}

// pageOf is a page of features.
func (a *request) pageOf(c *collection, body []byte) []byte {
	body, err := c.shown(a.base, body).render(nil, a.base)
	if err != nil {
		panic(err) // the template is ours
	}
	return body
}

// shown are features as a page shows them.
func (c *collection) shown(base string, body []byte) *page {
	p := &page{Title: c.title, About: c.about, Fields: contract.FieldNames(c.fields)}
	if err := p.readFeatures(body, base+"collections/"+c.id+"/items"); err != nil {
		panic(err) // we wrote it
	}
	return p
}
