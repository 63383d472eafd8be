package ogc

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/url"

	"hdqs/api/contract"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// page is a document as HTML.
type page struct {
	Title, About, Caption string
	Entries               []link
	Fields                []string // of features
	Rows                  []row
	Text, Home            string

	items string // begins the addresses of features
}

// row is a feature.
type row struct {
	ID, Href, Geometry string
	Cells              []string
}

// longest is the longest geometry that is shown whole.
const longest = 100

// pageOf is a page of features, or of the only one.
func (a *request) pageOf(c *collection, links []link, caption string) *page {
	return &page{
		Title: c.title, About: c.about, Fields: contract.FieldNames(c.fields), Caption: caption, Entries: links,
		items: a.base + "collections/" + c.id + "/items/",
	}
}

// add adds a feature, whose type is empty without a geometry.
func (p *page) add(id, geometry, coordinates string, cells []string) {
	r := row{ID: id, Href: p.items + url.PathEscape(id) + "?f=html", Geometry: cmp.Or(geometry, "none"), Cells: cells}
	if geometry != "" && len(coordinates) < longest {
		r.Geometry += " " + coordinates
	}
	p.Rows = append(p.Rows, r)
}

// captionOf says how many features there are.
func captionOf(rows, total int) string { return fmt.Sprintf("%d features of %d", rows, total) }

// captionOfOne is the caption of a page of one feature.
const captionOfOne = "1 feature"

// render writes the page of a document. Documents that are no features are shown as they are, too.
func (p *page) render(body []byte, home string) ([]byte, error) {
	p.Home = home
	if p.Fields == nil {
		var text bytes.Buffer
		if err := json.Indent(&text, body, "", "  "); err != nil {
			return nil, err
		}
		p.Text = text.String()
	}
	var out bytes.Buffer
	err := pageTemplate.Execute(&out, p)
	return out.Bytes(), err
}
