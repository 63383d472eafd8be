package ogc

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/url"
	"strings"
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
}

// row is a feature.
type row struct {
	ID, Href, Geometry string
	Cells              []string
}

// feature is a feature as GeoJSON has it.
type feature struct {
	ID       string `json:"id"`
	Geometry *struct {
		Type        string          `json:"type"`
		Coordinates json.RawMessage `json:"coordinates"`
	} `json:"geometry"`
	Properties map[string]any `json:"properties"`
}

// longest is the longest geometry that is shown whole.
const longest = 100

// readFeatures reads the features of a page from their GeoJSON. items is the address of them all.
func (p *page) readFeatures(body []byte, items string) error {
	var all struct {
		feature
		Features       []feature `json:"features"`
		Links          []link    `json:"links"`
		NumberMatched  int       `json:"numberMatched"`
		NumberReturned int       `json:"numberReturned"`
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&all); err != nil {
		return err
	}
	p.Caption = fmt.Sprintf("%d features of %d", all.NumberReturned, all.NumberMatched)
	if all.ID != "" {
		all.Features, p.Caption = []feature{all.feature}, "1 feature"
	}
	p.Entries = all.Links
	for _, f := range all.Features {
		r := row{ID: f.ID, Href: items + "/" + url.PathEscape(f.ID) + "?f=html", Geometry: "none"}
		if f.Geometry != nil {
			r.Geometry = f.Geometry.Type
			if text := string(f.Geometry.Coordinates); len(text) < longest {
				r.Geometry += " " + text
			}
		}
		for _, name := range p.Fields {
			text := ""
			if v := f.Properties[name]; v != nil {
				text = strings.Trim(fmt.Sprint(v), "[]")
			}
			r.Cells = append(r.Cells, text)
		}
		p.Rows = append(p.Rows, r)
	}
	return nil
}

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
