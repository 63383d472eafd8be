package site

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/valyala/fasthttp"

	"hdqs/api/browse"
	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/render"
	"hdqs/api/reply"
	"hdqs/api/say"
	"hdqs/api/state"
)

// Figures that leave the site: the first drawing of a view as a file, in a frame of another site,
// and described for sites that make such frames (oEmbed). They are read as the view is, so that
// they show and refuse the same.

// framePolicy is the policy of pages for frames, which alone may be in pages of others.
var framePolicy = strings.Replace(PagePolicy, "frame-ancestors 'none'", "frame-ancestors *", 1)

// figureFile is a kind of file of a figure.
type figureFile struct {
	kind string
	head list.PageHead
	make maker
}

type maker func(*state.Served, *browse.Page) ([]byte, error)

// figureHeads are the heads of frames, and of files by their types. All views share them: to make
// those of each took 4 ms of a start.
type figureHeads struct {
	frame list.PageHead
	files map[string]list.PageHead
}

func (s *Site) newFigureHeads() *figureHeads {
	heads := &figureHeads{files: map[string]list.PageHead{}}
	heads.frame = list.NewPageHead(reply.HtmlType, framePolicy, reply.LandingKey, s.landingFields()...)
	for _, contentType := range []string{svgType, pngType, reply.CsvType, workbookType} {
		heads.files[contentType] = s.hostHead(contentType)
	}
	return heads
}

// addFrame registers the page for frames.
func (of *view) addFrame(heads *figureHeads) {
	of.pages.add(browse.EmbedPath+of.name(), browse.EmbedPath, func(ctx *fasthttp.RequestCtx) error {
		return of.answerView(ctx, browse.EmbedPath, "embed.html", &heads.frame, (*browse.Page).NoFigure)
	}, of.pages.Site.Lists.Admission.Pages)
}

// addFigure registers the files of a figure.
func (of *view) addFigure(heads *figureHeads) {
	file := func(kind, contentType string, make maker) *figureFile {
		return &figureFile{kind, heads.files[contentType], make}
	}
	files := []*figureFile{
		file("svg", svgType, func(_ *state.Served, x *browse.Page) ([]byte, error) {
			return of.card(x).SVG(), nil
		}),
		file("png", pngType, func(_ *state.Served, x *browse.Page) ([]byte, error) { return of.card(x).PNG() }),
		file("csv", reply.CsvType, figureCSV), file("xlsx", workbookType, of.figureBook),
	}
	if !of.pages.at.IsEnglish() {
		files = files[:2] // tables have no language
	}
	for _, f := range files {
		of.pages.add(browse.FigurePath+of.name()+"."+f.kind, browse.FigurePath, func(ctx *fasthttp.RequestCtx) error {
			return of.answerFigure(ctx, f)
		}, of.pages.Site.Lists.Admission.Pages)
	}
}

const pngType, svgType = "image/png", "image/svg+xml"

// answerFigure answers with a file, or says why there is none as the interface says what is wrong
// with a request.
func (of *view) answerFigure(ctx *fasthttp.RequestCtx, f *figureFile) error {
	return of.pages.Site.withSnapshot(ctx, snapshotIn(ctx), func(v *state.Served) error {
		return of.pages.Site.kept(ctx, v, "hdqs-"+of.name(), f, func() (body []byte, err error) {
			err = of.withPage(ctx, v, browse.FigurePath, "."+f.kind, func(page *browse.Page) error {
				if len(page.NoFigure()) > 0 {
					return noFigure(page)
				}
				body, err = f.make(v, page)
				return err
			})
			return body, err
		})
	})
}

// kept answers with a file that was made of the same request to the same snapshot before, else with
// what make returns; nothing is an answer of its own.
func (s *Site) kept(
	ctx *fasthttp.RequestCtx, v *state.Served, name string, f *figureFile, make func() ([]byte, error),
) (err error) {
	key := v.Id + " " + s.Lists.Pages.BaseOf(ctx) + " " + string(ctx.RequestURI())
	body, _ := s.drawn.Get(key)
	if body == nil {
		if body, err = make(); err != nil || body == nil {
			return err
		}
		if f.kind == "png" {
			s.drawn.Put(key, body, int64(len(key)+len(body)))
		}
	}
	return s.sendFile(ctx, &f.head, body, "inline", name+"-"+v.Date+"."+f.kind)
}

// sendFile sends a file with the name under which a browser saves it.
func (s *Site) sendFile(ctx *fasthttp.RequestCtx, head *list.PageHead, body []byte, disposition, name string) error {
	err := s.Lists.Pages.Send(ctx, head, list.Made(body))
	if ctx.Response.StatusCode() == fasthttp.StatusOK {
		ctx.Response.Header.SetCanonical(reply.NameDisposition, []byte(disposition+`; filename="`+name+`"`))
	}
	return err
}

// noFigure is the error of a page without a figure.
func noFigure(page *browse.Page) error {
	all := new(contract.Invalid)
	for _, text := range page.NoFigure() {
		all.Issues = append(all.Issues, contract.Issue{Type: "no_figure", Param: "measure", Text: say.Of(text)})
	}
	return all
}

// figureCSV is a figure as lines of CSV.
func figureCSV(_ *state.Served, page *browse.Page) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.UseCRLF = true
	head, rows := page.Drawn.Figure.Table()
	_ = w.Write(head) // a buffer takes all
	for _, row := range rows {
		line := make([]string, len(row))
		for i, x := range row {
			switch x := x.(type) {
			case nil:
			case string:
				line[i] = render.Harmless(x) // people open it in spreadsheet programs
			default:
				line[i] = fmt.Sprint(x)
			}
		}
		_ = w.Write(line)
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

// figureBook is a figure as a workbook, with a sheet about it.
func (of *view) figureBook(v *state.Served, page *browse.Page) ([]byte, error) {
	figures := &render.Table{Name: "Figures"}
	figures.Head, figures.Rows = page.Drawn.Figure.Table()
	for _, row := range figures.Rows {
		if text, ok := row[0].(string); ok && page.Drawn.Figure.Data.Times {
			row[0] = render.TimeCell(text)
		}
		for i := range row {
			if n, ok := row[i].(json.Number); ok {
				row[i] = render.Number(n)
			}
		}
	}
	about := &render.Table{Name: "About", Head: []string{"title", page.Drawn.Figure.Title}, Rows: [][]any{
		{"second line", page.Drawn.Figure.Second}, {"filters", page.Share.Filters},
	}}
	for _, fact := range page.Drawn.Figure.About.Facts(nil) {
		about.Rows = append(about.Rows, []any{strings.ToLower(fact[0]), fact[1]})
	}
	for _, pair := range aboutBook(of.pages.at.Mount, v) {
		about.Rows = append(about.Rows, []any{pair[0], pair[1]})
	}
	about.Rows = append(about.Rows, []any{"address", page.Share.Cited})
	var book bytes.Buffer
	err := render.WriteTables(&book, figures, about)
	return book.Bytes(), err
}

// The size of a frame where a site does not say what it has room for, and the smallest one.
const (
	frameWidth = 800
	frameLeast = 240
)

// addOEmbed registers the description of frames. It takes the address of a view, of its frame or of
// a file of its figure.
func (p pages) addOEmbed(views map[string]*view) {
	head := p.Site.hostHead(contract.JSONType)
	p.add(browse.OEmbedPath, browse.OEmbedPath, func(ctx *fasthttp.RequestCtx) error {
		args := ctx.QueryArgs()
		if format := string(args.Peek("format")); format != "" && format != "json" {
			return &reply.Fault{Status: fasthttp.StatusNotImplemented, Text: "There is only format=json"}
		}
		at, err := url.Parse(string(args.Peek("url")))
		var of *view
		if err == nil && at.Scheme+"://"+at.Host == p.Site.Lists.Pages.BaseOf(ctx) {
			of = views[viewOf(strings.TrimPrefix(at.Path, p.at.root()))]
		}
		if of == nil {
			return errNoView
		}
		return p.Site.withSnapshot(ctx, at.Query().Get(contract.SnapshotParam), func(v *state.Served) error {
			return of.answerOEmbed(ctx, v, at, &head)
		})
	}, p.Site.Lists.Admission.Pages)
}

var errNoView = &reply.Fault{
	Status: fasthttp.StatusNotFound,
	Text:   "url is not the address of a view, which is that of this service with /browse/NAME",
}

// viewOf is the list of a path of a view or its figure, empty for other paths.
func viewOf(path string) string {
	if name, isPage := strings.CutPrefix(path, browsePath); isPage {
		return name
	}
	if name, isFrame := strings.CutPrefix(path, browse.EmbedPath); isFrame {
		return name
	}
	name, _ := strings.CutPrefix(path, browse.FigurePath)
	name, _, _ = strings.Cut(name, ".")
	return name
}

// answerOEmbed answers with the description of the frame of a view (oembed.com).
func (of *view) answerOEmbed(
	ctx *fasthttp.RequestCtx, v *state.Served, at *url.URL, head *list.PageHead,
) error {
	page, clean, err := of.pageOf(ctx, v, at.RawQuery, false)
	if clean != nil {
		page, _, err = of.pageOf(ctx, v, clean.Encode(), false)
	}
	switch {
	case errors.Is(err, browse.ErrAddress):
		return reply.ErrBadRequest
	case err != nil:
		return err
	case len(page.NoFigure()) > 0:
		return noFigure(page)
	}
	room := func(name string, usual int) int {
		if n, err := strconv.Atoi(string(ctx.QueryArgs().Peek(name))); err == nil {
			return max(frameLeast, min(n, usual))
		}
		return usual
	}
	height, _ := strconv.Atoi(browse.FrameHeight)
	width, height := room("maxwidth", frameWidth), room("maxheight", height)
	body, err := json.Marshal(map[string]any{
		"type": "rich", "version": "1.0", "title": page.Title, "width": width, "height": height,
		"provider_name": browse.ServiceTitle,
		"provider_url":  of.pages.Site.Lists.Pages.BaseOf(ctx) + of.pages.at.root() + "/",
		"html":          browse.Frame(page.Share.Frame, page.Title, strconv.Itoa(width), strconv.Itoa(height)),
	})
	return of.pages.Site.sendMade(ctx, head, browse.OEmbedPath, body, err)
}
