package browse

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"hdqs/api/contract"
	"hdqs/api/lang"
)

// about is what a reader must know of a figure to use it.
type about struct {
	Unit, Period, Places string
	Providers            []string
	Licenses             []link
	More                 int // providers that are not named

	from, to                  string // the period, as the interface writes it
	earliest, updated, loaded string // when the first file and the last one changed, and when they were read
	stale                     string // since when the list is older than its source
}

// maxProviders is how many providers and licences a figure names.
const maxProviders = 4

// resource is the dataset of a file, who provides it, and when it changed.
type resource struct{ dataset, provider, updated string }

// about asks where the records of a question come from, and of when and where they are. A
// page asks once for all of its figures of the same records.
func (q *Question) about(rows *contract.Question) (*about, error) {
	key := rows.As(contract.Rows).Text()
	if known := q.known.abouts[key]; known != nil {
		a := *known
		return &a, nil
	}
	e, names := q.Plan.Endpoint, q.Plan.Endpoint.Names()
	a := new(about)
	var groups, measures []string
	file := names.Name("resource_catalog_id")
	if e.HasField(file) && e.Table != "resource" {
		groups = []string{file}
	}
	if e.HasField(contract.PeriodStart) {
		measures = []string{"min:" + contract.PeriodStart, "max:" + contract.PeriodEnd}
	}
	found, _, err := q.groups(rows, groups, append(measures, "count")...)
	if err != nil {
		return nil, err
	}
	start, end := "", ""
	var files []string
	for _, r := range found {
		f := fieldsOf(r, "min_"+contract.PeriodStart, "max_"+contract.PeriodEnd, file)
		if start == "" || f[0] != "" && f[0] < start {
			start = f[0]
		}
		end, files = max(end, f[1]), append(files, f[2])
	}
	a.from, a.to, a.loaded, a.stale = start, end, q.Freshness.Loaded, q.Freshness.StaleSince
	if len(groups) > 0 {
		if err := a.addSources(q, files); err != nil {
			return nil, err
		}
	}
	if err := a.addPlaces(q, rows); err != nil {
		return nil, err
	}
	if q.known.abouts == nil {
		q.known.abouts = map[string]*about{}
	}
	kept := *a
	q.known.abouts[key] = &kept
	return a, nil
}

// addSources adds the providers and licences of files.
func (a *about) addSources(q *Question, files []string) error {
	if q.known.resources == nil {
		fields := []string{"resource_catalog_id", "dataset_catalog_id", "dataset_catalog_provider_name", "update_date"}
		for i := range fields {
			fields[i] = q.Plan.Endpoint.Names().Name(fields[i])
		}
		found, _, err := q.groups(q.all("resource"), fields, "count")
		if err != nil {
			return err
		}
		q.known.resources = map[string]resource{}
		for _, r := range found {
			f := fieldsOf(r, fields...)
			q.known.resources[f[0]] = resource{f[1], f[2], f[3]}
		}
	}
	providers, licenses := map[string]bool{}, map[string]string{}
	for _, file := range files {
		of := q.known.resources[file]
		a.updated = max(a.updated, of.updated)
		if a.earliest == "" || of.updated != "" && of.updated < a.earliest {
			a.earliest = of.updated
		}
		if of.provider != "" {
			providers[of.provider] = true
		}
		if title, address := q.License(of.dataset); title != "" {
			licenses[title] = address
		}
	}
	a.Providers = slices.Sorted(maps.Keys(providers))
	if a.More = max(0, len(a.Providers)-maxProviders); a.More > 0 {
		a.Providers = a.Providers[:maxProviders]
	}
	for _, title := range slices.Sorted(maps.Keys(licenses)) {
		if len(a.Licenses) < maxProviders {
			a.Licenses = append(a.Licenses, link{title, licenses[title]})
		}
	}
	return nil
}

// addPlaces adds the countries that are chosen, or how many have records.
func (a *about) addPlaces(q *Question, rows *contract.Question) error {
	field := ""
	for i := range q.Plan.Endpoint.Fields { // people are in the country of asylum, which is the last
		if name := q.Plan.Endpoint.Fields[i].Name; isCountry(name) {
			field = name
		}
	}
	if field == "" {
		return nil
	}
	codes := slices.Concat(rows.Texts(field), rows.Texts(field+contract.SeveralSuffix))
	slices.Sort(codes)
	if codes = slices.Compact(codes); len(codes) == 1 {
		if c := q.country(codes[0]); c != nil { // no pattern such as A%
			a.Places = cmp.Or(c.Name, codes[0])
			return nil
		}
	}
	found, _, err := q.groups(rows, nil, "distinct:"+field)
	if err != nil || len(found) == 0 {
		return err
	}
	count, _ := strconv.Atoi(found[0].Value("distinct_" + field))
	if a.Places = q.Language.T("%s countries", lang.Count(count)); count != 1 {
		return nil
	}
	of, _, err := q.groups(rows, []string{field}, "count")
	if err == nil && len(of) > 0 {
		a.Places = q.nameOf(of[len(of)-1].Value(field))
	}
	return err
}

// Source are the providers in words.
func (a *about) Source(l *lang.Language) string {
	text := l.List(a.Providers)
	if a.More > 0 {
		text += " " + l.T("and %s more", lang.Count(a.More))
	}
	return text
}

// License are the licences in words.
func (a *about) License() string {
	var titles []string
	for _, l := range a.Licenses {
		titles = append(titles, l.Text)
	}
	return strings.Join(titles, ", ")
}
