package ogc

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/render"
	"hdqs/api/reply"
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
		rows, total := sc.Page.Rows, sc.Page.Total
		return before(rows, total, a.pageLinks(o, rows, total, l.ShortVersion())), []byte("]}")
	}
	v.Key = fmt.Appendf(nil, "ogc 2 %s %s %v %v", a.base, c.id, a.html, a.sent.Encode())
	if a.html {
		v.Write = func(_ []byte, sc *list.Scratch, l *state.BoundList) []byte {
			rows, total := sc.Page.Rows, sc.Page.Total
			p := a.pageOf(c, a.pageLinks(o, rows, total, l.ShortVersion()), captionOf(rows, total))
			return p.addRows(sc, l).html(a.base)
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
		if a.html {
			return a.pageOf(c, a.itemLinks(c), captionOfOne).addRows(sc, l).html(a.base)
		}
		return withLinks(appendRows(nil, v, sc, l), a.itemLinks(c))
	}
	return a.answerRows(c, v, &options{skip: row}, 1)
}

// answerRows answers with rows of a list.
func (a *request) answerRows(c *collection, v *list.View, o *options, limit int) error {
	a.own.Scanned.Scan(c.route.List(), o.own)
	if err := a.own.Parse(); err != nil { // wrong values, in the form of this interface
		return err
	}
	return a.service.lists.AnswerRows(a.ctx, c.route, a.own.Question.Page(int(o.skip), limit), v)
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
	reply.SetUnknown(h, &a.own)
}

func (a *request) itemsType() string {
	if a.html {
		return htmlType
	}
	return geoJSONType
}

// pageLinks are the links of a page of features.
func (a *request) pageLinks(o *options, rows, total int, state string) []link {
	links := a.links(geoJSONType)
	if next := o.skip + uint64(rows); rows > 0 && next < uint64(total) {
		query := []string{"token", state + tokenMark + strconv.FormatUint(next, 10)}
		if a.html {
			query = append(query, "f", "html")
		}
		links = append(links, link{"next", a.itemsType(), "next page", a.addressWith(query...)})
	}
	return links
}

// itemLinks are the links of one feature.
func (a *request) itemLinks(c *collection) []link {
	return append(a.links(geoJSONType), link{"collection", jsonType, c.title, a.base + "collections/" + c.id})
}

// before is the text before the features of a page.
func before(rows, total int, links []link) []byte {
	return fmt.Appendf(nil, `{"type":"FeatureCollection","timeStamp":%q,"numberMatched":%d,"numberReturned":%d,`+
		`"links":%s,"features":[`, time.Now().UTC().Format(time.RFC3339), total, rows, linksText(links))
}

// withLinks adds links to a feature.
func withLinks(one []byte, links []link) []byte {
	return append(append(append(one[:len(one)-1], `,"links":`...), linksText(links)...), '}')
}

func linksText(links []link) []byte {
	text, err := json.Marshal(links)
	if err != nil {
		panic(err) // they are texts
	}
	return text
}

// addRows adds the rows of a list.
func (p *page) addRows(sc *list.Scratch, l *state.BoundList) *page {
	found, ids, err := list.RowsOf(sc, l)
	if err != nil {
		panic(err) // the columns are bound
	}
	for i, r := range list.TextsOf(found) {
		cells, geometry, coordinates := make([]string, len(p.Fields)), "", ""
		for k, name := range p.Fields {
			cells[k] = r.Value(name)
		}
		lat, hasLat := r.Text(contract.LatField)
		if lon, hasLon := r.Text(contract.LonField); hasLat && hasLon {
			geometry, coordinates = "Point", "["+lon+","+lat+"]"
		}
		p.add(string(render.AppendRowNumber([]byte(l.ShortVersion()+"-"), ids[i])), geometry, coordinates, cells)
	}
	return p
}

// html is a page of features as HTML.
func (p *page) html(home string) []byte {
	body, err := p.render(nil, home)
	if err != nil {
		panic(err) // the template is ours
	}
	return body
}
