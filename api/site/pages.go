package site

import (
	"bytes"
	"cmp"
	"encoding/json"
	"html/template"
	"io"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"hdqs/api/browse"
	"hdqs/api/contract"
	"hdqs/api/lang"
	"hdqs/api/list"
	"hdqs/api/reply"
	"hdqs/api/say"
	"hdqs/api/state"
	"hdqs/api/web"
)

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
	case countryPage:
		return page.Share
	case countriesPage:
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
	Source              state.PageSource
	Datasets            []state.PageDataset // on the endpoint's page
}

func newPageEndpoint(m *list.Mount, e *contract.Endpoint) pageEndpoint {
	return pageEndpoint{Name: e.Name(), Path: m.Prefix + e.Path, Summary: e.Summary}
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

// Keys of what a snapshot keeps for pages.
type (
	landingPage place
	docsKey     struct{ *list.Mount }
)

// landingData is what the landing page shows of a snapshot.
type landingData struct {
	pageHead
	ID, Time   string
	Source     state.PageSource // of all tables together
	Stale      []string         // names of endpoints whose table is older than its source
	Version    string
	Base       string
	Identifier string
	Bulk       string // the latest snapshot that has bulk files, empty without one
	Groups     []pageGroup
	World      template.HTML // a map that leads to countries
	Boundaries string        // whose it has
}

func (landingData) sought(s *sought) { s.Hidden = true } // the page begins with it

// metadataLast moves the lists about the data behind the data.
func metadataLast(groups []pageGroup) []pageGroup { return append(groups[1:], groups[0]) }

func newLanding(p place, b *state.Bound) landingData {
	identifier, _ := contract.EncodeIdentifier("my-app", "me@example.org")
	data := landingData{
		pageHead: p.head("", "/"), Version: contract.InterfaceVersion, Identifier: identifier,
	}
	if b == nil {
		data.Groups = metadataLast(pageGroups(p.Mount, nil))
		return data
	}
	at := b.Snap.Manifest.SnapshotTime.UTC()
	data.ID, data.Time = b.Snap.Manifest.ID, at.Format(time.RFC3339)
	data.Source = b.SourceOfAll()
	data.Groups = pageGroups(p.Mount, func(e *contract.Endpoint, page *pageEndpoint) {
		page.Rows, page.Source = browse.Count(b.Lists[e.Path].Rows), b.SourceOf(e)
		if page.Source.StaleSince != "" {
			data.Stale = append(data.Stale, page.Name)
		}
	})
	data.Groups = metadataLast(data.Groups)
	return data
}

// fixedPage is a page that is the same for all requests, in each coding.
type fixedPage struct {
	paths               []string
	name                string // in metrics
	contentType, policy string
	content             func() *list.PageContent
}

// fixedPages returns the pages of a mount as they are without a snapshot. They are made once for
// all servers of the process, from embedded files and the endpoint literals.
func fixedPages(m *list.Mount) []*fixedPage {
	made, _ := madePages.LoadOrStore([5]any{m.Prefix, m.Names, m.Counterpart.Prefix, m.MadeUp, m.BaseURL},
		sync.OnceValue(func() []*fixedPage { return makePages(m) }))
	return made.(func() []*fixedPage)()
}

var madePages sync.Map // of func() []*fixedPage, by what a mount says of itself

func makePages(m *list.Mount) []*fixedPage {
	page := func(name, contentType, policy string, write func() ([]byte, error), paths ...string) *fixedPage {
		return &fixedPage{paths, name, contentType, policy, list.MadeOnce(write)}
	}
	fixed := func(body []byte) func() ([]byte, error) { return func() ([]byte, error) { return body, nil } }
	description := func(kinds ...contract.Kind) func() ([]byte, error) {
		return func() ([]byte, error) { return contract.Description(m.Names, m.BaseURL, m.Prefix, kinds...) }
	}
	docs := func() ([]byte, error) { return docsBody(m, nil) }
	versions := contract.VersionPaths(m.Names)
	english := lang.All()[0]
	interactive := func() ([]byte, error) {
		return bareBody(place{m, english}, "interactive.html", "Interactive reference", "")
	}
	all := []*fixedPage{
		page(contract.VersionPath, contract.JSONType, reply.DataPolicy, fixed([]byte(bodyVersion)), versions...),
		page("/api/v2", contract.JSONType, reply.DataPolicy, fixed(indexBody(m)), contract.IndexPaths(m.Names)...),
		page("/openapi.json", contract.JSONType, reply.DataPolicy, description(m.Kinds...), m.AllDescribed()),
		page(DocsPath, reply.HtmlType, PagePolicy, docs, DocsPath, "/redoc"),
		page(interactivePath, reply.HtmlType, interactivePolicy, interactive, interactivePath),
	}
	for _, l := range lang.All() {
		identifier := func() ([]byte, error) {
			return bareBody(place{m, l}, "identifier.html", l.T("Application identifier"), identifierPath)
		}
		all = append(all, page(identifierPath, reply.HtmlType, PagePolicy, identifier, l.Path+identifierPath))
	}
	if m.Names == contract.HAPINames {
		all = append(all, page("/openapi.json", contract.JSONType, reply.DataPolicy, description(), "/openapi.json"))
	}
	if m.Prefix == "" {
		icon := web.Named("favicon.ico")
		all = append(all, page("/favicon.ico", icon.Type, reply.DataPolicy, fixed(icon.Body()), "/favicon.ico"))
	}
	return all
}

// indexBody lists the endpoints of a mount, for callers who try the path that all of them share.
func indexBody(m *list.Mount) []byte {
	type entry struct {
		Path    string `json:"path"`
		Summary string `json:"summary"`
	}
	var index struct {
		Endpoints  []entry `json:"endpoints"`
		Identifier string  `json:"identifier"`
		Docs       string  `json:"docs"`
		OpenAPI    string  `json:"openapi"`
	}
	for _, e := range contract.EndpointsIn(m.Names) {
		index.Endpoints = append(index.Endpoints, entry{m.Prefix + e.Path, e.Summary})
	}
	index.Identifier = m.Prefix + contract.EncodePath + "?application=my-app&email=me@example.org"
	index.Docs, index.OpenAPI = m.Prefix+"/docs", m.Prefix+"/openapi.json"
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false) // nor the & of the example
	if err := encoder.Encode(index); err != nil {
		panic(err)
	}
	return body.Bytes()
}

// bareBody renders a page that shows nothing of a snapshot.
func bareBody(p place, template, title, here string) ([]byte, error) {
	return rendered(pagesIn(p.Language), template, barePage{
		pageHead: p.head(title, here), Header: p.Names.IdentifierHeader(), EncodePath: p.Prefix + contract.EncodePath,
	})
}

// barePage is what such a page shows.
type barePage struct {
	pageHead
	Header, EncodePath string
}

// fixed answers with a page in the coding that the client prefers.
func (s *Site) fixed(m *list.Mount, page *fixedPage) answer {
	head := list.NewPageHead(page.contentType, page.policy, reply.PageKey, s.Lists.Pages.Fields()...)
	if page.name != DocsPath {
		return func(ctx *fasthttp.RequestCtx) error { return s.Lists.Pages.Send(ctx, &head, page.content()) }
	}
	head.Key = reply.LandingKey // it shows the snapshot
	return func(ctx *fasthttp.RequestCtx) error {
		content := page.content
		if served := s.State.Snapshots.Acquire(); served != nil {
			content = served.Keep(docsKey{m}, func() any { return newDocs(m, served.Bound) }).(func() *list.PageContent)
			served.Release(s.State.Log)
		}
		return s.Lists.Pages.Send(ctx, &head, content())
	}
}

// AddPages registers the routes of a mount that do not read a table.
func (s *Site) AddPages(m *list.Mount) {
	docs := reference{s.english(m), sync.OnceValue(func() []*endpointDocs { return docsOf(m) })}
	for _, page := range fixedPages(m) {
		answer := s.fixed(m, page)
		if page.name == DocsPath {
			answer = docs.searched(answer)
		}
		for _, path := range page.paths {
			s.Lists.Routes.Add(m, path, list.Route{Answer: answer, Name: page.name})
		}
	}
	docs.add()
	s.addSources(m)
	s.addTexts(m)
	s.addAssets(m)
	for _, l := range lang.All() {
		p := pages{s, place{m, l}}
		p.addLanding()
		p.addBrowse()
		p.addCountry()
		p.addStatus()
		p.addSearch()
		p.addChangelog()
	}
}

func (p pages) addLanding() {
	head := p.Site.hostHead(reply.HtmlType)
	empty := newLanding(p.at, nil)
	p.add("/", "/", func(ctx *fasthttp.RequestCtx) error {
		data := empty
		if served := p.Site.State.Snapshots.Acquire(); served != nil {
			made := served.Keep(landingPage(p.at), func() any { return newLanding(p.at, served.Bound) })
			data = made.(landingData)
			data.World, data.Boundaries = p.worldOf(served)
			served.Release(p.Site.State.Log)
		}
		data.Base = p.Site.Lists.Pages.BaseOf(ctx)
		data.Bulk = p.Site.bulk()
		return p.answerPage(ctx, "landing.html", data, &head)
	})
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

func (p pages) answerPage(ctx *fasthttp.RequestCtx, template string, data any, head *list.PageHead) error {
	page, err := rendered(pagesIn(p.at.Language), template, data)
	return p.Site.sendMade(ctx, head, template, page, err)
}

// sendMade sends what was rendered, or logs why it could not be.
func (s *Site) sendMade(ctx *fasthttp.RequestCtx, head *list.PageHead, name string, page []byte, err error) error {
	if err != nil {
		s.State.LogFault(name, err)
		return err
	}
	return s.Lists.Pages.Send(ctx, head, list.Made(page))
}

// assetContents are made once for all servers of the process, each when it is first requested.
var assetContents = sync.OnceValue(func() []func() *list.PageContent {
	assets := web.Assets()
	all := make([]func() *list.PageContent, len(assets))
	for i := range assets {
		all[i] = list.MadeOnce(func() ([]byte, error) { return assets[i].Body(), nil })
	}
	return all
})

// addAssets registers what the pages of a mount load. The files are the same below each mount; each
// has them, since a proxy may pass on one prefix only.
func (s *Site) addAssets(m *list.Mount) {
	fields := []string{"Cache-Control", reply.ImmutableKept, "Vary", "Accept-Encoding"}
	assets, contents := web.Assets(), assetContents()
	for i := range assets {
		a := &assets[i]
		head := list.NewPageHead(a.Type, reply.DataPolicy, reply.PageKey, fields...)
		s.Lists.Routes.Add(m, a.Path, list.Route{Name: "/static", Answer: func(ctx *fasthttp.RequestCtx) error {
			return s.Lists.Pages.Send(ctx, &head, contents[i]())
		}})
	}
}
