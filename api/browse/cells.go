package browse

import (
	"html/template"
	"strings"
)

// body writes the rows of a table. Links are addresses of pages of ours. A template takes ten times
// as long, and a page can have thousands of cells.
func body(rows [][]cell) template.HTML {
	var b strings.Builder
	n := 0
	for _, row := range rows {
		n += len(row)
	}
	b.Grow(n * 64)
	for _, row := range rows {
		b.WriteString("<tr>")
		for i := range row {
			row[i].write(&b)
		}
		b.WriteString("</tr>\n")
	}
	return template.HTML(b.String()) //nolint:gosec // texts and addresses are escaped where they are written
}

func (c *cell) write(b *strings.Builder) {
	switch {
	case c.Number:
		b.WriteString(`<td class="number">`)
	case c.Null:
		b.WriteString(`<td class="soft">`)
	default:
		b.WriteString("<td>")
	}
	if c.Link != "" {
		b.WriteString(`<a href="`)
		b.WriteString(template.HTMLEscapeString(c.Link))
		b.WriteString(`">`)
	}
	if c.Name {
		b.WriteString("<bdi>")
	}
	b.WriteString(template.HTMLEscapeString(c.Text))
	if c.Name {
		b.WriteString("</bdi>")
	}
	if c.Link != "" {
		b.WriteString("</a>")
	}
	b.WriteString("</td>")
}

// Body is the rows of the figures.
func (x *figure) Body() template.HTML { return body(x.Rows) }

// Body is the rows of the records.
func (p *Page) Body() template.HTML { return body(p.Rows) }

// CountryCodes are suggestions for a field of the form.
func (p *Page) CountryCodes() template.HTML {
	var b strings.Builder
	for _, c := range p.Countries {
		b.WriteString(`<option value="` + template.HTMLEscapeString(c.Code) + `">`)
		b.WriteString(template.HTMLEscapeString(c.Name) + "</option>")
	}
	return template.HTML(b.String()) //nolint:gosec // escaped
}

// CountryNames are the same by name.
func (p *Page) CountryNames() template.HTML {
	var b strings.Builder
	for _, c := range p.Countries {
		b.WriteString(`<option value="` + template.HTMLEscapeString(c.Name) + `"></option>`)
	}
	return template.HTML(b.String()) //nolint:gosec // escaped
}
