package browse

import (
	"html/template"
	"strings"
)

// body writes the rows of a table. Cells name their columns, since a narrow screen shows each row
// as a card. Links are addresses of pages of ours. A template takes ten times as long, and a page
// can have thousands of cells.
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
	case c.Null && c.Number:
		b.WriteString(`<td class="number soft"`)
	case c.Null:
		b.WriteString(`<td class="soft"`)
	case c.Number:
		b.WriteString(`<td class="number"`)
	default:
		b.WriteString("<td")
	}
	attribute(b, "title", c.Exact)
	attribute(b, "data-of", c.Label)
	b.WriteString(">")
	if c.Link != "" {
		b.WriteString(`<a href="`)
		b.WriteString(template.HTMLEscapeString(c.Link))
		b.WriteString(`"`)
		attribute(b, "aria-label", c.About)
		b.WriteString(">")
	}
	if c.Name {
		b.WriteString("<bdi>")
	}
	text := c.Text
	if c.Ours {
		text = capital(text)
	}
	b.WriteString(template.HTMLEscapeString(text))
	if c.Name {
		b.WriteString("</bdi>")
	}
	if c.Link != "" {
		b.WriteString("</a>")
	}
	if c.Code != "" {
		b.WriteString(" <small>" + template.HTMLEscapeString(c.Code) + "</small>")
	}
	b.WriteString("</td>")
}

// attribute writes an attribute that has a value.
func attribute(b *strings.Builder, name, value string) {
	if value != "" {
		b.WriteString(" " + name + `="` + template.HTMLEscapeString(value) + `"`)
	}
}

// Body is the rows of the figures.
func (x *figure) Body() template.HTML { return body(x.Data.Rows) }

// Body is the rows of the records.
func (t *Table) Body() template.HTML { return body(t.Rows) }
