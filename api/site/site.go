package site

import (
	"bytes"
	"encoding/json"
	"html/template"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"hdqs/api/browse"
	"hdqs/api/contract"
	"hdqs/api/lang"
	"hdqs/api/list"
	"hdqs/api/render"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/api/web"
)

// AddPages registers the routes of a mount that do not read a table.
func (s *Site) AddPages(m *list.Mount) {
	docs := reference{s.english(m), sync.OnceValue(func() []*endpointDocs { return docsOf(m) })}
	for _, page := range fixedPages(m) {
		answer := s.fixed(m, page)
		if page.name == docsPath {
			answer = docs.searched(answer)
		}
		for _, path := range page.paths {
			s.Lists.Routes.Add(m, path, list.Route{Answer: answer, Name: page.name})
		}
	}
	docs.add()
	s.addTexts(m)
	s.addAssets(m)
	for _, l := range lang.All() {
		p := pages{s, place{m, l}}
		p.addLanding()
		addTopics(p)
		addSources(p)
		addCompare(p, p.addBrowse())
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
		if served, _ := p.Site.State.Snapshots.AcquireIn(ctx, ""); served != nil {
			made := served.Keep(landingPage(p.at), func() any { return newLanding(p.at, served.Bound) })
			data = made.(landingData)
			data.World, data.Boundaries = p.worldOf(served)
			now := liveOf(p, served)
			data.Live, data.Newest, data.News = now.figures, now.newest, now.news
			served.Release(p.Site.State.Log)
		}
		data.Base = p.Site.Lists.Pages.BaseOf(ctx)
		data.Bulk = p.Site.bulk()
		return p.answerPage(ctx, "landing.html", &data, &head)
	})
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
	Live       []liveFigure
	Newest     string        // month of the newest figures of the start page
	News       []revised     // values that have changed, and lists with new records
	World      template.HTML // a map that leads to countries
	Boundaries string        // whose it has
}

func (landingData) sought(s *sought) { s.Hidden = true } // the page begins with it

// metadataLast moves the lists about the data behind the data.
func metadataLast(groups []pageGroup) []pageGroup { return append(groups[1:], groups[0]) }

// exampleIdentifier is that of my-app and me@example.org.
const exampleIdentifier = "bXktYXBwOm1lQGV4YW1wbGUub3Jn"

func newLanding(p place, b *state.Bound) landingData {
	data := landingData{
		pageHead: p.head("", "/"), Version: contract.InterfaceVersion, Identifier: exampleIdentifier,
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
	versions := contract.VersionPaths[m.Names]
	english := lang.All()[0]
	interactive := func() ([]byte, error) {
		return bareBody(place{m, english}, "interactive.html", "Interactive reference", "")
	}
	all := []*fixedPage{
		page(contract.VersionPath, contract.JSONType, reply.DataPolicy, fixed([]byte(bodyVersion)), versions...),
		page("/api/v2", contract.JSONType, reply.DataPolicy, fixed(indexBody(m)), contract.IndexPaths[m.Names]...),
		page("/openapi.json", contract.JSONType, reply.DataPolicy, description(m.Kinds...), m.AllDescribed()),
		page(docsPath, reply.HtmlType, PagePolicy, docs, docsPath, "/redoc"),
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
	if page.name != docsPath {
		return func(ctx *fasthttp.RequestCtx) error { return s.Lists.Pages.Send(ctx, &head, page.content()) }
	}
	head.Key = reply.LandingKey // it shows the snapshot
	return func(ctx *fasthttp.RequestCtx) error {
		content := page.content
		if served, _ := s.State.Snapshots.AcquireIn(ctx, ""); served != nil {
			made := served.Keep(docsKey{m}, func() any { return newDocs(m, served.Bound) })
			content = made.(func() *list.PageContent)
			served.Release(s.State.Log)
		}
		return s.Lists.Pages.Send(ctx, &head, content())
	}
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

// bodyVersion is the body of VersionPath.
const bodyVersion = `{"api_version":"` + contract.InterfaceVersion +
	`","hapi_sqlalchemy_schema_version":"` + contract.SchemaVersion + `"}`

// AnswerEncode makes an application identifier. Its answer contains an e-mail address, so no cache
// may store it.
func (s *Site) AnswerEncode(ctx *fasthttp.RequestCtx) error {
	identifier, issues := contract.EncodeQuery(ctx.URI().QueryString())
	if issues != nil {
		return &contract.Invalid{Issues: issues}
	}
	reply.FaultHead.Begin(ctx)
	s.State.SetSnapshot(&ctx.Response.Header)
	ctx.SetBody(append(render.AppendJSONText([]byte(`{"encoded_app_identifier":`), identifier), '}'))
	return nil
}
