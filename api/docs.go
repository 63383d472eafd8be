package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
)

// The reference of a mount is an index, which can be searched, and a page for each endpoint. The
// index is the same for every snapshot. A page has an example with real records, so it is rendered
// for each request, from the snapshot that is served then.

const (
	docsPath        = "/docs"
	interactivePath = "/docs/interactive"
	identifierPath  = "/identifier"
)

// docsIndex is what the index of the reference shows.
type docsIndex struct {
	pageHead
	Version, EncodePath, Header string
	HAPI                        bool
	Twin                        string // the index in the other names
	Interactive                 string // the interactive reference in HAPI names, for links to the public service's
	Groups                      []pageGroup

	Search    string // empty for the index itself
	TooLong   bool
	MaxSearch int
	Found     []docsFound
}

// pageHead is what the head of every page needs.
type pageHead struct {
	Prefix string
	Title  string
}

func newPageHead(m *mount, title string) pageHead {
	return pageHead{m.prefix, title}
}

// docsEntry is a parameter or a field on a page.
type docsEntry struct {
	ID, Name, Type, About, Example string
	text                           string // in lower case, for searching
}

// newDocsEntry makes an entry. Kind is what the id begins with.
func newDocsEntry(kind, name, typeText, about, example string) docsEntry {
	return docsEntry{
		kind + "-" + name, name, typeText, about, example,
		strings.ToLower(strings.Join([]string{name, typeText, about}, "\n")),
	}
}

// docsComputed is what is computed of an endpoint's rows.
type docsComputed struct {
	*contract.Plan
	Path string
}

// docsFound is what a search has found of an endpoint.
type docsFound struct {
	*endpointDocs
	Entries []docsEntry
}

// endpointDocs is the part of an endpoint's page that is the same for every snapshot.
type endpointDocs struct {
	pageHead
	pageEndpoint
	Group          string
	Note, AddingUp string
	SumRules       []string // what aggregates add up
	Series         string   // of latest=true, empty without
	Names          string   // of the mount, in words
	TwinNames      string
	TwinPath       string // of the endpoint in the other names
	TwinDocs       string // its page
	Filters        []docsEntry
	Common         []docsEntry // parameters that do not filter
	Fields         []docsEntry
	Computed       []docsComputed
	Siblings       []pageEndpoint
	plan           *contract.Plan
	text           string // in lower case, for searching
}

// Docs is the address of the endpoint's page.
func (d *endpointDocs) Docs() string { return d.Prefix + docsPath + "/" + d.Name }

// nameSetTexts are the sets of names in words.
var nameSetTexts = map[contract.NameSet]string{
	contract.ContractNames: "neutral names", contract.HAPINames: "HDX HAPI names",
}

// docsOf returns the pages of all endpoints of a mount.
func docsOf(m *mount) []*endpointDocs {
	var all []*endpointDocs
	endpoints, twins := contract.EndpointsIn(m.names), contract.EndpointsIn(m.twin.names)
	groups := pageGroups(m, nil)
	for i := range endpoints {
		e, twin := &endpoints[i], &twins[i]
		d := &endpointDocs{
			pageHead: newPageHead(m, e.Summary), pageEndpoint: newPageEndpoint(m, e),
			Group: e.GroupTitle(), Note: e.Note, AddingUp: e.AddingUp(),
			SumRules: e.SumRules(), Series: e.SeriesText(),
			Names: nameSetTexts[m.names], TwinNames: nameSetTexts[m.twin.names],
			TwinPath: m.twin.prefix + twin.Path, TwinDocs: m.twin.prefix + docsPath + "/" + twin.Name(),
			plan: contract.NewPlan(e, contract.Rows),
		}
		for _, p := range d.plan.Params {
			about := e.About(&p)
			switch {
			case p.List && !p.Own: // the entry of the plain parameter names it
				continue
			case p.Several:
				about += " Several values: " + p.Name + contract.SeveralSuffix + "."
			}
			entry := newDocsEntry("parameter", p.Name, p.TypeText(), about, p.Example())
			if len(p.Columns) > 0 {
				d.Filters = append(d.Filters, entry)
			} else {
				d.Common = append(d.Common, entry)
			}
		}
		for _, k := range servedKinds() {
			p := contract.NewPlan(e, k)
			d.Computed = append(d.Computed, docsComputed{p, m.prefix + p.Paths()[0]})
		}
		for _, f := range e.Fields {
			d.Fields = append(d.Fields, newDocsEntry("field", f.Name, f.TypeText(), e.Meaning(f.Name), ""))
		}
		for _, g := range groups {
			if g.Title == d.Group {
				d.Siblings = g.Endpoints
			}
		}
		d.text = strings.ToLower(strings.Join([]string{
			d.Group, d.Path, d.Summary, d.Note, d.AddingUp, d.TwinPath,
		}, "\n"))
		all = append(all, d)
	}
	return all
}

// newDocsIndex returns the index of a mount without a search. fill adds what a snapshot has of an
// endpoint.
func newDocsIndex(m *mount, fill func(*contract.Endpoint, *pageEndpoint)) docsIndex {
	hapi := m
	if m.names != contract.HAPINames {
		hapi = m.twin
	}
	return docsIndex{
		pageHead: newPageHead(m, "Reference"),
		Version:  contract.InterfaceVersion, EncodePath: m.prefix + contract.EncodePath,
		Header: m.names.IdentifierHeader(), HAPI: m.names == contract.HAPINames, Twin: m.twin.prefix + docsPath,
		Interactive: hapi.prefix + interactivePath,
		Groups:      pageGroups(m, fill), MaxSearch: maxSearch,
	}
}

// newDocs returns the index of a mount with the ages of a snapshot's tables. It does not keep the
// snapshot's memory.
func newDocs(m *mount, b *Bound) func() *pageContent {
	ages := make(map[string]pageSource, len(contract.Endpoints))
	for i := range contract.Endpoints {
		ages[contract.Endpoints[i].Path] = b.sourceOf(&contract.Endpoints[i])
	}
	return madeOnce(func() ([]byte, error) {
		return docsBody(m, func(e *contract.Endpoint, page *pageEndpoint) { page.Source = ages[e.Path] })
	})
}

// docsBody renders the index of a mount without a search.
func docsBody(m *mount, fill func(*contract.Endpoint, *pageEndpoint)) ([]byte, error) {
	var b bytes.Buffer
	err := pages().ExecuteTemplate(&b, "docs.html", newDocsIndex(m, fill))
	return b.Bytes(), err
}

// maxSearch is the maximum length of a search in bytes: each of its words is looked for in all
// texts.
const maxSearch = 100

// search returns the endpoints, parameters and fields whose texts contain all words. Of a field
// that is also a filter with the same name, the filter alone is returned.
func search(all []*endpointDocs, query string) []docsFound {
	words := strings.Fields(strings.ToLower(query))
	matches := func(text string) bool {
		return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) })
	}
	var found []docsFound
	for _, d := range all {
		f := docsFound{endpointDocs: d}
		seen := map[string]bool{}
		for _, entry := range slices.Concat(d.Filters, d.Fields, d.Common) {
			if !seen[entry.Name] && matches(entry.text) {
				seen[entry.Name] = true
				f.Entries = append(f.Entries, entry)
			}
		}
		if len(f.Entries) > 0 || matches(d.text) {
			found = append(found, f)
		}
	}
	named := func(f docsFound) int { // 0 before 1
		for _, e := range append(f.Entries, docsEntry{Name: f.Name}) {
			if len(words) == 1 && strings.EqualFold(e.Name, words[0]) {
				return 0
			}
		}
		return 1
	}
	slices.SortStableFunc(found, func(a, b docsFound) int { return cmp.Compare(named(a), named(b)) })
	return found
}

// searched returns a handler that answers searches, and other requests with the index.
func (s *Server) searched(m *mount, index fasthttp.RequestHandler) fasthttp.RequestHandler {
	all := sync.OnceValue(func() []*endpointDocs { return docsOf(m) })
	full := newHead(s.pageFields(safe("Content-Type", htmlType, "Content-Security-Policy", scriptPolicy)...)...)
	bare := newHead(s.pageFields()...)
	return func(ctx *fasthttp.RequestCtx) {
		query, err := url.ParseQuery(string(ctx.URI().QueryString()))
		text := strings.Join(strings.Fields(strings.ToValidUTF8(query.Get("q"), "\ufffd")), " ")
		if err != nil || text == "" {
			index(ctx)
			return
		}
		data := newDocsIndex(m, nil)
		data.Title, data.Search = "Search: "+text, text
		if data.TooLong = len(text) > maxSearch; !data.TooLong {
			data.Found = search(all(), text)
		}
		s.answerPage(ctx, "docs.html", data, full, bare, pageKey)
	}
}

// addDocs registers the page of each endpoint. The pages are described when one is first requested.
func (s *Server) addDocs(m *mount) {
	all := sync.OnceValue(func() []*endpointDocs { return docsOf(m) })
	for i, e := range contract.EndpointsIn(m.names) {
		s.addEndpointDocs(m, e.Name(), func() *endpointDocs { return all()[i] })
	}
}

// endpointPage is an endpoint's page for one request.
type endpointPage struct {
	endpointDocs
	URL        string
	Base       string
	Identifier string
	SnapshotID string // empty without a snapshot
	Day        string
	Total      string // records that pass the example's filter
	Answer     string // of the example; empty if there are no records
	Refused    bool   // the table cannot be read at the moment
}

func (s *Server) addEndpointDocs(m *mount, name string, docs func() *endpointDocs) {
	full := newHead(s.landingFields(safe("Content-Type", htmlType, "Content-Security-Policy", pagePolicy)...)...)
	bare := newHead(s.landingFields()...)
	identifier, _ := contract.EncodeIdentifier("my-app", "me@example.org")
	s.add(m, docsPath+"/"+name, route{name: docsPath, handler: func(ctx *fasthttp.RequestCtx) {
		d := docs()
		page := endpointPage{endpointDocs: *d, Base: s.baseOf(ctx), Identifier: identifier}
		query := exampleQuery
		if v := s.acquire(); v != nil {
			page.SnapshotID, page.Day = v.id, v.bound.snap.Manifest.SnapshotTime.UTC().Format(dayFormat)
			e := d.plan.Endpoint.Contract()
			page.Source, page.Datasets = v.bound.sourceOf(e), datasetsOf(v.bound.snap.Manifest, e)
			example, err := s.exampleOf(v, d.plan)
			page.Refused = err != nil
			if page.Answer = example.answer; page.Answer != "" {
				query, page.Total = example.query, groupedNumber(example.total)
			}
		}
		page.URL = page.Base + d.Path + "?" + query + "&app_identifier=" + identifier
		s.answerPage(ctx, "endpoint.html", page, full, bare, landingKey)
		if page.Refused {
			ctx.Response.Header.Set("Cache-Control", noStore)
			ctx.Response.Header.Del("CDN-Cache-Control")
		}
	}})
}

// exampleQuery limits an example to its first records.
const exampleQuery = "limit=2"

// example is a request and its answer.
type example struct {
	query, answer string
	total         int
}

// exampleOf returns the example of an endpoint's page, and releases the snapshot. Requests for
// pages pass no limit on queries, so each example of a snapshot is made once. One whose table has
// become suspect is not used.
func (s *Server) exampleOf(v *served, p *contract.Plan) (example, error) {
	known, ok := v.examples.Load(p)
	if ok && !v.bound.lists[p.Endpoint.Contract().Path].isSuspect() {
		v.release(s.log)
		return known.(example), nil
	}
	x, err := s.example(v, p)
	if err == nil {
		v.examples.Store(p, x)
	}
	return x, err
}

// example answers a small request from a snapshot: for the first records of the country that the
// first record has, where the endpoint has such a filter. It releases the snapshot. Errors other
// than Refused are logged.
func (s *Server) example(v *served, p *contract.Plan) (x example, err error) {
	list := v.bound.lists[p.Endpoint.Contract().Path]
	defer s.endList(v, list, &err)
	sc := scratches.Get().(*scratch)
	defer sc.release()
	a := &reply{scratch: sc, endpoint: p.Endpoint.Contract(), served: v, list: list}
	body, err := s.answerInside(a, p, exampleQuery, nil)
	if err != nil || sc.page.Rows == 0 {
		return example{}, err
	}
	x.query, x.total = exampleQuery, sc.page.Total
	var first struct {
		Data []struct {
			Location string `json:"location_code"`
		}
	}
	if err := json.Unmarshal(body, &first); err != nil {
		return example{}, s.failed(a, err)
	}
	isLocation := func(f contract.Param) bool { return f.Name == "location_code" }
	if code := first.Data[0].Location; code != "" && slices.ContainsFunc(p.Params, isLocation) {
		query := "location_code=" + url.QueryEscape(code) + "&" + exampleQuery
		filtered, err := s.answerInside(a, p, query, nil)
		if err != nil {
			return example{}, err
		}
		if sc.page.Rows > 0 { // a code with a backslash, which escapes, finds nothing
			body, x.query, x.total = filtered, query, sc.page.Total
		}
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, body, "", "  "); err != nil {
		return example{}, s.failed(a, err)
	}
	x.answer = indented.String()
	return x, nil
}

// answerInside renders the answer to a query as JSON, for a page. Computed records are given to
// read instead, unless that is nil.
func (s *Server) answerInside(a *reply, p *contract.Plan, query string, read func(records)) ([]byte, error) {
	if a.list.isSuspect() {
		return nil, s.refusal(a)
	}
	a.request.Scan(p, []byte(query))
	if err := a.request.Parse(); err != nil {
		return nil, err
	}
	body, err := s.bodyInside(a, read)
	if err != nil {
		return nil, s.failed(a, err)
	}
	if a.list.isSuspect() { // since it was rendered
		return nil, s.refusal(a)
	}
	return body, nil
}

func (s *Server) bodyInside(a *reply, read func(records)) ([]byte, error) {
	if a.computation == nil {
		err := a.list.find(a.scratch)
		if err != nil {
			return nil, err
		}
		return a.list.append(nil, a.scratch), nil
	}
	found, err := a.computation.compute(s, a)
	if err != nil {
		return nil, err
	}
	a.page.Rows, a.page.Total = found.Len(), found.Total()
	if read != nil {
		read(found)
		return nil, nil
	}
	return appendRecords(nil, found, false), nil
}
