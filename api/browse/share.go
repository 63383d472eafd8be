package browse

import (
	"cmp"
	"encoding/json"
	"html"
	"slices"
	"strings"
	"time"

	"hdqs/api/contract"
	"hdqs/api/lang"
)

// Paths of what leaves the site: figures as files and pages for frames, which the name of a list
// follows, and descriptions of frames.
const (
	FigurePath = "/figure/"
	EmbedPath  = "/embed/"
	OEmbedPath = "/oembed"
)

// Kinds are the files of a figure. Pictures have a language, tables have none.
var Kinds = []string{"svg", "png", "csv", "xlsx"}

// Share is what a view says of itself elsewhere: in previews of links, frames and citations.
type Share struct {
	Title, Second string // of the view: one sentence, and a second line
	Filters       string // what was chosen, in words
	Description   string
	Address       string // of the view
	Cited         string // of the view with its snapshot
	Image, Frame  string // addresses of the picture and of the page for frames, empty without a figure
	OEmbed        string // address of the description of the frame
	Files         []link
	Embed         string // code of the frame
	Citations     []citation
	MadeUp        bool
}

type citation struct{ Style, Text string }

// ServiceTitle is what citations say that published a figure.
const ServiceTitle = "Humanitarian Data Query Service"

// longestTitle is the most bytes of a title with its filters.
const longestTitle = 200

// FrameHeight is the height of a frame in pixels, unless a site asks for another one.
const FrameHeight = "560"

// share adds how the view is called, shared and cited.
func (p *Page) share(q *Question, s state) {
	l := q.Language
	x, e := p.Drawn.Figure, q.Plan.Endpoint
	if x != nil && x.drawn.path != "" {
		s = x.drawn
	}
	values := s.copy(rowParam, columnParam, sortParam, moreParam, "limit", "offset", contract.FieldsParam)
	given := p.filtersText(nil)
	r := &Share{MadeUp: q.MadeUp, Title: p.Summary, Filters: given, Address: q.Base + s.address(values)}
	p.Share = r
	if x != nil && len(x.Refusal.Refused) == 0 && len(x.Data.Rows) > 0 && !x.apart {
		r.Title, r.Second, r.Filters = x.Title, x.Second, p.filtersText(x)
		files := func(kind string) string {
			prefix := q.Root
			if kind == "svg" || kind == "png" {
				prefix = q.Prefix
			}
			return address(prefix+FigurePath+e.Name()+"."+kind, values)
		}
		for _, kind := range Kinds {
			r.Files = append(r.Files, link{strings.ToUpper(kind), files(kind)})
		}
		r.Image, r.Frame = q.Base+files("png"), q.Base+address(q.Prefix+EmbedPath+e.Name(), values)
		r.OEmbed = q.Base + q.Prefix + OEmbedPath + "?" + contract.QueryOf("url", r.Address, "format", "json")
	}
	if r.Second == "" && given != "" {
		r.Title = l.T("%[1]s: %[2]s", r.Title, given)
	}
	r.Title = cutText(r.Title, longestTitle)
	p.Title = r.Title
	r.Description = cmp.Or(r.Second, l.T("%s: figures, records and their sources.", p.Summary))
	if r.Frame == "" {
		return
	}
	r.Embed = Frame(r.Frame, p.Title, "100%", FrameHeight)
	r.Description = r.Second
	if r.Filters != "" {
		r.Description += ". " + l.T("This figure shows:") + " " + r.Filters + "."
	}
	pinned := state{path: q.Base + s.path, values: values}
	r.Cited = pinned.with(contract.SnapshotParam, q.Freshness.Snapshot)
	r.cite(q, x, r.Title)
}

// Frame is the code that shows a page in a frame of another page.
func Frame(address, title, width, height string) string {
	return `<iframe src="` + html.EscapeString(address) + `" title="` + html.EscapeString(title) + `" width="` + width +
		`" height="` + height + `" style="border:0" loading="lazy"></iframe>`
}

// cutText is the beginning of a text that is too long.
func cutText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// filtersText is the filters of an address in words, and those that were chosen for the reader of a
// figure.
func (p *Page) filtersText(x *figure) string {
	var all []string
	for _, chip := range p.Form.Chips {
		if chip.countries != "" {
			all = slices.Insert(all, 0, chip.countries)
		} else {
			all = append(all, chip.text)
		}
	}
	if x != nil {
		for _, chosen := range x.Chosen {
			all = append(all, chosen.Text)
		}
	}
	return strings.Join(all, p.Language.T(";")+" ")
}

// text is a figure's facts as sentences.
func (a *about) text(l *lang.Language) string {
	var b strings.Builder
	for _, pair := range a.Facts(l) {
		b.WriteString(l.T("%[1]s: %[2]s", pair[0], pair[1]) + ". ")
	}
	return strings.TrimSpace(b.String())
}

// Rest are the facts that a title and its second line do not have, as sentences.
func (a *about) Rest(l *lang.Language) string {
	rest := about{Places: a.Places, Licenses: a.Licenses, stale: a.stale}
	return rest.text(l)
}

// Origin is the provider and the licence, as sentences.
func (a *about) Origin(l *lang.Language) string {
	origin := about{Providers: a.Providers, More: a.More, Licenses: a.Licenses, stale: a.stale}
	return origin.text(l)
}

// Facts are names and texts of what is known of a figure.
func (a *about) Facts(l *lang.Language) [][2]string {
	return slices.DeleteFunc([][2]string{
		{l.T("Unit"), a.Unit},
		{l.T("Period"), a.Period},
		{l.T("Places"), a.Places},
		{l.T("Provider"), a.Source(l)},
		{l.T("Licence"), a.License()},
		{l.T("Older than its source since"), l.DayOf(a.stale)},
	}, func(fact [2]string) bool { return fact[1] == "" })
}

// cite adds citations of a figure. They name its providers as authors, and no author where these
// are not known; and the snapshot, whose figures stay as they are.
func (r *Share) cite(q *Question, x *figure, title string) {
	l := q.Language
	service := l.T(ServiceTitle)
	author := x.About.Source(l)
	if r.MadeUp {
		title = l.T("[Made-up sample] %s", title)
	}
	title = cutText(title, 2*longestTitle)
	day, _ := time.Parse(time.DateOnly, q.Freshness.Loaded)
	id := q.Freshness.Snapshot
	note := ""
	if license := x.About.License(); license != "" {
		note = " " + l.T("%[1]s: %[2]s", l.T("Licence"), license) + "."
	}
	var authors []string
	for _, name := range x.About.Providers {
		authors = append(authors, "{"+texText(name)+"}")
	}
	if x.About.More > 0 {
		authors = append(authors, "others")
	}
	field := func(name, value string) string {
		if value == "" {
			return ""
		}
		return "  " + name + " = {" + value + "},\n"
	}
	published := day.Format("2006, January 2")
	apa := author + ". (" + published + "). " + title
	if author == "" { // the title takes its place
		apa = title + ". (" + published + ")."
	}
	r.Citations = []citation{
		{l.T("Text"), strings.TrimPrefix(author+", ", ", ") + l.T("“%s”", title) + ", " + service + ", " +
			l.T("snapshot %[1]s of %[2]s", id, l.Day(day)) + "." + note + " " + r.Cited},
		{"APA", apa + " (Snapshot " + id + ") [Data set]. " + service + ". " + r.Cited},
		{"BibTeX", "@misc{hdqs-" + q.Plan.Endpoint.Name() + "-" + day.Format("20060102") + ",\n" +
			field("author", strings.Join(authors, " and ")) + field("title", "{"+texText(title)+"}") +
			field("year", day.Format("2006")) + field("month", day.Format("1")) +
			field("howpublished", service+", snapshot "+texText(id)) +
			field("note", texText(strings.TrimSpace(note))) +
			field("url", strings.NewReplacer("{", "%7B", "}", "%7D", `\`, "%5C").Replace(r.Cited)) + "}"},
	}
}

// texText is a text in which nothing is a command of TeX.
func texText(text string) string {
	return strings.NewReplacer(
		`\`, `\textbackslash{}`, "{", `\{`, "}", `\}`, "%", `\%`, "#", `\#`, "&", `\&`, "_", `\_`, "$", `\$`,
		"~", `\textasciitilde{}`, "^", `\textasciicircum{}`, "\u202f", `\,`,
	).Replace(text)
}

// NoFigure says why the page has no figure, empty if it has one.
func (p *Page) NoFigure() []string {
	x := p.Drawn.Figure
	switch {
	case len(p.Problem.Wrong) > 0:
		return p.Problem.Wrong
	case p.Problem.Unknown != "":
		hint, _ := p.Language.Say(p.Problem.Hint)
		return []string{strings.TrimSpace(p.Language.T("This list has no filter %s.", p.Problem.Unknown) + " " + hint)}
	case p.Records.Total == "0":
		return []string{p.Language.T("No record passes these filters.")}
	case x != nil && len(x.Refusal.Refused) > 0:
		var all []string
		for _, text := range x.Refusal.Refused {
			said, _ := p.Language.Say(text)
			all = append(all, said)
		}
		return all
	case x != nil && x.Limit.Turned != "":
		return []string{x.Limit.Turned}
	case x != nil && len(x.Data.Rows) > 0:
		return nil
	case p.Drawn.First != nil && len(p.Drawn.First.Choosers) > 0:
		last := p.Drawn.First.Choosers[len(p.Drawn.First.Choosers)-1]
		return []string{p.Language.T("Choose one value of %s first.", last.Name)}
	}
	return []string{p.Language.T("There is nothing to draw of these records.")}
}

// Limits says what a figure is not, what it leaves out, and whose boundaries it has.
func (x *figure) Limits(l *lang.Language) (all []string) {
	listed := func(text string, names []string, between string) {
		if len(names) > 0 {
			all = append(all, text+" "+strings.Join(names, between)+".")
		}
	}
	if x.Limit.Turned != "" {
		all = append(all, x.Limit.Turned)
	}
	listed(l.T("This is not the figure of the whole country:"), x.Limit.National, l.T(";")+" ")
	all = append(all, x.Chart.Cut...)
	if x.Limit.Coverage != "" {
		all = append(all, x.Limit.Coverage)
	}
	listed(l.T("Left out, since their records count the same more than once:"), x.Limit.LeftOut, ", ")
	if x.Limit.Several > 0 {
		all = append(all, l.T("%s have records with several values: no figure.", Count(x.Limit.Several)))
	}
	if x.Map.Boundaries != "" {
		listed(l.T("Boundaries:"), []string{x.Map.Boundaries}, "")
	}
	if x.Map.Missing != "" {
		listed(l.T("Not on this map, or too small for it:"), []string{x.Map.Missing}, "")
	}
	return all
}

// Table is the figures as a table: texts, exact numbers, and nil where there is none. Where names
// have codes, these come first.
func (x *figure) Table() (head []string, rows [][]any) {
	plain := strings.NewReplacer("\u202f", "", "\u2212", "-")
	head = x.Data.Head
	if len(x.Data.Codes) > 0 {
		head = append([]string{"Code"}, head...)
	}
	for i, cells := range x.Data.Rows {
		var row []any
		if len(x.Data.Codes) > 0 {
			row = append(row, x.Data.Codes[i])
		}
		for k := range cells {
			switch c := &cells[k]; {
			case c.Null:
				row = append(row, nil)
			case c.Number:
				row = append(row, json.Number(plain.Replace(cmp.Or(c.Exact, c.Text))))
			default:
				row = append(row, c.Text)
			}
		}
		rows = append(rows, row)
	}
	return head, rows
}
