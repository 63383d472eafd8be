package ogc

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"hdqs/api/boundary"
	"hdqs/api/contract"
	"hdqs/api/list"
)

// collection is the rows of a list that have a place, or areas of a level with a figure.
type collection struct {
	id, title, about string
	fields           []contract.Field // properties of a feature
	params           []param
	route            list.Route // of the list's rows, or of the figure
	endpoint         *contract.Endpoint
	level            int     // of areas; -1 of a list
	box              *[4]any // around the areas; nil of a list
}

// param is a parameter of a collection: the equality of a property, or one of the list's own.
type param struct {
	name, about string
	field       *contract.Field // nil for the list's own
	kind        contract.Type
	enum        *contract.Enum
}

// ofList is the level of what is no area.
const ofList = -1

// addLists adds the lists that have points.
func (s *Service) addLists() {
	endpoints := contract.EndpointsIn(contract.HAPINames)
	for i := range endpoints {
		e := &endpoints[i]
		if !e.HasPoints() {
			continue
		}
		about := cmp.Or(e.Note, "The rows of the list "+e.Contract().Name()+", with their places.")
		c := &collection{id: e.SetName(), title: e.Summary, about: about, endpoint: e, level: ofList}
		c.route = s.routes[contract.PlanKey{Endpoint: e, Kind: contract.Rows}]
		for k := range e.Fields {
			if f := &e.Fields[k]; f.Name != contract.LatField && f.Name != contract.LonField {
				c.fields = append(c.fields, *f)
				c.params = append(c.params, param{f.Name, e.Texts().Meaning(f.Name), f, f.Type, f.Enum})
			}
		}
		plan := c.route.List()
		for k := range plan.Params {
			p := &plan.Params[k]
			if (p.Columns == nil && p.Own == nil) || p.Name == contract.FieldsParam || e.HasField(p.Name) {
				continue
			}
			own := param{name: p.Name, about: "As the list's own parameter.", kind: p.Type, enum: p.Enum}
			if p.List || p.Own != nil {
				own.kind, own.enum = contract.String, nil
			}
			c.params = append(c.params, own)
		}
		s.collections = append(s.collections, c)
	}
}

// areaFields are the properties that all areas have.
var areaFields = []contract.Field{
	{Name: "code", Type: contract.String},
	{Name: "name", Type: contract.String, Nullable: true},
	{Name: "country", Type: contract.String, Nullable: true},
}

var levelNames = [...]string{"countries", "first-level units", "second-level units"}

// addAreas adds the levels that have boundaries: as they are, then with each figure that the level
// has.
func (s *Service) addAreas() {
	for level, areas := range s.boundaries.Areas {
		if len(areas) == 0 {
			continue
		}
		plain := collection{
			id: fmt.Sprint("admin", level), level: level, fields: areaFields, box: boxAround(areas),
			title: "Boundaries of " + levelNames[level], about: "Boundaries of " + s.boundaries.Source + ".",
		}
		for i := range areaFields {
			f := &areaFields[i]
			plain.params = append(plain.params, param{f.Name, "As the boundaries have it.", f, f.Type, nil})
		}
		plain.params = append(plain.params, param{
			contract.GroupParam, "Of the countries of a group, by its slug in " + contract.GroupsPath + ".", nil,
			contract.String, nil,
		})
		s.collections = append(s.collections, &plain)
		for _, h := range contract.Headlines {
			_, e := contract.HeadlineOf(h.Name, contract.HAPINames)
			if level > 0 {
				e = h.OfUnits(level, contract.HAPINames)
			}
			if e == nil || h.Takes != "" && level > 0 {
				continue
			}
			c := plain
			c.id, c.title = plain.id+"_"+h.Name, h.Title+", "+levelNames[level]
			c.about = h.Reading + " " + h.NotThis + " " + plain.about
			c.endpoint, c.fields = e, slices.Concat(areaFields, e.Fields[1:])
			s.collections = append(s.collections, &c)
		}
	}
}

// schemaOf is the JSON schema of a type.
func schemaOf(t contract.Type, e *contract.Enum) object {
	switch {
	case t == contract.Integer:
		return object{"type": "integer"}
	case t == contract.Number, t == contract.Exact:
		return object{"type": "number"}
	case t == contract.Boolean:
		return object{"type": "boolean"}
	case t == contract.DateTime:
		return object{"type": "string", "format": "date-time"}
	case e != nil:
		return object{"type": "string", "enum": e.Values}
	}
	return object{"type": "string"}
}

// queryables says what a collection can be filtered by.
func (c *collection) queryables(base string) object {
	properties := object{}
	for _, p := range c.params {
		schema := schemaOf(p.kind, p.enum)
		schema["title"], schema["description"] = p.name, p.about
		properties[p.name] = schema
	}
	properties["geometry"] = object{"format": "geometry-any"}
	return object{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": base + "collections/" + c.id + "/queryables",
		"type": "object", "title": c.title, "properties": properties, "additionalProperties": false,
	}
}

// crs84 is longitude and latitude.
const crs84 = "http://www.opengis.net/def/crs/OGC/1.3/CRS84"

// describe describes a collection.
func (a *request) describe(c *collection) object {
	at := a.base + "collections/" + c.id
	links := []link{
		{"items", geoJSONType, c.title, at + "/items"},
		{"items", "text/html", c.title + ", as a page", at + "/items?f=html"},
		{queryablesRel, schemaType, "what it can be filtered by", at + "/queryables"},
	}
	if a.path == "collections/"+c.id {
		links = append(a.links(jsonType), links...)
	} else {
		links = append(links, link{"self", jsonType, "the collection", at})
	}
	return object{
		"id": c.id, "title": c.title, "description": strings.TrimSpace(c.about), "links": links,
		"extent": a.extentOf(c), "itemType": "feature", "crs": []string{crs84},
	}
}

// hasTime reports whether features are of a time.
func (c *collection) hasTime() bool {
	return c.endpoint != nil && (c.level != ofList || c.endpoint.HasField(contract.PeriodStart))
}

// boxAround is the box around areas.
func boxAround(areas []boundary.Area) *[4]any {
	around := [4]float64{180, 90, -180, -90}
	for i := range areas {
		for _, p := range areas[i].Polygons {
			for _, point := range p[0] {
				around[0], around[1] = min(around[0], point[0]), min(around[1], point[1])
				around[2], around[3] = max(around[2], point[0]), max(around[3], point[1])
			}
		}
	}
	return &[4]any{around[0], around[1], around[2], around[3]}
}
