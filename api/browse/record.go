package browse

import (
	"cmp"
	"net/url"
	"slices"

	"hdqs/api/contract"
)

// chosen is a record shown whole, with its source.
type chosen struct {
	Number string
	Fields []chosenField
	Source []chosenField
	Close  string
}

type chosenField struct{ Label, Name, Text, Code, About, Link string }

// sourceFields are the fields of metadata/resource that a page shows of a record's source, in the
// contract's names, and the field with the link of the text.
var sourceFields = []struct{ name, text, link string }{
	{"dataset_catalog_title", "Dataset", "dataset_catalog_link"},
	{"dataset_catalog_provider_name", "Provider", "provider_catalog_link"},
	{"name", "File", "catalog_link"},
	{"update_date", "File changed", ""},
	{"download_url", "Download", "download_url"},
}

// choose asks for the record of a page. It is nil if there is no such record.
func choose(q *Question, s state) (*chosen, error) {
	position := s.number(rowParam, -1)
	if position < 0 {
		return nil, nil
	}
	e := q.Plan.Endpoint
	answer, err := q.Source.Ask(s.asked.As(contract.Rows).Page(position, 1))
	if err != nil || len(answer.Records) == 0 {
		return nil, err
	}
	record := answer.Records[0]
	x := &chosen{Number: Count(position + 1), Close: s.address(s.copy(rowParam))}
	for i := range e.Fields {
		f := &e.Fields[i]
		c := cellOf(q.Language, f, isNumber(f) && !isCode(f.Name), record)
		link := ""
		if at := q.country(cmp.Or(c.Code, c.Text)); at != nil && isCountry(f.Name) {
			link = q.Prefix + "/country/" + url.PathEscape(at.Code)
		}
		x.Fields = append(x.Fields, chosenField{
			Label: label(q.Language, f.Name), Name: f.Name, Text: cmp.Or(c.Exact, c.Text), Code: c.Code,
			About: meaning(q.Language, e, f.Name),
			Link:  link,
		})
	}
	id := e.Names().Name("resource_catalog_id")
	if resource, ok := record.Text(id); ok && e.Table != "resource" {
		x.Source, err = sourceOf(q, resource)
	}
	return x, err
}

// sourceOf asks for the file that a record is from.
func sourceOf(q *Question, resource string) ([]chosenField, error) {
	names := q.Plan.Endpoint.Names()
	asked := q.all("resource").Keep("resource_catalog_id", resource).Page(0, 1)
	e := asked.Endpoint()
	answer, err := q.Source.Ask(asked)
	if err != nil || len(answer.Records) == 0 {
		return nil, err
	}
	record := answer.Records[0]
	var all []chosenField
	for _, f := range sourceFields {
		i := slices.IndexFunc(e.Fields, func(field contract.Field) bool { return field.Name == names.Name(f.name) })
		c := cellOf(q.Language, &e.Fields[i], false, record)
		if c.Null {
			continue
		}
		address, _ := record.Text(names.Name(f.link))
		all = append(all, chosenField{Label: q.Language.T(f.text), Text: c.Text, Link: contract.WebLink(address)})
	}
	if id, ok := record.Text(names.Name("dataset_catalog_id")); ok {
		if title, address := q.License(id); title != "" {
			all = append(all, chosenField{Label: q.Language.T("Licence"), Text: title, Link: address})
		}
	}
	return all, nil
}
