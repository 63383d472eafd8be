package browse

import (
	"html/template"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

// twin writes the rows as a template does.
var twin = template.Must(template.New("").Parse(`{{range .}}<tr>{{range .}}<td{{if and .Number .Null}} class="number soft"` +
	`{{else if .Number}} class="number"{{else if .Null}} class="soft"{{end}}{{with .Exact}} title="{{.}}"{{end}}` +
	`{{with .Label}} data-of="{{.}}"{{end}}>{{if .Link}}<a href="{{.Link}}"{{with .About}} aria-label="{{.}}"{{end}}>{{end}}{{if .Name}}<bdi>{{.Text}}</bdi>` +
	`{{else}}{{.Text}}{{end}}{{if .Link}}</a>{{end}}{{with .Code}} <small>{{.}}</small>{{end}}</td>{{end}}</tr>` + "\n{{end}}"))

// TestBody: rows are what a template makes of them.
func TestBody(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(16, 1))
	texts := []string{
		"", "–", "Kabul", `</td><script>alert(1)</script>`, `"'><img src=x onerror=alert(1)>`, "a & b; &amp;", "كابول",
		"\x00\xff", "1\u202f000", "{{.}}", "+",
	}
	links := []string{"", "", "/browse/org?name=%3Cb%3E%22&limit=1#record", "/hapi/browse/org?a=%27&b=%D8%A7+x"}
	for range 500 {
		rows := make([][]cell, random.IntN(4))
		for i := range rows {
			for range random.IntN(5) {
				rows[i] = append(rows[i], cell{
					Text: texts[random.IntN(len(texts))], Code: texts[random.IntN(len(texts))],
					Exact: texts[random.IntN(len(texts))], Label: texts[random.IntN(len(texts))],
					About: texts[random.IntN(len(texts))], Link: links[random.IntN(len(links))],
					Number: random.IntN(2) == 0, Null: random.IntN(2) == 0, Name: random.IntN(2) == 0,
				})
			}
		}
		var want strings.Builder
		testkit.Must(t, twin.Execute(&want, rows))
		// Both are right for a quotation mark and a plus; templates write them by number.
		same := strings.NewReplacer("&#43;", "+", "&#34;", `"`, "&quot;", `"`)
		if got := same.Replace(string(body(rows))); got != same.Replace(want.String()) {
			t.Fatalf("%+v: got\n%s\nwant\n%s", rows, got, want.String())
		}
	}
}

// TestLinker: addresses are those that are made whole.
func TestLinker(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(16, 2))
	names := []string{"admin1_code", "by", "limit", "location_code", "location_code__in", "offset", "row", "x&=%"}
	values := []string{"", "AFG", "a&b=c", "كابول", "%00", " +"}
	for range 500 {
		s := state{path: "/browse/org", values: url.Values{}}
		for _, name := range names {
			for range random.IntN(3) {
				s.values.Add(name, values[random.IntN(len(values))])
			}
		}
		name, value := names[random.IntN(len(names))], values[1+random.IntN(len(values)-1)]
		want := s.with(name, value, "location_code__in", "")
		if name == "location_code__in" || name == "offset" || name == "row" {
			continue
		}
		testkit.Equal(t, s.linker(name, "location_code__in", "offset", "row")(value), want, "the link")
	}
}
