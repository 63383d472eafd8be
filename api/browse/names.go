package browse

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strings"

	"hdqs/api/contract"
	"hdqs/api/lang"
	"hdqs/api/textual"
)

func countries(q *Question) ([]Country, error) {
	all, err := listOfCodes(q, q.all("location"), "name")
	slices.SortFunc(all, func(a, b Country) int { return strings.Compare(a.Code, b.Code) })
	return all, err
}

// all asks for all records of a table.
func (q *Question) all(table string) *contract.Question {
	return contract.Ask(contract.EndpointOf(table, q.Plan.Endpoint.Names()), contract.Rows)
}

// listOfCodes are the codes of records with their names.
func listOfCodes(q *Question, asked *contract.Question, name string) ([]Country, error) {
	answer, err := q.Source.Ask(asked)
	if err != nil {
		return nil, err
	}
	all := make([]Country, len(answer.Records))
	for i, r := range answer.Records {
		all[i] = Country{Code: r.Value("code"), Name: r.Value(name), English: r.Value(name)}
		if asked.Endpoint().Table == "location" {
			all[i].Name = q.Language.Country(all[i].Code, all[i].Name)
		}
	}
	return all, nil
}

// codeTables are the tables with the names of codes, by the field with the code.
var codeTables = []struct{ field, table, name string }{
	{"sector_code", "sector", "name"},
	{"org_type_code", "org_type", "description"},
	{"currency_code", "currency", "name"},
	{"admin1_code", "admin1", "name"},
}

// largeTables have too many codes for each page, so that only those are read that are chosen.
var largeTables = []struct{ field, table string }{
	{"commodity_code", "commodity"}, {"market_code", "market"}, {"admin1_code", "admin1"}, {"admin2_code", "admin2"},
}

// namesOf are the names of codes that the endpoint's records have, by field. Those of provinces are
// of the country that is chosen.
func namesOf(q *Question, s state) (map[string]map[string]string, error) {
	places := namesByCode(q.known.countries)
	levels := map[string]string{}
	for level, name := range levelNames {
		levels[level] = q.Language.T(name)
	}
	named := map[string]map[string]string{
		"location_code": places, "origin_location_code": places, "asylum_location_code": places,
		levelParam: levels,
	}
	for _, t := range codeTables {
		if !q.Plan.Endpoint.HasField(t.field) {
			continue
		}
		asked := q.all(t.table)
		if t.field == "admin1_code" {
			if !s.asked.Has(contract.CountryParam) {
				continue
			}
			asked.Add(s.asked.Only(contract.CountryParam))
		}
		codes, err := listOfCodes(q, asked, t.name)
		if err != nil {
			return nil, err
		}
		for i := range codes {
			if closedFields[t.field] {
				codes[i].Name = translated(q.Language, codes[i].Name)
			}
		}
		named[t.field] = namesByCode(codes)
	}
	if all := allOf(q.Plan.Endpoint, "sector_code"); all != "" {
		named["sector_code"][all] = q.Language.T("All sectors together")
	}
	for _, t := range largeTables {
		values := slices.Concat(s.asked.Texts(t.field), s.asked.Texts(t.field+contract.SeveralSuffix))
		if len(values) == 0 || named[t.field] != nil || !q.Plan.Endpoint.HasField(t.field) {
			continue
		}
		codes, err := listOfCodes(q, q.all(t.table).KeepAll("code", splitLists(values)), "name")
		if _, wrong := Problems(err); err != nil && !wrong {
			return nil, err
		}
		named[t.field] = namesByCode(codes)
	}
	for i := range q.Plan.Params {
		if p := &q.Plan.Params[i]; p.Grouped && !p.List {
			groups, err := countryGroups(q)
			if err != nil {
				return nil, err
			}
			q.known.groups, named[p.Name] = groups, namesByCode(groups)
		}
	}
	return named, nil
}

func namesByCode(all []Country) map[string]string {
	names := make(map[string]string, len(all))
	for _, c := range all {
		names[c.Code] = c.Name
	}
	return names
}

// nameGroups reads the names of the codes of large tables by which some records are grouped.
func (q *Question) nameGroups(records []textual.Record, fields []string) error {
	for _, t := range largeTables {
		if !slices.Contains(fields, t.field) || len(records) == 0 {
			continue
		}
		var codes []string
		for _, r := range records {
			if code := r.Value(t.field); code != "" && !slices.Contains(codes, code) {
				codes = append(codes, code)
			}
		}
		all, err := listOfCodes(q, q.all(t.table).KeepAll("code", codes), "name")
		if _, wrong := Problems(err); err != nil && !wrong {
			return err
		}
		names := namesByCode(all)
		maps.Copy(names, q.known.named[t.field])
		q.known.named[t.field] = names
	}
	return nil
}

// countryGroups are the groups of countries, with their names in the language of the page.
func countryGroups(q *Question) (groups []Country, err error) {
	answer, err := q.Source.Ask(contract.Ask(&contract.GroupsEndpoints[contract.ContractNames][0], contract.Figures))
	if err != nil {
		return nil, err
	}
	name := "name"
	if !q.Language.IsEnglish() {
		name += "_" + q.Language.Code
	}
	for _, r := range answer.Records {
		groups = append(groups, Country{Code: r.Value("slug"), Name: r.Value(name)})
	}
	return groups, nil
}

// nameOf is the name of a country, or the code of one without.
func (q *Question) nameOf(code string) string {
	return cmp.Or(q.known.named[contract.CountryParam][code], code)
}

// country returns the country with a code in any case, nil without one.
func (q *Question) country(code string) *Country {
	at := slices.IndexFunc(q.known.countries, func(c Country) bool { return strings.EqualFold(c.Code, code) })
	if at < 0 {
		return nil
	}
	return &q.known.countries[at]
}

// countryPage is the page of the only country of the records, nil for several.
func countryPage(q *Question, s state) *link {
	if c := onlyCountry(q, s); c != nil {
		return &link{c.Name, q.Prefix + "/country/" + url.PathEscape(c.Code)}
	}
	return nil
}

// onlyCountry is the country that is chosen, nil for none and for several.
func onlyCountry(q *Question, s state) *Country {
	for i := range q.Plan.Endpoint.Fields {
		name := q.Plan.Endpoint.Fields[i].Name
		if codes := chosenOf(s, name); isCountry(name) && len(codes) == 1 {
			if c := q.country(codes[0]); c != nil {
				return c
			}
		}
	}
	return nil
}

// feedOf is the query of the feed of what changed: in the list, of the only country and group.
func feedOf(q *Question, s state) string {
	list, code, group := q.Plan.Endpoint.Name(), "", ""
	if c := onlyCountry(q, s); c != nil {
		code = c.Code
	}
	for i := range s.asked.Filters {
		p := &q.Plan.Params[s.asked.Filters[i].Param]
		if chosen := chosenOf(s, strings.TrimSuffix(p.Name, contract.SeveralSuffix)); p.Grouped && len(chosen) == 1 {
			group = chosen[0]
		}
	}
	return "?" + contract.QueryOf("list", list, contract.GroupParam, group, contract.CountryParam, code)
}

// closedFields are fields with names, or codes of names, of closed lists.
var closedFields = map[string]bool{
	"sector_code": true, "sector_name": true, "org_type_code": true, "org_type_description": true,
}

// closedNames are the names of sectors and of types of organisations, which are lists that nobody
// adds to, so that they have translations.
var closedNames = []string{
	"Camp Coordination / Management", "Cash programming", "Education", "Early Recovery", "Food Security", "Health",
	"Humanitarian assistance (unspecified)", "Intersectoral", "Logistics", "Multi-sector (unspecified)", "Nutrition",
	"Protection", "Child Protection", "Gender Based Violence", "Housing, Land and Property", "Mine Action",
	"Emergency Shelter and NFI", "Emergency Telecommunications", "Water Sanitation Hygiene",
	"Academic / Research", "Donor", "Embassy", "Government", "International NGO", "International Organization", "Media",
	"Military", "National NGO", "Other", "Private sector", "Red Cross / Red Crescent", "Religious", "United Nations",
	"Civil Society", "Observer", "Development Programme", "Local NGO",
}

// translated is a name of a closed list in the language, and another name as it is.
func translated(l *lang.Language, name string) string {
	if slices.Contains(closedNames, name) {
		return l.T(name)
	}
	return name
}
