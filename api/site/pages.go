package site

import (
	"bytes"
	"cmp"
	"errors"
	"html/template"
	"io"
	"io/fs"
	"strings"
	"sync"

	"github.com/valyala/fasthttp"

	"hdqs/api/browse"
	"hdqs/api/contract"
	"hdqs/api/find"
	"hdqs/api/lang"
	"hdqs/api/list"
	"hdqs/api/reply"
	"hdqs/api/say"
	"hdqs/api/state"
	"hdqs/api/web"
	"hdqs/api/wire"
	"hdqs/internal/cache"
)

// Site answers with pages about what its lists serve.
type Site struct {
	State  *state.State
	Lists  *list.Lists
	Finder *find.Finder
	bulk   func() string
	drawn  *cache.Cache[string, []byte] // pictures

	answers *cache.Cache[askedBefore, outcome]
}

// New returns the pages about lists. bulk is the latest snapshot that has bulk files, empty without
// one. What all pages of countries need is made with the names that are searched when a snapshot
// replaces another one, and after a start by the first page.
func New(l *list.Lists, bulk func() string) *Site {
	s := &Site{
		State: l.State, Lists: l, bulk: bulk,
		drawn: cache.New[string, []byte](maxPictures, nil), answers: cache.New[askedBefore, outcome](maxAnswers, nil),
	}
	s.Finder = find.New(l, func(v *state.Served) {
		if _, err := s.overviewOf(v); err != nil {
			s.State.LogFault(countryPath, err)
		}
	})
	return s
}

// pageHead is what the head of every page needs.
type pageHead struct {
	lang.Head
	OpenAPI string // path of the description of everything
}

// ignore says which parameters a page does not have: figures that are not what was asked for must
// not look like it.
func (h *pageHead) ignore(names ...string) {
	for _, name := range names {
		h.Ignored = strings.TrimPrefix(h.Ignored+", "+name, ", ")
	}
}

// newPageHead is the head of a page that is in English only.
func newPageHead(m *list.Mount, title string) pageHead {
	return place{m, lang.All()[0]}.head(title, "")
}

// place is where pages are: a mount in a language.
type place struct {
	*list.Mount
	*lang.Language
}

// head is the head of the page at a path, with its query, below the place.
func (p place) head(title, here string) pageHead {
	head := lang.NewHead(p.Language, p.Prefix, p.BaseURL, here, title, p.MadeUp)
	return pageHead{head, p.Prefix + p.AllDescribed()}
}

// root is the prefix of the pages.
func (p place) root() string { return p.Prefix + p.Path }

// pages are the pages of a place.
type pages struct {
	Site *Site
	at   place
}

// english are the pages of a mount in English.
func (s *Site) english(m *list.Mount) pages { return pages{s, place{m, lang.All()[0]}} }

// add registers a path below the place. What is at it is made for each request.
func (p pages) add(path, name string, answer func(*fasthttp.RequestCtx) error, before ...*wire.Gate) {
	p.route(path, name, func(ctx *fasthttp.RequestCtx) error {
		err := answer(ctx)
		if _, isGone := errors.AsType[*reply.Gone](err); isGone && p.Site.WantsPage(ctx, string(ctx.Path())) {
			return answerGone(p, ctx)
		}
		return err
	}, p.Site.Lists.Admission.OfPages(before...)...)
}

// answerGone answers a person's request for a snapshot that is not held any more, as citations name
// it, with a page that leads to the newest figures.
func answerGone(p pages, ctx *fasthttp.RequestCtx) error {
	var query fasthttp.Args
	ctx.QueryArgs().CopyTo(&query)
	query.Del(contract.SnapshotParam)
	page := searchPage{
		pageHead: p.at.head(p.at.T("The figures of that day are not kept any more"), ""),
		Newest:   strings.TrimSuffix(string(ctx.Path())+"?"+query.String(), "?"),
	}
	head := p.Site.hostHead(reply.HtmlType)
	err := p.answerPage(ctx, "search.html", page, &head)
	if err == nil {
		ctx.SetStatusCode(fasthttp.StatusGone)
		ctx.Response.Header.Set("Cache-Control", reply.NoStore)
	}
	return err
}

// route registers a path below the place.
func (p pages) route(path, name string, answer func(*fasthttp.RequestCtx) error, gates ...*wire.Gate) {
	to := list.Route{Name: name, Answer: answer, Gates: gates}
	p.Site.Lists.Routes.Add(p.at.Mount, p.at.Path+path, to)
}

// RootOf is the prefix of the pages of a path: that of its mount and its language.
func (s *Site) RootOf(path string) string { return s.pagesAt(path).at.root() }

// pagesAt are the pages of a path.
func (s *Site) pagesAt(path string) pages {
	m := s.Lists.Routes.MountOf(path)
	for _, l := range lang.All()[1:] {
		if rest, is := strings.CutPrefix(path[len(m.Prefix):], l.Path); is && (rest == "" || rest[0] == '/') {
			return pages{s, place{m, l}}
		}
	}
	return s.english(m)
}

// pagesIn are the templates of pages in a language. The first use parses them, so that a start does
// not wait.
func pagesIn(l *lang.Language) *template.Template { return parsedPages()[l]() }

var parsedPages = sync.OnceValue(func() map[*lang.Language]func() *template.Template {
	all := map[*lang.Language]func() *template.Template{}
	for _, l := range lang.All() {
		all[l] = sync.OnceValue(func() *template.Template { return parsePages(l) })
	}
	return all
})

func parsePages(l *lang.Language) *template.Template {
	parsed := template.New("").Funcs(template.FuncMap{
		"asset": web.Path, "sought": soughtOn, "shared": sharedOf, "language": func() *lang.Language { return l },
		"t": l.T, "day": l.DayOf, "between": l.Between, "country": l.Country,
		"count":   func(n int) lang.Count { return lang.Count(n) },
		"records": func(n lang.Count) template.HTML { return strong(l.T("%s records", n), n.String()) },
		"say":     func(text say.Text) template.HTML { return said(l, text) },
		"english": func() template.HTMLAttr {
			if l.IsEnglish() {
				return ""
			}
			return ` hreflang="en"`
		},
	})
	names, err := fs.Glob(web.Templates, "*.html")
	for _, name := range names {
		source, failed := fs.ReadFile(web.Templates, name)
		if err = cmp.Or(err, failed); err == nil {
			_, err = parsed.New(name).Parse(l.Template(string(source)))
		}
	}
	return template.Must(parsed, err)
}

// strong is a text in which a part stands out.
func strong(text, part string) template.HTML {
	text, part = template.HTMLEscapeString(text), template.HTMLEscapeString(part)
	return template.HTML(strings.Replace(text, part, "<strong>"+part+"</strong>", 1)) //nolint:gosec // escaped
}

// said is what the interface says, in a language if it is translated.
func said(l *lang.Language, t say.Text) template.HTML {
	text, ok := l.Say(t)
	if text = template.HTMLEscapeString(text); !ok {
		text = `<span lang="en" dir="ltr">` + text + `</span>`
	}
	return template.HTML(text) //nolint:gosec // escaped
}

// sharedOf is what a page says of itself elsewhere, nil for nothing.
func sharedOf(data any) *browse.Share {
	switch page := data.(type) {
	case *browse.Page:
		return page.Share
	case *countryPage:
		return page.Share
	}
	return nil
}

// rendered renders a template of pages or of texts.
func rendered(of interface {
	ExecuteTemplate(to io.Writer, name string, data any) error
}, name string, data any,
) ([]byte, error) {
	var b bytes.Buffer
	err := of.ExecuteTemplate(&b, name, data)
	return b.Bytes(), err
}

// The policies of pages: they load only what this server has. swagger-ui writes style attributes
// and has images in its style sheet.
const (
	PagePolicy = "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; connect-src 'self'; " +
		"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
	interactivePolicy = "default-src 'none'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
		"script-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)

type pageGroup struct {
	Title     string
	Endpoints []pageEndpoint
}

type pageEndpoint struct {
	Name, Path, Summary string
	Rows                string
	IsData              bool // not about the data behind the data
	Source              state.PageSource
	Datasets            []state.PageDataset // on the endpoint's page
}

func newPageEndpoint(m *list.Mount, e *contract.Endpoint) pageEndpoint {
	return pageEndpoint{Name: e.Name(), Path: m.Prefix + e.Path, Summary: e.Summary, IsData: e.Group() != "metadata"}
}

// pageGroups lists all endpoints of a mount. fill adds what a snapshot has of an endpoint; nil adds
// nothing.
func pageGroups(m *list.Mount, fill func(e *contract.Endpoint, page *pageEndpoint)) []pageGroup {
	var groups []pageGroup
	endpoints := contract.EndpointsIn(m.Names)
	for i := range endpoints {
		e := &endpoints[i]
		title := e.Texts().GroupTitle()
		if len(groups) == 0 || groups[len(groups)-1].Title != title {
			groups = append(groups, pageGroup{Title: title})
		}
		page := newPageEndpoint(m, e)
		if fill != nil {
			fill(e.Contract(), &page)
		}
		last := &groups[len(groups)-1]
		last.Endpoints = append(last.Endpoints, page)
	}
	return groups
}

// sharedHead is the head of what is the same for all requested hosts, and hostHead that of what is
// not.
func (s *Site) sharedHead(contentType string) list.PageHead {
	return headOf(contentType, s.Lists.Pages.Fields())
}

func (s *Site) hostHead(contentType string) list.PageHead {
	return headOf(contentType, s.landingFields())
}

func headOf(contentType string, fields []string) list.PageHead {
	policy := reply.DataPolicy
	if contentType == reply.HtmlType {
		policy = PagePolicy
	}
	return list.NewPageHead(contentType, policy, reply.LandingKey, fields...)
}

// landingFields are those of pages, or fields that forbid caching if the page depends on the
// requested host.
func (s *Site) landingFields() []string {
	if s.State.Options.BaseURL == "" {
		return []string{"Cache-Control", reply.NoStore, "Vary", "Accept-Encoding"}
	}
	return s.Lists.Pages.Fields()
}

// answerPage answers with a page that reads some parameters.
func (p pages) answerPage(
	ctx *fasthttp.RequestCtx, template string, data any, head *list.PageHead, known ...string,
) error {
	if page, has := data.(interface{ ignore(names ...string) }); has {
		page.ignore(contract.OtherNames(ctx.URI().QueryString(), p.at.Names, known...)...)
	}
	page, err := rendered(pagesIn(p.at.Language), template, data)
	return p.Site.sendMade(ctx, head, template, page, err)
}

// fileFaults are those of a request for a file with other parameters than some.
func fileFaults(ctx *fasthttp.RequestCtx, at place, known ...string) error {
	const hint = "this file has what its page shows without it"
	if faults := contract.FileFaults(ctx.URI().QueryString(), at.Names, hint, known...); faults != nil {
		return faults
	}
	return nil
}

// sendMade sends what was rendered, or logs why it could not be.
func (s *Site) sendMade(ctx *fasthttp.RequestCtx, head *list.PageHead, name string, page []byte, err error) error {
	if err != nil {
		s.State.LogFault(name, err)
		return err
	}
	return s.Lists.Pages.Send(ctx, head, list.Made(page))
}
