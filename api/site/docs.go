package site

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"

	"hdqs/api/browse"
	"hdqs/api/contract"
	"hdqs/api/lang"
	"hdqs/api/list"
	"hdqs/api/reply"
	"hdqs/api/state"
)

// The reference of a mount is an index, which can be searched, and a page for each endpoint. The
// index is the same for every snapshot. A page has an example with real records, so it is rendered
// for each request, from the snapshot that is served then.

// docsPath is the path of the reference.
const (
	docsPath        = "/docs"
	interactivePath = "/docs/interactive"
	identifierPath  = "/identifier"
)

type docsIndex struct {
	pageHead
	Version, EncodePath, Header string
	HAPI                        bool
	Counterpart                 string // the index in the other names
	Interactive                 string // the interactive reference in HAPI names, for links to the public service's
	Groups                      []pageGroup
	Figures                     []*contract.Headline

	Search    string // empty for the index itself
	TooLong   bool
	MaxSearch int
	Found     []docsFound
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
	OtherNames     string
	OtherPath      string // of the endpoint in the other names
	OtherDocs      string // its page
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

func docsOf(m *list.Mount) []*endpointDocs {
	var all []*endpointDocs
	endpoints, counterparts := contract.EndpointsIn(m.Names), contract.EndpointsIn(m.Counterpart.Names)
	groups := pageGroups(m, nil)
	for i := range endpoints {
		e, counterpart := &endpoints[i], &counterparts[i]
		d := &endpointDocs{
			pageHead: newPageHead(m, e.Summary), pageEndpoint: newPageEndpoint(m, e),
			Group: e.Texts().GroupTitle(), Note: e.Note, AddingUp: e.Texts().AddingUp(),
			SumRules: e.Texts().SumRules(), Series: e.Texts().SeriesText(),
			Names: nameSetTexts[m.Names], OtherNames: nameSetTexts[m.Counterpart.Names],
			OtherPath: m.Counterpart.Prefix + counterpart.Path,
			OtherDocs: m.Counterpart.Prefix + docsPath + "/" + counterpart.Name(),
			plan:      contract.PlanOf(e, contract.Rows),
		}
		for _, p := range d.plan.Params {
			about := e.Texts().About(&p)
			switch {
			case p.List && p.Own == nil: // the entry of the plain parameter names it
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
		for _, k := range m.Kinds {
			p := contract.PlanOf(e, k)
			d.Computed = append(d.Computed, docsComputed{p, m.Prefix + p.Paths()[0]})
		}
		for _, f := range e.Fields {
			d.Fields = append(d.Fields, newDocsEntry("field", f.Name, f.TypeText(), e.Texts().Meaning(f.Name), ""))
		}
		for _, g := range groups {
			if g.Title == d.Group {
				d.Siblings = g.Endpoints
			}
		}
		d.text = strings.ToLower(strings.Join([]string{
			d.Group, d.Path, d.Summary, d.Note, d.AddingUp, d.OtherPath,
		}, "\n"))
		all = append(all, d)
	}
	return all
}

// newDocsIndex returns the index of a mount without a search. fill adds what a snapshot has of an
// endpoint.
func newDocsIndex(m *list.Mount, fill func(*contract.Endpoint, *pageEndpoint)) docsIndex {
	hapi := m
	if m.Names != contract.HAPINames {
		hapi = m.Counterpart
	}
	return docsIndex{
		pageHead: newPageHead(m, "Reference"),
		Version:  contract.InterfaceVersion, EncodePath: m.Prefix + contract.EncodePath,
		Header: m.Names.IdentifierHeader(), HAPI: m.Names == contract.HAPINames,
		Counterpart: m.Counterpart.Prefix + docsPath,
		Interactive: hapi.Prefix + interactivePath,
		Groups:      pageGroups(m, fill), Figures: contract.Headlines, MaxSearch: maxSearch,
	}
}

// newDocs returns the index of a mount with the ages of a snapshot's tables. It does not keep the
// snapshot's memory.
func newDocs(m *list.Mount, b *state.Bound) func() *list.PageContent {
	ages := make(map[string]state.PageSource, len(contract.Endpoints))
	for i := range contract.Endpoints {
		ages[contract.Endpoints[i].Path] = b.SourceOf(&contract.Endpoints[i])
	}
	return list.MadeOnce(func() ([]byte, error) {
		return docsBody(m, func(e *contract.Endpoint, page *pageEndpoint) { page.Source = ages[e.Path] })
	})
}

// docsBody renders the index of a mount without a search.
func docsBody(m *list.Mount, fill func(*contract.Endpoint, *pageEndpoint)) ([]byte, error) {
	return rendered(pagesIn(lang.All()[0]), "docs.html", newDocsIndex(m, fill))
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

// reference are the pages that describe the lists of a mount. Those of lists are described when one
// is first requested.
type reference struct {
	pages pages
	all   func() []*endpointDocs
}

// answer is what answers a request.
type answer = func(*fasthttp.RequestCtx) error

// searched answers searches, and other requests with the index.
func (r reference) searched(index answer) answer {
	lists := r.pages.Site.Lists
	head := list.NewPageHead(reply.HtmlType, PagePolicy, reply.PageKey, lists.Pages.Fields()...)
	return func(ctx *fasthttp.RequestCtx) error {
		query, err := url.ParseQuery(string(ctx.URI().QueryString()))
		text := strings.Join(strings.Fields(strings.ToValidUTF8(query.Get("q"), "\ufffd")), " ")
		if err != nil || text == "" {
			return index(ctx)
		}
		return lists.Admission.Pass(func() error {
			data := newDocsIndex(r.pages.at.Mount, nil)
			data.Title, data.Search = "Search: "+text, text
			if data.TooLong = len(text) > maxSearch; !data.TooLong {
				data.Found = search(r.all(), text)
			}
			return r.pages.answerPage(ctx, "docs.html", data, &head)
		}, lists.Admission.Gate)
	}
}

// add registers the page of each endpoint.
func (r reference) add() {
	for i, e := range contract.EndpointsIn(r.pages.at.Names) {
		r.addEndpoint(e.Name(), func() *endpointDocs { return r.all()[i] })
	}
}

type endpointPage struct {
	endpointDocs
	URL        string
	Base       string
	Identifier string
	SnapshotID string // empty without a snapshot
	Day        string
	Total      string // records that pass the example's filter
	Answer     string // of the example; empty if there are no records
}

func (r reference) addEndpoint(name string, docs func() *endpointDocs) {
	s := r.pages.Site
	head := s.hostHead(reply.HtmlType)
	r.pages.add(docsPath+"/"+name, docsPath, func(ctx *fasthttp.RequestCtx) error {
		d := docs()
		page := endpointPage{endpointDocs: *d, Base: s.Lists.Pages.BaseOf(ctx), Identifier: exampleIdentifier}
		query := exampleQuery
		if v, _ := s.State.Snapshots.AcquireIn(ctx, ""); v != nil {
			defer v.Release(s.State.Log)
			page.SnapshotID, page.Day = v.Id, state.DayOf(v.Bound.Snap.Manifest.SnapshotTime)
			e := d.plan.Endpoint.Contract()
			page.Source, page.Datasets = v.Bound.SourceOf(e), state.DatasetsOf(v.Bound.Snap.Manifest, e)
			example, err := r.exampleOf(v, d.plan)
			if err != nil {
				return err
			}
			if page.Answer = example.answer; page.Answer != "" {
				query, page.Total = example.query, browse.Count(example.total)
			}
		}
		page.URL = page.Base + d.Path + "?" + query + "&app_identifier=" + exampleIdentifier
		return r.pages.answerPage(ctx, "endpoint.html", page, &head)
	})
}

// exampleQuery limits an example to its first records.
const exampleQuery = "limit=2"

// example is a request and its answer.
type example struct {
	query, answer string
	total         int
}

// exampleKey is the key of the example of a list in what a snapshot keeps.
type exampleKey struct{ *contract.Plan }

// exampleOf returns the example of an endpoint's page. Requests for pages pass no limit on queries,
// so each example of a snapshot is made once.
func (r reference) exampleOf(v *state.Served, p *contract.Plan) (example, error) {
	return list.MadeOf(v, exampleKey{p}, func() (example, error) { return r.example(v, p) })
}

// example answers a small request from a snapshot: for the first records of the country that the
// first record has, where the endpoint has such a filter.
func (r reference) example(v *state.Served, p *contract.Plan) (example, error) {
	first, code, err := r.askExample(v, p, exampleQuery)
	isLocation := func(f contract.Param) bool { return f.Name == countryField }
	if err != nil || code == "" || !slices.ContainsFunc(p.Params, isLocation) {
		return first, err
	}
	query := countryField + "=" + url.QueryEscape(code) + "&" + exampleQuery
	filtered, _, err := r.askExample(v, p, query)
	if err == nil && filtered.answer == "" { // a code with a backslash, which escapes, finds nothing
		return first, nil
	}
	return filtered, err
}

// countryField is the field, and the filter, with the country of a record.
const countryField = "location_code"

// askExample answers a query, empty if there are no records. country is that of the first record.
func (r reference) askExample(v *state.Served, p *contract.Plan, query string) (x example, country string, err error) {
	q, err := contract.Read(p, query)
	if err != nil {
		return x, "", err
	}
	err = r.pages.Site.Lists.Query(v, r.pages.at.Mount, &q.Question, func(a *list.Reply, found list.Records) error {
		if found.Len() == 0 {
			return nil
		}
		var indented bytes.Buffer
		err := json.Indent(&indented, a.Append(nil, a.List), "", "  ")
		x = example{query, indented.String(), found.Total()}
		country = list.TextsOf(found)[0].Value(countryField)
		return err
	})
	return x, country, err
}
