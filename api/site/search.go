package site

import (
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/valyala/fasthttp"

	"hdqs/api/browse"
	"hdqs/api/contract"
	"hdqs/api/find"
	"hdqs/api/lang"
	"hdqs/api/list"
	"hdqs/api/reply"
	"hdqs/api/say"
	"hdqs/api/state"
)

// Paths of the search, and of what its field suggests while somebody types.
const (
	searchPath  = "/search"
	suggestPath = "/search/suggest"
)

// Sizes of answers.
const (
	foundOnPage  = 20
	foundMissing = 5 // below a path that nothing is at
	suggested    = 8
)

// sought is the search field in the header of a page. The zero value is an empty one.
type sought struct {
	Text   string
	Hidden bool // the page has a field of its own
	Max    int
}

// soughtOn is the search field in the header of a page.
func soughtOn(data any) sought {
	s := sought{Max: find.MaxBytes}
	if page, ok := data.(interface{ sought(*sought) }); ok {
		page.sought(&s)
	}
	return s
}

// searchPage is what the page of a search shows, and that of a path without a page.
type searchPage struct {
	pageHead
	Text           string
	Answer         *find.Answer // nil without words
	Results        []foundResult
	Total, Part    string // how many there are, and which are on the page if that is not all
	Kinds          []kindLink
	Previous, Next string
	Missing        bool   // there is no page at the path
	Near           string // the nearest path
	Newest         string // the page of the newest figures, where those of a snapshot are gone
	Groups         []pageGroup
}

func (p searchPage) sought(s *sought) { s.Text = p.Text }

// kindLink leads to the results of one kind, or of all.
type kindLink struct {
	Text, Count, Address string
	Chosen               bool
}

// foundResult is a result as a page shows it.
type foundResult struct {
	find.Result
	Value          string
	Period, Age    string
	Was, WasPeriod string // what the value is compared with
}

// namedReason is why there is no number, with names for codes.
func namedReason(l *lang.Language, why say.Text, v *state.Served) say.Text {
	if why.IsZero() {
		return why
	}
	names := map[string]string{}
	for _, c := range v.Bound.Countries {
		names[c.Code] = l.Country(c.Code, c.Name)
	}
	for i := range contract.Endpoints {
		e := &contract.Endpoints[i]
		names[e.Name()] = l.T("“%s”", l.T(e.Summary))
	}
	return why.Named(names)
}

// foundResults are results in words.
func foundResults(l *lang.Language, found *find.Answer, v *state.Served) (all []foundResult) {
	for _, r := range found.Results {
		f := foundResult{Result: r}
		f.Reason = namedReason(l, r.Reason, v)
		if figure := r.Figure; figure != nil {
			if figure.Value != nil {
				f.Value = browse.Number(l, figure.Value.String())
			}
			h, _ := contract.HeadlineOf(figure.Name, contract.ContractNames)
			f.Period, f.Age = browse.When(l, h, figure.Start, figure.End, figure.Updated,
				freshnessOf(v, h.List(contract.ContractNames)))
		}
		if was := r.Before; was != nil {
			f.Was, f.WasPeriod = browse.Number(l, was.Value.String()), l.Period(was.Start, was.End)
			if was.Changed != "" {
				f.Was = lang.Until(l, f.Was, was.Changed)
			}
		}
		all = append(all, f)
	}
	return all
}

// searchAddress is the address of a search.
func (p place) searchAddress(text, kind string, offset int) string {
	from := ""
	if offset > 0 {
		from = strconv.Itoa(offset)
	}
	return p.root() + searchPath + "?" + contract.QueryOf("q", text, "kind", kind, "offset", from)
}

// readSearch reads the parameters of a search.
func readSearch(ctx *fasthttp.RequestCtx) (q find.Query, err error) {
	values, err := url.ParseQuery(string(ctx.URI().QueryString()))
	if err != nil {
		return q, err
	}
	q.Text, q.Kind = values.Get("q"), strings.ToLower(values.Get("kind"))
	q.Offset, _ = strconv.Atoi(values.Get("offset")) // 0, or the greatest number, where it is none
	return normalized(q), nil
}

func normalized(q find.Query) find.Query {
	q.Text = strings.Join(strings.Fields(strings.ToValidUTF8(q.Text, "\ufffd")), " ")
	q.Offset = max(0, min(q.Offset, 1<<30))
	return q
}

// SuggestionsOf is a search for agents: what is suggested, in English, with the figures.
func SuggestionsOf(q find.Query) find.Query {
	q.Limit, q.Language = suggested, lang.All()[0]
	return normalized(q)
}

// find answers a search from the current snapshot.
func (p pages) find(ctx *fasthttp.RequestCtx, q find.Query) (found *find.Answer, all []foundResult, err error) {
	v, err := p.Site.State.Snapshots.AcquireIn(ctx, "")
	if err != nil {
		return nil, nil, err
	}
	defer v.Release(p.Site.State.Log)
	q.Language = p.at.Language
	if found, err = p.Site.Finder.Find(v, p.at.Mount, q); err != nil {
		return nil, nil, err
	}
	return found, foundResults(p.at.Language, found, v), nil
}

// addSearch registers the search of a place.
func (p pages) addSearch() {
	head := p.Site.sharedHead(reply.HtmlType)
	json := p.Site.sharedHead(contract.JSONType)
	add := func(path string, answer func(*fasthttp.RequestCtx, find.Query) error) {
		p.add(path, path, func(ctx *fasthttp.RequestCtx) error {
			q, err := readSearch(ctx)
			if err != nil {
				return reply.ErrBadRequest
			}
			return answer(ctx, q)
		})
	}
	add(searchPath, func(ctx *fasthttp.RequestCtx, q find.Query) (err error) {
		page, kind := searchPage{pageHead: p.at.head(p.at.T("Search"), searchPath), Text: q.Text}, q.Kind
		if !find.IsKind(kind) {
			q.Kind = ""
		}
		if q.Text == "" {
			page.Groups = pageGroups(p.at.Mount, nil)
		} else {
			err = p.addFound(ctx, &page, q)
		}
		if err != nil {
			return err
		}
		if kind != "" && q.Kind == "" {
			page.ignore("kind=" + kind)
		}
		if sent := string(ctx.QueryArgs().Peek("offset")); sent != "" && sent != strconv.Itoa(q.Offset) {
			page.ignore("offset=" + sent)
		}
		return p.answerPage(ctx, "search.html", &page, &head, "q", "kind", "offset")
	})
	add(suggestPath, func(ctx *fasthttp.RequestCtx, q find.Query) error {
		q.Limit, q.Brief = suggested, true
		found, _, err := p.find(ctx, q)
		if err != nil {
			return err
		}
		for i := range found.Results {
			found.Results[i].Kind = p.at.T(found.Results[i].Kind) // which the field shows
		}
		return p.Site.Lists.Pages.Send(ctx, &json, list.Made(found.JSON()))
	})
	p.route(strings.TrimSuffix(browsePath, "/"), "/", func(ctx *fasthttp.RequestCtx) error {
		reply.Redirect(ctx, fasthttp.StatusTemporaryRedirect, p.at.root()+"/#lists")
		return nil
	})
}

// addFound adds what a search has found to its page.
func (p pages) addFound(ctx *fasthttp.RequestCtx, page *searchPage, q find.Query) (err error) {
	q.Limit = foundOnPage
	here := strings.TrimPrefix(p.at.searchAddress(q.Text, q.Kind, q.Offset), p.at.root())
	page.pageHead = p.at.head(p.at.T("Search: %s", q.Text), here)
	if page.Answer, page.Results, err = p.find(ctx, q); err != nil {
		return err
	}
	all := 0
	for _, c := range page.Answer.Kinds {
		all += c.N
		page.Kinds = append(page.Kinds, kindLink{
			c.Kind, browse.Count(c.N), p.at.searchAddress(q.Text, c.Kind, 0), c.Kind == q.Kind,
		})
	}
	page.Kinds = slices.Insert(page.Kinds, 0, kindLink{
		"all", browse.Count(all), p.at.searchAddress(q.Text, "", 0), q.Kind == "",
	})
	page.Total = browse.Count(page.Answer.Total)
	if n := len(page.Results); n > 0 && n < page.Answer.Total {
		page.Part = p.at.T("%s to %s", lang.Count(q.Offset+1), lang.Count(q.Offset+n))
	}
	if q.Offset > 0 {
		page.Previous = p.at.searchAddress(q.Text, q.Kind, max(0, q.Offset-foundOnPage))
	}
	if q.Offset+foundOnPage < page.Answer.Total {
		page.Next = p.at.searchAddress(q.Text, q.Kind, q.Offset+foundOnPage)
	}
	return nil
}

// WantsPage reports whether a request for a path that has no route is one of a person: of a
// browser, and not for the interface.
func (s *Site) WantsPage(ctx *fasthttp.RequestCtx, sent string) bool {
	rest := sent[len(s.Lists.Routes.MountOf(sent).Prefix):]
	return (ctx.IsGet() || ctx.IsHead()) && !strings.HasPrefix(rest, "/api") && !strings.HasPrefix(rest, "/bulk") &&
		strings.Contains(string(ctx.Request.Header.Peek("Accept")), "text/html")
}

// AnswerMissing answers a person's request for a path that nothing is at: with a search for the
// words of the path, and the nearest path.
func (s *Site) AnswerMissing(ctx *fasthttp.RequestCtx, sent, near string) error {
	p := s.pagesAt(sent)
	fields := []string{"Cache-Control", reply.NoStore, "Vary", "Accept"}
	head := list.NewPageHead(reply.HtmlType, PagePolicy, reply.LandingKey, fields...)
	return s.Lists.Admission.Pass(func() error {
		page := searchPage{pageHead: p.at.head(p.at.T("Not found"), ""), Missing: true, Near: near}
		q := find.Query{Text: missingWords(sent[len(p.at.Prefix):]), Limit: foundMissing, Brief: true}
		if _, results, err := p.find(ctx, q); err == nil { // without a snapshot too, there is a page
			page.Text, page.Results = q.Text, results
		}
		err := p.answerPage(ctx, "search.html", page, &head)
		if ctx.Response.StatusCode() == fasthttp.StatusOK {
			ctx.SetStatusCode(fasthttp.StatusNotFound)
		}
		return err
	}, s.Lists.Admission.Gate)
}

// missingWords are the words of a path, of its last part that has some.
func missingWords(sent string) string {
	last := path.Base(sent)
	last = strings.TrimSuffix(last, path.Ext(last))
	isBetween := func(r rune) bool { return strings.ContainsRune("/-_+.", r) }
	text := strings.Join(strings.FieldsFunc(strings.ToValidUTF8(last, ""), isBetween), " ")
	return text[:min(len(text), find.MaxBytes)]
}
