package browse

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"hdqs/api/contract"
	"hdqs/api/lang"
	"hdqs/api/reply"
	"hdqs/api/say"
)

// Page is what a page shows, for its template.
type Page struct {
	lang.Head
	Name, Summary, AddingUp string // of the endpoint
	Path, Docs              string // addresses: of the page, and of its endpoint's reference
	Country                 *link  // the page of the only country of the records, nil for several
	Freshness               Freshness
	Problem                 problem
	Form                    pageForm
	Warnings                []string
	Drawn                   drawn
	Records                 Table
	Chosen                  *chosen
	Use                     use
	Dataset                 any    // of all records, in JSON-LD
	Share                   *Share // nil without a figure
}

// problem is what is wrong with an address, or ignored, and where else to go.
type problem struct {
	Wrong   []string
	Ways    []link // pages with records, of one without
	Nowhere string // names that are of no country
	Unknown string // names of parameters
	Hint    say.Text

	Elsewhere []facet // where there are records, of a page without any
	Wider     bool    // without some of the other filters
}

// drawn is what the page draws.
type drawn struct {
	First      *first    // nil if the address says what is drawn
	Figure     *figure   // nil if there is none
	TableFirst bool      // the figure is below the records
	More       []*figure // further drawings of the first view
}

// use is all records for other programs.
type use struct {
	API, Counterpart string // addresses: the same question, the same in the other names
	Downloads        []Download
	OData, Set       string // the service that spreadsheets ask, and the name of the list there
	Snippets         []Snippet
}

// New makes a page. If clean is not nil, the page is at the address with these parameters. A page
// with an error in its parameters says what is wrong with them and has no records.
func New(q *Question) (p *Page, clean url.Values, err error) {
	e, l := q.Plan.Endpoint, q.Language
	path := q.Prefix + "/browse/" + e.Name()
	all, err := countries(q)
	if err != nil {
		return nil, nil, err
	}
	s, clean, err := readState(q, path, all)
	if err != nil || clean != nil {
		return nil, clean, err
	}
	r, err := contract.Read(q.Plan, s.query())
	wrong, isWrong := Problems(err)
	if err != nil && !isWrong {
		return nil, nil, err
	}
	if more := unclear(q.Plan, s); len(more) > 0 {
		wrong, isWrong = append(wrong, more...), true
	}
	s.asked = &r.Question
	p = &Page{
		Head: q.At(l.T(e.Summary), strings.TrimPrefix(s.address(s.values), q.Prefix)), Name: e.Name(),
		Summary: l.T(e.Summary), AddingUp: l.T(e.Texts().AddingUp()),
		Path: path, Docs: q.Root + "/docs/" + e.Name(), Freshness: q.Freshness, Dataset: q.Dataset,
	}
	q.known.countries, p.Problem.Nowhere = all, l.List(s.nowhere)
	if q.known.named, err = namesOf(q, s); err != nil {
		return nil, nil, err
	}
	if p.Form.Chips = chips(q, s); len(p.Form.Chips) > 0 {
		p.Form.Clear = s.address(s.copy(append(names(q.Plan), contract.EverybodyParam, "offset", rowParam)...))
	}
	p.Country = countryPage(q, s)
	p.Records.Columns = columnsOf(l, e, s.values.Get("fields"))
	p.addLinks(q, s)
	var answer *Answer
	if !isWrong {
		answer, err = q.Source.Ask(s.asked)
		if wrong, isWrong = Problems(err); err != nil && !isWrong {
			return nil, nil, err
		}
	}
	if !isWrong {
		p.Feed = feedOf(q, s)
	}
	without := []string{"offset", rowParam}
	for _, w := range wrong {
		text, _ := l.Say(w.Message())
		p.Problem.Wrong = append(p.Problem.Wrong, l.T("%[1]s: %[2]s", label(l, w.Param), text))
		without = append(without, w.Param)
	}
	if isWrong {
		rest := way{l.T("The page without that"), state{path: path, values: s.copy(without...)}}
		p.Problem.Ways = withRecords(q, rest, way{l.T("All records"), state{path: path}})
	} else {
		unknown, hint := reply.UnknownOf(r)
		p.Problem.Unknown, p.Problem.Hint = strings.Join(unknown, ", "), hint
		if err := p.addRecords(q, s, answer); err != nil {
			return nil, nil, err
		}
	}
	if x := p.Drawn.Figure; x != nil && x.drawn.path != "" && q.AllFigures && p.isAsAsked() {
		return nil, x.drawn.values, nil // files do not say which records were chosen
	}
	if drawn := slices.Concat([]*figure{p.Drawn.Figure}, p.Drawn.More); !q.AllFigures {
		for _, x := range drawn {
			for ; x != nil; x = x.Refusal.Right {
				x.shorten(s)
			}
		}
	}
	s.called = q.nameOf
	p.Form.Groups = form(q.Plan, s, wrongByParam(l, wrong), q.known.groups)
	p.share(q, s)
	return p, nil, nil
}

// isAsAsked reports whether the figure has the measure and the groups that the address asks for.
func (p *Page) isAsAsked() bool {
	x := p.Drawn.Figure
	return p.Problem.Unknown == "" && (x == nil || x.Limit.Turned == "")
}

// addRecords adds what an answer has, and counts by value.
func (p *Page) addRecords(q *Question, s state, answer *Answer) error {
	e, offset := q.Plan.Endpoint, s.offset()
	at, err := p.sort(q, s, answer)
	if err != nil {
		return err
	}
	name := strings.TrimPrefix(s.values.Get(sortParam), "-")
	p.isKnown(sortParam, s, slices.ContainsFunc(e.Fields, func(f contract.Field) bool { return f.Name == name }))
	p.isKnown("limit", s, s.number("limit", -1) >= 0)
	p.isKnown(rowParam, s, s.number(rowParam, -1) >= 0)
	p.isKnown(spanParam, s, s.values.Get(spanParam) == "all")
	records := answer.Records
	p.Records.All = lang.Count(answer.Total)
	p.Records.Total, p.Records.Part = p.Records.All.String(), len(records) > 0 && len(records) < answer.Total
	p.Records.From, p.Records.To = Count(offset+1), Count(offset+len(records))
	switch {
	case answer.Total == 0:
		var ways []way
		for _, c := range p.Form.Chips {
			ways = append(ways, c.way)
		}
		ways = append(ways, way{q.Language.T("all filters"), state{path: s.path}})
		p.Problem.Ways = withRecords(q, ways...)
		p.Problem.Hint = say.Join(p.Problem.Hint, say.Join(answer.Notes.Hints...))
	case len(records) == 0:
		p.Problem.Ways = []link{{q.Language.T("The first page of %s", p.Records.Total), s.with()}}
	}
	row := s.linker(rowParam)
	before, after, _ := strings.Cut(q.Language.T("Record %s:", "\x00"), "\x00")
	p.Records.fill(p.Language, e, records, s.values.Has("fields"), func(i int) (address, name string) {
		n := offset + i
		if at != nil {
			n = at[i]
		}
		return row(strconv.Itoa(n)) + "#record", before + Count(n+1) + after + " "
	})
	p.Records.Pages, p.Use.Downloads = pagesOf(s, answer.Total), downloads(q, s, answer)
	p.Use.OData, p.Use.Set = contract.ODataRoot, q.Plan.Endpoint.SetName()
	if p.Form.Facets, err = askFacets(q, s); err != nil {
		return err
	}
	if answer.Total == 0 {
		if p.Problem.Elsewhere, p.Problem.Wider, err = elsewhere(q, s, slices.Clone(p.Form.Facets)); err != nil {
			return err
		}
	}
	p.Warnings = sumWarnings(q, s, p.Form.Facets)
	if err = p.addFigures(q, s); err != nil || s.values.Get(rowParam) == "" {
		return err
	}
	p.Chosen, err = choose(q, s)
	return err
}

// addFigures adds what the address says is drawn, else the first view of the list.
func (p *Page) addFigures(q *Question, s state) (err error) {
	if p.Records.Total == "0" {
		return nil
	}
	p.isKnown(figureParam, s, q.figureOf(s) != nil)
	if s.isFirst() {
		if p.Drawn.First, err = firstOf(q, s); err != nil {
			return err
		}
	}
	if p.Drawn.First == nil {
		p.Drawn.TableFirst = s.isFirst()
		if p.Drawn.Figure, err = drawFigure(q, s); p.Drawn.Figure != nil {
			isMeasure := func(m measure) bool { return m.name == s.values.Get(measureParam) }
			p.isKnown(measureParam, s, slices.ContainsFunc(measuresOf(q.Language, q.Plan.Endpoint), isMeasure))
			isBy := func(b by) bool { return b.value == s.values.Get(byParam) }
			p.isKnown(byParam, s, slices.ContainsFunc(bysOf(q, s), isBy))
			if len(p.Drawn.Figure.Refusal.Refused) > 0 {
				return p.Drawn.Figure.heal(q, s)
			}
		}
		return err
	}
	if p.Drawn.First.isEmpty() {
		p.Drawn.Figure, err = unasked(q, s)
		return err
	}
	for i, x := range p.Drawn.First.Drawings {
		if len(x.Refusal.Refused) == 0 {
			continue
		}
		if x.asked.path != "" { // the same records by something else
			other, err := drawFigure(q, x.asked)
			if err != nil {
				return err
			}
			if other != nil && len(other.Refusal.Refused) == 0 {
				other.ID, other.Chosen = x.ID, append(x.Chosen, other.Chosen...)
				p.Drawn.First.Drawings[i] = other
				continue
			}
		}
		if err = x.heal(q, s); err != nil {
			return err
		}
	}
	if all := p.Drawn.First.Drawings; len(all) > 0 {
		p.Drawn.Figure, p.Drawn.More = all[0], all[1:]
	}
	return nil
}

// isKnown notes a value of the address that the list does not have: another figure is drawn then.
func (p *Page) isKnown(name string, s state, known bool) {
	if value := s.values.Get(name); value != "" && !known {
		p.Problem.Unknown = strings.TrimPrefix(p.Problem.Unknown+", "+name+"="+value, ", ")
	}
}

// pagesOf are the neighbours of a page.
func pagesOf(s state, total int) (p pager) {
	limit, offset := max(1, s.limit()), s.offset()
	to := func(offset int) string { return s.with("offset", textUnless(0, offset)) }
	if offset > 0 {
		p.First, p.Previous = to(0), to(min(max(0, offset-limit), max(0, total-1)/limit*limit))
	}
	if offset+limit < total {
		p.Next, p.Last = to(offset+limit), to((total-1)/limit*limit)
	}
	return p
}

// addLinks adds the same question as requests.
func (p *Page) addLinks(q *Question, s state) {
	filters := s.copy(append(own, "limit", "offset")...)
	query := s.copy(own...)
	e := q.Plan.Endpoint
	p.Use.API = address(q.Base+q.Root+e.Path, query)
	p.Use.Counterpart = address(q.Base+q.Counterpart, query)
	for _, size := range pageSizes {
		l := link{Text: strconv.Itoa(size)}
		if size != s.limit() {
			l.Address = s.with("limit", textUnless(pageSize, size))
		}
		p.Records.Sizes = append(p.Records.Sizes, l)
	}
	for _, pair := range pairs(s.copy(rowParam, "offset")) {
		hidden := option{Value: pair[1], Label: pair[0]}
		if !slices.Contains(names(q.Plan), pair[0]) {
			p.Form.Keep = append(p.Form.Keep, hidden)
		}
		if pair[0] != "fields" {
			p.Form.KeepAll = append(p.Form.KeepAll, hidden)
		}
	}
	p.Use.Snippets = Snippets(q.Base, q.Root+e.Path, q.Base+contract.ODataRoot, e.SetName(), filters)
}

// textUnless is a number in an address, empty for the one that it means without.
func textUnless(usual, n int) string {
	if n == usual {
		return ""
	}
	return strconv.Itoa(n)
}

func wrongByParam(l *lang.Language, issues []contract.Issue) map[string]string {
	texts := map[string]string{}
	for _, issue := range issues {
		texts[issue.Param], _ = l.Say(issue.Message())
	}
	return texts
}
