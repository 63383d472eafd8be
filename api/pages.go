package api

import (
	"bytes"
	"encoding/json"
	"html/template"
	"strconv"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/encode"
	"hdqs/api/web"
)

// pages are the templates of pages. The first use parses them, so that a start does not wait.
var pages = sync.OnceValue(func() *template.Template {
	return template.Must(
		template.New("").Funcs(template.FuncMap{"asset": web.Path}).ParseFS(web.Templates, "*.html"))
})

// The policies of pages: they load only what this server has. swagger-ui writes style attributes
// and has images in its style sheet.
const (
	pagePolicy = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; " +
		"frame-ancestors 'none'"
	scriptPolicy      = pagePolicy + "; script-src 'self'"
	interactivePolicy = "default-src 'none'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
		"script-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)

// serviceTitle is the name of the service on pages.
const serviceTitle = "Humanitarian Data Query Service"

// pageGroup is a path group on a page.
type pageGroup struct {
	Title     string
	Endpoints []pageEndpoint
}

type pageEndpoint struct {
	Name, Path, Summary string
	Rows                string
	Source              pageSource
	Datasets            []pageDataset // on the endpoint's page
}

func newPageEndpoint(m *mount, e *contract.Endpoint) pageEndpoint {
	return pageEndpoint{Name: e.Name(), Path: m.prefix + e.Path, Summary: e.Summary}
}

// pageGroups lists all endpoints of a mount. fill adds what a snapshot has of an endpoint; nil adds
// nothing.
func pageGroups(m *mount, fill func(e *contract.Endpoint, page *pageEndpoint)) []pageGroup {
	var groups []pageGroup
	endpoints := contract.EndpointsIn(m.names)
	for i := range endpoints {
		e := &endpoints[i]
		title := e.GroupTitle()
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

// landingData is what the landing page shows of a snapshot.
type landingData struct {
	pageHead
	ID, Time, Day string
	Source        pageSource // of all tables together
	Stale         []string   // names of endpoints whose table is older than its source
	Version       string
	Base          string
	Identifier    string
	Bulk          string // the latest snapshot that has bulk files, empty without one
	Groups        []pageGroup
}

func newLanding(m *mount, b *Bound) landingData {
	identifier, _ := contract.EncodeIdentifier("my-app", "me@example.org")
	data := landingData{
		pageHead: newPageHead(m, ""), Version: contract.InterfaceVersion, Identifier: identifier,
	}
	if b == nil {
		data.Groups = pageGroups(m, nil)
		return data
	}
	at := b.snap.Manifest.SnapshotTime.UTC()
	data.ID, data.Time, data.Day = b.snap.Manifest.ID, at.Format(time.RFC3339), at.Format(dayFormat)
	data.Source = b.sourceOfAll()
	data.Groups = pageGroups(m, func(e *contract.Endpoint, page *pageEndpoint) {
		page.Rows, page.Source = groupedNumber(b.lists[e.Path].rows), b.sourceOf(e)
		if page.Source.StaleSince != "" {
			data.Stale = append(data.Stale, page.Name)
		}
	})
	return data
}

// fixedPage is a page that is the same for all requests, in each coding.
type fixedPage struct {
	paths               []string
	name                string // in metrics
	contentType, policy string
	content             func() *pageContent
}

// pageContent is made when the page is first requested, so that a start does not wait for it.
type pageContent struct {
	bodies map[encode.Coding][]byte
	tag    entityTag
}

// madeOnce returns the page that write writes. An error is a bug: what pages are made of is ours.
func madeOnce(write func() ([]byte, error)) func() *pageContent {
	return sync.OnceValue(func() *pageContent {
		body, err := write()
		if err != nil {
			panic(err)
		}
		return newContent(body)
	})
}

func newContent(body []byte) *pageContent {
	return &pageContent{map[encode.Coding][]byte{
		encode.Identity: body, encode.Gzip: encode.AppendGzip(nil, body), encode.Zstd: encode.AppendZstd(nil, body),
	}, bodyTag(body)}
}

// fixedPages returns the pages of a mount as they are without a snapshot. They are made once for
// all servers of the process, from embedded files and the endpoint literals.
func fixedPages(m *mount) []*fixedPage {
	made, _ := madePages.LoadOrStore([3]any{m.prefix, m.names, m.twin.prefix}, sync.OnceValue(func() []*fixedPage {
		return makePages(m)
	}))
	return made.(func() []*fixedPage)()
}

var madePages sync.Map // of func() []*fixedPage, by prefix, names and the twin's prefix

func makePages(m *mount) []*fixedPage {
	page := func(name, contentType, policy string, write func() ([]byte, error), paths ...string) *fixedPage {
		return &fixedPage{paths, name, contentType, policy, madeOnce(write)}
	}
	fixed := func(body []byte) func() ([]byte, error) { return func() ([]byte, error) { return body, nil } }
	description := func() ([]byte, error) { return contract.Description(m.names, m.prefix, servedKinds()...) }
	docs := func() ([]byte, error) { return docsBody(m, nil) }
	versions := contract.VersionPaths(m.names)
	interactive := func() ([]byte, error) { return bareBody(m, "interactive.html", "Interactive reference") }
	identifier := func() ([]byte, error) { return bareBody(m, "identifier.html", "Application identifier") }
	all := []*fixedPage{
		page(contract.VersionPath, contract.JSONType, dataPolicy, fixed([]byte(bodyVersion)), versions...),
		page("/api/v2", contract.JSONType, dataPolicy, fixed(indexBody(m)), contract.IndexPaths(m.names)...),
		page("/openapi.json", contract.JSONType, dataPolicy, description, "/openapi.json"),
		page(docsPath, htmlType, scriptPolicy, docs, docsPath, "/redoc"),
		page(interactivePath, htmlType, interactivePolicy, interactive, interactivePath),
		page(identifierPath, htmlType, scriptPolicy, identifier, identifierPath),
	}
	if m.prefix == "" {
		icon := web.Named("favicon.ico")
		all = append(all, page("/favicon.ico", icon.Type, dataPolicy, fixed(icon.Body()), "/favicon.ico"))
	}
	return all
}

// indexBody lists the endpoints of a mount, for callers who try the path that all of them share.
func indexBody(m *mount) []byte {
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
	for _, e := range contract.EndpointsIn(m.names) {
		index.Endpoints = append(index.Endpoints, entry{m.prefix + e.Path, e.Summary})
	}
	index.Identifier = m.prefix + contract.EncodePath + "?application=my-app&email=me@example.org"
	index.Docs, index.OpenAPI = m.prefix+"/docs", m.prefix+"/openapi.json"
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false) // nor the & of the example
	if err := encoder.Encode(index); err != nil {
		panic(err)
	}
	return body.Bytes()
}

// bareBody renders a page that shows nothing of a snapshot.
func bareBody(m *mount, template, title string) ([]byte, error) {
	var b bytes.Buffer
	err := pages().ExecuteTemplate(&b, template, barePage{
		pageHead: newPageHead(m, title), Header: m.names.IdentifierHeader(), EncodePath: m.prefix + contract.EncodePath,
	})
	return b.Bytes(), err
}

// barePage is what such a page shows.
type barePage struct {
	pageHead
	Header, EncodePath string
}

// pageFields are the header fields of pages.
func (s *Server) pageFields(more ...string) []string {
	fields := append(more, "Cache-Control", s.options.Freshness.field(), "Vary", "Accept-Encoding")
	if cdn := s.options.Freshness.CDN; cdn != "" {
		fields = append(fields, "CDN-Cache-Control", cdn)
	}
	return fields
}

// fixed returns the handler of a page. It sends the page in the coding that the client prefers.
func (s *Server) fixed(m *mount, page *fixedPage) fasthttp.RequestHandler {
	full := newHead(s.pageFields(
		safe("Content-Type", page.contentType, "Content-Security-Policy", page.policy)...)...)
	bare := newHead(s.pageFields()...)
	return func(ctx *fasthttp.RequestCtx) {
		content, key := page.content, pageKey
		if page.name == docsPath { // shows the snapshot
			key = landingKey
			if served := s.acquire(); served != nil {
				content = served.docs[m]
				served.release(s.log)
			}
		}
		made := content()
		coding, ok := s.beginPage(ctx, full, bare, &made.tag, key)
		if !ok {
			return
		}
		made.send(ctx, coding)
	}
}

// send answers with the body in a coding; short ones are sent as they are.
func (c *pageContent) send(ctx *fasthttp.RequestCtx, coding encode.Coding) {
	if len(c.bodies[encode.Identity]) <= minEncoded && !encode.RefusesIdentity(acceptEncoding(ctx)) {
		coding = encode.Identity
	}
	if coding != encode.Identity {
		ctx.Response.Header.SetContentEncoding(coding.String())
	}
	ctx.Response.SetBodyRaw(c.bodies[coding])
}

// beginPage writes the header of a page and chooses its coding. ok is false if the answer is
// complete: there is no such coding, a precondition does not hold, or the client has the page.
func (s *Server) beginPage(
	ctx *fasthttp.RequestCtx, full, bare head, tag *entityTag, key string,
) (coding encode.Coding, ok bool) {
	if coding, ok = encode.Negotiate(acceptEncoding(ctx)); !ok {
		s.answerError(ctx, errNotAcceptable)
		return coding, false
	}
	if !preconditionHolds(&ctx.Request.Header, time.Time{}) {
		s.answerError(ctx, errPrecondition)
		return coding, false
	}
	same := notModified(&ctx.Request.Header, tag.text(), time.Time{})
	if same {
		full = bare
	}
	h := full.begin(ctx)
	if same {
		ctx.SetStatusCode(fasthttp.StatusNotModified)
	}
	s.setSnapshot(h)
	h.SetCanonical(nameETag, tag.text())
	s.setPageKeys(h, key)
	return coding, !same
}

// addPages registers the routes of a mount that do not read a table.
func (s *Server) addPages(m *mount) {
	for _, page := range fixedPages(m) {
		handler := s.fixed(m, page)
		if page.name == docsPath {
			handler = s.searched(m, handler)
		}
		for _, path := range page.paths {
			s.add(m, path, route{handler: handler, name: page.name})
		}
	}
	s.addDocs(m)
	s.addBrowse(m)
	s.addStatus(m)
	s.addChangelog(m)
	s.addTexts(m)
	s.addAssets(m)
	s.addBulk(m)
	full := newHead(s.landingFields(safe("Content-Type", htmlType, "Content-Security-Policy", pagePolicy)...)...)
	bare := newHead(s.landingFields()...)
	empty := newLanding(m, nil)
	s.add(m, "/", route{name: "/", handler: func(ctx *fasthttp.RequestCtx) {
		data := empty
		if served := s.acquire(); served != nil {
			data = *served.landings[m]
			served.release(s.log)
		}
		data.Base = s.baseOf(ctx)
		if bulk := s.bulk.Load(); bulk != nil {
			data.Bulk = bulk.latest
		}
		s.answerPage(ctx, "landing.html", data, full, bare, landingKey)
	}})
}

// landingFields are pageFields, or fields that forbid caching if the page depends on the requested
// host.
func (s *Server) landingFields(more ...string) []string {
	if s.options.BaseURL == "" {
		return append(more, "Cache-Control", noStore, "Vary", "Accept-Encoding")
	}
	return s.pageFields(more...)
}

// baseOf returns the address of the service for example calls: that of the options, or else the
// requested host.
func (s *Server) baseOf(ctx *fasthttp.RequestCtx) string {
	if s.options.BaseURL != "" {
		return s.options.BaseURL
	}
	return "http://" + string(ctx.Host())
}

// answerPage renders a template and sends it.
func (s *Server) answerPage(ctx *fasthttp.RequestCtx, template string, data any, full, bare head, key string) {
	var page bytes.Buffer
	if err := pages().ExecuteTemplate(&page, template, data); err != nil {
		s.logFault(template, err)
		s.answerError(ctx, err)
		return
	}
	s.sendPage(ctx, page.Bytes(), full, bare, key)
}

// sendPage sends the body of a page.
func (s *Server) sendPage(ctx *fasthttp.RequestCtx, body []byte, full, bare head, key string) {
	tag := bodyTag(body)
	if coding, ok := s.beginPage(ctx, full, bare, &tag, key); ok {
		ctx.SetBody(encoded(&ctx.Response.Header, nil, body, coding, true))
	}
}

// groupedNumber formats a count with narrow spaces between thousands.
func groupedNumber(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "\u202f" + digits[i:]
	}
	return digits
}
