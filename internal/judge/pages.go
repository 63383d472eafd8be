package judge

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// The pages of records show counts and figures to people. Whatever number such a page shows is
// judged by the same rules as an answer: the total, the counts by value, and each figure of its
// chart or map. What pages are asked for is drawn at random (browsed).

// pageState is the address of a page of records, in the contract's names.
type pageState struct {
	endpoint *endpoint
	hapi     bool
	pairs    []pair
}

// pageOnly are the parameters of pages that the interface does not have.
var pageOnly = []string{"measure", "by", "row"}

// browsed draws the address of a page.
func (m *maker) browsed() pageState {
	s := pageState{endpoint: pick(m, m.endpoints), hapi: m.chance(17)}
	if m.chance(70) {
		for tries := 0; s.endpoint.Group == "metadata" && tries < 20; tries++ {
			s.endpoint = pick(m, m.endpoints)
		}
	}
	e := s.endpoint
	pairs := m.filters(e, 3)
	if m.chance(30) {
		_, pairs = m.keepApart(e, nil, pairs)
	}
	var measures []string
	for _, f := range e.Fields {
		if slices.Contains(additive, f.Name) || slices.Contains(averaged, f.Name) {
			measures = append(measures, f.Name)
		}
	}
	add := func(percent int, name, value string) {
		if m.chance(percent) {
			pairs = append(pairs, pair{name, value})
		}
	}
	add(60, "measure", pick(m, append(measures, "records")))
	add(70, "by", pick(m, groupNames(e)))
	add(15, "latest", "true")
	add(15, "limit", strconv.Itoa(1+m.rng.IntN(600)))
	add(15, "offset", strconv.Itoa(m.rng.IntN(40)))
	add(5, "row", "0")
	add(3, "country", "AFG") // no parameter
	seen := map[string]bool{}
	for _, p := range pairs { // a form sends no empty value, and nothing twice
		if strings.TrimSpace(p.value) != "" && !seen[p.name] {
			seen[p.name] = true
			s.pairs = append(s.pairs, p)
		}
	}
	return s
}

// name is a field or parameter in the names of the page.
func (s *pageState) name(text string) string {
	if s.hapi {
		return inNames(true, text)
	}
	return text
}

// root is the path of the endpoint, and of its page.
func (s *pageState) root() (list, page string) {
	list = s.endpoint.Path
	prefix := ""
	if s.hapi {
		list, prefix = hapiPaths.Replace(list), hapiPrefix
	}
	return prefix + list, prefix + "/browse/" + strings.TrimPrefix(lastPart(list), "hazards-") // by the public route
}

// query is the parameters without some, and with others, in the names of the page.
func (s *pageState) query(without []string, more ...pair) string {
	var all []pair
	for _, p := range s.pairs {
		if !slices.Contains(without, p.name) {
			all = append(all, p)
		}
	}
	if all = append(all, more...); s.hapi {
		all = renamedQuery(true, all)
	}
	parts := make([]string, len(all))
	for i, p := range all {
		value := p.value
		if s.hapi && (p.name == "measure" || p.name == "by") {
			value = inNames(true, value)
		}
		parts[i] = url.QueryEscape(p.name) + "=" + url.QueryEscape(value)
	}
	return strings.Join(parts, "&")
}

// path is the address of the page.
func (s *pageState) path() string {
	_, page := s.root()
	return page + "?" + s.query(nil)
}

func (s *pageState) value(name string) string {
	value, _ := query(s.pairs).last(name)
	return value
}

// pageCounts says how much was compared.
type pageCounts struct{ pages, refused, facets, figures, sumsRefused, titles int }

func (c *pageCounts) add(o pageCounts) {
	c.pages += o.pages
	c.refused += o.refused
	c.facets += o.facets
	c.figures += o.figures
	c.sumsRefused += o.sumsRefused
	c.titles += o.titles
}

// pages asks for pages in random states and judges every number on them.
func (o options) pages(w *world, out io.Writer) error {
	c, err := newClient(o.base)
	if err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	m := newMaker(w, o.seed)
	m.only(o.only)
	states := make([]pageState, o.n)
	for i := range states {
		states[i] = m.browsed()
	}
	var (
		lock     sync.Mutex
		counts   pageCounts
		differed int
		workers  sync.WaitGroup
		next     = make(chan *pageState)
	)
	for range max(1, o.parallel) {
		workers.Go(func() {
			for s := range next {
				j := pageJudge{w: w, s: s}
				got, err := c.send(request{Method: "GET", Path: s.path()})
				if err != nil {
					j.differs("no answer: %v", err)
				} else {
					j.judge(got)
				}
				lock.Lock()
				counts.add(j.counts)
				if len(j.found) > 0 {
					if differed++; o.most == 0 || differed <= o.most {
						fmt.Fprintf(out, "%s\n    %s\n", s.path(), strings.Join(j.found, "\n    "))
					}
				}
				lock.Unlock()
			}
		})
	}
	for i := range states {
		next <- &states[i]
	}
	close(next)
	workers.Wait()
	fmt.Fprintf(out, "%d pages: %d with an error, %d counts by value, %d figures, %d sums refused, "+
		"%d titles of drawings, %d pages differ\n", counts.pages, counts.refused, counts.facets, counts.figures,
		counts.sumsRefused, counts.titles, differed)
	if differed > 0 {
		return errDiffers
	}
	return nil
}

// pageJudge judges one page.
type pageJudge struct {
	w      *world
	s      *pageState
	found  []string // differences
	counts pageCounts
}

func (j *pageJudge) differs(format string, args ...any) {
	j.found = append(j.found, fmt.Sprintf(format, args...))
}

// answer is what the interface must answer to a query of the page's list, or of a list below it.
func (j *pageJudge) answer(below, query string) answer {
	list, _ := j.s.root()
	return j.w.answer(request{Method: "GET", Path: list + below + "?" + query + "&app_identifier=" + goodOne})
}

// records are those of an answer to a computed list.
func (j *pageJudge) records(below, query string) (all []map[string]any, status int) {
	a := j.answer(below, query)
	if a.Status != 200 {
		return nil, a.Status
	}
	var body struct{ Data []map[string]any }
	d := json.NewDecoder(strings.NewReader(a.Body))
	d.UseNumber()
	if err := d.Decode(&body); err != nil {
		j.differs("the judge's own answer: %v", err)
	}
	return body.Data, 200
}

func (j *pageJudge) judge(got reply) {
	j.counts.pages++
	size := 50
	if n, err := strconv.Atoi(j.s.value("limit")); err == nil {
		size = min(n, 500)
	}
	expected := j.answer("", j.s.query(append([]string{"limit"}, pageOnly...), pair{"limit", strconv.Itoa(size)}))
	if expected.Status != 200 {
		j.counts.refused++
		if got.Status != 422 || strings.Contains(got.Body, "<tbody") {
			j.differs("the list answers %d, the page %d", expected.Status, got.Status)
		}
		return
	}
	p, err := readPage(got.Body)
	if got.Status != 200 || err != nil {
		j.differs("status %d: %v", got.Status, err)
		return
	}
	if p.total != strconv.Itoa(*expected.Total) {
		j.differs("total %s, want %d", p.total, *expected.Total)
	}
	j.judgeFacets(p, *expected.Total)
	j.judgeFigure(p)
}

// filters are the parameters that say which records pass.
func (j *pageJudge) filters(more ...pair) string {
	return j.s.query(append([]string{"limit", "offset"}, pageOnly...), more...)
}

// labels are the texts that may stand for a value of a field: the value, or the name that it has in
// a list of codes.
func (j *pageJudge) labels(field string, value any) []string {
	text := ""
	switch v := value.(type) {
	case nil:
		return []string{"not given"}
	case string:
		text = v
	default:
		text = fmt.Sprint(v)
	}
	if text == "" {
		return []string{"empty", "not given"}
	}
	labels := []string{text}
	list := map[string]string{"sector_code": "sector", "org_type_code": "org-type", "currency_code": "currency"}[field]
	if strings.HasSuffix(field, "location_code") {
		list = "location"
	}
	for _, r := range j.w.rows[pathPrefix+"metadata/"+list] {
		if r.at("code") == text {
			for _, column := range []string{"name", "description"} {
				if name, ok := r.at(column).(string); ok && name != "" {
					labels = append(labels, spaced(name))
				}
			}
		}
	}
	labels[0] = spaced(text)
	return labels
}

// shownFacets is how many values of a field a page lists, besides chosen ones.
const shownFacets = 12

func (j *pageJudge) judgeFacets(p *page, total int) {
	if e := j.s.endpoint; e.field("location_code") != nil && total > 0 && p.facets[j.s.name("location_code")] == nil {
		j.differs("the page does not count by location_code")
	}
	for _, field := range slices.Sorted(maps.Keys(p.facets)) {
		f := p.facets[field]
		expected, status := j.records("/facets", j.filters(pair{"of", inNames(false, field)}))
		if status != 200 {
			j.differs("the counts of %s are refused with %d, the page has them", field, status)
			continue
		}
		if len(f.values)+f.more != len(expected) {
			j.differs("%s: %d values and %d more, want %d", field, len(f.values), f.more, len(expected))
		}
		left := slices.Clone(f.values)
		for i, r := range expected {
			j.counts.facets++
			labels, count := j.labels(inNames(false, field), r["value"]), fmt.Sprint(r["count"])
			at := slices.IndexFunc(left, func(v labelled) bool {
				return v.number == count && slices.Contains(labels, v.label)
			})
			if at >= 0 {
				left = slices.Delete(left, at, at+1)
			} else if i < shownFacets {
				j.differs("%s: %v has %s records, which the page does not say", field, r["value"], count)
			}
		}
		for _, v := range left {
			j.differs("%s: the page says %s of %q", field, v.number, v.label)
		}
	}
}
