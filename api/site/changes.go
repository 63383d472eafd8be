package site

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"hdqs/api/browse"
	"hdqs/api/contract"
	"hdqs/api/country"
	"hdqs/api/lang"
	"hdqs/api/state"
	"hdqs/api/textual"
)

// Parameters of the page of changes, besides the day or the snapshot since which they are.
const (
	listParam = "list"
	kindParam = "kind" // added, removed or changed
)

// The most countries that a list names, and the most records of one table.
const (
	mostPlaces  = 12
	mostRecords = 200
)

// changesSince is what differs between an earlier snapshot, which is still kept, and the current
// one.
type changesSince struct {
	Since, Country, List, Kind string          // as they were asked for
	Day                        string          // since, if it is one
	Base                       *statusSnapshot // that is compared with, nil if there is none
	Late                       bool            // it is of after the day that was asked for
	Files                      string          // the page of the files that were changed since then
	Lists                      []listChanges
	Records                    *browse.Table // of one list and kind
	Title                      string        // of the records
	Left                       string        // how many are not shown

	group string   // of countries, as it was asked for
	codes []string // of the countries; nil for all
}

// listChanges are the numbers of records that differ.
type listChanges struct {
	pageEndpoint
	All    string // all of them, empty where they are told by place
	Places []placeChanges
	More   string // places that are not named
	Each   string // address of the page that names them
}

// placeChanges are the numbers of a place, each with the page of its records.
type placeChanges struct {
	Name    string
	Numbers [3]numberLink
}

type numberLink struct{ Text, Address, About string }

// kindTitles are the titles of records of a kind.
var kindTitles = map[string]string{
	"added": "%s records were added", "removed": "%s records were removed", "changed": "%s records were changed",
}

// changesOf reads what an address asks for. It is nil if that is nothing.
func (p pages) changesOf(
	ctx *fasthttp.RequestCtx, v *state.Served, group string, codes []string,
) (*changesSince, error) {
	text := func(name string) string { return strings.Clone(strings.TrimSpace(string(ctx.QueryArgs().Peek(name)))) }
	c := &changesSince{
		Since: text(contract.SinceParam), Country: text(contract.CountryParam), List: text(listParam),
		Kind: text(kindParam), group: group, codes: codes,
	}
	if c.Since == "" {
		return nil, nil
	}
	if c.Country != "" && c.group == "" {
		c.codes = []string{c.Country}
	}
	all, err := p.Site.overviewOf(v)
	if err != nil {
		return nil, err
	}
	base := p.Site.State.Snapshots.AcquirePinned(c.Since)
	if day, err := time.Parse(time.DateOnly, c.Since); err == nil {
		c.Day = c.Since
		base, c.Late = p.Site.heldAt(day.AddDate(0, 0, 1))
		c.Files = p.at.root() + browsePath + "resource?update_date_min=" + url.QueryEscape(c.Since)
	}
	if base == nil {
		return c, nil
	}
	defer base.Release(p.Site.State.Log)
	c.Base = newStatusSnapshot(p.at, base)
	if err := p.compare(c, v, base, all); err != nil {
		return nil, err
	}
	// Records may have a code that no country has: a text is a name only where no record has it.
	if len(c.Lists) == 0 && c.Records == nil && c.Country != "" && all.Find(c.Country) == nil {
		if code := all.Named(c.Country); code != "" {
			c.Country, c.codes = code, []string{code}
			return c, p.compare(c, v, base, all)
		}
	}
	return c, nil
}

// compare adds the records of all lists that differ.
func (p pages) compare(c *changesSince, v, base *state.Served, all *country.Overview) error {
	endpoints := contract.EndpointsIn(p.at.Names)
	data := slices.IndexFunc(endpoints, func(e contract.Endpoint) bool { return e.Group() != "metadata" })
	for i := range endpoints {
		e := &endpoints[(i+data)%len(endpoints)] // metadata last
		path := e.Contract().Path
		if c.List != "" && c.List != e.Name() || base.Bound.Lists[path].Version == v.Bound.Lists[path].Version {
			continue
		}
		if err := p.addChanges(c, v, base, e, all); err != nil {
			return err
		}
	}
	return nil
}

// heldAt is the snapshot that is kept and was served at a time, or else the oldest one that is
// kept. late says that it is that one. It is nil if none is.
func (s *Site) heldAt(at time.Time) (base *state.Served, late bool) {
	for _, id := range s.State.Snapshots.Retained.Ids() { // the newest first
		v := s.State.Snapshots.AcquirePinned(id)
		if v == nil {
			continue
		}
		if base != nil {
			base.Release(s.State.Log)
		}
		published := state.Published{At: v.Published(), Manifest: v.Bound.Snap.Manifest}
		if base, late = v, published.Time().After(at); !late {
			break
		}
	}
	return base, late
}

// addChanges adds those of a list: by country, or of the one that was asked for.
func (p pages) addChanges(
	c *changesSince, v, base *state.Served, e *contract.Endpoint, all *country.Overview,
) error {
	fields := e.CountryFields()
	if c.codes != nil && fields == nil {
		return nil
	}
	answer, err := c.records(&asker{p.Site, v, p.at.Mount}, base, e, fields)
	if err != nil || answer.Total == 0 {
		return err
	}
	l := listChanges{pageEndpoint: newPageEndpoint(p.at.Mount, e)}
	address := func(code, kind string) string {
		return p.at.root() + changelogPath + "?" + contract.QueryOf(
			contract.SinceParam, c.Since, listParam, e.Name(), contract.GroupParam, c.group,
			contract.CountryParam, cmp.Or(code, c.Country), kindParam, kind)
	}
	if l.Each = address("", ""); answer.Total > len(answer.Records) {
		l.All = browse.Count(answer.Total)
	} else {
		l.addPlaces(p.at, c, answer.Records, fields, all, address)
	}
	c.Lists = append(c.Lists, l)
	if c.List != "" && slices.Contains(contract.ChangeKinds.Values, c.Kind) {
		records := slices.DeleteFunc(answer.Records, func(r textual.Record) bool {
			return r.Value(contract.ChangeField) != c.Kind
		})
		c.Title = p.at.T(kindTitles[c.Kind], lang.Count(len(records)))
		if left := len(records) - mostRecords; left > 0 {
			c.Left, records = browse.Count(left), records[:mostRecords]
		}
		c.Records = browse.NewChanges(p.at.Language, e, records)
	}
	return nil
}

// records are those of a list that differ, of some countries or all. A record of two countries is
// of both.
func (c *changesSince) records(
	source *asker, base *state.Served, e *contract.Endpoint, fields []string,
) (*browse.Answer, error) {
	ask := func(fields ...string) (*browse.Answer, error) {
		asked := []string{contract.SinceParam, base.Id}
		for _, field := range fields {
			codes := strings.Join(c.codes, ",") // which a stranger may have sent
			asked = append(asked, field+contract.SeveralSuffix, codes)
		}
		r, err := contract.Read(contract.PlanOf(e, contract.Changes), contract.QueryOf(asked...))
		if err != nil {
			return nil, err
		}
		return source.Ask(&r.Question)
	}
	answer, err := ask()
	if err == nil && len(c.codes) > 0 && answer.Total > len(answer.Records) {
		answer, err = ask(fields[0])
		for _, other := range fields[1:] {
			more, err1 := ask(other)
			both, err2 := ask(fields...)
			if err := cmp.Or(err, err1, err2); err != nil {
				return nil, err
			}
			for _, r := range more.Records {
				if !slices.Contains(c.codes, r.Value(fields[0])) {
					answer.Records = append(answer.Records, r)
				}
			}
			answer.Total += more.Total - both.Total
		}
	}
	if err == nil && c.codes != nil && (answer.Total == len(answer.Records) || len(c.codes) == 0) {
		answer.Records = slices.DeleteFunc(answer.Records, func(r textual.Record) bool {
			isOf := func(field string) bool { return slices.Contains(c.codes, r.Value(field)) }
			return !slices.ContainsFunc(fields, isOf)
		})
		answer.Total = len(answer.Records)
	}
	return answer, err
}

// addPlaces counts records by country and kind. The countries with the most records are first.
func (l *listChanges) addPlaces(
	p place, c *changesSince, records []textual.Record, fields []string, all *country.Overview,
	address func(code, kind string) string,
) {
	counts := map[string]*[3]int{}
	for _, r := range records {
		codes := []string{""}
		for i, field := range fields {
			codes = append(codes[:i], r.Value(field))
		}
		slices.Sort(codes)
		for _, code := range slices.Compact(codes) {
			if c.codes != nil && !slices.Contains(c.codes, code) {
				continue
			}
			if counts[code] == nil {
				counts[code] = new([3]int)
			}
			counts[code][slices.Index(contract.ChangeKinds.Values, r.Value(contract.ChangeField))]++
		}
	}
	sum := func(n *[3]int) int { return n[0] + n[1] + n[2] }
	codes := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(sum(counts[b]), sum(counts[a])), strings.Compare(a, b))
	})
	if more := len(codes) - mostPlaces; more > 0 && c.List == "" && c.codes == nil {
		l.More, codes = browse.Count(more), codes[:mostPlaces]
	}
	for _, code := range codes {
		of := placeChanges{Name: cmp.Or(code, p.T("all places"))}
		if at := all.Find(code); at != nil {
			of.Name = p.Country(at.Code, at.Name)
		}
		for i, kind := range contract.ChangeKinds.Values {
			if n := counts[code][i]; n > 0 {
				where, what := p.List([]string{p.T(l.Summary), of.Name}), p.T(kindTitles[kind], lang.Count(n))
				about := p.T("%[1]s: %[2]s", where, what)
				of.Numbers[i] = numberLink{browse.Count(n), address(code, kind), about}
			}
		}
		l.Places = append(l.Places, of)
	}
}
